"""The variance of Gaussian processes, a quadratic form of their kernel's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.execution.progress import advising
from pkex.functions.base import Function
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.gaussian_process.coalitions import empty_worth, worths_of
from pkex.functions.gaussian_process.conditioning import ConditioningMatrix
from pkex.functions.gaussian_process.draws import drawn
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.gaussian_process.pairs import MOST_PLAYERS, VarianceReduction
from pkex.functions.gaussian_process.uncertainty import Conditioned
from pkex.functions.weighted import checked_intercept
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.games.worths import quantity_of
from pkex.inputs.arrays import read_only, read_only_view
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.factors import has_mixtures, has_series
from pkex.tables.read import as_matrix
from pkex.typing import Float

__all__ = ["PosteriorVariance"]

# What a pair's game costs a player, in steps of the variance of a row.
_STEPS_OF_PAIR = 12


class PosteriorVariance(Function):
    """The function f(x) = scales · (k(x, x) + noise − wᵀ M w) of w = factor⁻¹ R k(points, x).

    The variance of a Gaussian process at x (Rasmussen & Williams 2006, algorithm 2.1), where the
    factor is L of L Lᵀ = K + noise of the training rows, and R and M are 1; see
    `ConditioningMatrix` for others. Against a background v(S) is the mean variance of rows with the
    entries of x in S; in the neutral game k_S takes the place of k. The values of a game are
    computed coalition by coalition, or pair by pair of points, whichever takes less time where both
    are exact.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The training rows, or inducing points.
    factor : array-like of shape (m, m)
        Lower triangular.
    kernel : pkex.kernels.Kernel
    scales : float or array-like of shape (outputs,), default 1.0
        The squared units of the outputs; the second gives the function an output axis.
    noise : float, default 0.0
        What is added to the prior variance.
    roots : array-like of shape (n,) or (m, n), optional
        R, or its diagonal; 1 if not given.
    middle : array-like of shape (m, m), optional
        M, symmetric; 1 if not given.
    players : ndarray of int64, shape (d,), optional
        The number of each column's player; by default each is a player of its own.

    Examples
    --------
    >>> import pkex
    >>> PosteriorVariance([[0.0]], [[1.0]], pkex.kernels.RBF()).predict([[0.0], [1.0]])
    array([0.        , 0.63212056])
    """

    __slots__ = ("_latent", "_noise", "_pairs", "_players", "_scales")

    def __init__(
        self,
        points: ArrayLike,
        factor: ArrayLike,
        kernel: Kernel,
        *,
        scales: ArrayLike = 1.0,
        noise: float = 0.0,
        roots: ArrayLike | None = None,
        middle: ArrayLike | None = None,
        players: NDArray[np.int64] | None = None,
    ) -> None:
        rows = read_only(as_matrix(points, "points", allow_no_rows=True))
        # In the order of columns, as LAPACK makes it: of a model the same memory.
        n_columns = len(rows) if roots is None else None
        columns = as_matrix(np.transpose(factor), "factor", n_columns=n_columns, allow_no_rows=True)
        known = ConditioningMatrix(
            read_only_view(columns.T),
            np.ones(len(rows)) if roots is None else np.array(roots, np.float64),
            None if middle is None else np.array(middle, np.float64),
        )
        self._latent = LatentVariance(rows, kernel, known)
        self._scales = checked_intercept(scales, np.shape(scales), "scales")
        self._noise = float(noise)
        self._players = np.arange(rows.shape[1]) if players is None else players
        self._pairs = VarianceReduction(self._latent, self._players)

    @property
    def n_features(self) -> int:
        return int(self._latent.points.shape[1])

    @property
    def n_players(self) -> int:
        return int(self._players.max()) + 1

    @property
    def players(self) -> NDArray[np.int64]:
        return self._players

    @property
    def n_outputs(self) -> int:
        return int(np.size(self._scales))

    @property
    def has_output_axis(self) -> bool:
        return np.ndim(self._scales) == 1

    def own_points(self) -> Float:
        return self._latent.points

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = as_matrix(X, "X", n_columns=self.n_features)
        self._latent.entries.check(rows, "X")
        return self._single(self._scaled(self._latent.at(rows) + self._noise))

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        self._latent.entries.check(X, "X")
        constant = self._noise if quantity.size == 0 else 0.0
        if self._is_by_coalitions(game):
            worths = worths_of(self._latent, X, game, self._players, how.progress)
            values = quantity_of(worths, quantity)
        else:
            values = self._pairs.explain(X, game, quantity, how)
            constant += self._latent.prior if quantity.size == 0 else 0.0
        return self._scaled(values + constant)

    def base(self, game: Game, how: Computation) -> float | Float:
        if game.background is not None:
            self._latent.entries.check(game.background[0], "background")
        is_by_coalitions = self._is_by_coalitions(game)
        base = empty_worth(self._latent, game) if is_by_coalitions else self._pairs.empty(game, how)
        bases = self._scaled(np.array(base + self._noise))
        return bases if self.has_output_axis else float(bases[0])

    def _scaled(self, values: Float) -> Float:
        """Return values in the units of the outputs, which get an axis of their own."""
        scaled: Float = values[..., None] * np.atleast_1d(self._scales)
        return scaled

    def _single(self, values: Float) -> Float:
        return values if self.has_output_axis else values[:, 0]

    def _is_by_coalitions(self, game: Game) -> bool:
        """Whether the values of a game are computed coalition by coalition."""
        terms, n_players = self._latent.terms, self.n_players
        if game.is_marginal or n_players > MOST_PLAYERS:
            return False
        if has_series(terms) or has_mixtures(terms):
            return True
        pairs = _STEPS_OF_PAIR * n_players * len(terms) ** 2
        return 2**n_players <= pairs or not self._pairs.are_exact(game)

    def grouped(self, players: NDArray[np.int64]) -> PosteriorVariance:
        of_column = players[self._players]
        return self._with(self._scales, of_column, VarianceReduction(self._latent, of_column))

    def select(self, outputs: Sequence[int]) -> PosteriorVariance:
        if not self.has_output_axis:
            raise ValueError("the function has a single output and no output axis to select from")
        scales = np.asarray(self._scales)[list(outputs)]
        return self._with(scales, self._players, self._pairs)

    def _with(
        self, scales: Any, players: NDArray[np.int64], pairs: VarianceReduction
    ) -> PosteriorVariance:
        changed = PosteriorVariance.__new__(type(self))
        changed._latent, changed._noise = self._latent, self._noise
        changed._scales, changed._players, changed._pairs = scales, players, pairs
        return changed

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the scale of errors that the kernel's values bring, and not their sums."""
        rows = as_matrix(X, "X", n_columns=self.n_features)
        return self._single(self._scaled(self._latent.magnitude(rows) + abs(self._noise)))

    def probing_rows(self) -> Float:
        """Return rows at the points and beside them."""
        return self._latent.probing_rows()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._latent, self._noise, self._scales, self._players)

    def __repr__(self) -> str:
        sizes = [
            counted(len(self._latent.points), "point"),
            counted(self.n_features, "feature"),
        ]
        if self.has_output_axis:
            sizes.append(counted(self.n_outputs, "output"))
        return f"PosteriorVariance({', '.join(sizes)})"


@covariances.register
def _(variance: PosteriorVariance, X: Float, game: Game, how: Computation) -> Float:
    variance._latent.entries.check(X, "X")
    conditioned = Conditioned(variance._latent, variance._players)
    with advising(_faster_covariances(variance._latent)):
        return variance._scaled(conditioned.covariances(X, game, how))


def _faster_covariances(latent: LatentVariance) -> str:
    kernel = ", the RBF kernel" if has_mixtures(latent.terms) else ""
    return f"fewer rows{kernel} or a background of fewer rows"


@draws.register(PosteriorVariance)
def _(variance: PosteriorVariance, rows: Float, n: int, random: np.random.Generator) -> list[Draws]:
    return drawn(variance._latent, variance._scales, rows, n, random)


def _restored(
    kind: type[PosteriorVariance],
    latent: LatentVariance,
    noise: float,
    scales: Any,
    players: NDArray[np.int64],
) -> PosteriorVariance:
    variance = kind.__new__(kind)
    variance._latent, variance._noise, variance._scales = latent, noise, scales
    variance._players, variance._pairs = players, VarianceReduction(latent, players)
    return variance
