"""The variance of Gaussian processes around a constant that is estimated with them."""

from __future__ import annotations

import numpy as np

from pkex.execution.computation import Computation
from pkex.functions.combination import Combination
from pkex.functions.covariances import covariances
from pkex.functions.expansion import KernelExpansion
from pkex.functions.gaussian_process.conditioning import Conditioning
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.games.value_functions import Game
from pkex.kernels import Kernel
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
        known = Conditioning(factor, np.ones(len(points)))
        ones = np.ones((len(points), 1))
        f = known.whitened(ones)[0]
        share = 1.0 / float((f * f).sum())
        # The square multiplied out: what is quadratic in r, and what is linear.
        middle = np.eye(len(points)) - share * (f @ f.T)
        quadratic = PosteriorVariance(
            points, factor, kernel, scales=scales, noise=share, middle=middle
        )
        linear = np.multiply.outer(known.times(ones)[:, 0], -2.0 * share * np.asarray(scales))
        return cls([quadratic, KernelExpansion(points, linear, kernel, 0.0 * np.asarray(scales))])


@covariances.register
def _(variance: KrigingVariance, X: Float, game: Game, how: Computation) -> Float:
    # Those of 1 − Fᵀ L⁻¹ r are without the 1, as constants have no values: in the quadratic part.
    return covariances(variance._parts[0], X, game, how)
