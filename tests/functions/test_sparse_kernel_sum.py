"""Sums of kernels at sparse points: their values equal those of dense points, without these."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse

import pkex
from pkex.errors import InputError
from pkex.execution.computation import Computation
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.functions.sparse_kernel_sum import SparseKernelSum, collapsed, kernel_sum
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.kernels import (
    RBF,
    Cauchy,
    Chi2,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    ProductMatern,
    RationalQuadratic,
    Tanimoto,
)

D, N = 30, 25
RNG = np.random.default_rng(0)
HOW = Computation()
# Columns that are 0 in the points, in the rows, in the background, and in all of them.
EMPTY = {"points": [3, 4, 9], "rows": [5, 4, 9], "background": [6, 7, 9]}


def table(n, density, empty):
    rows = RNG.normal(size=(n, D)) * (RNG.uniform(size=(n, D)) < density)
    rows[:, EMPTY[empty]] = 0.0
    return rows


POINTS = table(N, 0.2, "points")
POINTS[[0, 7]] = 0.0
ROWS = table(6, 0.2, "rows")
ROWS[1] = 0.0
ROWS[2] = 0.0
ROWS[2, 11] = 2.0
ROWS[3] = POINTS[4]
BACKGROUND = table(4, 0.1, "background")
BACKGROUND[2] = 0.0
SHARES = np.array([0.1, 0.4, 0.3, 0.2])
ALPHAS = RNG.normal(size=N)
SCALES = np.linspace(0.5, 3.0, D)

KERNELS = {
    "RBF": RBF(1.5),
    "RBF of columns": RBF(SCALES),
    "Laplacian": 2.5 * Laplacian(2.0),
    "Cauchy": Cauchy(SCALES),
    "ProductMatern 3/2": ProductMatern(2.0),
    "ProductMatern 5/2": ProductMatern(2.0, nu=2.5),
    "Periodic": Periodic(2.0, 3.0),
    "product": RBF(2.0).on([0, 5, 8, 1]) * Laplacian(4.0).on([5, 6, 20]) * Cauchy(3.0),
    "narrow": RBF(0.05),
    "Linear": Linear(SCALES, offset=0.5),
    "Polynomial": 0.5 * Polynomial(3, 0.4, 0.7),
    "Polynomial of degree 6": Polynomial(6, 0.4, -0.5),
    "Polynomial of degree 8": Polynomial(8, 0.1, 0.7),
    "Polynomial of columns": Polynomial(2, 0.4, 0.0).on([11, 0, 2, 8, 4]),
    "sum": RBF(1.5) + 0.3 * Laplacian(SCALES) + Constant() + RBF(2.0).on([8]) * Cauchy(),
    "sum with dot products": 0.3 * Polynomial(2, 0.1) + Linear(0.2) + RBF(2.0),
    "Matern": Matern(1.5, nu=1.5),
    "RationalQuadratic": RationalQuadratic(SCALES, alpha=0.7),
    "mixture and product": 0.5 * RBF(4.0) * Matern(6.0, nu=2.5) + Laplacian(2.0),
}
GAMES = {
    "neutral": NEUTRAL,
    "interventional": Game("interventional", (BACKGROUND, SHARES)),
    "marginal": Game("marginal", (BACKGROUND, SHARES)),
    "marginal of points": Game("marginal"),
}
QUANTITIES = {
    "Shapley values": SHAPLEY,
    "Banzhaf values": Quantity(1, 0.5),
    "constants": Quantity(0, 0.0),
    "pairs": Quantity(2, 0.5),
}


def both(kernel, alphas=ALPHAS, intercept=0.25):
    return (
        SparseKernelSum(sparse.csc_matrix(POINTS), alphas, kernel, intercept),
        KernelSum(POINTS, alphas, kernel, intercept),
    )


def sparse_game(game):
    return game.mapped(sparse.csr_array)


def assert_same(found, expected):
    """To 1e-12 of the scale."""
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * max(scale, 1e-300))


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_values_and_base_values_equal_those_of_dense_points(kernel, game):
    function, dense = both(kernel)
    for name, quantity in QUANTITIES.items():
        expected = dense.explain(ROWS, game=game, quantity=quantity, computation=HOW)
        found = function.explain(
            sparse.csr_array(ROWS), game=sparse_game(game), quantity=quantity, computation=HOW
        )
        assert_same(found, expected)
        if name == "Shapley values":
            of_arrays = function.explain(ROWS, game=game, quantity=quantity, computation=HOW)
            np.testing.assert_array_equal(found, of_arrays)
    assert_same(function.base(sparse_game(game), HOW), dense.base(game, HOW))


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_mixtures_hold_at_any_distance_and_for_rows_explained_together(game):
    # A column of which 0 is not near the points, and rows far away.
    points = sparse.csr_array(POINTS + 40.0 * (np.arange(D) == 9))
    rows = np.concatenate([ROWS, 30.0 * ROWS, 1e4 * ROWS[-1:]])
    rows[3, 9] = 41.0
    function = SparseKernelSum(points, ALPHAS, Matern(3.0, nu=1.5), 0.25)
    dense = KernelSum(points.toarray(), ALPHAS, Matern(3.0, nu=1.5), 0.25)
    expected = dense.explain(rows, game=game, computation=HOW)
    X = sparse.csr_array(rows)
    found = function.explain(X, game=sparse_game(game), computation=HOW)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(ALPHAS).sum())
    for number in (0, 3, 7):
        one = function.explain(X[number : number + 1], game=sparse_game(game), computation=HOW)
        np.testing.assert_array_equal(one[0], found[number])


@pytest.mark.parametrize(
    "options", [{}, {"background": 1}, {"background": 1, "value_function": "marginal"}]
)
def test_mixtures_hold_where_points_rows_and_background_are_far_apart(options):
    """A column without zeros, which is far from an empty row; others reach beyond the points."""
    points = np.zeros((12, 6))
    points[:, 0] = np.linspace(100.0, 101.0, 12)
    points[:4, 1] = points[5:9, 2] = 0.5
    rows = np.zeros((4, 6))
    rows[1], rows[2, 1], rows[3, 0] = points[0], 900.0, 150.0
    background = np.array([[100.0, 0, 0, 0, 0, 0], [100.0, 5000.0, 0, 0, 0, 0]])
    kernel, alphas = RationalQuadratic(100.0, 0.5), ALPHAS[:12]
    found, expected = (
        pkex.Explainer(
            pkex.KernelExpansion(form(points), alphas, kernel),
            **{key: form(background) if key == "background" else options[key] for key in options},
        )(form(rows))
        for form in (sparse.csr_array, np.asarray)
    )
    squares = ((rows[:, None] - points) ** 2).sum(axis=2)
    outputs = (1.0 + squares / (2 * 0.5 * 100.0**2)) ** -0.5 @ alphas
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, outputs, rtol=1e-10)
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.base_values, expected.base_values, rtol=1e-11)


def test_mixtures_are_refined_where_large_coefficients_cancel():
    kernel = Matern(100.0, nu=2.5)
    values = kernel(POINTS, POINTS)
    alphas = np.linalg.solve(values + 1e-9 * np.eye(N), np.sin(POINTS.sum(axis=1)))
    assert np.abs(alphas).sum() > 1e5
    function, _ = both(kernel, alphas, 0.0)
    outputs = function.evaluate(POINTS, n_threads=1)
    np.testing.assert_allclose(outputs, values @ alphas, rtol=0.0, atol=3e-10)


@pytest.mark.parametrize("game", ["marginal", "marginal of points"])
def test_a_constant_column_of_a_polynomial_has_values_of_exactly_0(game):
    rows, points, background = (table.copy() for table in (ROWS, POINTS, BACKGROUND))
    for table in (rows, points, background):
        table[:, 4] = 0.7
    function = SparseKernelSum(sparse.csr_array(points), ALPHAS, Polynomial(3, 0.4, 0.7))
    game = Game("marginal", (background, SHARES) if game == "marginal" else None)
    values = function.explain(sparse.csr_array(rows), game=sparse_game(game), computation=HOW)
    assert values.any()
    assert not values[:, 4].any()


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("name", ["sum", "sum with dot products", "Matern", "Polynomial"])
def test_selected_pairs_equal_those_of_dense_points(name, game):
    function, dense = both(KERNELS[name])
    selected = np.array([8, 1, 12])
    expected = dense.selected_pairs(ROWS, selected, game=game, computation=HOW)
    X = sparse.csr_array(ROWS)
    found = function.selected_pairs(X, selected, game=sparse_game(game), computation=HOW)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(ALPHAS).sum())


def test_small_factors_of_present_and_absent_features_keep_their_digits():
    points, rows = np.array([[6.0, 0.0], [0.0, 7.0]]), np.array([[0.0, 0.0], [12.5, 1.0]])
    game = Game("marginal", (np.array([[13.5, 15.0], [14.0, 14.0]]), np.array([0.3, 0.7])))
    alphas = np.array([1.0, 0.5])
    found = SparseKernelSum(sparse.csr_array(points), alphas, RBF(1.0), 0.0).explain(
        sparse.csr_array(rows), game=sparse_game(game), computation=HOW
    )
    expected = KernelSum(points, alphas, RBF(1.0), 0.0).explain(rows, game=game, computation=HOW)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("game", ["interventional", "marginal"])
def test_large_values_that_a_row_shares_with_a_point_keep_the_digits_of_products(game):
    rng = np.random.default_rng(0)
    points = rng.uniform(20.0, 90.0, (20, 300)) * (rng.uniform(size=(20, 300)) < 0.9)
    rows, alphas = points[:2] + 0.01 * (points[:2] != 0.0), rng.normal(size=20)
    others = np.roll(points[2:5], 1, axis=1)
    game, kernel = Game(game, (others, np.array([0.3, 0.2, 0.5]))), RBF(1.0) * Laplacian(2.0)
    function = SparseKernelSum(sparse.csr_array(points), alphas, kernel, 0.0)
    dense = KernelSum(points, alphas, kernel, 0.0)
    found = function.explain(sparse.csr_array(rows), game=sparse_game(game), computation=HOW)
    assert_same(found, dense.explain(rows, game=game, computation=HOW))
    outputs = [one.evaluate(rows, n_threads=1) for one in (function, dense)]
    np.testing.assert_allclose(*outputs, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_outputs_equal_those_of_dense_points(kernel):
    function, dense = both(kernel, np.column_stack([ALPHAS, ALPHAS**2]), [1.0, -2.0])
    rows = np.concatenate([ROWS, function.probing_rows()])
    for method in ("evaluate", "magnitude"):
        expected = getattr(dense, method)(rows, n_threads=1)
        for X in (rows, sparse.coo_matrix(rows)):
            assert_same(getattr(function, method)(X, n_threads=1), expected)


def test_probing_rows_show_that_the_kernel_and_coefficients_matter():
    function, _ = both(RBF(1.5))
    rows = function.probing_rows()
    outputs = function.evaluate(rows, n_threads=1)
    for other in (both(RBF(1.51))[0], both(RBF(1.5), ALPHAS * (1 + 1e-3 * (POINTS[:, 8] != 0)))[0]):
        assert np.abs(other.evaluate(rows, n_threads=1) - outputs).max() > 1e-6


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("name", KERNELS)
def test_values_of_groups_and_outputs_equal_those_of_dense_points(name, game):
    players = np.arange(D) % 7
    players[[4, 9]] = 6
    functions = [
        function.grouped(players).select([2, 0])
        for function in both(KERNELS[name], RNG.normal(size=(N, 3)), np.arange(3.0))
    ]
    for quantity in (SHAPLEY, Quantity(2, 0.5)):
        found, expected = (
            function.explain(ROWS, game=game, quantity=quantity, computation=HOW)
            for function in functions
        )
        assert_same(found, expected)
    assert_same(*(function.base(game, HOW) for function in functions))


@pytest.mark.parametrize("value_function", GAMES)
@pytest.mark.parametrize("name", ["RBF of columns", "Polynomial"])
def test_outputs_at_coalitions_equal_those_of_dense_points(name, value_function):
    game = GAMES[value_function]
    players = np.arange(D) % 5
    members = np.array(list(itertools.product([False, True], repeat=5)))
    function, dense = (one.grouped(players) for one in both(KERNELS[name]))
    for row in ROWS[:3]:
        for some in (range(32), range(8, 12), members[[3, 0, 17]]):
            expected = dense.coalition_outputs(row, game, some, HOW)
            assert_same(function.coalition_outputs(row, sparse_game(game), some, HOW), expected)


def test_a_sum_of_products_equals_that_of_dense_points():
    function, dense = both(RBF(1.5))
    parts = [one.products(ROWS) for one in (function, dense)]
    found, expected = (part.factors(8, ROWS[:, 8]) for part in parts)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(parts[0].weights, parts[1].weights)


def test_dense_points_of_columns_are_not_those_of_groups():
    function = pkex.KernelExpansion(sparse.csr_array(POINTS), ALPHAS, Polynomial(7))
    of_columns = pkex.Explainer(function).shap_values(ROWS)
    groups = {"first": list(range(20))}
    found = pkex.Explainer(function, groups=groups).shap_values(ROWS)
    dense = pkex.KernelExpansion(POINTS, ALPHAS, Polynomial(7))
    expected = pkex.Explainer(dense, groups=groups).shap_values(ROWS)
    assert found.shape[1] == of_columns.shape[1] - 19
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_values_do_not_depend_on_the_number_of_columns():
    few = SparseKernelSum(sparse.csr_array(POINTS), ALPHAS, RBF(1.5))
    wide = SparseKernelSum(
        sparse.csr_array((few.points.data, 10_000 * few.points.indices, few.points.indptr),
                         shape=(N, 10_000 * D)),
        ALPHAS, RBF(1.5),
    )  # fmt: skip
    row, other = (
        sparse.csr_array(
            ([1.0, -2.0, 0.5], [0, scale * 8, scale * 12], [0, 3]), shape=(1, scale * D)
        )
        for scale in (1, 10_000)
    )
    games = [Game("interventional", (rows[:, :], np.ones(1))) for rows in (row * 0.5, other * 0.5)]
    found = few.explain(row, game=games[0], computation=HOW)
    values = wide.explain(other, game=games[1], computation=HOW)
    np.testing.assert_array_equal(values[0, ::10_000], found[0])
    assert wide.evaluate(other, n_threads=1) == few.evaluate(row, n_threads=1)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_linear_kernel_collapses_into_a_linear_function(game):
    function, dense = both(3.0 * Linear(SCALES, offset=0.5), RNG.normal(size=(N, 2)), [1.0, 2.0])
    linear = collapsed(function)
    assert isinstance(linear, LinearFunction)
    X = sparse.csr_array(ROWS)
    assert_same(
        linear.explain(X, game=sparse_game(game), computation=HOW),
        dense.explain(ROWS, game=game, computation=HOW),
    )
    assert_same(linear.base(sparse_game(game), HOW), dense.base(game, HOW))
    assert_same(linear.evaluate(X, n_threads=1), dense.evaluate(ROWS, n_threads=1))
    assert (linear.magnitude(ROWS, n_threads=1) >= np.abs(linear.evaluate(X, n_threads=1))).all()


@pytest.mark.parametrize("kernel", [Tanimoto(), Chi2(), RBF() + Chi2(), RBF() * Linear()], ids=repr)
def test_points_of_other_kernels_are_made_dense_if_these_are_small(kernel):
    counts = sparse.csr_array(np.round(np.abs(POINTS)))
    function = kernel_sum(counts, ALPHAS, kernel)
    assert isinstance(function, KernelSum)
    np.testing.assert_array_equal(function.points, counts.toarray())
    large = sparse.csr_array((2_000, 200_000))
    with pytest.raises(InputError, match=r"points is a sparse .* 3\.2 GB .*TruncatedSVD"):
        kernel_sum(large, np.ones(2_000), kernel)


def test_a_computation_that_requires_dense_points_tells_their_size():
    n, d = 2_000, 100_000
    points = sparse.csr_array((np.ones(d), np.arange(d), np.linspace(0, d, n + 1).astype(int)),
                              shape=(n, d))  # fmt: skip
    function = SparseKernelSum(points, np.ones(n), RBF())
    with pytest.raises(InputError, match=r"points .* 1\.6 GB"):
        function.explain(points[:1], game=NEUTRAL, quantity=Quantity(2, 0.5), computation=HOW)


@pytest.mark.parametrize("kernel", [RBF(), Linear(), Polynomial(9)], ids=repr)
def test_no_points_have_the_value_of_the_intercept(kernel):
    function = SparseKernelSum(sparse.csr_array((0, D)), np.empty(0), kernel, 1.5)
    assert collapsed(function) is function
    np.testing.assert_array_equal(function.predict(ROWS), np.full(len(ROWS), 1.5))
    for game in GAMES.values():
        assert not function.explain(ROWS, game=game, computation=HOW).any()
    assert {function.base(game, HOW) for game in GAMES.values()} == {1.5}


def test_pickles_have_the_same_values_and_read_only_points():
    function, _ = both(KERNELS["product"], np.column_stack([ALPHAS, ALPHAS**2]))
    players = np.arange(D) % 9
    again = pickle.loads(pickle.dumps(function.grouped(players)))
    game = GAMES["interventional"]
    np.testing.assert_array_equal(
        again.explain(ROWS, game=game, computation=HOW),
        function.grouped(players).explain(ROWS, game=game, computation=HOW),
    )
    with pytest.raises(ValueError, match="read-only"):
        again.points.data[0] = 1.0


def test_an_expansion_of_sparse_points_is_explained():
    names = [f"word {j}" for j in range(D)]
    expansion = pkex.KernelExpansion(
        sparse.csr_matrix(POINTS), ALPHAS, RBF(1.5), 0.5, feature_names=names
    )
    assert repr(expansion) == (
        "KernelExpansion(25 sparse points, 30 features, kernel=RBF(length_scale=1.5))"
    )
    assert sparse.issparse(expansion.points)
    dense = pkex.KernelExpansion(POINTS, ALPHAS, RBF(1.5), 0.5, feature_names=names)
    assert_same(expansion.predict(sparse.csr_array(ROWS)), dense.predict(ROWS))
    explanation = pkex.Explainer(expansion)(sparse.csr_array(ROWS))
    assert explanation.feature_names == names
    assert_same(explanation.values, pkex.Explainer(dense)(ROWS).values)
