"""Product kernels: products over features of a function of single columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Family, add_family
from pkex.kernels.length_scales import (
    checked_length_scale,
    checked_scale,
    over_features,
    reject_gamma,
)
from pkex.typing import Float

# The range of periods.
_PERIODS = (1e-290, 1e290)


@dataclass(frozen=True)
class _Stationary(Kernel):
    """A product over features of one function of (x_j − y_j) / length-scale."""

    length_scale: float | tuple[float, ...] = 1.0

    family: ClassVar[str]
    # The length-scale that corresponds to scikit-learn's gamma.
    _gamma_formula: ClassVar[str] = ""

    @reject_gamma
    def __init__(self, length_scale: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))

    def terms(self, n_features: int) -> list[Term]:
        return [over_features(self, self.family, n_features, length_scale=self.length_scale)]


@dataclass(frozen=True, init=False)
class RBF(_Stationary):
    """Gaussian kernel: ∏_j exp(−((x_j − y_j) / ℓ_j)² / 2).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. scikit-learn's ``gamma`` is 1 / (2 ℓ²).

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> RBF(length_scale=[0.5, 2.0])
    RBF(length_scale=(0.5, 2.0))
    """

    family = add_family(
        Family(
            "rbf", lambda x, y, scale: -0.5 * ((x - y) / scale) ** 2, is_exponential=True, reach=9.0
        )
    )
    _gamma_formula = "(2 * gamma) ** -0.5, since gamma = 1 / (2 * length_scale**2)"


@dataclass(frozen=True, init=False)
class Laplacian(_Stationary):
    """Laplace kernel: ∏_j exp(−|x_j − y_j| / ℓ_j).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. scikit-learn's ``gamma`` is 1 / ℓ.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> Laplacian()([[0.0]], [[1.0]])
    array([[0.36787944]])
    """

    family = add_family(
        Family(
            "laplacian",
            lambda x, y, scale: -np.abs((x - y) / scale),
            is_exponential=True,
            has_kinks=True,
        )
    )
    _gamma_formula = "1 / gamma"


@dataclass(frozen=True, init=False)
class Cauchy(_Stationary):
    """Cauchy kernel: ∏_j 1 / (1 + ((x_j − y_j) / ℓ_j)²).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite.

    Examples
    --------
    >>> Cauchy(length_scale=2.0)([[0.0]], [[2.0]])
    array([[0.5]])
    """

    family = add_family(Family("cauchy", lambda x, y, scale: 1.0 / (1.0 + ((x - y) / scale) ** 2)))


def _matern(x: Float, y: Float, scale: float, nu: float) -> Float:
    # Factors are 0 for larger z, where infinity times 0 would be NaN.
    z = np.minimum(np.abs((x - y) / scale) * np.sqrt(2.0 * nu), 1000.0)
    curvature = 1.0 / 3.0 if nu == 2.5 else 0.0
    factors: Float = (1.0 + z + curvature * z * z) * np.exp(-z)
    return factors


# The families of ProductMatern by ν.
MATERN_FAMILIES = {
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
    (1 + z + z²/3) e^(−z) for ν = 5/2 [1]_. With one feature it is scikit-learn's ``Matern``,
    which with several features is another function, of the distance between rows: `Matern`.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.
    nu : {0.5, 1.5, 2.5}, default 1.5
        ν: larger values give smoother functions.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite, or `nu` is another number.

    References
    ----------
    .. [1] Rasmussen, C. E., Williams, C. K. I. (2006). Gaussian Processes for Machine Learning.
       MIT Press. Equation 4.17. Products are common in computer experiments: Roustant, O.,
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

    @reject_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, nu: float = 1.5) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        number: object = nu
        if not isinstance(number, Real) or float(number) not in MATERN_FAMILIES:
            raise ValueError(
                f"nu must be 0.5, 1.5 or 2.5; got {number!r}. The kernel tends to RBF as nu grows"
            )
        object.__setattr__(self, "nu", float(number))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        family = MATERN_FAMILIES[self.nu]
        return [over_features(self, family, n_features, length_scale=self.length_scale)]


def _periodic(x: Float, y: Float, scale: float, period: float) -> Float:
    # Remainders are exact, and their difference does not overflow.
    r = np.fmod(x, period) - np.fmod(y, period)
    sine = np.sin(np.pi * (np.fmod(r, period) / period))
    exponents: Float = -2.0 * (sine / scale) ** 2
    return exponents


_PERIODIC = add_family(Family("periodic", _periodic, is_exponential=True, is_of_distance=False))


@dataclass(frozen=True, init=False)
class Periodic(Kernel):
    """Periodic kernel: ∏_j exp(−2 sin²(π (x_j − y_j) / p_j) / ℓ_j²).

    The kernel of MacKay [1]_. With one feature it is scikit-learn's ``ExpSineSquared`` with
    ``periodicity`` p, which with several features is another function, of the distance between
    rows. For long periods it is close to RBF(ℓ p / 2π).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each. It is relative to the period, without a unit.
    period : float or array-like of shape (d,), default 1.0
        p, one for all features or one for each, from 1e-290 to 1e290.

    Raises
    ------
    ValueError
        If a length-scale or period is not positive and finite.

    References
    ----------
    .. [1] MacKay, D. J. C. (1998). Introduction to Gaussian processes. In Neural Networks and
       Machine Learning, Springer, 133-165. Equation 47.

    Examples
    --------
    >>> Periodic(period=24.0)([[1.0]], [[25.0], [7.0], [13.0]])
    array([[1.        , 0.36787944, 0.13533528]])
    >>> Periodic(period=24.0).on([0]) * RBF().on([1])
    Periodic(length_scale=1.0, period=24.0).on((0,)) * RBF(length_scale=1.0).on((1,))
    """

    length_scale: float | tuple[float, ...] = 1.0
    period: float | tuple[float, ...] = 1.0

    @reject_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, period: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        periods = checked_scale(period, "period")
        values = np.asarray(periods)
        if not ((values >= _PERIODS[0]) & (values <= _PERIODS[1])).all():
            raise ValueError(f"period must be from 1e-290 to 1e290; got {period!r}")
        object.__setattr__(self, "period", periods)

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        scales = {"length_scale": self.length_scale, "period": self.period}
        return [over_features(self, _PERIODIC, n_features, **scales)]


def _chi2(x: Float, y: Float, gamma: float) -> Float:
    # Halves, whose sum does not overflow. The ratio is 0 if both values are 0.
    half = 0.5 * x + 0.5 * y
    ratio = np.divide(0.5 * (x - y), half, out=np.zeros_like(half), where=half > 0.0)
    return -(gamma * (x - y)) * ratio


_CHI2 = add_family(
    Family("chi2", _chi2, is_exponential=True, is_of_distance=False, takes_negative=False)
)


@dataclass(frozen=True, init=False)
class Chi2(Kernel):
    """χ² kernel of counts and histograms: ∏_j exp(−γ (x_j − y_j)² / (x_j + y_j)).

    The factor is 1 if both values are 0. Values must not be negative.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, as in scikit-learn's ``chi2_kernel``.

    Raises
    ------
    ValueError
        If `gamma` is not positive and finite.

    Examples
    --------
    >>> Chi2(gamma=0.5)([[0.0, 3.0]], [[0.0, 1.0]])
    array([[0.60653066]])
    """

    gamma: float = 1.0

    def __init__(self, gamma: float = 1.0) -> None:
        number: object = gamma
        if not isinstance(number, Real) or not 0.0 < float(number) < math.inf:
            raise ValueError(f"gamma must be a positive and finite number; got {number!r}")
        object.__setattr__(self, "gamma", float(number))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        return [over_features(self, _CHI2, n_features, gamma=self.gamma)]


_CATEGORICAL = add_family(
    Family(
        "categorical",
        lambda x, y, similarity: np.where(x - y == 0.0, 1.0, similarity),
        is_of_distance=False,
        compares_labels=True,
    )
)


@dataclass(frozen=True, init=False)
class Categorical(Kernel):
    """Kernel of categories, as numbers: ∏_j (1 if x_j = y_j else `similarity`).

    Parameters
    ----------
    similarity : float, default 0.0
        The factor of different categories, from 0 (the delta kernel) to below 1.

    Raises
    ------
    ValueError
        If `similarity` is not in [0, 1).

    Examples
    --------
    >>> Categorical()([[0.0], [1.0]])
    array([[1., 0.],
           [0., 1.]])
    >>> RBF().on([0]) * Categorical(similarity=0.5).on([1])
    RBF(length_scale=1.0).on((0,)) * Categorical(similarity=0.5).on((1,))
    """

    similarity: float = 0.0

    def __init__(self, similarity: float = 0.0) -> None:
        number: object = similarity
        if not isinstance(number, Real) or not 0.0 <= float(number) < 1.0:
            raise ValueError(f"similarity must be a number from 0 to below 1; got {number!r}")
        object.__setattr__(self, "similarity", float(number))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        return [over_features(self, _CATEGORICAL, n_features, similarity=self.similarity)]
