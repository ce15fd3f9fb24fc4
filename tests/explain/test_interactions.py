"""Interactions equal their definitions."""

import time
import warnings
from math import comb

import numpy as np
import pytest
from brute_force_interactions import exact, interventional_worths, marginal_worths, neutral_worths
from interaction_models import ROWS, SINGLE, SVR_MODEL, THREE, D, X, Y, Z
from mpmath import mp
from shapiq.game_theory.exact import ExactComputer
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import pkex
from pkex import kernels
from pkex.explain.interaction_values import check_interactions
from pkex.games.indices import INDICES
from pkex.integrations.shapiq import ProductKernelExplainer

GROUPS = {"pair": [0, 3], "last": [4, 5]}
OF_GROUPS = [[0, 3], [1], [2], [4, 5]]


def worths_of(x, game, groups):
    if game == "neutral":
        return neutral_worths(
            lambda a, b: rbf_kernel(a, b, gamma=0.3),
            x,
            SVR_MODEL.support_vectors_,
            SVR_MODEL.dual_coef_[0],
            SVR_MODEL.intercept_[0],
            groups,
        )
    worths = interventional_worths if game == "interventional" else marginal_worths
    return worths(SVR_MODEL.predict, x, Z, groups)


def explainer_of(model, game, **options):
    if game == "neutral":
        return pkex.Explainer(model, value_function="neutral", **options)
    return pkex.Explainer(model, Z, value_function=game, **options)


def assert_equal(found, expected, scale, tolerance=1e-10):
    """Compare shapiq's objects with coefficients by coalition."""
    assert set(expected) <= {(), *found.interaction_lookup}
    for members, value in expected.items():
        assert abs(found[members] - value) <= tolerance * scale, members


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("game", ["neutral", "interventional", "marginal"])
def test_interactions_equal_shapiqs_exact_computer(index, order, game):
    interactions = explainer_of(SVR_MODEL, game).interactions(ROWS, index=index, order=order)
    worths = worths_of(ROWS[1], game, SINGLE)
    expected = exact(worths, index, order)
    assert len(expected) == 1 + sum(comb(D, size) for size in range(1, order + 1))
    assert_equal(interactions.to_shapiq()[1], expected, np.abs(worths).max())


@pytest.mark.parametrize("index", ["k-SII", "FSII"])
@pytest.mark.parametrize("game", ["neutral", "interventional", "marginal"])
def test_interactions_of_all_orders_equal_brute_force(index, game):
    interactions = explainer_of(SVR_MODEL, game).interactions(ROWS[:1], index=index, order=D)
    worths = worths_of(ROWS[0], game, SINGLE)
    expected = exact(worths, index, D)
    assert len(expected) == 2**D
    assert_equal(interactions.to_shapiq()[0], expected, np.abs(worths).max())


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("game", ["neutral", "interventional", "marginal"])
def test_interactions_of_groups_equal_brute_force_over_their_coalitions(index, game):
    interactions = explainer_of(SVR_MODEL, game, groups=GROUPS).interactions(ROWS, index=index)
    assert interactions.feature_names == ["pair", "x1", "x2", "last"]
    worths = worths_of(ROWS[0], game, OF_GROUPS)
    assert_equal(interactions.to_shapiq()[0], exact(worths, index, 2), np.abs(worths).max())


@pytest.mark.parametrize("index", ["k-SII", "STII", "FSII", "FBII"])
def test_interactions_of_eight_features_equal_brute_force(index):
    data = np.random.default_rng(1).normal(size=(40, 8))
    model = KernelRidge(kernel="laplacian", gamma=0.2).fit(data, data[:, 0] * data[:, 7])
    found = pkex.Explainer(model, value_function="neutral").interactions(
        data[:1] + 0.3, index=index, order=4
    )
    worths = neutral_worths(
        lambda a, b: laplacian_kernel(a, b, gamma=0.2),
        data[0] + 0.3,
        data,
        model.dual_coef_,
        0.0,
        [[j] for j in range(8)],
    )
    assert_equal(found.to_shapiq()[0], exact(worths, index, 4), np.abs(worths).max())


@pytest.mark.parametrize("index", INDICES)
def test_interactions_of_eight_features_against_a_background_equal_brute_force(index):
    order = {"k-SII": 4, "FSII": 4, "STII": 3}.get(index, 2)
    rng = np.random.default_rng(8)
    data, x = rng.normal(size=(40, 8)), rng.normal(size=(1, 8))
    model = SVR(gamma=0.1).fit(data, data[:, 0] * data[:, 7] + data[:, 3])
    found = pkex.Explainer(model, data[:4]).interactions(x, index=index, order=order)
    worths = interventional_worths(model.predict, x[0], data[:4], [[j] for j in range(8)])
    assert_equal(found.to_shapiq()[0], exact(worths, index, order), np.abs(worths).max())


