"""Sensitivity indices against brute force: conditional means of the model's output on a grid."""

import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from brute_force_sensitivity import Grid, grid_of_rows
from explainable import NAMES, explainable
from scipy import stats
from sklearn.compose import ColumnTransformer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import pkex
from pkex.kernels import RBF, Polynomial

RNG = np.random.default_rng(1)
POINTS = RNG.normal(size=(20, 4))
ALPHAS = RNG.normal(size=20)
ROWS = RNG.normal(size=(4, 4))
EXPANSION = pkex.KernelExpansion(POINTS, ALPHAS, RBF([1.0, 0.5, 2.0, 8.0]), 3.0)

# The only one that does not vary.
CONSTANT = "kernel Constant"
# Those that are no sums of products.
NO_PRODUCTS = (
    *("Variance", "inked", "RWSign", "RWReLU", "pygam", "Exponential of a kernel"),
    "FastKernelSurvivalSVM of times",
)
OTHERS = [name for name in NAMES if any(one in name for one in NO_PRODUCTS)]


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_sum_of_products_is_refused(name):
    found = explainable(name)
    with pytest.raises(pkex.UnsupportedModelError, match=r"is not .*a sum of products over"):
        pkex.sensitivity(found.model, found.background[[0, 2, 4]])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in (*OTHERS, CONSTANT)])
def test_whatever_is_explained_has_the_indices_of_conditional_means(name):
    found = explainable(name)
    rows = found.background[[0, 2, 4]]
    result = pkex.sensitivity(found.model, rows, order=2)
    grid_of_rows(found.output, rows).assert_close(result)


def test_sums_of_terms_have_the_indices_of_conditional_means():
    table = RNG.normal(size=(3, 2, 4))
    edges = [-0.3, 0.4], [0.0], [-1.0, 0.0, 1.0]
    for several in (False, True):
        own = np.stack([table, -(table**2)], axis=-1) if several else table

        def wave(entries, several=several):
            return np.stack([np.sin(entries), entries], axis=1) if several else np.sin(entries)

        f = pkex.TermExpansion(
            [([3, 0, 2], edges, own), (1, wave), (0, [0.0], own[0, :, 0])],
            [1.0, 2.0] if several else 1.0,
        )
        grid_of_rows(f.predict, ROWS).assert_close(pkex.sensitivity(f, ROWS, order=2))


def test_steps_of_tables_are_met_by_rules_of_distributions():
    f = pkex.TermExpansion([(0, [0.25], [0.0, 1.0]), (1, np.square)])
    result = pkex.sensitivity(f, [stats.uniform(0.0, 1.0), stats.norm(0.0, 1.0)])
    np.testing.assert_allclose(result.variance, 0.25 * 0.75 + 2.0, rtol=1e-12)


def test_products_meet_the_moments_of_distributions():
    # Variances of independent factors: E g² ∏ E h² − (E g ∏ E h)². E exp(s N) = exp(s²/2).
    f = pkex.ProductExpansion([{0: np.exp, 1: ([0.25], [0.0, 1.0])}], [3.0])
    result = pkex.sensitivity(f, [stats.norm(0.0, 0.5), stats.uniform(0.0, 1.0)])
    of_exp = np.exp(0.125), np.exp(0.5)
    np.testing.assert_allclose(
        result.variance, 9.0 * (of_exp[1] * 0.75 - (of_exp[0] * 0.75) ** 2), rtol=1e-12
    )
    first = 9.0 * 0.75**2 * (of_exp[1] - of_exp[0] ** 2)
    np.testing.assert_allclose(result.first_order[0], first / result.variance, rtol=1e-12)


@pytest.mark.parametrize("slope", [0.5, 1.8, 5.0])
@pytest.mark.parametrize("unit", [1e-6, 1.0])
def test_factors_that_grow_over_tails_are_integrated_there(slope, unit):
    # E exp(s N)² = exp(2 s²), most of it 2 s standard deviations from the mean.
    f = pkex.ProductExpansion([{0: partial(growing, slope, unit)}], [1.0])
    variance = pkex.sensitivity(f, [stats.norm(0.0, 1.0)]).variance
    expected = unit**2 * np.exp(slope**2) * np.expm1(slope**2)
    np.testing.assert_allclose(variance, expected, rtol=1e-11)


def growing(slope, unit, column):
    with np.errstate(over="ignore"):
        return unit * np.exp(slope * column)


