"""Preference models of many pairs: the kernel expansion over a sample of the pairs."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from pkex.kernels import RBF, Categorical, Linear, Polynomial
from pkex.models import PreferenceLogistic, PreferenceRidge
from pkex.models.preferences import pair_kernel

RNG = np.random.default_rng(0)
N, M = 400, 60
ITEMS = RNG.normal(size=(30, 3))
FIRST = RNG.integers(30, size=N)
SECOND = (FIRST + RNG.integers(1, 30, size=N)) % 30
LEFT, RIGHT = ITEMS[FIRST], ITEMS[SECOND]
CONTEXT = RNG.normal(size=(8, 2))[RNG.integers(8, size=N)]
Y = LEFT[:, 0] - RIGHT[:, 0] + LEFT[:, 1] * RIGHT[:, 2] - RIGHT[:, 1] * LEFT[:, 2]
Y += RNG.normal(scale=0.5, size=N)
WEIGHTS = RNG.integers(3, size=N).astype(float)
MODELS = [PreferenceRidge, PreferenceLogistic]
IN_CONTEXTS = pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])


def output(model, *tables):
    return getattr(model, "decision_function", model.predict)(*tables)


def fitted(model, *tables, y=Y, weights=None, **options):
    options = {"alpha": 0.1, "n_centers": M, "random_state": 0} | options
    options = {"tol": 1e-18 if options["n_centers"] else 1e-12} | options
    target = y if model is PreferenceRidge else y > 0.0
    left, right, *context = tables or (LEFT, RIGHT)
    return model(**options).fit(left, right, target, *(context or [None]), weights)


def matrices(model, context):
    """The kernels between training pairs and centers, and between centers, as they are written."""
    centers = model.left_, model.right_, model.context_
    found = []
    for left, right, contexts in ((LEFT, RIGHT, context), centers):
        k = model.kernel_
        matrix = k(left, centers[0]) * k(right, centers[1])
        matrix -= k(left, centers[1]) * k(right, centers[0])
        if contexts is not None:
            matrix = matrix * model.context_kernel_(contexts, centers[2])
        found.append(matrix)
    return found


@IN_CONTEXTS
def test_the_ridge_solves_the_equations_of_its_centers(context):
    model = fitted(PreferenceRidge, LEFT, RIGHT, context, weights=WEIGHTS)
    between, among = matrices(model, context)
    normal = (between.T * WEIGHTS) @ between + 0.1 * among
    expected = np.linalg.solve(normal, between.T @ (WEIGHTS * Y))
    told = [] if context is None else [context]
    found = model.predict(LEFT, RIGHT, *told)
    np.testing.assert_allclose(found, between @ expected, rtol=0, atol=1e-8)
    assert model.n_centers_ == len(model.dual_coef_) == M
    # The default tolerance bounds the decrease of the objective that is left.
    close = fitted(PreferenceRidge, LEFT, RIGHT, context, weights=WEIGHTS, tol=1e-12)
    assert close.n_iter_ < model.n_iter_
    np.testing.assert_allclose(close.predict(LEFT, RIGHT, *told), found, rtol=0, atol=1e-5)


@IN_CONTEXTS
def test_the_logistic_loss_of_the_centers_has_its_minimum_at_the_model(context):
    model = fitted(PreferenceLogistic, LEFT, RIGHT, context, weights=WEIGHTS)
    between, among = matrices(model, context)
    signs = np.where(Y > 0.0, 1.0, -1.0)

    def objective(a):
        losses = np.logaddexp(0.0, -signs * (between @ a))
        return WEIGHTS @ losses + 0.1 * a @ among @ a

    def slope(a):
        odds = between @ a
        wrong = signs / (1.0 + np.exp(signs * odds))
        return 0.2 * among @ a - between.T @ (WEIGHTS * wrong)

    assert np.abs(slope(model.dual_coef_)).max() <= 1e-7
    start = np.zeros(M)
    theirs = minimize(objective, start, jac=slope, method="BFGS", options={"maxiter": 2000}).fun
    assert objective(model.dual_coef_) <= theirs + 1e-9
    assert 2 <= model.n_iter_ <= 20


def test_a_loose_tolerance_does_not_stop_at_a_larger_penalty():
    def objective(model):
        (kernel, among), coefficients = matrices(model, None), model.dual_coef_
        values = np.where(Y > 0.0, 1.0, -1.0) * (kernel @ coefficients)
        return np.logaddexp(0.0, -values).sum() + 1e-3 * coefficients @ among @ coefficients

    loose, best = (fitted(PreferenceLogistic, alpha=1e-3, tol=tol) for tol in (0.5, 1e-12))
    assert objective(best) < objective(loose) < 1.5 * objective(best)


@pytest.mark.parametrize("model", MODELS)
@IN_CONTEXTS
def test_with_all_distinct_pairs_as_centers_it_is_the_exact_fit(model, context):
    # Of 400 pairs, each of 100 is there four times, half of them swapped.
    rows = np.arange(N) % 100
    swapped = np.arange(N) >= 200
    left = np.where(swapped[:, None], RIGHT[rows], LEFT[rows])
    right = np.where(swapped[:, None], LEFT[rows], RIGHT[rows])
    y = np.where(swapped, -Y[rows], Y[rows]) + RNG.normal(scale=2.0, size=N)
    told = [] if context is None else [context[rows]]
    exact = fitted(model, left, right, *told, y=y, n_centers=None)
    found = fitted(model, left, right, *told, y=y, n_centers=200)
    assert exact.n_centers_ == N
    assert found.n_centers_ <= 100
    expected = output(exact, left, right, *told)
    np.testing.assert_allclose(output(found, left, right, *told), expected, rtol=0, atol=1e-7)
    # Means over all training pairs, contexts and items, not only over the centers.
    np.testing.assert_allclose(
        found.explain_items(LEFT[:3], RIGHT[:3]).values,
        exact.explain_items(LEFT[:3], RIGHT[:3]).values,
        rtol=0,
        atol=1e-6,
    )
    if context is not None:
        own, theirs = (each.explain_context(context[:3]) for each in (found, exact))
        np.testing.assert_allclose(own.values, theirs.values, rtol=0, atol=1e-6)
        np.testing.assert_allclose(own.base_values, theirs.base_values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_explanations_average_over_all_training_pairs_not_over_the_centers(model):
    found = fitted(model, LEFT, RIGHT, CONTEXT, weights=WEIGHTS)
    context = CONTEXT[:4]
    odds = [
        np.average(output(found, LEFT, RIGHT, np.tile(row, (N, 1))), weights=WEIGHTS)
        for row in context
    ]
    explanation = found.explain_context(context)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, odds, rtol=0, atol=1e-10)
    mean = [
        np.average(
            output(found, *(np.tile(side[i], (N, 1)) for side in (LEFT, RIGHT)), CONTEXT),
            weights=WEIGHTS,
        )
        for i in range(4)
    ]
    values = found.explain_items(LEFT[:4], RIGHT[:4]).values
    np.testing.assert_allclose(values.sum(axis=1), mean, rtol=0, atol=1e-10)
    used = np.unique(np.concatenate([LEFT, RIGHT])[np.tile(WEIGHTS, 2) > 0.0], axis=0)
    theirs = found.explain_items(LEFT[:4], RIGHT[:4], background=used, value_function="marginal")
    np.testing.assert_allclose(values, theirs.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
@IN_CONTEXTS
@pytest.mark.parametrize("n_centers", [None, M])
def test_a_pair_of_weight_2_is_there_twice_and_one_of_weight_0_is_not(model, context, n_centers):
    told = [] if context is None else [context]
    weighted = fitted(model, LEFT, RIGHT, *told, weights=WEIGHTS, n_centers=n_centers)
    rows = np.repeat(np.arange(N), WEIGHTS.astype(int))
    tables = [table[rows] for table in (LEFT, RIGHT, *told)]
    repeated = fitted(model, *tables, y=Y[rows], n_centers=n_centers)
    assert repeated.kernel_ == weighted.kernel_
    tolerance = {"rtol": 0, "atol": 1e-6}
    expected = output(repeated, LEFT, RIGHT, *told)
    np.testing.assert_allclose(output(weighted, LEFT, RIGHT, *told), expected, **tolerance)
    explained = [each.explain_items(LEFT[:2], RIGHT[:2]).values for each in (weighted, repeated)]
    np.testing.assert_allclose(*explained, **tolerance)
    if told:
        explained = [each.explain_context(CONTEXT[:2]).values for each in (weighted, repeated)]
        np.testing.assert_allclose(*explained, **tolerance)
    target = Y if model is PreferenceRidge else Y > 0.0
    score = weighted.score(LEFT, RIGHT, target, *(told or [None]), WEIGHTS)
    of_repeated = weighted.score(*tables[:2], target[rows], *tables[2:])
    assert score == pytest.approx(of_repeated, abs=1e-12)
    assert score != weighted.score(LEFT, RIGHT, target, *told)


@pytest.mark.parametrize("model", MODELS)
def test_the_seed_determines_the_centers(model):
    one, other, third = (fitted(model, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.left_, other.left_)
    np.testing.assert_array_equal(output(one, LEFT, RIGHT), output(other, LEFT, RIGHT))
    assert not np.array_equal(one.left_, third.left_)


def test_many_pairs_have_centers_by_default(monkeypatch):
    monkeypatch.setattr("pkex.models.preferences.preference._MIN_CENTERS", 50)
    model = fitted(PreferenceRidge, n_centers="auto")
    assert model.n_centers_ == 10 * np.sqrt(N)
    assert model.n_iter_ >= 1
    monkeypatch.setattr("pkex.models.preferences.preference._MIN_CENTERS", N)
    model = fitted(PreferenceRidge, n_centers="auto")
    assert (model.n_centers_, model.n_iter_) == (N, None)


@pytest.mark.parametrize("model", MODELS)
def test_dependent_centers_are_left_out(model):
    first, second = FIRST % 4, (FIRST + 1 + SECOND % 3) % 4
    left, right = np.column_stack([first, np.arange(N)]), np.column_stack([second, -np.arange(N)])
    kernel = Categorical().on([0])
    found, exact = (
        fitted(model, left, right, kernel=kernel, n_centers=number) for number in (M, None)
    )
    assert found.n_centers_ == 6
    expected = output(exact, left, right)
    np.testing.assert_allclose(output(found, left, right), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_kernel_values_are_kept_in_blocks_of_pairs(model):
    n, m = 20_000, 200
    rows = np.arange(n) % N
    left, right = LEFT[rows], RIGHT[rows]
    y = Y[rows] + RNG.normal(size=n)
    tracemalloc.start()
    found = fitted(model, left, right, y=y, n_centers=m, tol=1e-6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_centers_ == m
    # The kernel between pairs and centers has 32 MB.
    assert peak < 16e6


@pytest.mark.parametrize("model", MODELS)
def test_kernel_values_that_are_too_many_to_keep_are_computed_again(model, monkeypatch):
    kept = fitted(model, LEFT, RIGHT, CONTEXT)
    monkeypatch.setattr(pair_kernel, "_MAX_KEPT", 0)
    monkeypatch.setattr(pair_kernel, "_BLOCK", 7 * M)
    found = fitted(model, LEFT, RIGHT, CONTEXT)
    np.testing.assert_array_equal(found.left_, kept.left_)
    expected = output(kept, LEFT, RIGHT, CONTEXT)
    np.testing.assert_allclose(output(found, LEFT, RIGHT, CONTEXT), expected, rtol=0, atol=1e-8)


# --- bad input ---


@pytest.mark.parametrize("model", MODELS)
def test_a_fit_that_does_not_converge_warns_with_both_classes(model):
    with pytest.warns(ConvergenceWarning, match=r"in 1 steps\. Increase max_iter=1 or a") as found:
        fitted(model, max_iter=1)
    assert found[0].filename == __file__
    assert found[0].category.__module__.startswith("pkex.")
    with warnings.catch_warnings(action="error"):
        fitted(model, alpha=1e-4, tol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_centers": 0}, "n_centers must be a positive integer, 'auto' or None; got 0"),
        ({"n_centers": "all"}, "n_centers must be a positive integer, 'auto' or None; got 'all'"),
        ({"random_state": -1}, "random_state must be None, a non-negative integer"),
        ({"tol": 0.0}, "tol must be a finite number above 0"),
        ({"max_iter": 0}, "max_iter must be a positive integer"),
        ({"weights": -WEIGHTS}, "sample_weight must not be negative; got .* row"),
        ({"weights": WEIGHTS[:-1]}, "sample_weight .*400"),
        ({"context_kernel": Polynomial(3, 1.0, -50.0)}, "must be positive semidefinite, but RBF"),
        ({"kernel": 1e200 * RBF()}, "overflows between rows of left and right"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_parameters_out_of_range_raise_errors(model, options, message):
    context = CONTEXT if "context_kernel" in options else None
    with pytest.raises(ValueError, match=message):
        fitted(model, LEFT, RIGHT, context, **options)


def test_an_alpha_below_rounding_errors_has_to_be_larger():
    with pytest.raises(ValueError, match=r"alpha=1e-30 is below the rounding errors .* Increase"):
        fitted(PreferenceLogistic, alpha=1e-30, kernel=RBF(30.0))


@pytest.mark.parametrize("model", MODELS)
def test_a_kernel_that_overflows_away_from_the_centers_raises_an_error(model):
    context = CONTEXT.copy()
    context[7] = 1e200
    with pytest.raises(ValueError, match="overflows between rows of left and right"):
        fitted(model, LEFT, RIGHT, context, context_kernel=Linear(), n_centers=5)