KERNELS = {
    "product over subsets": kernels.RBF(0.9).on([0, 2, 5]) * kernels.Laplacian(2.0).on([1, 3]),
    "sum over subsets": kernels.RBF(0.9).on([0, 2])
    + 0.5 * kernels.RBF([1.0, 2.0, 0.7]).on([1, 2, 4]),
    "categories": kernels.RBF().on([1, 2, 4, 5]) * kernels.Categorical(0.2).on([0, 3]),
}


@pytest.mark.parametrize("index", ["k-SII", "STII", "FBII"])
@pytest.mark.parametrize("name", KERNELS)
def test_interactions_of_kernels_of_some_columns_equal_brute_force(name, index):
    rng = np.random.default_rng(2)
    points, coefficients = rng.normal(size=(12, D)), rng.normal(size=12)
    points[:, [0, 3]] = rng.integers(3, size=(12, 2))
    background, row = points[:3], points[4] + [0, 0.5, -0.5, 0, 1, 0]
    f = pkex.KernelExpansion(points, coefficients, KERNELS[name], 0.3)
    found = pkex.Explainer(f, background).interactions(row[None], index=index, order=3)
    worths = interventional_worths(
        lambda rows: KERNELS[name](rows, points) @ coefficients + 0.3, row, background, SINGLE
    )
    assert_equal(found.to_shapiq()[0], exact(worths, index, 3), np.abs(worths).max())


@pytest.mark.parametrize("index", ["k-SII", "SII", "FSII"])
def test_interactions_of_encoded_columns_equal_brute_force_over_the_columns_before(index):
    table = X.copy()
    table[:, [1, 4]] = np.arange(120).reshape(60, 2) % 3
    encoder = ColumnTransformer(
        [("codes", OneHotEncoder(), [4, 1]), ("rest", StandardScaler(), [0, 5, 2])]
    )
    model = make_pipeline(encoder, SVR()).fit(table, Y)
    found = pkex.Explainer(model, table[:3]).interactions(table[7:8], index=index, order=3)
    worths = interventional_worths(model.predict, table[7], table[:3], SINGLE)
    assert_equal(found.to_shapiq()[0], exact(worths, index, 3), np.abs(worths).max())
    np.testing.assert_array_equal(found.of(3), 0.0)  # a column that is dropped


MODELS = {
    "Pipeline with other columns": make_pipeline(
        ColumnTransformer([("b", StandardScaler(), [4, 1]), ("a", "passthrough", [5, 0, 2])]), SVR()
    ),
    "VotingRegressor": VotingRegressor(
        [("a", SVR()), ("b", make_pipeline(StandardScaler(), SVR(C=3.0)))], weights=[1.0, 2.0]
    ),
    "GaussianProcessRegressor": GaussianProcessRegressor(
        ConstantKernel(2.0) * RBF([1.0] * D) + WhiteKernel(0.1), optimizer=None, normalize_y=True
    ),
}


@pytest.mark.parametrize("index", ["k-SII", "SII", "FBII"])
@pytest.mark.parametrize("name", MODELS)
def test_interactions_of_other_models_equal_brute_force_through_their_predict(name, index):
    model = MODELS[name].fit(X, Y)
    found = pkex.Explainer(model, Z).interactions(ROWS, index=index, order=3).to_shapiq()
    for row, of_row in zip(ROWS, found, strict=True):
        worths = interventional_worths(model.predict, row, Z, SINGLE)
        assert_equal(of_row, exact(worths, index, 3), np.abs(worths).max())


def test_each_output_has_the_interactions_that_it_has_alone():
    whole = pkex.Explainer(THREE).interactions(ROWS, order=3)
    assert whole.shape == (3, 6 + 15 + 20, 3)
    assert whole.output_names == ["0 vs 1", "0 vs 2", "1 vs 2"]
    alone = pkex.Explainer(THREE, outputs="0 vs 2").interactions(ROWS, order=3)
    assert alone.shape == (3, 41)
    assert alone.output_names is None
    np.testing.assert_array_equal(whole.output("0 vs 2").values, alone.values)
    np.testing.assert_array_equal(whole.output(1).base_values, alone.base_values)
    with pytest.raises(ValueError, match=r"interactions\.output\(name\)"):
        whole.to_shapiq()
    with pytest.raises(ValueError, match="no output axis"):
        alone.output(0)


