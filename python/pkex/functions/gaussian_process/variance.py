"""The variance of Gaussian processes and of mixtures of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.execution.progress import advising
from pkex.functions.base import Function, PosteriorDraws, check_constant
from pkex.functions.gaussian_process.covariances import value_covariances
from pkex.functions.gaussian_process.draws import posterior_draws
from pkex.functions.gaussian_process.latent import ConditioningMatrix, LatentVariance
from pkex.functions.gaussian_process.pairs import MAX_PLAYERS, VarianceReduction
from pkex.functions.gaussian_process.row_covariances import row_covariances
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.games.indices import SHAPLEY, Quantity, quantity_from_values
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only, read_only_view
from pkex.kernels import Kernel
from pkex.kernels.factors import has_mixtures, has_series
from pkex.tables.read import as_matrix
from pkex.typing import Float

# The cost of the game of a pair per player, in units of the variance at a row.
_STEPS_OF_PAIR = 12


class PosteriorVariance(Function):
    """The function f(x) = scales · (k(x, x) + noise − wᵀ M w) with w = factor⁻¹ R k(points, x).

    This is the posterior variance of a Gaussian process at x (Rasmussen & Williams 2006, algorithm
    2.1), where the factor is L of L Lᵀ = K + noise for the training rows, and R and M are 1; see
    `ConditioningMatrix` for other models. With a background, v(S) is the mean variance of rows with
    the features of x in S; in the neutral game, k_S replaces k. The values of a game are computed
    coalition by coalition, or by pairs of points: the faster method, if both are exact.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The training rows, or inducing points.
    factor : array-like of shape (m, m)
        Lower triangular.
    kernel : pkex.kernels.Kernel
    scales : float or array-like of shape (outputs,), default 1.0
        The squared units of the outputs; the second shape gives the function an output axis.
    noise : float, default 0.0
        Added to the prior variance.
    roots : array-like of shape (n,) or (m, n), optional
        R, or its diagonal; 1 by default.
    middle : array-like of shape (m, m), optional
        M, symmetric; 1 by default.
    has_prior : bool, default True
        Whether the variance includes k(x, x), see `LatentVariance`.

    Examples
    --------
    >>> import pkex
    >>> PosteriorVariance([[0.0]], [[1.0]], pkex.kernels.RBF()).predict([[0.0], [1.0]])
    array([0.        , 0.63212056])
    """

    __slots__ = ("_reduction", "latent", "noise", "scales")

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
        has_prior: bool = True,
    ) -> None:
        rows = read_only(as_matrix(points, "points", allow_no_rows=True))
        # In Fortran order, as LAPACK returns it, so the array of a model is not copied.
        n_columns = len(rows) if roots is None else None
        columns = as_matrix(np.transpose(factor), "factor", n_columns=n_columns, allow_no_rows=True)
        conditioning = ConditioningMatrix(
            read_only_view(columns.T),
            np.ones(len(rows)) if roots is None else np.array(roots, np.float64),
            None if middle is None else np.array(middle, np.float64),
        )
        self._set_shape(rows.shape[1], np.shape(scales))
        self.latent = LatentVariance(rows, kernel, conditioning, has_prior=has_prior)
        self.scales = check_constant(scales, np.shape(scales), "scales")
        self.noise = float(noise)
        self._reduction = VarianceReduction(self.latent, self.players)

    def stored_points(self) -> Float:
        return self.latent.points

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        rows = as_matrix(X, "X", n_columns=self.n_features)
        self.latent.allowed_values.check(rows, "X")
        return self._as_output(self.scaled(self.latent.at(rows) + self.noise))

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        self.latent.allowed_values.check(X, "X")
        constant = self.noise if quantity.size == 0 else 0.0
        if self.is_by_coalitions(game):
            coalition_values = self.latent.coalition_values(
                X, game, self.players, computation.progress
            )
            values = quantity_from_values(coalition_values, quantity)
        else:
            values = self._reduction.explain(X, game, quantity, computation)
            constant += self.latent.prior if quantity.size == 0 else 0.0
        return self.scaled(values + constant)

    def base(self, game: Game, computation: Computation) -> float | Float:
        if game.background is not None:
            self.latent.allowed_values.check(game.background[0], "background")
        is_by_coalitions = self.is_by_coalitions(game)
        base = (
            self.latent.empty_value(game)
            if is_by_coalitions
            else self._reduction.empty(game, computation)
        )
        return self._as_base(self.scaled(np.array(base + self.noise)))

    def scaled(self, values: Float) -> Float:
        """Return values in the units of the outputs, with an output axis."""
        return np.asarray(values[..., None] * np.atleast_1d(self.scales))

    def is_by_coalitions(self, game: Game) -> bool:
        """Whether the values of a game are computed coalition by coalition."""
        terms, n_players = self.latent.terms, self.n_players
        if game.is_marginal or n_players > MAX_PLAYERS:
            return False
        if has_series(terms) or has_mixtures(terms):
            return True
        pairs = _STEPS_OF_PAIR * n_players * len(terms) ** 2
        return 2**n_players <= pairs or not self._reduction.are_exact(game)

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        self.latent.allowed_values.check(X, "X")
        if game.embeds_rows and game.background is not None and game.coalition_weights is not None:
            rows, weights = game.background[0], game.coalition_weights
            return self.scaled(row_covariances(self.latent, X, pairs, rows, weights))
        kernel = ", the RBF kernel" if has_mixtures(self.latent.terms) else ""
        with advising(f"fewer rows{kernel} or a background of fewer rows"):
            return self.scaled(
                value_covariances(self.latent, self.players, X, pairs, game, computation)
            )

    def draws(self, rows: Float, n: int, random: np.random.Generator) -> list[PosteriorDraws]:
        return posterior_draws(self.latent, self.scales, rows, n, random)

    def grouped(self, players: NDArray[np.int64]) -> PosteriorVariance:
        function = super().grouped(players)
        function._reduction = VarianceReduction(self.latent, function.players)
        return function

    def _select_outputs(self, outputs: list[int]) -> PosteriorVariance:
        function = self._copy()
        function.scales = np.asarray(self.scales)[outputs]
        return function

    def with_latent(self, latent: LatentVariance, noise: float) -> PosteriorVariance:
        """Return the function with another latent variance, except by pairs, and noise."""
        function = self._copy()
        function.latent, function.noise = latent, noise
        return function

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the scale of errors from kernel values, without errors of sums."""
        rows = as_matrix(X, "X", n_columns=self.n_features)
        return self._as_output(self.scaled(self.latent.magnitude(rows) + abs(self.noise)))

    def probing_rows(self) -> Float:
        return self.latent.probing_rows()

    def __repr__(self) -> str:
        return f"PosteriorVariance({self._sizes((len(self.latent.points), 'point'))})"


def variance_of_mixture(variances: Iterable[Function], means: Iterable[Function]) -> Linked:
    """Return the mean of the variances of processes plus the variance of their means.

    This is the variance of a mixture of the processes with equal probabilities (law of total
    variance). Squares of means are not sums over features, so all coalitions are evaluated.

    Parameters
    ----------
    variances, means : iterable of Function
        One variance and one mean per process, without an output axis.
    """
    return Linked([*variances, *means], LinkedOutputs(_total, 1, has_axis=False))


def _total(values: Float) -> Float:
    variances, means = np.split(values, 2, axis=1)
    total: Float = (variances.mean(axis=1) + means.var(axis=1))[:, None]
    return total
