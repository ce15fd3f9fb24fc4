"""Matérn's kernels: of the distance of rows, and products of those of single features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Family, add_family
from pkex.kernels.length_scales import checked_length_scale, converting_gamma, over_features
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.radial import checked_shape, radial_term
from pkex.typing import Float

__all__ = ["Matern", "ProductMatern"]


def _matern(x: Float, y: Float, scale: float, nu: float) -> Float:
    # From here on the factor is 0, and infinity times 0 would be no number.
    z = np.minimum(np.abs((x - y) / scale) * np.sqrt(2.0 * nu), 1000.0)
    curvature = 1.0 / 3.0 if nu == 2.5 else 0.0
    factors: Float = (1.0 + z + curvature * z * z) * np.exp(-z)
    return factors


# By ν.
_FAMILY_OF = {
    0.5: "laplacian",
    1.5: add_family(
        Family("matern32", lambda x, y, scale: _matern(x, y, scale, 1.5), has_kinks=True)
    ),
    2.5: add_family(
        Family("matern52", lambda x, y, scale: _matern(x, y, scale, 2.5), has_kinks=True)
    ),
}


@dataclass(frozen=True, init=False)
class ProductMatern(Kernel):
    """Product over features of one-dimensional Matérn kernels, ∏_j f(√(2ν)|x_j − y_j| / ℓ_j).

    f(z) is e^(−z) for ν = 1/2, which is `Laplacian`; (1 + z) e^(−z) for ν = 3/2; and
    (1 + z + z²/3) e^(−z) for ν = 5/2 [1]_. With one feature it is scikit-learn's ``Matern``; with
    several that is another function, of the distance of whole rows.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.
    nu : {0.5, 1.5, 2.5}, default 1.5
        ν: functions are smoother the larger it is.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite, or `nu` is another number.

    References
    ----------
    .. [1] Rasmussen, C. E., Williams, C. K. I. (2006). Gaussian Processes for Machine Learning.
       MIT Press. Equation 4.17. Products of them are usual in computer experiments: Roustant, O.,
       Ginsbourger, D., Deville, Y. (2012). DiceKriging, DiceOptim. Journal of Statistical Software
       51(1)

    Examples
    --------
    >>> ProductMatern(nu=2.5)([[0.0]], [[1.0]])
    array([[0.52399411]])
    >>> ProductMatern([0.5, 2.0])
    ProductMatern(length_scale=(0.5, 2.0), nu=1.5)
    """

    length_scale: float | tuple[float, ...] = 1.0
    nu: float = 1.5

    @converting_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, nu: float = 1.5) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        given: object = nu
        if not isinstance(given, Real) or float(given) not in _FAMILY_OF:
            raise ValueError(
                f"nu must be 0.5, 1.5 or 2.5; got {given!r}. As nu grows the kernel becomes RBF"
            )
        object.__setattr__(self, "nu", float(given))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        family = _FAMILY_OF[self.nu]
        return [over_features(self, family, n_features, length_scale=self.length_scale)]


@dataclass(frozen=True, init=False)
class Matern(Kernel):
    """Matérn's kernel of the distance of rows, (2^(1−ν)/Γ(ν)) z^ν K_ν(z).

    z is √(2ν) r, with r² = Σ_j ((x_j − y_j) / ℓ_j)² and the modified Bessel function K_ν [1]_. For
    ν = 1/2, 3/2 and 5/2 it is e^(−z), (1 + z) e^(−z) and (1 + z + z²/3) e^(−z); as ν grows it
    becomes `RBF`, which it is for ``nu=inf``. It is scikit-learn's ``Matern``. For several
    features it is not a product; for the product of one-dimensional ones see `ProductMatern`.

    pkex approximates it by a sum of some tens of Gaussian kernels, with an error of at most 1e-12,
    and 1e-10 of the decay 1 − k, between the rows that occur. Values take a multiple of the time of
    `RBF`: about 45 for ν = 5/2, 65 for 3/2 and 170 for 1/2.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.
    nu : float, default 1.5
        ν ≥ 0.2: functions are smoother the larger it is.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite, or `nu` is below 0.2 or no number.

    References
    ----------
    .. [1] Rasmussen, C. E., Williams, C. K. I. (2006). Gaussian Processes for Machine Learning.
       MIT Press. Equations 4.14 and 4.17

    Examples
    --------
    >>> Matern(nu=2.5)([[0.0, 0.0]], [[1.0, 1.0]])
    array([[0.31728336]])
    >>> Matern([0.5, 2.0])
    Matern(length_scale=(0.5, 2.0), nu=1.5)
    """

    length_scale: float | tuple[float, ...] = 1.0
    nu: float = 1.5

    @converting_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, nu: float = 1.5) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        object.__setattr__(self, "nu", checked_shape(nu, "nu", _ROUGHEST, math.inf))

    def terms(self, n_features: int) -> list[Term]:
        """Return the function of the distance; of one feature, and for ν = ∞, a product."""
        scale = self.length_scale
        if self.nu == math.inf:
            return [over_features(self, "rbf", n_features, length_scale=scale)]
        if n_features == 1 and self.nu in _FAMILY_OF:
            return [over_features(self, _FAMILY_OF[self.nu], 1, length_scale=scale)]
        return [radial_term(self, MaternMixture(self.nu), n_features, scale)]


# Below, thousands of Gaussians would be needed.
_ROUGHEST = 0.2
