"""The variance of Gaussian processes around an estimated constant."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.functions.base import Function, Members, PosteriorDraws
from pkex.functions.composite import Combination
from pkex.functions.gaussian_process.latent import ConditioningMatrix, LatentVariance
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.kernels import Kernel
from pkex.typing import Float


class KrigingVariance(Combination):
    """The variance of ordinary kriging: a quadratic form of kernel values plus a linear one."""

    __slots__ = ()

    @classmethod
    def of(cls, points: Float, factor: Float, kernel: Kernel, scales: Float) -> KrigingVariance:
        """Return the variance given points, in the units of the outputs.

        With r = k(points, x), L Lᵀ = K + noise, F = L⁻¹ 1, c = 1 / FᵀF, it is k(x, x) − ‖L⁻¹ r‖² +
        c (1 − Fᵀ L⁻¹ r)² (Sacks et al. 1989, equation 9).

        Parameters
        ----------
        points : ndarray of shape (n, d)
        factor : ndarray of shape (n, n)
            L, lower triangular.
        kernel : Kernel
        scales : ndarray of shape () or (outputs,)
            The squared units.
        """
        conditioning = ConditioningMatrix(factor, np.ones(len(points)))
        ones = np.ones((len(points), 1))
        f = conditioning.whiten(ones)[0]
        share = 1.0 / float((f * f).sum())
        # The square is expanded into a quadratic and a linear part in r.
        middle = np.eye(len(points)) - share * (f @ f.T)
        quadratic = PosteriorVariance(
            points, factor, kernel, scales=scales, noise=share, middle=middle
        )
        linear = np.multiply.outer(
            conditioning.times(ones)[:, 0], -2.0 * share * np.asarray(scales)
        )
        return cls([quadratic, KernelSum(points, linear, kernel, 0.0 * np.asarray(scales))])

    @property
    def _quadratic(self) -> PosteriorVariance:
        part = self.parts[0]
        assert isinstance(part, PosteriorVariance)
        return part

    @property
    def _at_rows(self) -> PosteriorVariance:
        """The variance with the square as it is, because the expanded parts cancel."""
        quadratic = self._quadratic
        latent = quadratic.latent
        conditioning = ConditioningMatrix(latent.conditioning.factor, latent.conditioning.roots)
        times_ones = conditioning.times(np.ones((len(latent.points), 1)))[:, 0]
        trend = times_ones, quadratic.noise
        return quadratic.with_latent(
            LatentVariance(latent.points, latent.kernel, conditioning, trend), noise=0.0
        )

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self._at_rows.evaluate(X, n_threads=n_threads)

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        if self._quadratic.is_by_coalitions(game):
            return self._at_rows.explain(X, game=game, quantity=quantity, computation=computation)
        return super().explain(X, game=game, quantity=quantity, computation=computation)

    def base(self, game: Game, computation: Computation) -> float | Float:
        if self._quadratic.is_by_coalitions(game):
            return self._at_rows.base(game, computation)
        return super().base(game, computation)

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        return Function.coalition_outputs(self, row, game, members, computation)

    @property
    def omits_constant(self) -> bool:
        return True

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        """Return the covariances of the quadratic part: constants have values of 0."""
        return self._quadratic.covariances(X, pairs, game, computation)

    def draws(self, rows: Float, n: int, random: np.random.Generator) -> list[PosteriorDraws]:
        return self._at_rows.draws(rows, n, random)
