"""Models with penalised Shapley values: what is penalised, what is least, and the limits."""

import warnings

import numpy as np
import pytest
from brute_force import coalitions, interventional, marginal, shapley_weights
from explainable_functions import ALPHAS, KERNELS, POINTS, UNITS
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression

import pkex
from pkex.execution.computation import Computation
from pkex.games.value_functions import Game
from pkex.kernels import RBF, Laplacian
from pkex.models import ShapleyRegularizedClassifier, ShapleyRegularizedRidge
from pkex.models.penalties.value_maps import maps_by_engine
from pkex.tables.weights import equal_weights

RNG = np.random.default_rng(0)
N = 40
X = RNG.normal(size=(N, 4))
X[:, 3] = 0.8 * X[:, 2] + 0.6 * X[:, 3]
Y = X @ [1.0, -2.0, 3.0, 0.5] + np.sin(2.0 * X[:, 0]) * X[:, 2] + 5.0
TWO = np.where(Y + RNG.normal(size=N) > 5.0, "ill", "healthy")
THREE = np.digitize(Y, [4.0, 7.0])
WEIGHTS = RNG.integers(0, 4, size=N).astype(float)
KERNEL = RBF([1.0, 2.0, 1.5, 3.0])
OPTIONS = {"features": [2, 3], "penalty": 50.0, "alpha": 0.3, "kernel": KERNEL}


def values(model, rows=X, **options):
    return pkex.Explainer(model, X, **options)(rows).values


def maps(points, kernel, features, weights=None):
    """ζ of features, by brute force over coalitions: n × n each."""
    weights = equal_weights(len(points)) if weights is None else weights
    worths = np.zeros((2 ** points.shape[1], len(points), len(points)))
    for number, members in enumerate(coalitions(points.shape[1])):
        for t, row in enumerate(points):
            rows = points.copy()
            rows[:, members] = row[members]
            worths[number, :, t] = kernel(points, rows) @ weights
    return np.tensordot(shapley_weights(points.shape[1])[features], worths, axes=1)


# --- what is penalised ---


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_linear_maps_of_coefficients_of_any_kernel(name):
    points, kernel = UNITS.get(name, 1.0) * POINTS[:9], KERNELS[name]
    features, alphas = [3, 0], ALPHAS[: len(points)]
    game = Game("interventional", (points, equal_weights(len(points))))
    found = maps_by_engine(points, kernel, game, features, Computation())
    model = pkex.KernelExpansion(points, alphas, kernel)
    for t, row in enumerate(points):
        expected, _ = interventional(model.predict, row, points)
        scale = expected.scale.max()
        own = [alphas @ zeta[:, t] for zeta in found]
        np.testing.assert_allclose(own, expected.values[features], rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
def test_the_values_penalised_are_those_that_the_explainer_finds(value_function):
    few = X[:4]
    game = Game(value_function, (few, np.array([0.4, 0.3, 0.2, 0.1])))
    found = maps_by_engine(few, KERNEL, game, range(4), Computation())
    model = ShapleyRegularizedRidge(**OPTIONS, value_function=value_function)
    model.fit(few, Y[:4], sample_weight=game.background[1])
    own = pkex.Explainer(model, few, background_weights=game.background[1])
    brute_force = interventional if value_function == "interventional" else marginal
    coefficients = model.kernel_expansion_.coefficients
    for t, row in enumerate(few):
        expected, _ = brute_force(model.predict, row, few, game.background[1])
        np.testing.assert_allclose(coefficients @ found[:, :, t].T, expected.values, atol=1e-9)
        if value_function == "interventional":
            np.testing.assert_allclose(own.shap_values(row[None])[0], expected.values, atol=1e-9)


# --- what is least ---


def slopes(model, losses_slope, weights, multiple):
    """Derivatives of the objective by coefficients and intercept, and the sizes of their terms."""
    f = model.kernel_expansion_
    points, a = f.points, f.coefficients
    shares = weights / weights.sum()
    K = f.kernel(points)
    outer = weights * losses_slope
    of_values = [
        2.0 * multiple * zeta @ (shares * (zeta.T @ a))
        for zeta in maps(points, f.kernel, model.features, shares)
    ]
    parts = [K @ outer, 2.0 * model.alpha * K @ a, *of_values]
    return sum(parts), outer.sum(), sum(np.abs(part) for part in parts).max()


@pytest.mark.parametrize("penalty", [0.0, 50.0, 1e5])
@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["equal", "weighted"])
def test_the_sum_of_squares_and_penalties_has_no_slope_where_the_model_is(weights, penalty):
    model = ShapleyRegularizedRidge(**OPTIONS | {"penalty": penalty}).fit(X, Y, weights)
    kept = weights > 0.0
    residuals = model.predict(X[kept]) - Y[kept]
    slope, of_intercept, scale = slopes(model, 2.0 * residuals, weights[kept], penalty)
    assert np.abs(slope).max() <= 1e-9 * scale
    assert abs(of_intercept) <= 1e-9 * scale


@pytest.mark.parametrize("penalty", [0.0, 20.0, 1e4])
@pytest.mark.parametrize("weights", [np.ones(N), WEIGHTS], ids=["equal", "weighted"])
def test_the_logistic_loss_and_penalties_have_no_slope_where_the_model_is(weights, penalty):
    model = ShapleyRegularizedClassifier(**OPTIONS | {"penalty": penalty}).fit(X, TWO, weights)
    kept = weights > 0.0
    wrong = expit(model.decision_function(X[kept])) - (TWO[kept] == "ill")
    slope, of_intercept, scale = slopes(model, wrong, weights[kept], penalty)
    assert np.abs(slope).max() <= 1e-9 * scale
    assert abs(of_intercept) <= 1e-9 * scale
    assert 2 <= model.n_iter_ <= 20


