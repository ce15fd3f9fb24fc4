"""Linear functions, which linear models predict."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.functions.base import (
    Function,
    Members,
    PosteriorDraws,
    check_constant,
    check_finite,
)
from pkex.functions.probing import irregular_numbers, rows_near
from pkex.functions.products import Products
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added, blocks, column_means
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.tables.sparse import as_rows_of_any_kind, as_sparse_rows, dense_rows, is_sparse
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Rows


class LinearFunction(Function):
    """The function f(x) = intercept + Σ_j coefficients_j · (x_j − center_j).

    It does not need the engine: the contribution of a feature is the same in all coalitions,
    v(S) = v(∅) + Σ_{j∈S} coefficients_j · (x_j − r_j). In the neutral game r is the center, because
    an absent feature contributes nothing to a dot product. With a background, r_j is the mean of
    column j, for features drawn jointly or independently. So the value of a feature is its term of
    the sum, for every index, and there are no interactions.

    Parameters
    ----------
    coefficients : array-like of shape (d,) or (d, outputs)
        The second shape gives the function an output axis.
    intercept : float or array-like of shape (outputs,), default 0.0
    players : ndarray of int64, shape (d,), optional
        The number of each column's player; by default each column is a player.
    center : array-like of shape (d,), optional
        0 by default.
    points : array-like or sparse matrix of shape (n, d), optional
        Stored rows, which absent features can be drawn from.
    sizes : ndarray of shape (d,) or (d, outputs), optional
        The sums of the absolute summands of coefficients, if these are sums.

    Raises
    ------
    ValueError
        If shapes do not match, or numbers are missing or infinite.
    TypeError
        If arrays do not contain real numbers.

    Examples
    --------
    >>> LinearFunction([2.0, -1.0], 10.0).predict([[1.0, 5.0]])
    array([7.])
    """

    __slots__ = ("_center", "_points", "_sizes_of_sums", "coefficients", "intercept")

    def __init__(
        self,
        coefficients: ArrayLike,
        intercept: ArrayLike = 0.0,
        players: NDArray[np.int64] | None = None,
        *,
        center: ArrayLike | None = None,
        points: ArrayLike | None = None,
        sizes: Float | None = None,
    ) -> None:
        d = len(np.atleast_1d(coefficients))
        self.coefficients = read_only(
            as_vector_or_matrix(coefficients, "coefficients", n_rows=d, rows_of="the features")
        )
        self._set_shape(d, self.coefficients.shape[1:], players)
        self.intercept = check_constant(intercept, self.coefficients.shape[1:])
        # Copies: the arguments may be the arrays of a model, which others can change.
        self._center = np.zeros(d) if center is None else np.array(center, np.float64)
        if is_sparse(points):
            self._points = as_sparse_rows(points, "points")
        else:
            self._points = None if points is None else read_only(as_matrix(points, "points"))
        self._sizes_of_sums = np.abs(self.coefficients) if sizes is None else sizes

    @property
    def reads_sparse(self) -> bool:
        return True

    @property
    def keeps_points(self) -> bool:
        return self._points is not None

    def stored_points(self) -> Rows | None:
        return self._points

    @property
    def is_additive(self) -> bool:
        return True

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = as_rows_of_any_kind(X, "X", n_columns=self.n_features)
        values = np.empty((rows.shape[0], self.n_outputs))
        with np.errstate(over="ignore", invalid="ignore"):
            for block in self._blocks(rows):
                deviations = (dense_rows(rows[block]) - self._center).T
                sums = [added(deviations * weights[:, None]) for weights in self._by_output()]
                values[block] = np.stack(sums, axis=-1) + self.intercept
        return check_finite(self._as_output(values))

    def _blocks(self, rows: Rows) -> list[slice]:
        """Return the blocks of rows that are dense at a time."""
        return blocks(*rows.shape) if is_sparse(rows) else [slice(None)]

    def explain(
        self,
        X: Rows,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        if quantity.size > 1:
            count = comb(self.n_players, quantity.size)
            return np.zeros((X.shape[0], count, self.n_outputs))
        contributions = self._contributions(X, game, computation)
        if quantity.size == 1:
            # The measure of a single player has mass 1 for every index.
            return check_finite(contributions)
        # ∫ [v(∅) + t (f(x) − v(∅))] dμ(t)
        base = np.asarray(self.base(game, computation))
        return check_finite(
            base + _mean(quantity.measure) * contributions.sum(axis=1, keepdims=True)
        )

    def base(self, game: Game, computation: Computation) -> float | Float:
        reference, remainder = self._references(game)
        reference = reference - self._center
        constants = np.ravel(self.intercept)
        with np.errstate(over="ignore", invalid="ignore"):
            bases = np.array(
                [
                    added(np.concatenate([weights * reference, weights * remainder, [constant]]))
                    for weights, constant in zip(self._by_output(), constants, strict=True)
                ]
            )
        if not np.isfinite(bases).all():
            raise OverflowError(
                "the base value, the value of the empty coalition, is too large for a float; "
                "scale the coefficients or the background down"
            )
        return self._as_base(bases)

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        if game.background is None or game.is_marginal:
            return super().coalition_outputs(row, game, members, computation)
        # Each player adds its term at the row if it is present, otherwise at the background row.
        present = self._members(members).astype(np.float64)
        center = Game("interventional", (self._center[None], np.ones(1)))
        row_terms = self._contributions(row[None], center, computation.reporting(None))[0]
        background_terms = self._contributions(
            game.background[0], center, computation.reporting(None)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            sums = (present @ row_terms)[None] + (1.0 - present) @ background_terms
            return check_finite(sums + self.intercept)

    def _values_of_coalitions(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        contributions = self._contributions(row[None], game, computation.reporting(None))[0]
        base = np.ravel(self.base(game, computation))
        return check_finite(base + self._members(members).astype(np.float64) @ contributions)

    def products(self, rows: Float) -> Products:
        weights = self.coefficients.reshape(self.n_features, self.n_outputs)
        return _Deviations(weights, self._center)

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        """Return zeros for a constant variance: the kernel of the process depends on no column."""
        if self.coefficients.any():
            raise UnsupportedModelError("a random function cannot have a linear variance")
        return np.zeros((len(pairs), self.n_players, self.n_players, self.n_outputs))

    def draws(self, rows: Float, n: int, random: np.random.Generator) -> list[PosteriorDraws]:
        """Return deviations of 0 for a constant variance, as draws differ by constants only."""
        zero = LinearFunction(np.zeros((self.n_features, n)), np.zeros(n))
        return [PosteriorDraws(zero, 0.0)] * self.n_outputs

    def _select_outputs(self, outputs: list[int]) -> LinearFunction:
        function = self._copy()
        function.coefficients = read_only(self.coefficients[:, outputs])
        function.intercept = read_only(np.asarray(self.intercept)[outputs])
        function._sizes_of_sums = self._sizes_of_sums[:, outputs]
        return function

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        sizes = LinearFunction(self._sizes_of_sums, np.abs(self.intercept))
        return sizes.evaluate(np.abs(np.asarray(X) - self._center), n_threads=n_threads)

    def probing_rows(self) -> Float:
        """Return rows near the points, or rows of positive values.

        Some of these values are near 1; others give all columns contributions of similar size.
        """
        if self._points is not None:
            return rows_near(self._points)
        d = self.n_features
        largest = np.abs(self.coefficients).reshape(d, -1).max(axis=1)
        scale = float(np.max(np.abs(self.intercept))) or 1.0
        magnitudes = np.ones(d)
        np.divide(scale, largest, out=magnitudes, where=largest > 0.0)
        # Columns with tiny coefficients do not get values far out of the range of the others.
        magnitudes = np.clip(magnitudes, 1e-30, 1e30)
        factors = 1.0 + 0.5 * irregular_numbers(6, d)
        return np.concatenate([factors[:3], magnitudes * factors[3:]])

    def moderate_rows(self) -> Float:
        """Return rows where all terms have one size, and a sum that is not much larger.

        At other rows, the exponential of the sum may be 0 or infinite.
        """
        d, constant = self.n_features, self.intercept
        coefficients = self.coefficients.reshape(d, -1)[:, 0]
        size = np.max(np.abs(constant), initial=1.0)
        is_used = coefficients != 0.0
        deviations = np.ones(d)
        # The sum is near the constant, less a term of the same size.
        share = -np.copysign(size, np.ravel(constant)[0]) / max(1, int(is_used.sum()))
        np.divide(share, coefficients, out=deviations, where=is_used)
        # Multiples of a large constant by these factors are moderate.
        factors = 1.0 + min(0.5, 10.0 / size) * irregular_numbers(6, d)
        rows: Float = self._center + deviations * factors
        return rows

    def _contributions(self, X: Rows, game: Game, computation: Computation) -> Float:
        """Return the contribution of each player to v(all) − v(∅), (n, players, outputs)."""
        reference, remainder = self._references(game)
        members = None if self._players is None else _columns_of(self._players)
        n_rows = X.shape[0]
        values = np.empty((n_rows, self.n_players, self.n_outputs))
        with np.errstate(over="ignore", invalid="ignore"):
            for block in blocks(*X.shape):
                deviations = dense_rows(X[block]) - reference
                deviations -= remainder
                for output, weights in enumerate(self._by_output()):
                    _write_sums(deviations, weights, members, values[block, :, output])
                computation.report(block.stop, n_rows)
        return values

    def _by_output(self) -> Iterator[Float]:
        """Return the coefficients of each output."""
        return iter(self.coefficients.reshape(self.n_features, -1).T)

    def _references(self, game: Game) -> tuple[Float, Float]:
        """Return the values that replace absent features, as `column_means` does."""
        if game.is_of_points:
            if self._points is None:
                raise ValueError("the linear function has no stored points")
            return column_means(self._points, equal_weights(self._points.shape[0]))
        if game.background is None:
            return self._center, np.zeros(self.n_features)
        return game.means

    def __repr__(self) -> str:
        return f"LinearFunction({self._sizes()})"


def _write_sums(
    deviations: Float, weights: Float, members: list[NDArray[np.intp]] | None, values: Float
) -> None:
    """Write the sum of weights times deviations over the columns of each player."""
    if members is None:
        np.multiply(deviations, weights, out=values)
        return
    summands = deviations.T * weights[:, None]
    for player, columns in enumerate(members):
        values[:, player] = added(summands[columns])


def _columns_of(players: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the columns of each player, in their order."""
    order = np.argsort(players, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(players[order])) + 1)


def _mean(measure: float | tuple[float, int, int, int]) -> float:
    """Return ∫ t dμ of a measure of mass 1: at a point, or of density ∝ t^i (1−t)^j."""
    if isinstance(measure, float):
        return measure
    _, i, j, _ = measure
    return (i + 1) / (i + j + 2)


class _Deviations(Products):
    """Σ_j weights_j · (x_j − center_j): one product per column, of one factor."""

    def __init__(self, weights: Float, center: Float) -> None:
        super().__init__(weights)
        self._center = center

    def factors(self, column: int, entries: Float) -> Float:
        factors = np.ones((len(self._center), len(entries)))
        factors[column] = entries - self._center[column]
        return factors
