"""The variance of Gaussian processes around a constant that is estimated with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pkex.execution.computation import Computation
from pkex.functions.at_coalitions import Members, at_any_coalitions, at_coalitions
from pkex.functions.combination import Combination
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.gaussian_process.coalitions import empty_worth, worths_of
from pkex.functions.gaussian_process.conditioning import ConditioningMatrix
from pkex.functions.gaussian_process.draws import drawn
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.games.worths import quantity_of
from pkex.kernels import Kernel
from pkex.tables.read import as_matrix
from pkex.typing import Float

__all__ = ["KrigingVariance"]


class KrigingVariance(Combination):
    """The variance of ordinary kriging, of which a part is linear in the kernel's values."""

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
        known = ConditioningMatrix(factor, np.ones(len(points)))
        ones = np.ones((len(points), 1))
        f = known.whitened(ones)[0]
        share = 1.0 / float((f * f).sum())
        # The square multiplied out: what is quadratic in r, and what is linear.
        middle = np.eye(len(points)) - share * (f @ f.T)
        quadratic = PosteriorVariance(
            points, factor, kernel, scales=scales, noise=share, middle=middle
        )
        linear = np.multiply.outer(known.times(ones)[:, 0], -2.0 * share * np.asarray(scales))
        return cls([quadratic, KernelSum(points, linear, kernel, 0.0 * np.asarray(scales))])

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        quadratic = self._quadratic
        rows = as_matrix(X, "X", n_columns=self.n_features)
        self._latent.entries.check(rows, "X")
        return quadratic._single(quadratic._scaled(self._latent.at(rows)))

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        quadratic = self._quadratic
        if not quadratic._is_by_coalitions(game):
            return super().explain(X, game=game, quantity=quantity, how=how)
        self._latent.entries.check(X, "X")
        worths = worths_of(self._latent, X, game, quadratic.players, how.progress)
        return quadratic._scaled(quantity_of(worths, quantity))

    def base(self, game: Game, how: Computation) -> float | Float:
        quadratic = self._quadratic
        if not quadratic._is_by_coalitions(game):
            return super().base(game, how)
        if game.background is not None:
            self._latent.entries.check(game.background[0], "background")
        bases = quadratic._scaled(np.array(empty_worth(self._latent, game)))
        return bases if self.has_output_axis else float(bases[0])

    @property
    def _quadratic(self) -> PosteriorVariance:
        part = self._parts[0]
        assert isinstance(part, PosteriorVariance)
        return part

    @property
    def _latent(self) -> LatentVariance:
        """The variance at rows, with the square as it is: multiplied out its parts cancel."""
        whole, share = self._quadratic._latent, self._quadratic._noise
        known = ConditioningMatrix(whole.known.factor, whole.known.roots)
        times_ones = known.times(np.ones((len(whole.points), 1)))[:, 0]
        return LatentVariance(whole.points, whole.kernel, known, (times_ones, share))


@at_coalitions.register
def _(
    variance: KrigingVariance, row: Float, game: Game, members: Members, how: Computation
) -> Float:
    return at_any_coalitions(variance, row, game, members, how)


@covariances.register
def _(variance: KrigingVariance, X: Float, game: Game, how: Computation) -> Float:
    # Those of 1 − Fᵀ L⁻¹ r are without the 1, as constants have no values: in the quadratic part.
    return covariances(variance._parts[0], X, game, how)


@draws.register(KrigingVariance)
def _(variance: KrigingVariance, rows: Float, n: int, random: np.random.Generator) -> list[Draws]:
    return drawn(variance._latent, variance._quadratic._scales, rows, n, random)