@pytest.mark.parametrize("distribution", [stats.lognorm(0.5), stats.expon(scale=0.6)])
def test_variances_that_are_infinite_are_errors(distribution):
    f = pkex.ProductExpansion([{0: partial(growing, 1.0, 1.0)}], [1.0])
    with pytest.raises(ValueError, match="grows so fast that its variance is infinite, or out of"):
        pkex.sensitivity(f, [distribution])


def test_terms_of_several_columns_that_are_functions_are_refused():
    f = pkex.TermExpansion([(0, np.sin), ([1, 2], np.multiply)])
    message = r"terms\[1\], a function of 2 columns, is not known to be a sum .* tables over bins"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.sensitivity(f, ROWS[:, :3])


def test_rows_have_weights():
    weights = [1.0, 0.0, 2.5, 0.5]
    result = pkex.sensitivity(EXPANSION, ROWS, weights=weights, order=2)
    grid_of_rows(EXPANSION.predict, ROWS, weights).assert_close(result)


def test_equal_entries_count_as_often_as_they_occur():
    rows = ROWS[[0, 1, 1, 2]]
    result = pkex.sensitivity(EXPANSION, rows)
    weights = np.array([1.0, 2.0, 1.0]) / 4.0
    Grid(EXPANSION.predict, list(ROWS[:3].T), [weights] * 4).assert_close(result)


def test_groups_are_inputs_of_their_own():
    groups = {"both": ["x0", "x2"]}
    result = pkex.sensitivity(EXPANSION, ROWS, groups=groups, order=2)
    assert result.feature_names == ["both", "x1", "x3"]
    grid_of_rows(EXPANSION.predict, ROWS, groups=[[0, 2], [1], [3]]).assert_close(result)


def test_additive_functions_have_the_variances_of_their_parts():
    # Σ_j k(x_j, p_j), each of its own column.
    kernel = sum(RBF(0.5 + j).on([j]) for j in range(4))
    f = pkex.KernelExpansion(POINTS[:1], [2.0], kernel)
    result = pkex.sensitivity(f, ROWS, order=2)
    parts = [RBF(0.5 + j)(ROWS[:, [j]], POINTS[:1, [j]]) for j in range(4)]
    shares = np.array([np.var(2.0 * part) for part in parts])
    assert np.isclose(result.variance, shares.sum(), rtol=1e-13, atol=0.0)
    for indices in (result.first_order, result.shapley_effects, result.total):
        np.testing.assert_allclose(indices, shares / shares.sum(), rtol=1e-12)
    assert np.nanmax(np.abs(result.second_order)) < 1e-15


def test_products_of_functions_have_their_closed_form():
    f = pkex.KernelExpansion(POINTS[:1], [2.0], RBF([1.0, 0.5, 2.0, 8.0]))
    parts = [RBF(s)(ROWS[:, [j]], POINTS[:1, [j]]) for j, s in enumerate([1.0, 0.5, 2.0, 8.0])]
    ratios = np.array([np.var(part) / np.mean(part) ** 2 for part in parts])
    variance = np.prod(1.0 + ratios) - 1.0
    result = pkex.sensitivity(f, ROWS, order=2)
    total = ratios * np.prod(1.0 + ratios) / (1.0 + ratios) / variance
    np.testing.assert_allclose(result.first_order, ratios / variance, rtol=1e-12)
    np.testing.assert_allclose(result.total, total, rtol=1e-12)
    assert np.isclose(result.second_order[0, 1], ratios[0] * ratios[1] / variance, rtol=1e-12)


def test_equal_columns_have_equal_indices_and_unused_ones_none():
    points = POINTS[:, [0, 0, 1, 2]]
    f = pkex.KernelExpansion(points, ALPHAS, RBF([1.0, 1.0, 3.0]).on([0, 1, 2]))
    result = pkex.sensitivity(f, ROWS[:, [0, 0, 1, 2]])
    assert np.isclose(result.shapley_effects[0], result.shapley_effects[1], rtol=1e-13)
    assert result.shapley_effects[3] == result.first_order[3] == result.total[3] == 0.0