def exact_pairs(players, density):
    """c_i c_j ∫ ρ ∏_{l≠i,j} F_l of some pairs of a game, with 60 digits; ρ by its coefficients."""
    with mp.workdps(60):
        degree = len(density) - 1
        for i, j in [(0, 1), (3, 17), (len(players) - 2, len(players) - 1)]:
            coefficients = [mp.one]  # of powers of t
            for number, (a, b) in enumerate(players):
                if number not in (i, j):
                    padded = [*coefficients, mp.zero]
                    coefficients = [
                        b * x + (a - b) * y
                        for x, y in zip(padded, [mp.zero, *coefficients], strict=True)
                    ]
            integral = sum(
                x * rho * mp.beta(power + r + 1, degree - r + 1)
                for power, x in enumerate(coefficients)
                for r, rho in enumerate(density)
            )
            differences = [players[k][0] - players[k][1] for k in (i, j)]
            yield (i, j), float(differences[0] * differences[1] * integral)


@pytest.mark.parametrize(
    ("index", "density"), [("SII", [1.0]), ("STII", [2.0, 0.0]), ("FSII", [0.0, 6.0, 0.0])]
)
@pytest.mark.parametrize("length_scale", [0.7, 4.0, 100.0])
@pytest.mark.parametrize("against_background", [False, True])
def test_pairs_of_a_hundred_features_are_exact(index, density, length_scale, against_background):
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 1, 100))
    f = pkex.KernelExpansion(y, [1.0], pkex.kernels.RBF(length_scale))
    explainer = pkex.Explainer(f, z if against_background else None)
    found = explainer.interactions(x, index=index)
    with mp.workdps(60):
        factors = [
            [
                mp.exp(-(((mp.mpf(float(u)) - float(v)) / length_scale) ** 2) / 2)
                for u, v in zip(row[0], y[0], strict=True)
            ]
            for row in (x, z)
        ]
    absent = factors[1] if against_background else [mp.one] * 100
    for pair, expected in exact_pairs(list(zip(factors[0], absent, strict=True)), density):
        # The quadrature's guarantee is relative to the coefficient, not to the largest one.
        assert abs(found.of(*pair)[0] / expected - 1.0) < 1e-11


@pytest.mark.parametrize("game", ["neutral", "interventional", "marginal"])
def test_interactions_do_not_depend_on_threads_or_on_the_rows_beside(game):
    whole = explainer_of(SVR_MODEL, game).interactions(X, order=3)
    one = explainer_of(SVR_MODEL, game, n_jobs=1).interactions(X, order=3)
    np.testing.assert_array_equal(whole.values, one.values)
    part = explainer_of(SVR_MODEL, game).interactions(X[7:9], order=3)
    np.testing.assert_array_equal(whole.values[7:9], part.values)


def test_what_a_progress_callback_writes_to_the_rows_changes_nothing():
    rows = X.copy()

    def overwrite(done, total):
        rows[:] = 9.0

    explainer = pkex.Explainer(SVR_MODEL, Z)
    found = explainer.interactions(rows, order=3, progress=overwrite)
    np.testing.assert_array_equal(rows, 9.0)
    np.testing.assert_array_equal(found.data, X)
    np.testing.assert_array_equal(found.values, explainer.interactions(X, order=3).values)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_baseline_values_are_those_of_shapiqs_exact_computer(index, order):
    worths = worths_of(ROWS[0], "interventional", SINGLE)
    computer = ExactComputer(
        n_players=D, game=lambda rows: worths[np.asarray(rows, dtype=int) @ 2 ** np.arange(D)]
    )
    with warnings.catch_warnings(action="ignore"):  # CHII has no empty coalition, it says
        expected = computer(index, order).baseline_value
    found = pkex.Explainer(SVR_MODEL, Z).interactions(ROWS[:1], index=index, order=order)
    assert found.to_shapiq()[0].baseline_value == pytest.approx(expected, abs=1e-12)
    theirs = ProductKernelExplainer(SVR_MODEL, Z, index=index, max_order=order)
    assert theirs.explain(ROWS[0]).baseline_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("groups", [None, {"all": [0, 1]}])
def test_a_single_feature_has_a_matrix_of_itself(groups):
    pytest.importorskip("shap")
    columns = 1 if groups is None else 2
    explainer = pkex.Explainer(SVR().fit(X[:, :columns], Y), groups=groups)
    rows = ROWS[:, :columns]
    for index in ("k-SII", "SII", "STII", "FSII"):
        matrices = explainer.interactions(rows, index=index, order=1).to_shap().values
        assert matrices.shape == (3, 1, 1)
        np.testing.assert_allclose(matrices[:, 0], explainer.shap_values(rows), atol=1e-14)
    with pytest.raises(ValueError, match="from 1 to the number of features, 1; got 2"):
        explainer.interactions(rows)


