"""The rational quadratic kernel."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.length_scales import checked_length_scale, converting_gamma
from pkex.kernels.mixtures import RationalQuadraticMixture
from pkex.kernels.radial import checked_shape, radial_term

__all__ = ["RationalQuadratic"]


@dataclass(frozen=True, init=False)
class RationalQuadratic(Kernel):
    """Rational quadratic kernel, (1 + r²/(2α))^(−α) with r² = Σ_j ((x_j − y_j) / ℓ_j)².

    It is scikit-learn's ``RationalQuadratic`` [1]_, the inverse multiquadric for α = 1/2, and as α
    grows it becomes `RBF`. Unlike `Cauchy`, which is a product over features, it is a function of
    the distance of rows.

    It is a mixture of Gaussian kernels, of which some tens stand in for it: an error of at most
    1e-12, and 1e-10 of the decay 1 − k, between the rows that occur. Values take as many times as
    long as those of `RBF`: at α = 1 about 10 where r is at most 1, 40 up to r = 30; fewer for
    larger α.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.
    alpha : float, default 1.0
        α, from 1e-5 to 1e7: how much length-scales are mixed, more the smaller it is.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite, or `alpha` is not in that range.

    References
    ----------
    .. [1] Rasmussen, C. E., Williams, C. K. I. (2006). Gaussian Processes for Machine Learning.
       MIT Press. Equation 4.19

    Examples
    --------
    >>> RationalQuadratic(length_scale=2.0)([[0.0, 0.0]], [[2.0, 2.0]])
    array([[0.5]])
    >>> RationalQuadratic(alpha=0.5)
    RationalQuadratic(length_scale=1.0, alpha=0.5)
    """

    length_scale: float | tuple[float, ...] = 1.0
    alpha: float = 1.0

    @converting_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, alpha: float = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        object.__setattr__(self, "alpha", checked_shape(alpha, "alpha", 1e-5, 1e7))

    def terms(self, n_features: int) -> list[Term]:
        """Return the function of the distance."""
        return [
            radial_term(self, RationalQuadraticMixture(self.alpha), n_features, self.length_scale)
        ]
