"""Penalties of observational values: by all coalitions, or drawn ones."""

import numpy as np
import pytest
from brute_force import coalitions, shapley_weights
from scipy.spatial.distance import pdist
from sklearn.base import clone

import pkex
from pkex.kernels import RBF, Additive, Cauchy, Laplacian, Matern, Polynomial
from pkex.models import ShapleyRegularizedClassifier, ShapleyRegularizedRidge
from pkex.models.penalties.conditional_maps import (
    choose_coalitions,
    conditional_background,
    maps_by_coalitions,
)

# Values are those of the rows that a model is fitted to, which are its background.
pytestmark = pytest.mark.filterwarnings("ignore:.*are in the background themselves")

RNG = np.random.default_rng(0)
N, D = 30, 4
X = RNG.normal(size=(N, D))
X[:, 3] = 0.9 * X[:, 2] + 0.4 * X[:, 3]
Y = X @ [1.0, 2.0, 3.0, 4.0] + np.sin(2.0 * X[:, 0])
OPTIONS = {"features": [3, 0], "alpha": 0.1, "value_function": "observational"}


def brute_force(model, shares, regularization=1e-3):
    """Observational values of the training rows, through the model's own predictions."""
    comparing = RBF([np.median(pdist(column[:, None])) for column in X.T])
    worths = np.empty((2**D, N))
    for number, members in enumerate(coalitions(D)):
        weights = np.tile(shares, (N, 1))
        if members:
            kernel = RBF(np.array(comparing.length_scale)[members])(X[:, members])
            ridge = regularization * np.diag(1.0 / shares)
            weights = np.linalg.solve(kernel + ridge, kernel).T
            weights += (1.0 - weights.sum(axis=1))[:, None] * shares
        for t, row in enumerate(X):
            rows = X.copy()
            rows[:, members] = row[members]
            worths[number, t] = weights[t] @ model.predict(rows)
    return (shapley_weights(D) @ worths).T


@pytest.mark.parametrize("shares", [np.full(N, 1.0 / N), np.arange(1.0, N + 1) / 465.0])
@pytest.mark.parametrize("kernel", [None, 2.0 * Laplacian(3.0) * Cauchy(4.0) + RBF(2.0).on([0, 3])])
def test_what_is_penalised_are_the_values_by_brute_force(kernel, shares):
    without = ShapleyRegularizedRidge(**OPTIONS, kernel=kernel, penalty=0.0)
    with_one = ShapleyRegularizedRidge(**OPTIONS, kernel=kernel, penalty=1e3)
    objectives = []
    for model in (without.fit(X, Y, N * shares), with_one.fit(X, Y, N * shares)):
        f = model.kernel_expansion_
        values = brute_force(model, shares)
        explainer = pkex.Explainer(
            model, X, background_weights=shares, value_function="observational"
        )
        np.testing.assert_allclose(explainer.shap_values(X), values, rtol=0, atol=1e-8)
        squares = N * shares @ (model.predict(X) - Y) ** 2
        norm = f.coefficients @ f.kernel(X) @ f.coefficients
        penalties = shares @ (values[:, [3, 0]] ** 2).sum(axis=1)
        objectives.append((squares + 0.1 * norm, penalties))
    (loss, penalty), (other_loss, other_penalty) = objectives
    assert loss < other_loss
    assert other_penalty < 0.1 * penalty
    assert_no_slope(with_one, shares)


def assert_no_slope(model, shares):
    """No change of the coefficients lowers the sum of squares, norm and penalty."""
    f, K = model.kernel_expansion_, model.kernel_expansion_.kernel(X)

    def objective(a, b):
        changed = pkex.KernelExpansion(X, a, f.kernel, b)
        values = brute_force(changed, shares)[:, [3, 0]]
        squares = N * shares @ (changed.predict(X) - Y) ** 2
        return squares + 0.1 * a @ K @ a + 1e3 * shares @ (values**2).sum(axis=1)

    least = objective(f.coefficients, f.intercept)
    for seed in range(3):
        step = np.random.default_rng(seed).normal(size=N + 1)
        up, down = (
            objective(f.coefficients + t * step[1:], f.intercept + t * step[0])
            for t in (1e-3, -1e-3)
        )
        # Of a quadratic form: no slope, and the same curve to both sides.
        assert abs(up - down) <= 1e-6 * (up + down - 2.0 * least)


@pytest.mark.parametrize("features", [[3], [2, 3]])
def test_observational_values_fall_to_0_as_the_penalty_grows(features):
    sizes = []
    for penalty in (0.0, 1e2, 1e4, 1e9):
        options = OPTIONS | {"features": features, "penalty": penalty}
        model = ShapleyRegularizedRidge(**options).fit(X, Y)
        explainer = pkex.Explainer(model, X, value_function="observational")
        sizes.append(np.sqrt(np.mean(explainer.shap_values(X)[:, features] ** 2)))
    assert (np.diff(sizes) < 0.0).all()
    assert sizes[-1] <= 1e-3 * sizes[0]


