"""Weighted sums of kernels centered at sparse points, with the cost of the non-zero columns.

A column that is 0 in a row and in a point has the factor k_j(0, 0) = 1 in a product kernel, and
adds 0 to a dot product. Shapley values of product kernels are computed by the engine, or by
`GroupFactors` for groups of columns, and those of polynomials by `PowersAtPoints`. Everything else
requires `DensePoints`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import ConditionalMeans, Function, Members, checked_constant, finite
from pkex.functions.dense_points import DensePoints
from pkex.functions.kernel_sum import (
    KernelSum,
    check_kernel,
    check_names_of,
    checked_names,
    finite_base,
    neutral_sums,
)
from pkex.functions.linear import LinearFunction
from pkex.functions.products import Products
from pkex.functions.sparse_groups import FAMILIES, GroupFactors
from pkex.functions.sparse_powers import MOST_DEGREES, PowersAtPoints
from pkex.functions.sparse_products import ProductsAtPoints
from pkex.games.coalitions import coalitions, ranks
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.kernels import Kernel
from pkex.kernels.factors import Term, has_mixtures, has_series
from pkex.tables.read import as_vector_or_matrix
from pkex.tables.sparse import (
    as_sparse_rows,
    dense_rows,
    in_columns,
    is_sparse,
    nonzero_columns,
    owned_rows,
)
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Rows, SparseRows

# Functions without intercept whose values sum to those of the function.
AtSparsePoints: TypeAlias = ProductsAtPoints | PowersAtPoints | GroupFactors

# The largest number of values of dense points that take less time than a choice of columns.
_MOST_DENSE = 1 << 19
# Values of rows that are evaluated together.
_BLOCK = 1 << 20
# Attributes that are computed again when a function is unpickled.
_NOT_SAVED = ("_by_column", "_dense", "_groups", "_terms")


class SparseKernelSum(Function):
    """The function f(x) = intercept + Σ_i coefficients_i · kernel(x, points_i) of sparse points.

    Parameters
    ----------
    points : sparse matrix of shape (n, d)
    coefficients, kernel, intercept, feature_names
        As in `KernelExpansion`, its public description. `reads_sparse` says which kernels are
        supported.
    """

    __slots__ = (
        "_by_column",
        "_dense",
        "_groups",
        "_terms",
        "coefficients",
        "feature_names",
        "intercept",
        "kernel",
        "points",
    )

    points: SparseRows
    feature_names: tuple[str, ...] | None

    def __init__(
        self,
        points: Any,
        coefficients: ArrayLike,
        kernel: Kernel,
        intercept: ArrayLike = 0.0,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.kernel = check_kernel(kernel)
        self.points = as_sparse_rows(points, "points", allow_no_rows=True)
        n_points, n_features = self.points.shape
        self.coefficients = read_only(
            as_vector_or_matrix(coefficients, "coefficients", n_rows=n_points, rows_of="points")
        )
        self._set_shape(n_features, self.coefficients.shape[1:])
        self.intercept = checked_constant(intercept, self.coefficients.shape[1:])
        self.feature_names = checked_names(feature_names, n_features)
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the computation of outputs and values."""
        # By whether they have all columns.
        self._dense: dict[bool, DensePoints] = {}
        self._groups: list[GroupFactors] | None = None
        self._terms = self.kernel.terms(self.n_features)
        own = self.points, self._columns_of_coefficients
        products = [term for term in self._terms if term.series is None]
        self._by_column: list[ProductsAtPoints | PowersAtPoints] = [
            PowersAtPoints.of(*own, term.coefficient, term.series)
            for term in self._terms
            if term.series is not None
        ]
        if products:
            self._by_column.append(ProductsAtPoints(*own, products))

    @property
    def reads_sparse(self) -> bool:
        return True

    @property
    def _columns_of_coefficients(self) -> Float:
        return self.coefficients.reshape(-1, self.n_outputs)

    def stored_points(self) -> SparseRows:
        return self.points

    def probing_rows(self) -> Float:
        """Return up to three of the points, and mixtures of two points each."""
        n, d = self.points.shape
        if n == 0:
            return np.zeros((1, d))
        chosen = self.points[np.unique(np.linspace(0, n - 1, 3).astype(np.intp))].toarray()
        return np.concatenate([chosen, 0.5 * chosen + 0.75 * np.roll(chosen, 1, axis=0)])

    # --- outputs ---

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = self._rows(X)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = [part.outputs(rows, n_threads) for part in self._by_column]
            values = sum(outputs, np.asarray(self.intercept))
        return finite(self._as_output(values))

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = self._rows(X)
        sizes = [part.sizes(rows, n_threads) for part in self._by_column]
        return self._as_output(sum(sizes, np.abs(self.intercept)))

    def _rows(self, X: Any) -> SparseRows:
        """Return rows of a table in the columns of the function."""
        check_names_of(X, self.feature_names)
        return as_sparse_rows(X, "X", n_columns=self.n_features)

    # --- games ---

    def explain(
        self, X: Rows, *, game: Game = NEUTRAL, quantity: Quantity = SHAPLEY, how: Computation
    ) -> Float:
        if not self.points.shape[0]:
            n_coalitions = math.comb(self.n_players, quantity.size)
            values = np.zeros((X.shape[0], n_coalitions, self.n_outputs))
            return values if quantity.size else values + self.intercept
        sparse = self._at_sparse_points(how) if quantity == SHAPLEY else None
        is_large = self.points.shape[0] * self.n_features > _MOST_DENSE
        if sparse is None and quantity == SHAPLEY and is_large and self._is_local(game):
            return self._values_near(X, game, how)
        if sparse is None:
            dense = self._at_dense_points(of_all=quantity.size > 1)
            return dense.explain(X, game, quantity, how)
        rows, background = as_sparse_rows(X, "X", allow_no_rows=True), self._background(game)
        return finite(
            _added(sparse, how, lambda part, own: part.explain(rows, game, background, own))
        )

    def selected_pairs(
        self, X: Rows, selected: NDArray[np.int64], *, game: Game, how: Computation
    ) -> Float:
        if not has_series(self._terms) and self._players is None and self.points.shape[0]:
            (products,) = (one for one in self._by_column if isinstance(one, ProductsAtPoints))
            rows = as_sparse_rows(X, "X", allow_no_rows=True)
            return finite(products.selected_pairs(rows, selected, game, how))
        if not self._is_local(game):
            return super().selected_pairs(X, selected, game=game, how=how)
        k, rows = len(selected), as_sparse_rows(X, "X", allow_no_rows=True)
        values = np.zeros((rows.shape[0], k * (k + 1) // 2, self.n_outputs))
        for number in range(len(values)):
            row = rows[number : number + 1]
            for near, of_near, weight in self._near(row, game):
                # The columns of other players have no values in this row.
                present = np.flatnonzero(np.isin(selected, near.players))
                own = np.searchsorted(near.players, selected[present])
                pairs = near.function.selected_pairs(
                    near.rows(row), own, game=of_near, how=how.reporting(None)
                )
                members = np.append(present, k)[coalitions(len(present) + 1, 2)]
                values[number, ranks(members, k + 1)] += weight * pairs[0]
            how.report(number + 1, len(values))
        return values

    def _is_local(self, game: Game) -> bool:
        """Whether only columns that are not 0 in a row or background row have values."""
        return not game.is_marginal and len(self._terms) == 1 and has_series(self._terms)

    def _values_near(self, X: Rows, game: Game, how: Computation) -> Float:
        """Return Shapley values, computed in the columns that have some."""
        rows = as_sparse_rows(X, "X", allow_no_rows=True)
        values = np.zeros((rows.shape[0], self.n_players, self.n_outputs))
        for number in range(len(values)):
            row = rows[number : number + 1]
            for near, of_near, weight in self._near(row, game):
                found = near.function.explain(near.rows(row), game=of_near, how=how.reporting(None))
                values[number, near.players] += weight * found[0]
            how.report(number + 1, len(values))
        return finite(values)

    def _near(self, row: SparseRows, game: Game) -> Iterator[tuple[DensePoints, Game, float]]:
        """Yield a polynomial in the columns of a row and each background row, with weights.

        In the neutral and the interventional game, no other columns have values.
        """
        own = self.points, self.coefficients, self.kernel, self.intercept
        if game.background is None:
            yield DensePoints(*own, nonzero_columns(row), self._players), game, 1.0
            return
        rows, weights = self._background(game)
        for number, weight in enumerate(weights.tolist()):
            other = rows[number : number + 1]
            near = DensePoints(*own, nonzero_columns(row, other), self._players)
            yield near, Game(game.value_function, (near.rows(other), np.ones(1))), weight

    def base(self, game: Game, how: Computation) -> float | Float:
        if game.value_function == "neutral" or not self.points.shape[0]:
            sums = neutral_sums(self._terms, self._columns_of_coefficients)
        elif game.value_function == "interventional" and game.background is not None:
            rows, weights = game.background
            outputs = self.evaluate(rows, n_threads=how.n_threads)
            means = added(weights.reshape(-1, *[1] * (outputs.ndim - 1)) * outputs)
            return means if self.has_output_axis else float(means)
        elif (sparse := self._at_sparse_points(how)) is not None:
            background = self._background(game)
            sums = _added(sparse, how, lambda part, own: part.base(game, background, own))
        else:
            dense = self._at_dense_points()
            return dense.function.base(dense.game(game), how)
        with np.errstate(over="ignore"):
            return self._as_base(finite_base(sums + self.intercept))

    def _background(self, game: Game) -> tuple[SparseRows, Float]:
        """Return the background of a game as sparse rows, by default the points, with weights."""
        if game.background is None:
            return self.points, equal_weights(self.points.shape[0])
        return as_sparse_rows(game.background[0], "background"), game.background[1]

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, how: Computation
    ) -> Float:
        members = self._members(members)
        if game.value_function != "interventional" or game.background is None:
            return self._at_dense_points().coalition_outputs(row, game, members, how)
        others = self._background(game)[0]
        x = as_sparse_rows(row[None], "X")
        outputs = [
            self._mixed_outputs(x, others[number : number + 1], members, how)
            for number in range(others.shape[0])
        ]
        return np.array(outputs)

    def _mixed_outputs(
        self, row: SparseRows, other: SparseRows, members: NDArray[np.bool_], how: Computation
    ) -> Float:
        """Return the outputs at rows with the present features of one row, and others of another.

        Returns
        -------
        ndarray of shape (count, outputs)
        """
        columns = nonzero_columns(row, other)
        present, absent = (dense_rows(one[:, columns]) for one in (row, other))
        outputs = []
        for block in blocks_of(len(members), _BLOCK // max(1, len(columns))):
            are_present = members[block][:, self.players[columns]]
            mixed = np.where(are_present, present, absent)
            rows = in_columns(mixed, columns, self.n_features)
            outputs.append(self.evaluate(rows, n_threads=how.n_threads))
        return np.concatenate(outputs).reshape(len(members), self.n_outputs)

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, how: Computation
    ) -> Float | None:
        n_rows = 1 if game.background is None else len(game.background[1])
        if game.value_function == "interventional" and n_rows > 1:
            return super().shifted_squares(X, shifts, game, how)
        return self._at_dense_points().shifted_squares(X, shifts, game, how)

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        dense = self._at_dense_points(of_all=True)
        return dense.function.conditional_means(X, rows, landmarks)

    def products(self, rows: NDArray[Any]) -> Products:
        return self._at_dense_points(of_all=True).function.products(rows)

    # --- computations ---

    def _at_sparse_points(self, how: Computation) -> Sequence[AtSparsePoints] | None:
        """Return functions whose Shapley values at sparse points sum to those of the function.

        None if dense points are required.
        """
        series = [term.series for term in self._terms if term.series is not None]
        if any(len(one.weights) > MOST_DEGREES + 1 for one in series):
            return None
        if self._players is None:
            has_products = len(series) < len(self._terms)
            return None if has_products and how.method != "quadrature" else self._by_column
        if series or has_mixtures(self._terms):
            return None
        if self._groups is None:
            self._groups = [
                GroupFactors(self.points, self._columns_of_coefficients, term, self.players)
                for term in self._terms
            ]
        return self._groups

    def _at_dense_points(self, *, of_all: bool = False) -> DensePoints:
        """Return the function at dense points.

        Parameters
        ----------
        of_all : bool
            Whether columns that are 0 in all points are required.
        """
        of_all |= len(self._terms) > 1 or self._terms[0].series is None
        if of_all not in self._dense:
            columns = np.arange(self.n_features) if of_all else nonzero_columns(self.points)
            self._dense[of_all] = DensePoints(
                self.points, self.coefficients, self.kernel, self.intercept, columns, self._players
            )
        return self._dense[of_all]

    # --- other functions ---

    def grouped(self, players: NDArray[np.int64]) -> SparseKernelSum:
        merged = super().grouped(players)
        merged._dense, merged._groups = {}, None
        return merged

    def _selected(self, outputs: list[int]) -> SparseKernelSum:
        selected = self._copied()
        selected.coefficients = read_only(self.coefficients[:, outputs])
        selected.intercept = read_only(np.asarray(self.intercept)[outputs])
        selected.n_outputs = len(outputs)
        selected._prepare()
        return selected

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: item for name, item in state.items() if name not in _NOT_SAVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        owned_rows(self.points)
        self._prepare()

    def __repr__(self) -> str:
        n_points = self.points.shape[0]
        return f"KernelExpansion({self._sizes((n_points, 'sparse point'))}, kernel={self.kernel!r})"


def _added(
    parts: Sequence[AtSparsePoints],
    how: Computation,
    compute: Callable[[AtSparsePoints, Computation], Float],
) -> Float:
    """Return the sum of results of parts, which are infinite or NaN if they are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = compute(parts[0], how.part(0, len(parts)))
        for number, part in enumerate(parts[1:], start=1):
            total += compute(part, how.part(number, len(parts)))
    return total


def reads_sparse(kernel: Kernel, n_features: int) -> bool:
    """Whether the points of a kernel can be sparse.

    They can for sums of products of factors that are positive with k(0, 0) = 1, of mixtures of
    Gaussians, and of polynomials in a dot product.
    """
    return all(map(_reads_sparse, kernel.terms(n_features)))


def _reads_sparse(term: Term) -> bool:
    if term.series is None:
        return all(factor.family in FAMILIES for factor in term.factors)
    is_of_dot_product = term.series.form == "exponential" and not term.series.factors
    return is_of_dot_product and not term.factors


def kernel_sum(
    points: Any,
    coefficients: ArrayLike,
    kernel: Kernel,
    intercept: ArrayLike = 0.0,
    feature_names: Sequence[str] | None = None,
) -> KernelSum | SparseKernelSum:
    """Return the sum of kernels at points, which remain sparse if the kernel supports it.

    Raises
    ------
    InputError
        If sparse points must be made dense, and would take more than a gigabyte.
    """
    if is_sparse(points) and reads_sparse(check_kernel(kernel), points.shape[1]):
        return SparseKernelSum(points, coefficients, kernel, intercept, feature_names)
    return KernelSum(points, coefficients, kernel, intercept, feature_names)


def collapsed(function: KernelSum | SparseKernelSum) -> Function:
    """Return the linear function of a linear kernel with sparse points; others unchanged.

    Σ_i α_i (c + Σ_j v_j x_j x_ij) is linear in x, with coefficients v_j Σ_i α_i x_ij.
    """
    if not isinstance(function, SparseKernelSum) or not function.points.shape[0]:
        return function
    term, *others = function.kernel.terms(function.n_features)
    if others or term.series is None or len(term.series.weights) != 2:
        return function
    offset, slope = (term.coefficient * term.series.weights).tolist()
    rates = np.zeros(function.n_features)
    rates[term.series.columns] = slope * term.series.rates
    weights = function.coefficients
    return LinearFunction(
        (rates * (function.points.T @ weights).T).T,
        function.intercept + offset * weights.sum(axis=0),
        points=function.points,
        sizes=(np.abs(rates) * (abs(function.points).T @ np.abs(weights)).T).T,
    )
