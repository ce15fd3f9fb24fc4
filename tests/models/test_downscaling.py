"""Regression from means over bags, compared with Gaussian conditioning and the model itself."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import interventional
from sklearn.base import clone

import pkex
from pkex.kernels import RBF, Categorical, Matern
from pkex.models import DeconditionalRegressor
from pkex.models.downscaling import estimators
from pkex.models.downscaling.bags import Bags
from pkex.models.downscaling.gaussian_parts import GaussianGram, GaussianMediators
from pkex.models.downscaling.likelihood import MarginalLikelihood

RNG = np.random.default_rng(0)
MEDIATORS = np.array([-1.0, 0.2, 1.0, 2.5])
# Bags of different sizes, whose rows are not in order.
BAG = RNG.permutation(np.repeat(np.arange(4), [2, 3, 5, 4]))
X = RNG.normal(size=(14, 2)) + MEDIATORS[BAG][:, None]
NEW = RNG.normal(size=(5, 2))
Y, TARGET_MEDIATOR = np.array([3.0, 1.0, 4.0]), np.array([-0.5, 1.0, 2.0])
KERNEL, MEDIATOR_KERNEL = 2.0 * RBF([1.5, 0.7]), RBF(0.8)
FIXED = {
    "kernel": KERNEL,
    "mediator_kernel": MEDIATOR_KERNEL,
    "noise": 0.1,
    "regularization": 1e-2,
}


def fitted(**options):
    return DeconditionalRegressor(**{**FIXED, **options}).fit(X, MEDIATORS[BAG], Y, TARGET_MEDIATOR)


def conditioned(means, rows, noise=0.1):
    """Mean and covariance of f at rows given means · f(X) + noise = Y; its mean is Y.mean()."""
    prior = KERNEL(X)
    gain = KERNEL(rows, X) @ means.T
    inverse = np.linalg.inv(means @ prior @ means.T + noise * np.eye(len(Y)))
    mean = Y.mean() + gain @ inverse @ (Y - Y.mean())
    return mean, KERNEL(rows) - gain @ inverse @ gain.T


def means_of_bags():
    """Target t as a mean of f at rows: A (3.1) of mediators, scaled, in equal shares of rows."""
    own = MEDIATOR_KERNEL(MEDIATORS[:, None]) + 4 * 1e-2 * np.eye(4)
    weights = np.linalg.solve(own, MEDIATOR_KERNEL(MEDIATORS[:, None], TARGET_MEDIATOR[:, None]))
    weights /= weights.sum(axis=0).mean()
    return np.array([[of_bags[b] / (b == BAG).sum() for b in BAG] for of_bags in weights.T])


def means_of_rows():
    """The same, with the mediator repeated for each row."""
    own = MEDIATORS[BAG][:, None]
    matrix = MEDIATOR_KERNEL(own) + 14 * 1e-2 * np.eye(14)
    weights = np.linalg.solve(matrix, MEDIATOR_KERNEL(own, TARGET_MEDIATOR[:, None])).T
    return weights / weights.sum(axis=1).mean()


@pytest.mark.parametrize(
    ("conditional_mean", "means"), [("bags", means_of_bags), ("rows", means_of_rows)]
)
def test_the_posterior_is_that_of_gaussian_conditioning(conditional_mean, means):
    model = fitted(conditional_mean=conditional_mean)
    mean, covariance = conditioned(means(), NEW)
    np.testing.assert_allclose(model.predict(NEW), mean, rtol=1e-10)
    np.testing.assert_allclose(model.predict(NEW, return_cov=True)[1], covariance, atol=1e-10)
    deviations = model.predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(deviations, np.sqrt(np.diag(covariance)), rtol=1e-8)


def test_targets_of_known_bags_are_their_means_without_smoothing():
    numbers = BAG.astype(float)
    model = DeconditionalRegressor(
        kernel=KERNEL, mediator_kernel=Categorical(), noise=0.1, regularization=0
    ).fit(X, numbers, Y, [2, 0, 1])
    means = np.array([(b == BAG) / (b == BAG).sum() for b in (2, 0, 1)])
    np.testing.assert_allclose(model.predict(NEW), conditioned(means, NEW)[0], rtol=1e-10)
    predicted = model.predict_mean([2, 0, 1])
    np.testing.assert_allclose(predicted, means @ model.predict(X), rtol=1e-10)


def test_inducing_points_at_all_rows_change_nothing():
    exact, sparse = fitted(), fitted(n_inducing=len(X), random_state=0)
    np.testing.assert_allclose(sparse.predict(NEW), exact.predict(NEW), rtol=1e-6)
    found, expected = (model.predict(NEW, return_std=True)[1] for model in (sparse, exact))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_rows_and_bags_of_equal_sizes_have_the_same_conditional_means():
    mediator = np.repeat(np.linspace(-1.0, 1.0, 4), 3)
    rows = np.random.default_rng(1).standard_normal((12, 2))
    of_bags, of_rows = (
        DeconditionalRegressor(**{**FIXED, "conditional_mean": conditional_mean})
        .fit(rows, mediator, [1.0, 0.0, 2.0, 4.0], mediator[::3])
        .predict(NEW)
        for conditional_mean in ("bags", "rows")
    )
    np.testing.assert_allclose(of_rows, of_bags, rtol=1e-10)


@pytest.mark.parametrize("n_inducing", [None, len(X)])
def test_each_target_may_have_its_own_noise(n_inducing):
    noise = np.array([0.1, 2.0, 0.02])
    model = fitted(noise=noise, n_inducing=n_inducing, random_state=0)
    np.testing.assert_array_equal(model.noise_, noise)
    mean, covariance = conditioned(means_of_bags(), NEW, noise)
    np.testing.assert_allclose(model.predict(NEW), mean, rtol=1e-6)
    deviations = model.predict(NEW, return_std=True)[1]
    np.testing.assert_allclose(deviations, np.sqrt(np.diag(covariance)), rtol=1e-5)


def test_inducing_points_maximize_the_evidence_lower_bound():
    means = means_of_bags()
    model = fitted(n_inducing=4, random_state=0)
    points = model.kernel_expansion_.points
    own, cross = KERNEL(points), KERNEL(points, X) @ means.T
    # The optimal q(u) = N(m, S) in the form of a regression of the targets on the points.
    matrix = own + cross @ cross.T / 0.1
    mean = KERNEL(NEW, points) @ np.linalg.solve(matrix, cross @ (Y - Y.mean())) / 0.1
    np.testing.assert_allclose(model.predict(NEW), Y.mean() + mean, rtol=1e-7)
    inner = np.linalg.inv(own) - np.linalg.inv(matrix)
    near = KERNEL(NEW, points)
    variance = np.diag(KERNEL(NEW) - near @ inner @ near.T)
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1] ** 2, variance, rtol=1e-6)


def test_the_gradient_of_the_likelihood_is_its_derivative():
    bags = Bags.of_rows(X, MEDIATORS[BAG][:, None], are_single=False)
    mediators = GaussianMediators(bags.mediators, TARGET_MEDIATOR[:, None])
    likelihood = MarginalLikelihood(
        GaussianGram(bags), mediators, (Y - Y.mean()) / Y.std(), (None, None)
    )
    at = np.array([0.3, -0.2, 0.5, -0.4, -3.0, -1.5])
    steps = 1e-5 * np.eye(len(at))
    derivatives = [(likelihood(at + s)[0] - likelihood(at - s)[0]) / 2e-5 for s in steps]
    np.testing.assert_allclose(likelihood(at)[1], derivatives, rtol=1e-6)


@pytest.mark.parametrize("noise", [0.1, np.array([0.2, 0.1, 0.4])])
def test_the_likelihood_is_that_of_the_targets(noise):
    stats = pytest.importorskip("scipy.stats")
    bags = Bags.of_rows(X, MEDIATORS[BAG][:, None], are_single=False)
    mediators = GaussianMediators(bags.mediators, TARGET_MEDIATOR[:, None])
    targets = (Y - Y.mean()) / Y.std()
    likelihood = MarginalLikelihood(GaussianGram(bags), mediators, targets, (1e-2, noise))
    at = np.log([1.5, 0.7, 2.0, 0.8])
    means = means_of_bags()
    covariance = means @ KERNEL(X) @ means.T + noise * np.eye(3)
    expected = -stats.multivariate_normal(np.zeros(3), covariance).logpdf(targets)
    assert abs(likelihood(at)[0] + 1.5 * np.log(2.0 * np.pi) - expected) < 1e-10


def many_bags():
    """60 bags of 10 rows, whose mean of sin(2 x0) is observed; x1 is noise."""
    rng = np.random.default_rng(1)
    mediator = np.repeat(np.linspace(-2.0, 2.0, 60), 10)
    rows = np.column_stack([mediator + 0.3 * rng.normal(size=600), rng.normal(size=600)])
    return rows, mediator, np.sin(2.0 * rows[:, 0])


def test_chosen_parameters_recover_the_function():
    rows, mediator, f = many_bags()
    y = f.reshape(60, 10).mean(axis=1) + 0.02 * RNG.normal(size=60)
    model = DeconditionalRegressor().fit(rows, mediator, y, mediator[::10])
    assert 0.01**2 < model.noise_ < 0.04**2
    mean, deviation = model.predict(rows, return_std=True)
    assert np.sqrt(np.mean((mean - f) ** 2)) < 0.1 * f.std()
    assert (np.abs(mean - f) < 4.0 * deviation).mean() > 0.95
    values = np.abs(pkex.Explainer(model)(rows[:50]).values).mean(axis=0)
    assert values[1] < 0.02 * values[0]
    # Targets of other mediators than those of the rows.
    of_even = np.arange(600) // 10 % 2 == 0
    half = model.fit(rows[of_even], mediator[of_even], y[1::2], mediator[10::20])
    assert half.score(mediator[::20], y[::2]) > 0.8


@pytest.mark.parametrize("own_bags", [False, True])
def test_parameters_of_many_bags_are_chosen_from_some_of_them(monkeypatch, own_bags):
    seen = []
    maximize = MarginalLikelihood.maximize

    def recorded(likelihood):
        seen.append((likelihood._mediators.n_bags, len(likelihood._targets)))
        return maximize(likelihood)

    monkeypatch.setattr(MarginalLikelihood, "maximize", recorded)
    monkeypatch.setattr(estimators, "_MAX_BAGS", 30)
    rows, mediator, f = many_bags()
    y = f.reshape(60, 10).mean(axis=1)
    bag = np.repeat(RNG.permutation(60), 10)
    options = {"mediator_kernel": Categorical(), "regularization": 0} if own_bags else {}
    given = bag if own_bags else mediator
    noise = np.full(60, 1e-4)
    model = DeconditionalRegressor(**options, noise=noise, random_state=0)
    model.fit(rows, given, y, given[::10])
    assert seen == [(30, 30)]
    assert np.sqrt(np.mean((model.predict(rows) - f) ** 2)) < 0.1 * f.std()
    # Few targets: the other bags are drawn at random.
    model.set_params(noise=noise[::6]).fit(rows, given, y[::6], given[::60])
    assert seen[1:] == [(30, 10)]


def test_units_of_targets_and_columns_change_nothing_else():
    rows, mediator, f = many_bags()
    y = f.reshape(60, 10).mean(axis=1)
    model = DeconditionalRegressor().fit(rows, mediator, y, mediator[::10])
    other = DeconditionalRegressor().fit(
        rows * [1e3, 1e-3] + 5.0, mediator * 10.0, 280.0 + 1e2 * y, 10.0 * mediator[::10]
    )
    expected = 280.0 + 1e2 * model.predict(rows)
    np.testing.assert_allclose(other.predict(rows * [1e3, 1e-3] + 5.0), expected, atol=0.1)


def test_a_distant_row_or_mediator_does_not_change_predictions_of_others():
    rows, mediator, f = many_bags()
    y = f.reshape(60, 10).mean(axis=1)
    rows[0, 1] = 1e5
    mediator[:10] = 1e4
    model = DeconditionalRegressor().fit(rows, mediator, y, mediator[::10])
    error = model.predict(rows[10:]) - f[10:]
    assert np.sqrt(np.mean(error**2)) < 0.1 * f.std()


@pytest.mark.parametrize("target", [3.0, 0.1])
def test_equal_targets_are_predicted(target):
    rows, mediator, _ = many_bags()
    model = DeconditionalRegressor().fit(rows, mediator, np.full(60, target), mediator[::10])
    mean, deviation = model.predict(rows, return_std=True)
    np.testing.assert_allclose(mean, target, rtol=1e-12)
    # The sum of 60 equal numbers has rounding errors, which are not a variance.
    assert np.all(deviation > 1e-6)


def test_its_mean_and_variance_are_explained():
    frame = pd.DataFrame(X, columns=["height", "slope"])
    model = DeconditionalRegressor(**FIXED).fit(frame, MEDIATORS[BAG], Y, TARGET_MEDIATOR)
    explanation = pkex.Explainer(model, frame[:4])(frame[:3], uncertainty=True)
    assert explanation.feature_names == ["height", "slope"]

    def output(rows):
        return model.predict(pd.DataFrame(rows, columns=frame.columns))

    def variance(rows):
        return model.predict(pd.DataFrame(rows, columns=frame.columns), return_std=True)[1] ** 2

    of_variance = pkex.Explainer(model, frame[:4], target="variance")(frame[:3])
    for row in range(3):
        interventional(output, X[row], X[:4])[0].assert_close(explanation.values[row])
        interventional(variance, X[row], X[:4])[0].assert_close(of_variance.values[row])
    # The sum of the values of a row is f(x) − mean f(background).
    rows = frame.iloc[[0, *range(4)]]
    _, covariance = model.predict(rows, return_cov=True)
    contrast = np.array([1.0, -0.25, -0.25, -0.25, -0.25])
    total = explanation.covariance(0).sum()
    np.testing.assert_allclose(total, contrast @ covariance @ contrast, rtol=1e-8)
    with pytest.raises(pkex.UnsupportedModelError, match="means over bags"):
        pkex.Explainer(model, frame, target="predictive_variance")
    with pytest.raises(pkex.errors.InputError, match="X has its columns in another order than the"):
        model.predict(frame[["slope", "height"]])


def test_it_is_cloned_and_pickled():
    model = fitted(kernel=Matern(1.0))
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict(NEW), model.predict(NEW))
    assert repr(clone(model)) == repr(model)


FLAT = {"kernel": pkex.kernels.RBF(1e9)}


def test_a_warning_tells_of_targets_far_from_all_rows():
    far = np.append(TARGET_MEDIATOR[:2], 50.0)
    with pytest.warns(UserWarning, match="1 of 3 targets have a target_mediator far from"):
        DeconditionalRegressor(**FIXED | {"mediator_kernel": RBF(3.0)}).fit(
            X, MEDIATORS[BAG], Y, far
        )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"conditional_mean": "cell"}, ValueError, "conditional_mean must be"),
        ({"kernel": "rbf"}, TypeError, "kernel must be a kernel of pkex.kernels"),
        ({"noise": 0.0}, ValueError, r"noise must be a finite number above 0, or None"),
        ({"noise": [1.0, 0.0, 1.0]}, ValueError, "noise has 0 in row 1, but variances must be"),
        ({"noise": [1.0, 2.0]}, ValueError, r"noise must have shape \(3,\)"),
        ({"noise": 1e-30} | FLAT, ValueError, "noise is below the rounding errors"),
        ({"noise": 1e-30, "regularization": None} | FLAT, ValueError, "Pass a larger noise"),
        ({"regularization": -1.0}, ValueError, "regularization must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must"),
        ({"n_inducing": 15}, ValueError, "n_inducing=15 is above the number of distinct rows"),
    ],
)
def test_wrong_parameters_are_named(options, error, message):
    with pytest.raises(error, match=message):
        fitted(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mediator": MEDIATORS}, r"mediator must have shape \(14,\) or \(14, n_columns\)"),
        ({"mediator": MEDIATORS[BAG].astype(str)}, "mediator must hold .* Number the bags"),
        (
            {"target_mediator": [-0.5, 1e4, 2.0]},
            r"has 10000 in row 1, which the kernel .* \(1 of 3 targets\)\. Leave these targets out",
        ),
        ({"y": Y[:1], "target_mediator": [1.0]}, "y must have two or more targets"),
        ({"target_mediator": [[1.0, 2.0]] * 3}, "must have the same columns"),
        ({"y": [1.0, np.nan, 2.0]}, "y has"),
    ],
)
def test_wrong_data_are_named(change, message):
    given = {"mediator": MEDIATORS[BAG], "y": Y, "target_mediator": TARGET_MEDIATOR} | change
    with pytest.raises(ValueError, match=message):
        DeconditionalRegressor(**FIXED).fit(X, **given)
    model = fitted()
    with pytest.raises(ValueError, match="mediator must have 1 column, as in fit; got 2"):
        model.predict_mean([[1.0, 2.0]])
    with pytest.raises(ValueError, match="both given"):
        model.predict(X, return_std=True, return_cov=True)


def test_columns_of_mediators_are_compared():
    given, new = ([table, table**2] for table in (MEDIATORS[BAG], TARGET_MEDIATOR))
    names = ["pressure", "pulse"]
    frame, other = (pd.DataFrame(dict(zip(names, own, strict=True))) for own in (given, new))
    options = FIXED | {"mediator_kernel": RBF([1.0, 2.0])}
    with pytest.raises(ValueError, match="target_mediator has its columns in another order than"):
        DeconditionalRegressor(**options).fit(X, frame, Y, other[names[::-1]])
    model = DeconditionalRegressor(**options).fit(X, frame, Y, other)
    with pytest.raises(ValueError, match=r"^mediator has its columns in another order than the me"):
        model.predict_mean(other[names[::-1]])
    np.testing.assert_array_equal(model.predict_mean(other), model.predict_mean(other.to_numpy()))
