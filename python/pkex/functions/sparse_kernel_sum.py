"""Weighted sums of kernels centered at sparse points, with the cost of the non-zero columns.

A column that is 0 in a row and in a point has the factor k_j(0, 0) = 1 in a product kernel, and
adds 0 to a dot product. Shapley values of product kernels are computed by the engine, or by
`GroupFactors` for groups of columns. `PowersAtPoints` computes Shapley values of polynomials.
Everything else requires `DensePoints`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import ConditionalMeans, Function, Members, check_constant, check_finite
from pkex.functions.dense_points import DensePoints
from pkex.functions.kernel_sum import (
    KernelSum,
    check_feature_names,
    check_finite_base,
    check_kernel,
    check_names_of,
    neutral_sums,
)
from pkex.functions.linear import LinearFunction
from pkex.functions.probing import evenly_spaced
from pkex.functions.products import Products
from pkex.functions.sparse_groups import FAMILIES, GroupFactors
from pkex.functions.sparse_powers import MAX_DEGREES, PowersAtPoints
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

# Functions without intercept whose values sum to the values of the function.
AtSparsePoints: TypeAlias = ProductsAtPoints | PowersAtPoints | GroupFactors

# The largest number of values of dense points that take less time than a choice of columns.
_MAX_DENSE = 1 << 19
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
        self.intercept = check_constant(intercept, self.coefficients.shape[1:])
        self.feature_names = check_feature_names(feature_names, n_features)
        self._prepare()

    def _prepare(self) -> None:
        """Prepare the computation of outputs and values."""
        # By whether they have all columns.
        self._dense: dict[bool, DensePoints] = {}
        self._groups: list[GroupFactors] | None = None
        self._terms = self.kernel.terms(self.n_features)
        expansion = self.points, self._columns_of_coefficients
        products = [term for term in self._terms if term.series is None]
        self._by_column: list[ProductsAtPoints | PowersAtPoints] = [
            PowersAtPoints.of(*expansion, term.coefficient, term.series)
            for term in self._terms
            if term.series is not None
        ]
        if products:
            self._by_column.append(ProductsAtPoints(*expansion, products))

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
        points = self.points[evenly_spaced(n, 3)].toarray()
        return np.concatenate([points, 0.5 * points + 0.75 * np.roll(points, 1, axis=0)])

    # --- outputs ---

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = self._rows(X)
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = [part.outputs(rows, n_threads) for part in self._by_column]
            values = sum(outputs, np.asarray(self.intercept))
        return check_finite(self._as_output(values))

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
        self,
        X: Rows,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        if not self.points.shape[0]:
            n_coalitions = math.comb(self.n_players, quantity.size)
            values = np.zeros((X.shape[0], n_coalitions, self.n_outputs))
            return values if quantity.size else values + self.intercept
        sparse = self._at_sparse_points(computation) if quantity == SHAPLEY else None
        is_large = self.points.shape[0] * self.n_features > _MAX_DENSE
        if sparse is None and quantity == SHAPLEY and is_large and self._is_local(game):
            return self._values_near(X, game, computation)
        if sparse is None:
            dense = self._at_dense_points(in_all_columns=quantity.size > 1)
            return dense.explain(X, game, quantity, computation)
        rows, background = as_sparse_rows(X, "X", allow_no_rows=True), self._background(game)
        return check_finite(
            _add_parts(
                sparse,
                computation,
                lambda part, part_computation: part.explain(
                    rows, game, background, part_computation
                ),
            )
        )

    def selected_pairs(
        self, X: Rows, selection: NDArray[np.int64], *, game: Game, computation: Computation
    ) -> Float:
        if not has_series(self._terms) and self._players is None and self.points.shape[0]:
            (products,) = (part for part in self._by_column if isinstance(part, ProductsAtPoints))
            rows = as_sparse_rows(X, "X", allow_no_rows=True)
            return check_finite(products.selected_pairs(rows, selection, game, computation))
        if not self._is_local(game):
            return super().selected_pairs(X, selection, game=game, computation=computation)
        k, rows = len(selection), as_sparse_rows(X, "X", allow_no_rows=True)
        values = np.zeros((rows.shape[0], k * (k + 1) // 2, self.n_outputs))
        for number in range(len(values)):
            row = rows[number : number + 1]
            for polynomial, row_game, weight in self._near(row, game):
                # The columns of other players have no values in this row.
                present = np.flatnonzero(np.isin(selection, polynomial.players))
                places = np.searchsorted(polynomial.players, selection[present])
                pairs = polynomial.function.selected_pairs(
                    polynomial.rows(row),
                    places,
                    game=row_game,
                    computation=computation.reporting(None),
                )
                members = np.append(present, k)[coalitions(len(present) + 1, 2)]
                values[number, ranks(members, k + 1)] += weight * pairs[0]
            computation.report(number + 1, len(values))
        return values

    def _is_local(self, game: Game) -> bool:
        """Whether only columns that are not 0 in a row or background row have values."""
        return not game.is_marginal and len(self._terms) == 1 and has_series(self._terms)

    def _values_near(self, X: Rows, game: Game, computation: Computation) -> Float:
        """Return Shapley values, computed in the columns that have some."""
        rows = as_sparse_rows(X, "X", allow_no_rows=True)
        values = np.zeros((rows.shape[0], self.n_players, self.n_outputs))
        for number in range(len(values)):
            row = rows[number : number + 1]
            for polynomial, row_game, weight in self._near(row, game):
                row_values = polynomial.function.explain(
                    polynomial.rows(row), game=row_game, computation=computation.reporting(None)
                )
                values[number, polynomial.players] += weight * row_values[0]
            computation.report(number + 1, len(values))
        return check_finite(values)

    def _near(self, row: SparseRows, game: Game) -> Iterator[tuple[DensePoints, Game, float]]:
        """Yield a polynomial in the columns of a row and each background row, with weights.

        In the neutral and the interventional game, no other columns have values.
        """
        expansion = self.points, self.coefficients, self.kernel, self.intercept
        if game.background is None:
            yield DensePoints(*expansion, nonzero_columns(row), self._players), game, 1.0
            return
        rows, weights = self._background(game)
        for number, weight in enumerate(weights.tolist()):
            other_row = rows[number : number + 1]
            polynomial = DensePoints(*expansion, nonzero_columns(row, other_row), self._players)
            background = polynomial.rows(other_row), np.ones(1)
            yield polynomial, Game(game.value_function, background), weight

    def base(self, game: Game, computation: Computation) -> float | Float:
        if game.value_function == "neutral" or not self.points.shape[0]:
            sums = neutral_sums(self._terms, self._columns_of_coefficients)
        elif game.value_function == "interventional" and game.background is not None:
            rows, weights = game.background
            outputs = self.evaluate(rows, n_threads=computation.n_threads)
            means = added(weights.reshape(-1, *[1] * (outputs.ndim - 1)) * outputs)
            return means if self.has_output_axis else float(means)
        elif (sparse := self._at_sparse_points(computation)) is not None:
            background = self._background(game)
            sums = _add_parts(
                sparse,
                computation,
                lambda part, part_computation: part.base(game, background, part_computation),
            )
        else:
            dense = self._at_dense_points()
            return dense.function.base(dense.game(game), computation)
        with np.errstate(over="ignore"):
            return self._as_base(check_finite_base(sums + self.intercept))

    def _background(self, game: Game) -> tuple[SparseRows, Float]:
        """Return the background of a game as sparse rows, by default the points, with weights."""
        if game.background is None:
            return self.points, equal_weights(self.points.shape[0])
        return as_sparse_rows(game.background[0], "background"), game.background[1]

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        members = self._members(members)
        if game.value_function != "interventional" or game.background is None:
            return self._at_dense_points().coalition_outputs(row, game, members, computation)
        background = self._background(game)[0]
        x = as_sparse_rows(row[None], "X")
        outputs = [
            self._mixed_outputs(x, background[number : number + 1], members, computation)
            for number in range(background.shape[0])
        ]
        return np.array(outputs)

    def _mixed_outputs(
        self,
        row: SparseRows,
        other_row: SparseRows,
        members: NDArray[np.bool_],
        computation: Computation,
    ) -> Float:
        """Return the outputs at rows with the present features of one row, and others of another.

        Returns
        -------
        ndarray of shape (count, outputs)
        """
        columns = nonzero_columns(row, other_row)
        present, absent = dense_rows(row[:, columns]), dense_rows(other_row[:, columns])
        outputs = []
        for block in blocks_of(len(members), _BLOCK // max(1, len(columns))):
            are_present = members[block][:, self.players[columns]]
            rows = in_columns(np.where(are_present, present, absent), columns, self.n_features)
            outputs.append(self.evaluate(rows, n_threads=computation.n_threads))
        return np.concatenate(outputs).reshape(len(members), self.n_outputs)

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        n_rows = 1 if game.background is None else len(game.background[1])
        if game.value_function == "interventional" and n_rows > 1:
            return super().shifted_squares(X, shifts, game, computation)
        return self._at_dense_points().shifted_squares(X, shifts, game, computation)

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        dense = self._at_dense_points(in_all_columns=True)
        return dense.function.conditional_means(X, rows, landmarks)

    def products(self, rows: NDArray[Any]) -> Products:
        return self._at_dense_points(in_all_columns=True).function.products(rows)

    # --- computations ---

    def _at_sparse_points(self, computation: Computation) -> Sequence[AtSparsePoints] | None:
        """Return functions at sparse points whose Shapley values sum to the function's.

        None if dense points are required.
        """
        all_series = [term.series for term in self._terms if term.series is not None]
        if any(len(series.weights) > MAX_DEGREES + 1 for series in all_series):
            return None
        if self._players is None:
            has_products = len(all_series) < len(self._terms)
            return None if has_products and computation.method != "quadrature" else self._by_column
        if all_series or has_mixtures(self._terms):
            return None
        if self._groups is None:
            self._groups = [
                GroupFactors(self.points, self._columns_of_coefficients, term, self.players)
                for term in self._terms
            ]
        return self._groups

    def _at_dense_points(self, *, in_all_columns: bool = False) -> DensePoints:
        """Return the function at dense points.

        Parameters
        ----------
        in_all_columns : bool
            Whether columns that are 0 in all points are required.
        """
        in_all_columns |= len(self._terms) > 1 or self._terms[0].series is None
        if in_all_columns not in self._dense:
            columns = np.arange(self.n_features) if in_all_columns else nonzero_columns(self.points)
            self._dense[in_all_columns] = DensePoints(
                self.points, self.coefficients, self.kernel, self.intercept, columns, self._players
            )
        return self._dense[in_all_columns]

    # --- other functions ---

    def grouped(self, players: NDArray[np.int64]) -> SparseKernelSum:
        function = super().grouped(players)
        function._dense, function._groups = {}, None
        return function

    def _select_outputs(self, outputs: list[int]) -> SparseKernelSum:
        function = self._copy()
        function.coefficients = read_only(self.coefficients[:, outputs])
        function.intercept = read_only(np.asarray(self.intercept)[outputs])
        function.n_outputs = len(outputs)
        function._prepare()
        return function

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


def _add_parts(
    parts: Sequence[AtSparsePoints],
    computation: Computation,
    compute: Callable[[AtSparsePoints, Computation], Float],
) -> Float:
    """Return the sum of results of parts, which are infinite or NaN if they are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = compute(parts[0], computation.part(0, len(parts)))
        for number, part in enumerate(parts[1:], start=1):
            total += compute(part, computation.part(number, len(parts)))
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
    term, *other_terms = function.kernel.terms(function.n_features)
    if other_terms or term.series is None or len(term.series.weights) != 2:
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