def test_many_rows_and_points_are_as_exact_as_few():
    # Enough nodes for several chunks and directions, of which few are left.
    f = pkex.KernelExpansion(np.repeat(POINTS, 40, axis=0), np.repeat(ALPHAS, 40) / 40, RBF(1.5))
    few = pkex.KernelExpansion(POINTS, ALPHAS, RBF(1.5))
    rows = RNG.normal(size=(600, 4))
    many, expected = (pkex.sensitivity(g, rows) for g in (f, few))
    np.testing.assert_allclose(many.shapley_effects, expected.shapley_effects, rtol=1e-11)
    single = [[0.0] * 4, [1.0] * 4]
    weighted = pkex.sensitivity(few, single, weights=[3.0, 1.0])
    repeated = pkex.sensitivity(few, [single[0]] * 3 + [single[1]])
    np.testing.assert_allclose(weighted.total, repeated.total, rtol=1e-13)


def test_a_gaussian_process_fitted_to_ishigami_has_its_indices():
    a, b = 7.0, 0.1
    variance = a**2 / 8 + b * np.pi**4 / 5 + b**2 * np.pi**8 / 18 + 0.5
    first = [0.5 * (1 + b * np.pi**4 / 5) ** 2 / variance, a**2 / 8 / variance, 0.0]
    both = b**2 * np.pi**8 * (1 / 18 - 1 / 50) / variance
    X = (stats.qmc.Sobol(3, seed=0).random(1024) * 2.0 - 1.0) * np.pi
    y = np.sin(X[:, 0]) + a * np.sin(X[:, 1]) ** 2 + b * X[:, 2] ** 4 * np.sin(X[:, 0])
    kernel = 100.0 * GPRBF([1.5, 1.5, 2.0])
    model = GaussianProcessRegressor(kernel, alpha=1e-6, optimizer=None, normalize_y=True)
    result = pkex.sensitivity(model.fit(X, y), [stats.uniform(-np.pi, 2.0 * np.pi)] * 3, order=2)
    assert abs(result.variance / variance - 1.0) < 2e-3
    np.testing.assert_allclose(result.first_order, first, atol=1e-3)
    np.testing.assert_allclose(result.total, [first[0] + both, first[1], both], atol=1e-3)
    halves = [first[0] + both / 2, first[1], both / 2]
    np.testing.assert_allclose(result.shapley_effects, halves, atol=1e-3)
    assert abs(result.second_order[0, 2] - both) < 1e-3


def test_kernels_with_kinks_are_exact_for_rows():
    rows = RNG.normal(size=(30, 2))
    model = KernelRidge(kernel="laplacian", gamma=0.7).fit(
        RNG.normal(size=(40, 2)), ALPHAS.repeat(2)
    )
    grid_of_rows(model.predict, rows).assert_close(pkex.sensitivity(model, rows, order=2))


def test_huge_coefficients_that_cancel_leave_no_rounding_errors():
    # An interpolating process: products of two coefficients are 1e14 times the variance.
    X = stats.qmc.Sobol(2, seed=0).random(256)
    y = np.sin(5.0 * X[:, 0]) + X[:, 0] * X[:, 1] ** 2
    kernel = 100.0 * GPRBF([1.0, 1.0])
    model = GaussianProcessRegressor(kernel, alpha=1e-11, optimizer=None).fit(X, y)
    assert (100.0 * model.alpha_**2).sum() > 1e13 * y.var()
    result = pkex.sensitivity(model, [stats.uniform()] * 2, order=2)
    assert result.notes == ()
    nodes, weights = on_gauss_nodes(24, 0.0, 1.0)
    Grid(model.predict, [nodes] * 2, [weights] * 2).assert_close(result, 1e-7)


@pytest.mark.parametrize("groups", [[[0, 1], [2, 3]], [[0, 2, 3], [1]], [[0, 1, 2, 3]]])
def test_rounding_errors_are_found_whatever_the_groups(groups):
    # Products of two coefficients are 1e15 times the variance.
    X = stats.qmc.Sobol(4, seed=0).random(128)
    y = np.sin(5.0 * X[:, 0]) + X[:, 1] * X[:, 2] ** 2 + X[:, 3]
    model = GaussianProcessRegressor(100.0 * GPRBF([1.5] * 4), optimizer=None).fit(X, y)
    named = {f"group {number}": own for number, own in enumerate(groups)}
    result = pkex.sensitivity(model, [stats.uniform()] * 4, groups=named)
    nodes, weights = on_gauss_nodes(9, 0.0, 1.0)
    grid = Grid(model.predict, [nodes] * 4, [weights] * 4, groups)
    assert result.notes == ()
    grid.assert_close(result, 1e-6)


