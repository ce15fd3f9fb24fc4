"""Linear functions, which linear models predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.functions.base import finite
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.products import Products, products
from pkex.functions.weighted import Weighted, checked_intercept, probing_rows
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.means import added, blocks, column_means
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.inputs.wording import counted
from pkex.tables.read import as_matrix, as_vector_or_matrix
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = ["LinearFunction"]


class LinearFunction(Weighted):
    """The function f(x) = intercept + Σ_j coefficients_j · (x_j − centre_j).

    It needs no engine, as each feature's part in a coalition's worth is the same in all of them:
    v(S) = v(∅) + Σ_{j∈S} coefficients_j · (x_j − r_j). In the neutral game r is the centre, for an
    absent feature contributes nothing to a dot product; against a background it is the mean of
    column j, whether features are drawn together or each on its own. So the value of a feature is
    its term of the sum, by every index, and there are no interactions.

    Parameters
    ----------
    coefficients : array-like of shape (d,) or (d, outputs)
        The second shape gives the function an output axis.
    intercept : float or array-like of shape (outputs,), default 0.0
    players : ndarray of int64, shape (d,), optional
        The number of each column's player; by default each is a player of its own.
    centre : array-like of shape (d,), optional
        0 if not given.
    points : array-like of shape (n, d), optional
        The rows that absent features can be drawn from, where they are kept.

    Raises
    ------
    ValueError
        If shapes do not fit together, or numbers are missing or infinite.
    TypeError
        If arrays do not hold real numbers.

    Examples
    --------
    >>> LinearFunction([2.0, -1.0], 10.0).predict([[1.0, 5.0]])
    array([7.])
    """

    __slots__ = ("_centre", "_points")

    def __init__(
        self,
        coefficients: ArrayLike,
        intercept: ArrayLike = 0.0,
        players: NDArray[np.int64] | None = None,
        *,
        centre: ArrayLike | None = None,
        points: ArrayLike | None = None,
    ) -> None:
        n_features = len(np.atleast_1d(coefficients))
        self._coefficients = read_only(
            as_vector_or_matrix(
                coefficients, "coefficients", n_rows=n_features, rows_of="the features"
            )
        )
        self._intercept = checked_intercept(intercept, self._coefficients.shape[1:])
        self._players = players
        # Copies: what is passed may be the arrays of a model, which others can change.
        self._centre = np.zeros(n_features) if centre is None else np.array(centre, np.float64)
        self._points = None if points is None else read_only(as_matrix(points, "points"))

    @property
    def n_features(self) -> int:
        return len(self._coefficients)

    @property
    def keeps_points(self) -> bool:
        return self._points is not None

    def own_points(self) -> Float | None:
        return self._points

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = as_matrix(X, "X", n_columns=self.n_features) - self._centre
        with np.errstate(over="ignore", invalid="ignore"):
            sums = [added(rows.T * weights[:, None]) for weights in self._by_output()]
            values = np.stack(sums, axis=-1) + self._intercept
        return finite(values if self.has_output_axis else values[:, 0])

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        if quantity.size > 1:
            count = comb(self.n_players, quantity.size)
            return np.zeros((len(X), count, self.n_outputs))
        parts = self._parts(X, game, how)
        if quantity.size == 1:
            # A coalition of one has a measure of mass 1 by every index: that is its mean share of
            # a game in which it does not matter who else is there.
            return finite(parts)
        # ∫ [v(∅) + t (f(x) − v(∅))] dμ(t)
        base = np.asarray(self.base(game, how))
        return finite(base + _mean(quantity.measure) * parts.sum(axis=1, keepdims=True))

    def base(self, game: Game, how: Computation) -> float | Float:
        near, missing = self._references(game)
        near = near - self._centre
        constants = np.ravel(self._intercept)
        with np.errstate(over="ignore", invalid="ignore"):
            bases = np.array(
                [
                    added(np.concatenate([weights * near, weights * missing, [constant]]))
                    for weights, constant in zip(self._by_output(), constants, strict=True)
                ]
            )
        if not np.isfinite(bases).all():
            raise OverflowError(
                "the base value, the function while no feature is known, is too large for a float; "
                "scale the coefficients or the background down"
            )
        return bases if self.has_output_axis else float(bases[0])

    def grouped(self, players: NDArray[np.int64]) -> LinearFunction:
        of_column = players if self._players is None else players[self._players]
        return self._with(self._coefficients, self._intercept, of_column)

    def select(self, outputs: Sequence[int]) -> LinearFunction:
        if not self.has_output_axis:
            raise ValueError("the function has a single output and no output axis to select from")
        chosen = list(outputs)
        intercept = np.asarray(self._intercept)[chosen]
        return self._with(self._coefficients[:, chosen], intercept, self._players)

    def _with(self, coefficients: Float, intercept: Any, players: Any) -> LinearFunction:
        return LinearFunction(
            coefficients, intercept, players, centre=self._centre, points=self._points
        )

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        sizes = LinearFunction(np.abs(self._coefficients), np.abs(self._intercept))
        return sizes.evaluate(np.abs(np.asarray(X) - self._centre), n_threads=n_threads)

    def probing_rows(self) -> Float:
        """Return rows at the points, or where entries are near 1 or all columns matter alike.

        Then all entries are positive, so that others take them for which that matters.
        """
        if self._points is not None:
            return probing_rows(self._points)
        d = self.n_features
        largest = np.abs(self._coefficients).reshape(d, -1).max(axis=1)
        scale = float(np.max(np.abs(self._intercept))) or 1.0
        alike = np.ones(d)
        np.divide(scale, largest, out=alike, where=largest > 0.0)
        # Of columns that hardly matter, entries far out of the range of the others help nobody.
        alike = np.clip(alike, 1e-30, 1e30)
        # A fixed set of irregular numbers.
        irregular = 1.0 + 0.5 * np.cos(np.arange(1.0, 1.0 + 6 * d)).reshape(6, d)
        return np.concatenate([irregular[:3], alike * irregular[3:]])

    def _parts(self, X: Float, game: Game, how: Computation) -> Float:
        """Return players' parts of v(all) − v(∅), of shape (n, players, outputs)."""
        near, missing = self._references(game)
        members = None if self._players is None else _columns_of(self._players)
        values = np.empty((len(X), self.n_players, self.n_outputs))
        with np.errstate(over="ignore", invalid="ignore"):
            for block in blocks(*X.shape):
                deviations = X[block] - near
                deviations -= missing
                for output, weights in enumerate(self._by_output()):
                    _write_parts(deviations, weights, members, values[block, :, output])
                if how.progress is not None:
                    how.progress(min(block.stop, len(X)), len(X))
        return values

    def _by_output(self) -> Iterator[Float]:
        """Return each output's coefficients."""
        return iter(self._coefficients.reshape(self.n_features, -1).T)

    def _references(self, game: Game) -> tuple[Float, Float]:
        """Return what takes the place of absent entries, as `column_means` does."""
        if game.is_of_points:
            if self._points is None:
                raise ValueError("a linear function has no points of its own")
            return column_means(self._points, equal_weights(len(self._points)))
        if game.background is None:
            return self._centre, np.zeros(self.n_features)
        return game.means

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._coefficients, self._intercept, self._players)
        return _restored, (type(self), parts, self._centre, self._points)

    def __repr__(self) -> str:
        sizes = [counted(self.n_features, "feature")]
        if self.has_output_axis:
            sizes.append(counted(self.n_outputs, "output"))
        return f"LinearFunction({', '.join(sizes)})"