def test_without_a_penalty_it_is_scikit_learns_kernel_ridge_around_the_intercept():
    for options in ({"penalty": 0.0}, {"features": ()}):
        model = ShapleyRegularizedRidge(**OPTIONS | {"kernel": RBF(1.5)} | options).fit(X, Y)
        intercept = model.kernel_expansion_.intercept
        theirs = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5 / 1.5**2).fit(X, Y - intercept)
        rows = RNG.normal(size=(20, 4))
        np.testing.assert_allclose(
            model.predict(rows), theirs.predict(rows) + intercept, rtol=0, atol=1e-9
        )
        assert abs(np.mean(model.predict(X) - Y)) <= 1e-11


def test_without_a_penalty_it_is_scikit_learns_logistic_regression_of_the_kernel():
    options = {"features": 1, "penalty": 0.0, "alpha": 0.25, "kernel": Laplacian(2.0)}
    model = ShapleyRegularizedClassifier(**options).fit(X, TWO)
    root = np.linalg.cholesky(model.kernel_expansion_.kernel(X))
    theirs = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(root, TWO)
    np.testing.assert_allclose(
        model.decision_function(X), theirs.decision_function(root), rtol=0, atol=1e-6
    )
    assert model.classes_.tolist() == theirs.classes_.tolist() == ["healthy", "ill"]


def test_several_classes_are_each_told_from_the_rest():
    model = ShapleyRegularizedClassifier(**OPTIONS).fit(X, THREE)
    decided = model.decision_function(X)
    assert decided.shape == (N, 3)
    for number in range(3):
        one = ShapleyRegularizedClassifier(**OPTIONS).fit(X, number == THREE)
        np.testing.assert_allclose(decided[:, number], one.decision_function(X), atol=1e-9)
    assert (model.predict(X) == decided.argmax(axis=1)).all()
    shares = expit(decided)
    np.testing.assert_allclose(
        model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), atol=1e-15
    )


def test_weights_are_numbers_of_copies():
    times = WEIGHTS.astype(int)
    copies = np.repeat(X, times, axis=0)
    options = OPTIONS | {"kernel": None}
    for model, target, output in (
        (ShapleyRegularizedRidge(**options), Y, "predict"),
        (ShapleyRegularizedClassifier(**options), TWO, "decision_function"),
    ):
        weighted = getattr(model.fit(X, target, WEIGHTS), output)(X)
        copied = getattr(model.fit(copies, np.repeat(target, times)), output)(X)
        np.testing.assert_allclose(weighted, copied, rtol=0, atol=1e-8)


# --- what becomes of the values ---


@pytest.mark.parametrize("features", [[2], [0, 2], [0, 1, 2, 3]])
@pytest.mark.parametrize(
    ("model", "target"),
    [(ShapleyRegularizedRidge(alpha=0.1), Y), (ShapleyRegularizedClassifier(alpha=0.1), TWO)],
    ids=["ridge", "classifier"],
)
def test_values_of_the_named_features_fall_to_0_as_the_penalty_grows(model, target, features):
    model.set_params(features=features)
    sizes = []
    for penalty in (0.0, 10.0, 1e3, 1e5, 1e7, 1e10):
        model.set_params(penalty=penalty).fit(X, target)
        sizes.append(np.sqrt(np.mean(values(model)[:, features] ** 2)))
    assert (np.diff(sizes) < 0.0).all()
    assert sizes[-1] <= 1e-3 * sizes[0]


def test_what_is_not_named_goes_on_being_used():
    fitted = [
        ShapleyRegularizedRidge(2, penalty=penalty, alpha=0.1).fit(X, Y) for penalty in (0, 1e4)
    ]
    before, after = (np.abs(values(model)).mean(axis=0) for model in fitted)
    assert after[2] < 0.01 * before[2]
    assert (after[[0, 1]] > 0.7 * before[[0, 1]]).all()
    # The column that goes along with the one named takes its place.
    assert after[3] > 1.5 * before[3]


def test_a_small_alpha_and_a_large_penalty_leave_no_rounding_errors():
    model = ShapleyRegularizedRidge(2, penalty=1e12, alpha=1e-10, kernel=RBF(20.0)).fit(X, Y)
    assert np.abs(model.predict(X)).max() < 100.0
    assert np.abs(values(model)[:, 2]).max() < 1e-3


# --- convergence ---


def test_steps_that_do_not_suffice_are_warned_of():
    model = ShapleyRegularizedClassifier(**OPTIONS, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="in 1 steps. Increase max_iter=1"):
        model.fit(X, TWO)
    assert model.n_iter_ == 1


def test_newtons_method_converges_where_classes_are_separable():
    rows = np.array([[0.0], [1.0], [100.0], [101.0]])
    with warnings.catch_warnings(action="error"):
        model = ShapleyRegularizedClassifier(alpha=1e-12, kernel=RBF(30.0))
        model.fit(rows, [0, 0, 1, 1])
    assert model.predict(rows).tolist() == [0, 0, 1, 1]


def test_the_number_of_threads_does_not_matter():
    outputs = [
        ShapleyRegularizedRidge(**OPTIONS, n_jobs=n_jobs).fit(X, Y).predict(X) for n_jobs in (1, 3)
    ]
    np.testing.assert_array_equal(*outputs)
