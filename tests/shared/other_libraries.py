"""Models of other libraries than scikit-learn, of those that are installed.

Where one is not, as smt among the oldest, this is where its models are left out of the contract;
the tests of its own adapter are skipped.
"""

from importlib.util import find_spec

from scipy.interpolate import RBFInterpolator


class Builder:
    """What has `fit`, as scikit-learn's models have, and returns what a function builds."""

    def __init__(self, build):
        self.fit = build


def interpolator(X, y):
    return RBFInterpolator(X, y, kernel="gaussian", epsilon=0.3, smoothing=0.1)


def itself(model):
    return model


def kriging(X, y):
    from smt.surrogate_models import KRG

    model = KRG(corr="matern52", nugget=0.01, n_start=1, print_global=False)
    model.set_training_values(X, y)
    model.train()
    return model


def kriging_mean(model):
    return lambda rows: model.predict_values(rows)[:, 0]


def models(y, targets):
    """The models as `explainable` has them: builder, target, function that gives the explained."""
    found = {
        "RBFInterpolator": (Builder(interpolator), y, itself),
        "RBFInterpolator of two": (Builder(interpolator), targets, itself),
    }
    if find_spec("smt"):
        found["KRG of smt"] = (Builder(kriging), 100.0 * y, kriging_mean)
    return found
