"""Fitted attributes that were changed after fitting: an error names them, whatever they are now."""

import copy

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.adapters import AdaptedModel, register

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3)).round(1)
Y = X[:, 0] + 0.1 * RNG.normal(size=20)
CLASSES = np.digitize(Y, [-0.5, 0.5])
MODELS = {
    "SVR": SVR().fit(X, Y),
    "SVC": SVC().fit(X, Y > 0),
    "SVC of three classes": SVC().fit(X, CLASSES),
    "KernelRidge": KernelRidge(kernel="rbf").fit(X, np.c_[Y, Y]),
    "process": GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None).fit(X, Y),
    "classifying process": GaussianProcessClassifier(RBF(), optimizer=None).fit(X, Y > 0),
    "Ridge": Ridge().fit(X, Y),
    "logistic": LogisticRegression().fit(X, CLASSES),
    "KernelPCA": KernelPCA(2, kernel="rbf").fit(X),
    "KernelDensity": KernelDensity().fit(X),
    "one versus rest": OneVsRestClassifier(SVC()).fit(X, CLASSES),
    "scaled": make_pipeline(StandardScaler(), SVR()).fit(X, Y),
    "quantiles": make_pipeline(QuantileTransformer(n_quantiles=5), SVR()).fit(X, Y),
    # Its support vectors are sparse, and libsvm reads its numbers of vectors without a check.
    "one-hot": make_pipeline(OneHotEncoder(handle_unknown="ignore"), SVR()).fit(X, Y),
    "features": make_pipeline(Nystroem(n_components=5, random_state=0), Ridge()).fit(X, Y),
}


def parts(model):
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def changes(model):
    """Return a number of a part, the name of an attribute of it, and what it is changed to."""
    for place, part in enumerate(parts(model)):
        for name, value in vars(part).items():
            if not isinstance(value, np.ndarray) or not (name[0] == "_" or name[-1] == "_"):
                continue
            yield place, name, None
            yield place, name, value.tolist()
            yield place, name, value[:0] if value.ndim else np.zeros(0)
            if value.ndim and value.size:
                yield place, name, value[0]


def refusal(model):
    """Return why a model is not explained; nothing if it is."""
    try:
        pkex.Explainer(model, X)
    except pkex.UnsupportedModelError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", MODELS)
def test_a_changed_attribute_is_named(name):
    model = MODELS[name]
    assert not refusal(model)
    for place, attribute, value in changes(model):
        changed = copy.deepcopy(model)
        setattr(parts(changed)[place], attribute, value)
        # Some do not matter, or broadcast: what is explained is then what the model predicts.
        why = refusal(changed)
        assert not why or attribute in why, (attribute, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"_n_support": [1, 1]}, "SVR._n_support is not an array of 2 numbers"),
        (
            {"support_vectors_": None},
            "SVR.support_vectors_ is None, but fit makes it an array with 2",
        ),
        (
            {"intercept_": np.zeros(0), "_intercept_": np.zeros(0)},
            r"SVR._?intercept_ is an array of shape \(0,\), but fit makes",
        ),
        ({"_gamma": None}, "SVR._gamma is None, but fit makes it a number.*Fit the model again"),
    ],
)
def test_what_became_of_an_attribute_is_said(change, message):
    model = copy.deepcopy(MODELS["scaled"])
    vars(model[-1]).update(change)
    for broken in (model, model[-1], model.predict):
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(broken)


def test_an_attribute_of_a_subclass_is_named():
    class Machine(SVR):
        """Computes as its parent does."""

    model = Machine().fit(X, Y)
    model._gamma = None
    with pytest.raises(pkex.UnsupportedModelError, match=r"Machine\._gamma is None"):
        pkex.Explainer(model)


def test_attributes_that_do_not_fit_together_are_listed():
    model = copy.deepcopy(MODELS["KernelRidge"])
    model.dual_coef_ = model.dual_coef_[0]
    with pytest.raises(
        pkex.UnsupportedModelError,
        match=r"KernelRidge has unusable fitted attributes.*KernelRidge.dual_coef_ is an array of "
        r"shape \(2,\), KernelRidge.X_fit_ is an array of shape \(20, 3\)",
    ):
        pkex.Explainer(model)


@pytest.mark.parametrize("error", [KeyError, IndexError, AttributeError, ZeroDivisionError])
def test_an_adapter_that_fails_is_an_unsupported_model(error):
    class Model:
        """Has an adapter that fails."""

    @register(Model)
    def adapt(model: Model) -> AdaptedModel:
        raise error("weights")

    with pytest.raises(pkex.UnsupportedModelError, match=r"Model has unusable.*weights") as raised:
        pkex.Explainer(Model())
    assert isinstance(raised.value.__cause__, error)
