"""Weighted sums of kernels centered at sparse points, with the cost of the non-zero columns.

A column that is 0 in a row and in a point has the factor k_j(0, 0) = 1 in a product kernel, and
adds 0 to a dot product. The engine computes the Shapley values of product kernels at sparse rows.
For everything else, f depends on few columns near a row, and is there a `KernelSum` of dense
points: for product kernels the factors of the other columns, k_j(0, x_ij), multiply the
coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.functions.base import ConditionalMeans, Function, Members, checked_constant, finite
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
from pkex.functions.sparse_groups import FAMILIES, GroupFactors, logarithms_at_zero
from pkex.functions.sparse_pairs import packed_rows, selected_pairs, sparse_game
from pkex.functions.sparse_powers import MOST_DEGREES, PowersAtPoints, moments_of
from pkex.games.coalitions import coalitions, ranks
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.kernels import Kernel
from pkex.kernels.factors import Term, has_mixtures, restricted
from pkex.tables.kinds import check_dense_size
from pkex.tables.read import as_vector_or_matrix
from pkex.tables.sparse import (
    as_sparse_rows,
    dense_rows,
    is_sparse,
    nonzero_columns,
    owned_rows,
)
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Rows, SparseRows

__all__ = ["SparseKernelSum", "TermKernel", "collapsed", "kernel_sum", "reads_sparse"]

# The largest number of values of dense points that take less time than a choice of columns.
_MOST_DENSE = 1 << 19
# Attributes that are computed again when a function is unpickled.
_NOT_SAVED = ("_groups", "_last", "_logarithms", "_packed", "_powers", "_term")


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
        "_groups",
        "_last",
        "_logarithms",
        "_packed",
        "_powers",
        "_term",
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
        """Prepare the computation of values near rows."""
        self._last: _Part | None = None
        self._groups: GroupFactors | None = None
        (self._term,) = self.kernel.terms(self.n_features)
        self._logarithms = self._packed = self._powers = None
        if self._term.series is None:
            self._logarithms = logarithms_at_zero(self._term, self.points)
            weights = np.ascontiguousarray(self._columns_of_coefficients)
            self._packed = _core.SparseExpansion(
                packed_rows(self.points), weights, [self._term.packed()]
            )
        elif len(self._term.series.weights) <= MOST_DEGREES + 1:
            weights = self._term.coefficient * self._term.series.weights
            rates = np.zeros(self.n_features)
            rates[self._term.series.columns] = self._term.series.rates
            scaled = self.points.copy()
            scaled.data = scaled.data * rates[scaled.indices]
            self._powers = PowersAtPoints(scaled, self._columns_of_coefficients, weights)

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
        if self._packed is not None:
            values = self._packed.predict(packed_rows(self._rows(X)), n_threads=n_threads)
            with np.errstate(over="ignore"):
                return finite(self._as_output(values + self.intercept))
        if self._powers is None:
            return self._by_row(X, lambda part, row: part.evaluate(row, n_threads=n_threads))
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._powers.outputs(self._rows(X)) + self.intercept
        return finite(self._as_output(values))

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        if self._powers is None:
            return self._by_row(X, lambda part, row: part.magnitude(row, n_threads=n_threads))
        return self._as_output(self._powers.sizes(self._rows(X)) + np.abs(self.intercept))

    def _rows(self, X: Any) -> SparseRows:
        """Return rows of a table in the columns of the function."""
        check_names_of(X, self.feature_names)
        return as_sparse_rows(X, "X", n_columns=self.n_features)

    def _by_row(self, X: ArrayLike, compute: Callable[[KernelSum, Float], Float]) -> Float:
        """Return a result of each row, computed by the dense function of its columns."""
        rows = self._rows(X)
        values = np.empty((rows.shape[0], *self.coefficients.shape[1:]))
        for number in range(len(values)):
            row = rows[number : number + 1]
            part = self._on(nonzero_columns(row))
            try:
                values[number] = compute(part.function, part.rows(row))[0]
            except OverflowError:
                raise OverflowError(f"the value of row {number} is too large for a float") from None
        return values

    # --- games ---

    def explain(
        self, X: Rows, *, game: Game = NEUTRAL, quantity: Quantity = SHAPLEY, how: Computation
    ) -> Float:
        if quantity.size > 1:
            part = self._whole()
            rows, of_part = part.rows(X), part.game(game)
            return part.function.explain(rows, game=of_part, quantity=quantity, how=how)
        return self._values(as_sparse_rows(X, "X", allow_no_rows=True), game, quantity, how)

    def _values(self, X: SparseRows, game: Game, quantity: Quantity, how: Computation) -> Float:
        """Return the values of single players, or constants, shape (n, players or 1, outputs)."""
        n_rows = X.shape[0]
        n_coalitions = self.n_players if quantity.size else 1
        values = np.zeros((n_rows, n_coalitions, self.n_outputs))
        if not self.points.shape[0]:
            return values if quantity.size else values + self.intercept
        found = self._shapley_values(X, game, how) if quantity == SHAPLEY else None
        if found is not None:
            return finite(found)
        if not self._is_local(game):
            part = self._of_points()
            found = part.function.explain(
                part.rows(X), game=part.game(game), quantity=quantity, how=how
            )
            values[:, part.players if quantity.size else [0]] = found
            return values
        quiet = how.reporting(None)
        for number in range(n_rows):
            row = X[number : number + 1]
            for part, of_part, weight in self._parts(row, game):
                own = part.rows(row)
                try:
                    found = part.function.explain(own, game=of_part, quantity=quantity, how=quiet)
                except OverflowError:
                    raise OverflowError(
                        f"a value of row {number} is too large for a float"
                    ) from None
                values[number, part.players if quantity.size else [0]] += weight * found[0]
            if how.progress is not None:
                how.progress(number + 1, n_rows)
        return values

    def _shapley_values(self, X: SparseRows, game: Game, how: Computation) -> Float | None:
        """Return Shapley values from the values that are not 0; None if dense points are needed."""
        if self._players is not None:
            is_interventional = game.value_function == "interventional"
            if self._packed is None or (is_interventional and not self._is_local(game)):
                return None
            groups, weights = self._groups_of_columns()
            return groups.explain(X, weights, game, self._background(game), how)
        if self._powers is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                return self._powers.explain(X, game, self._background(game), how.progress)
        if self._packed is None or how.method != "quadrature":
            return None
        return self._packed.explain(
            packed_rows(X),
            game=sparse_game(game),
            summation=how.summation,
            n_threads=how.n_threads,
            progress=how.progress,
        )

    def selected_pairs(
        self, X: Rows, selected: NDArray[np.int64], *, game: Game, how: Computation
    ) -> Float:
        if self._packed is not None and self._players is None:
            return finite(selected_pairs(self._packed, X, selected, game, how))
        if not self._is_local(game):
            return super().selected_pairs(X, selected, game=game, how=how)
        k, rows = len(selected), as_sparse_rows(X, "X", allow_no_rows=True)
        values = np.zeros((rows.shape[0], k * (k + 1) // 2, self.n_outputs))
        for number in range(len(values)):
            row = rows[number : number + 1]
            for part, of_part, weight in self._parts(row, game):
                # The columns of other players have no values in this row.
                present = np.flatnonzero(np.isin(selected, part.players))
                own = np.searchsorted(part.players, selected[present])
                pairs = part.function.selected_pairs(
                    part.rows(row), own, game=of_part, how=how.reporting(None)
                )
                members = np.append(present, k)[coalitions(len(present) + 1, 2)]
                values[number, ranks(members, k + 1)] += weight * pairs[0]
            if how.progress is not None:
                how.progress(number + 1, len(values))
        return values

    def base(self, game: Game, how: Computation) -> float | Float:
        if game.value_function == "neutral" or not self.points.shape[0]:
            sums = neutral_sums([self._term], self._columns_of_coefficients)
            return self._as_base(finite_base(sums + self.intercept))
        if game.value_function == "interventional" and game.background is not None:
            rows, weights = game.background
            outputs = self.evaluate(rows, n_threads=how.n_threads)
            means = added(weights.reshape(-1, *[1] * (outputs.ndim - 1)) * outputs)
            return means if self.has_output_axis else float(means)
        if self._packed is not None and self._players is None:
            sums = self._packed.base(
                game=sparse_game(game), n_threads=how.n_threads, progress=how.progress
            )
            return self._as_base(finite_base(sums + self.intercept))
        background = self._background(game)
        if self._powers is not None and self._players is None:
            with np.errstate(over="ignore", invalid="ignore"):
                moments = moments_of(*background, self._powers.degree)
                bases = self._powers.base(moments) + self.intercept
            return self._as_base(finite_base(bases))
        if self._term.series is not None:
            part = self._of_points()
            return part.function.base(part.game(game), how)
        groups, weights = self._groups_of_columns()
        changes = groups.changes_of_means(game, background)
        return self._as_base(finite_base(groups.base(weights, changes) + self.intercept))

    def _groups_of_columns(self) -> tuple[GroupFactors, Float]:
        """Return the factors of groups, and the coefficients of their products."""
        if self._groups is None:
            self._groups = GroupFactors(self._term, self.points, self.players)
        return self._groups, self._term.coefficient * self._columns_of_coefficients

    def _background(self, game: Game) -> tuple[SparseRows, Float]:
        """Return the background of a game as sparse rows, by default the points, with weights."""
        if game.background is None:
            return self.points, equal_weights(self.points.shape[0])
        return as_sparse_rows(game.background[0], "background"), game.background[1]

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, how: Computation
    ) -> Float:
        members = self._members(members)
        x = as_sparse_rows(row[None], "X")
        if not self._is_local(game):
            part = self._of_points()
            own = np.ascontiguousarray(members[:, part.players])
            return part.function.coalition_outputs(part.rows(x)[0], part.game(game), own, how)
        outputs = [
            part.function.coalition_outputs(
                part.rows(x)[0], of_part, np.ascontiguousarray(members[:, part.players]), how
            )
            for part, of_part, _ in self._parts(x, game)
        ]
        return np.concatenate(outputs)

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, how: Computation
    ) -> Float | None:
        n_rows = 1 if game.background is None else len(game.background[1])
        if game.value_function == "interventional" and n_rows > 1:
            return super().shifted_squares(X, shifts, game, how)
        part = self._of_points()
        squares = part.function.shifted_squares(part.rows(X), shifts, part.game(game), how)
        if squares is None:
            return None
        values = np.zeros((len(X), self.n_players, self.n_outputs))
        values[:, part.players] = squares
        return values

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        return self._whole().function.conditional_means(X, rows, landmarks)

    def products(self, rows: NDArray[Any]) -> Products:
        return self._whole().function.products(rows)

    # --- the function on some columns ---

    def _is_local(self, game: Game) -> bool:
        """Whether to compute in the columns that are not 0 in a row, or a background row.

        No other columns have values. For few points and columns, dense points are faster.
        """
        if self.points.shape[0] * self.n_features <= _MOST_DENSE:
            return False
        if game.background is not None:
            return game.value_function == "interventional"
        return game.value_function == "neutral" and self._term.series is not None

    def _parts(self, row: SparseRows, game: Game) -> Iterator[tuple[_Part, Game, float]]:
        """Yield the functions of the columns of a row and each background row, with weights."""
        if game.background is None:
            yield self._on(nonzero_columns(row)), game, 1.0
            return
        rows, weights = game.background
        for number, weight in enumerate(weights.tolist()):
            other = rows[number : number + 1]
            part = self._on(nonzero_columns(row, other))
            yield part, Game(game.value_function, (part.rows(other), np.ones(1))), weight

    def _whole(self) -> _Part:
        """Return the function at dense points."""
        return self._kept(np.arange(self.n_features))

    def _of_points(self) -> _Part:
        """Return the function at dense points, in the columns that have values for some rows.

        Columns that are 0 in all points add nothing to dot products.
        """
        is_of_dots = self._term.series is not None
        return self._kept(nonzero_columns(self.points)) if is_of_dots else self._whole()

    def _kept(self, columns: NDArray[np.int64]) -> _Part:
        """Return the function on some columns, which is kept until others are requested."""
        if self._last is None or not np.array_equal(self._last.columns, columns):
            self._last = self._on(columns)
        return self._last

    def _on(self, columns: NDArray[np.int64]) -> _Part:
        """Return the function of rows whose other columns are 0.

        Raises
        ------
        InputError
            If the points would take more than a gigabyte.
        """
        # A function has at least one column; one that is 0 in all rows changes nothing.
        columns = columns if len(columns) else np.arange(1)
        check_dense_size((self.points.shape[0], len(columns)), "points")
        present = np.zeros(self.n_features, dtype=np.bool_)
        present[columns] = True
        term = restricted(self._term, present).on(np.cumsum(present) - 1)
        coefficients = self.coefficients
        if self._logarithms is not None:
            others = np.exp(self._logarithms @ (~present).astype(np.float64))
            coefficients = (coefficients.T * others).T
        points = np.ascontiguousarray(self.points[:, columns].toarray())
        function = KernelSum(points, coefficients, TermKernel(term), self.intercept)
        players = columns
        if self._players is not None:
            players, own = np.unique(self._players[columns], return_inverse=True)
            function = function.grouped(own.astype(np.int64))
        return _Part(function, columns, players)

    # --- other functions ---

    def grouped(self, players: NDArray[np.int64]) -> SparseKernelSum:
        merged = super().grouped(players)
        merged._last = merged._groups = None
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


@dataclass(frozen=True, eq=False)
class _Part:
    """A function on some columns, for rows whose other columns are 0.

    Parameters
    ----------
    function : KernelSum
    columns : ndarray of int64, shape (k,)
    players : ndarray of int64
        The numbers that the players of the function have in the whole function.
    """

    function: KernelSum
    columns: NDArray[np.int64]
    players: NDArray[np.int64]

    def rows(self, rows: Rows) -> Float:
        """Return the columns of rows as an array."""
        return dense_rows(rows[:, self.columns])

    def game(self, game: Game) -> Game:
        """Return a game with the columns of its background."""
        return game.mapped(self.rows)


@dataclass(frozen=True, eq=False)
class TermKernel(Kernel):
    """A kernel of one term, on all of its columns."""

    term: Term

    def terms(self, n_features: int) -> list[Term]:
        return [self.term]


def reads_sparse(kernel: Kernel, n_features: int) -> bool:
    """Whether the points of a kernel can be sparse.

    They can for one product of factors that are positive with k(0, 0) = 1, and for polynomials in a
    dot product, each with an amplitude.
    """
    terms = kernel.terms(n_features)
    if len(terms) != 1 or has_mixtures(terms):
        return False
    (term,) = terms
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
    (term,) = function.kernel.terms(function.n_features)
    if term.series is None or len(term.series.weights) != 2:
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