MANY = RNG.normal(size=(80, 2))


def unit_free(unit):
    """Polynomials of two columns: fitted to some, and with others of all sizes beside them."""
    X = POINTS[:, :2] * unit
    gamma = 1.0 / max(unit) ** 2
    kernel = Polynomial(3, gamma=gamma, coef0=1.0) + 0.5 * RBF(unit)
    return [
        KernelRidge(kernel="poly", degree=3, gamma=gamma, coef0=1.0, alpha=0.1).fit(X, ALPHAS),
        SVR(kernel="poly", gamma="scale").fit(X, ALPHAS),
        pkex.KernelExpansion(X, ALPHAS, kernel),
    ]


@pytest.mark.parametrize("unit", [[1e-6, 1e-6], [1e5, 1e5], [1e5, 1.0], [1.0, 1e-5]])
@pytest.mark.parametrize("number", range(3))
def test_polynomials_do_not_depend_on_the_units_of_columns(unit, number):
    model, rows = unit_free(unit)[number], MANY * unit
    grid_of_rows(model.predict, rows).assert_close(pkex.sensitivity(model, rows), 1e-11)


def test_polynomials_of_distributions_do_not_depend_on_the_units_of_columns():
    unit = 1e-6
    frozen = [stats.norm(0.0, unit), stats.uniform(-unit, 2.0 * unit)]
    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    entries, shares = on_gauss_nodes(8, -unit, unit)
    for model in unit_free([unit, unit])[:2]:
        grid = Grid(model.predict, [nodes * unit, entries], [weights / weights.sum(), shares])
        grid.assert_close(pkex.sensitivity(model, frozen))


def on_gauss_nodes(n_nodes, low, high):
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return low + (high - low) * (nodes + 1.0) / 2.0, weights / 2.0


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_pipelines_are_analysed_in_the_columns_that_they_get(kernel):
    X = POINTS[:, :2] * [1e-3, 1e3] + [0.0, 5e3]
    model = make_pipeline(StandardScaler(), KernelRidge(kernel=kernel, gamma=0.3)).fit(X, ALPHAS)
    frozen = [stats.uniform(-1e-3, 2e-3), stats.uniform(4e3, 2e3)]
    result = pkex.sensitivity(model, frozen, order=2)
    # Between the kinks of the Laplacian kernel, which are at the points.
    grid = []
    for column, (low, high) in zip(X.T, [(-1e-3, 1e-3), (4e3, 6e3)], strict=True):
        edges = np.unique([low, high, *column[(column > low) & (column < high)]])
        parts = [on_gauss_nodes(8, a, b) for a, b in itertools.pairwise(edges)]
        shares = np.diff(edges) / (high - low)
        weights = [share * own for share, (_, own) in zip(shares, parts, strict=True)]
        grid.append((np.concatenate([nodes for nodes, _ in parts]), np.concatenate(weights)))
    (u, v), (w, x) = zip(*grid, strict=True)
    Grid(model.predict, [u, v], [w, x]).assert_close(result)


def test_data_frames_name_the_inputs_and_may_hold_strings():
    frame = pd.DataFrame({"soil": ["clay", "sand", "silt"] * 4, "depth": np.arange(12.0)})
    y = np.sin(frame["depth"]) + (frame["soil"] == "sand")
    encoder = ColumnTransformer([("soil", OneHotEncoder(), ["soil"])], remainder="passthrough")
    model = make_pipeline(encoder, KernelRidge(kernel="rbf", gamma=0.5)).fit(frame, y)
    result = pkex.sensitivity(model, frame, order=2)
    assert result.feature_names == ["soil", "depth"]
    entries = [np.array(["clay", "sand", "silt"], dtype=object), frame["depth"].to_numpy()]

    def predict(rows):
        return model.predict(pd.DataFrame(rows, columns=frame.columns).astype({"depth": float}))

    Grid(predict, entries, [np.full(3, 1 / 3), np.full(12, 1 / 12)]).assert_close(result)


def test_a_single_input_explains_everything():
    f = pkex.KernelExpansion(POINTS[:, :1], ALPHAS, RBF())
    result = pkex.sensitivity(f, ROWS[:, :1], order=2)
    for indices in (result.first_order, result.total, result.shapley_effects):
        np.testing.assert_allclose(indices, [1.0], rtol=1e-13)
    assert result.second_order.shape == (1, 1)