@pytest.mark.parametrize("index", INDICES)
def test_overflow_is_refused_with_the_row_and_without_a_warning(index):
    f = pkex.KernelExpansion(
        [[0.0, 0.0], [9.0, 9.0]], [1.7e308, -1.7e308], pkex.kernels.RBF(), 1.7e308
    )
    rows = [[5.0, 5.0], [0.0, 0.0]]
    explainer = pkex.Explainer(f)
    if index in ("SII", "BII", "FBII"):  # their average over coalitions is too large
        with pytest.raises(OverflowError, match="a value of row 1 is too large"):
            explainer.interactions(rows, index=index)
        rows = rows[:1]
    found = explainer.interactions(rows, index=index)
    assert np.isfinite(found.values).all()
    assert np.isfinite(found.empty_values).all()


@pytest.mark.parametrize("index", ["k-SII", "SII"])
def test_progress_runs_once_from_nothing_to_all(index):
    seen = []
    rows = np.repeat(X, 40, axis=0)
    pkex.Explainer(SVR_MODEL, X[:30]).interactions(
        rows, index=index, order=3, progress=lambda done, total: seen.append(done / total)
    )
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] == 1.0
    assert seen.count(1.0) == 1


def test_bad_arguments_are_refused():
    explainer = pkex.Explainer(SVR_MODEL)
    with pytest.raises(ValueError, match="index must be one of 'k-SII'"):
        explainer.interactions(ROWS, index="ksii")
    for order in (0, 7, -1):
        with pytest.raises(ValueError, match="order must be from 1 to the number of features, 6"):
            explainer.interactions(ROWS, order=order)
    for order in (2.0, True, "2"):
        with pytest.raises(TypeError, match="order must be an integer"):
            explainer.interactions(ROWS, order=order)
    with pytest.raises(ValueError, match="method='quadrature'"):
        pkex.Explainer(SVR_MODEL, method="recursion").interactions(ROWS)
    with pytest.raises(ValueError, match="column 2"):
        explainer.interactions(np.where(np.arange(D) == 2, np.nan, ROWS))
    with pytest.raises(TypeError, match="no argument 'orders'"):
        explainer.interactions(ROWS, orders=2)


@pytest.mark.parametrize("integer", [np.uint8, np.uint64, np.int32])
@pytest.mark.parametrize("index", ["FSII", "CHII"])
def test_order_may_be_an_integer_of_numpy(integer, index):
    found = pkex.Explainer(SVR_MODEL).interactions(ROWS, index=index, order=integer(3))
    expected = pkex.Explainer(SVR_MODEL).interactions(ROWS, index=index, order=3)
    np.testing.assert_array_equal(found.values, expected.values)
    assert type(found.order) is int


@pytest.mark.alone
@pytest.mark.parametrize(
    ("d", "order"), [(1100, 550), (20_000, 10_000), (20_000, 20_000), (100_000, np.uint32(99_999))]
)
@pytest.mark.parametrize("n_rows", [0, 1, 10**6])
def test_refusing_a_result_of_any_size_takes_no_time(d, order, n_rows):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"more than [\d,]+ coefficients a row.*a lower order"):
        check_interactions("SII", order, d, n_rows, 1)
    assert time.perf_counter() - start < 0.5


def test_the_largest_results_are_allowed_and_counted_to_the_last_coefficient():
    per_row = 30 + 435 + 4060 + 27_405  # of 30 features, up to order 4
    n_rows = 2**31 // (8 * per_row)
    check_interactions("SII", 4, 30, n_rows, 1)
    check_interactions("SII", 4, 30, n_rows // 2, 2)
    with pytest.raises(ValueError, match=rf"hold 31,930 coefficients.*at most {n_rows} rows"):
        check_interactions("SII", 4, 30, n_rows + 1, 1)
    with pytest.raises(ValueError, match=rf"hold 63,860 coefficients.*at most {n_rows // 2} rows"):
        check_interactions("SII", 4, 30, n_rows, 2)


def test_a_result_that_is_too_large_is_refused_with_its_size_and_the_remedy():
    f = pkex.KernelExpansion(np.zeros((1, 100)), [1.0], pkex.kernels.RBF())
    explainer = pkex.Explainer(f)
    with pytest.raises(ValueError, match=r"79,375,495 coefficients a row, 6\.4 GB.*at most 3 rows"):
        explainer.interactions(np.zeros((10, 100)), order=5)
    with pytest.raises(ValueError, match=r"take a lower order than 8, or join features"):
        explainer.interactions(np.zeros((1, 100)), order=8)


def test_interactions_of_a_single_feature_ask_for_order_one():
    explainer = pkex.Explainer(pkex.KernelExpansion([[0.0]], [1.0], kernels.RBF()))
    with pytest.raises(ValueError, match=r"features, 1; got 2, the default: give order=1"):
        explainer.interactions([[0.5]])
    assert explainer.interactions([[0.5]], order=1).shape == (1, 1)