def test_settings_of_the_game_are_taken():
    game = pkex.Observational(kernel=Laplacian(0.5), regularization=0.5)
    model = ShapleyRegularizedClassifier(**OPTIONS | {"value_function": game}).fit(X, Y > 0.0)
    assert_maps_are_values(model, game)
    values = pkex.Explainer(model, X, value_function=game).shap_values(X)[:, [3, 0]]
    others = pkex.Explainer(model, X, value_function="observational").shap_values(X)[:, [3, 0]]
    assert np.abs(values - others).max() > 0.1
    default = clone(model).set_params(value_function="observational").fit(X, Y > 0.0)
    assert np.abs(default.predict_proba(X) - model.predict_proba(X)).max() > 1e-3


KERNELS = {
    "a mixture": Matern(2.0, nu=1.5),
    "a sum with one": 0.5 * Matern(3.0, nu=2.5).on([0, 1, 2]) + RBF(2.0),
    "a power series": Polynomial(degree=2, gamma=0.3, coef0=1.0),
    "an additive one": Additive(RBF(1.5), order=2),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_that_are_no_products_are_penalised_as_well(name):
    options = OPTIONS | {"kernel": KERNELS[name], "penalty": 1e3}
    assert_maps_are_values(ShapleyRegularizedRidge(**options).fit(X, Y), "observational")


@pytest.mark.filterwarnings("ignore:n_landmarks=12 changes the values of coalitions")
@pytest.mark.parametrize("number", [12, N])
def test_weights_are_made_on_landmarks(number):
    game = pkex.Observational(n_landmarks=number, kernel=RBF(3.0))
    options = OPTIONS | {"value_function": game, "penalty": 1e6}
    model = ShapleyRegularizedRidge(**options).fit(X, Y)
    assert_maps_are_values(model, game)
    free = clone(model).set_params(penalty=0.0).fit(X, Y)
    before, after = (
        pkex.Explainer(each, X, value_function=game).shap_values(X)[:, [3, 0]]
        for each in (free, model)
    )
    assert np.abs(after).mean() < 0.01 * np.abs(before).mean()


@pytest.mark.parametrize("embedding", ["absent", "rows"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kernel", [RBF(2.0), Matern(2.0, nu=1.5)], ids=str)
def test_variants_are_penalised_without_the_intercept(kernel, normalize, embedding):
    game = pkex.Observational(normalize=normalize, embedding=embedding)
    options = OPTIONS | {"kernel": kernel, "penalty": 1e6, "value_function": game}
    model = ShapleyRegularizedRidge(**options).fit(X, Y)
    assert_maps_are_values(model, game)
    free = clone(model).set_params(penalty=0.0).fit(X, Y)
    values, before = (
        pkex.Explainer(without_intercept(each), X, value_function=game).shap_values(X)
        for each in (model, free)
    )
    assert np.abs(values[:, [3, 0]]).mean() < 0.01 * np.abs(before[:, [3, 0]]).mean()


def without_intercept(model):
    f = model.kernel_expansion_
    return pkex.KernelExpansion(f.points, f.coefficients, f.kernel)


def assert_maps_are_values(model, game):
    """The maps that are penalised give the values that the model is explained by."""
    f, shares = without_intercept(model), np.full(N, 1.0 / N)
    settings = game if isinstance(game, pkex.Observational) else pkex.Observational()
    conditioning = conditional_background(settings, X, shares, list("abcd"))
    maps = maps_by_coalitions(X, f.kernel, conditioning, choose_coalitions([3, 0], D, None, None))
    values = pkex.Explainer(f, X, value_function=game).shap_values(X)[:, [3, 0]]
    scale = np.abs(f.coefficients).sum() * f.kernel(X).max()
    np.testing.assert_allclose(f.coefficients @ maps, values.T, rtol=0, atol=1e-9 * scale)


def test_draws_are_seeded_and_come_near_all_coalitions():
    model = ShapleyRegularizedRidge(**OPTIONS, penalty=1e3)
    exact = model.fit(X, Y).predict(X)
    errors = []
    for n_coalitions in (2, 2000):
        model.set_params(n_coalitions=n_coalitions, random_state=0)
        drawn = model.fit(X, Y).predict(X)
        np.testing.assert_array_equal(model.fit(X, Y).predict(X), drawn)
        errors.append(np.abs(drawn - exact).max())
    assert errors[1] < 0.1 * errors[0]


def test_many_columns_take_draws():
    wide = np.random.default_rng(1).normal(size=(20, 16))
    model = ShapleyRegularizedRidge(**OPTIONS, penalty=1e3)
    with pytest.raises(ValueError, match=r"X has 16 columns, .* Pass n_coalitions, the number"):
        model.fit(wide, wide[:, 0])
    model.set_params(n_coalitions=30, random_state=0).fit(wide, wide[:, 0])
    assert np.isfinite(model.predict(wide)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_coalitions": 0}, "n_coalitions must be a positive integer, or None for all"),
        (
            {"n_coalitions": 5, "value_function": "marginal"},
            "n_coalitions requires value_function=",
        ),
        ({"n_coalitions": 5, "random_state": -1}, "random_state must be None, a non-negative"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ShapleyRegularizedRidge(**OPTIONS | options).fit(X, Y)


def test_constant_columns_change_nothing():
    constant = np.column_stack([X, np.ones(N)])
    model = ShapleyRegularizedRidge(**OPTIONS, kernel=RBF(2.0), penalty=1e3)
    plain = clone(model).fit(X, Y).predict(X)
    np.testing.assert_allclose(model.fit(constant, Y).predict(constant), plain, rtol=1e-8)