def _restored(
    kind: type[LinearFunction], parts: tuple[Any, ...], centre: Float, points: Float | None
) -> LinearFunction:
    return kind(*parts, centre=centre, points=points)


def _write_parts(
    deviations: Float, weights: Float, members: list[NDArray[np.intp]] | None, values: Float
) -> None:
    """Write each player's sum of deviations of its columns, times their weights."""
    if members is None:
        np.multiply(deviations, weights, out=values)
        return
    parts = deviations.T * weights[:, None]
    for player, columns in enumerate(members):
        values[:, player] = added(parts[columns])


def _columns_of(players: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the columns of each player, in their order."""
    order = np.argsort(players, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(players[order])) + 1)


def _mean(measure: float | tuple[float, int, int, int]) -> float:
    """Return ∫ t dμ of a measure of mass 1: of a point, or of density ∝ t^i (1−t)^j."""
    if isinstance(measure, float):
        return measure
    _, i, j, _ = measure
    return (i + 1) / (i + j + 2)


@covariances.register
def _(variance: LinearFunction, X: Float, game: Game, how: Computation) -> Float:
    # Of a Gaussian process whose kernel is of no column, and the variance a constant.
    if variance.coefficients.any():
        raise UnsupportedModelError("no function has a linear variance")
    return np.zeros((len(X), variance.n_players, variance.n_players, variance.n_outputs))


@draws.register(LinearFunction)
def _(variance: LinearFunction, rows: Float, n: int, random: np.random.Generator) -> list[Draws]:
    # As above: such functions do not deviate from their mean, but by constants.
    nothing = LinearFunction(np.zeros((variance.n_features, n)), np.zeros(n))
    return [Draws(nothing, 0.0)] * variance.n_outputs


class _Entries(Products):
    """Σ_j weights_j · (x_j − centre_j): a product for each column, of one factor."""

    def __init__(self, weights: Float, centre: Float) -> None:
        super().__init__(weights)
        self._centre = centre

    def factors(self, column: int, entries: Float) -> Float:
        factors = np.ones((len(self._centre), len(entries)))
        factors[column] = entries - self._centre[column]
        return factors


@products.register
def _(function: LinearFunction, rows: Float) -> Products:
    weights = function.coefficients.reshape(function.n_features, function.n_outputs)
    return _Entries(weights, function._centre)
