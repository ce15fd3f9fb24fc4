"""Kernels of the distance between rows: Matérn and rational quadratic kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.kernels.base import Kernel
from pkex.kernels.domain import Domain
from pkex.kernels.factors import MixtureFactor, Term
from pkex.kernels.family import Factor
from pkex.kernels.gaussian_sums import gaussian_sum
from pkex.kernels.length_scales import checked_length_scale, over_features, reject_gamma
from pkex.kernels.mixing import Mixing, combine_columns
from pkex.kernels.mixtures import (
    MaternMixture,
    Mixture,
    RationalQuadraticMixture,
    product_of,
)
from pkex.kernels.product_kernels import MATERN_FAMILIES
from pkex.typing import Float

# The smallest share of a column in squared distances, or in the squared length-scale, that is
# considered.
_MIN_SHARE = 1e-16
# The smallest ratio of length-scales whose squares are compared.
_MIN_RATIO = 1e-100
# For smaller ν, thousands of Gaussians would be needed.
_ROUGHEST = 0.2


@dataclass(frozen=True, eq=False)
class Radial(MixtureFactor):
    """A function of the distance in several columns: a mixture of products.

    Parameters
    ----------
    family : str
        "rbf", the family of the Gaussians in the mixture.
    columns : ndarray of int64, shape (k,)
    parameters : ndarray of float64, shape (k, 1)
        The length-scales ℓ_j.
    mixture : Mixture
        The function of Σ_j ((x_j − y_j) / ℓ_j)².
    """

    mixture: Mixture

    @property
    def of_no_column(self) -> float:
        """Value of the function when all columns are absent, at distance 0."""
        return self.mixture.at_zero

    def times(self, other: Factor) -> Factor | None:
        """Return the product with a function of the same distance, in other units, as one."""
        if not isinstance(other, Radial) or {self.of_no_column, other.of_no_column} != {1.0}:
            return None
        order, other_order = (factor.columns.argsort() for factor in (self, other))
        if not np.array_equal(self.columns[order], other.columns[other_order]):
            return None
        ratios = self.parameters[order, 0] / other.parameters[other_order, 0]
        ratio = float(ratios[0])
        # In units of the shorter length-scales, over which the product changes.
        if ratio > 1.0:
            return other.times(self)
        are_equal = np.allclose(ratios, ratio, rtol=4.0 * np.finfo(float).eps, atol=0.0)
        if not are_equal or ratio < _MIN_RATIO:
            return None
        return replace(self, mixture=product_of(self.mixture, other.mixture, ratio * ratio))

    def squares(self, left: Float, right: Float) -> Iterator[Float]:
        """Yield the squared differences in each column, in units of its length-scale, (n, m)."""
        for column, (scale,) in zip(self.columns.tolist(), self.parameters, strict=True):
            with np.errstate(over="ignore"):
                differences = left[:, column, None] - right[:, column]
                differences /= scale
                differences *= differences
            yield differences

    def product(self, left: Float, right: Float) -> Float:
        """Return the function for all pairs of rows, of shape (n, m)."""
        squares = np.zeros((len(left), len(right)))
        for column_squares in self.squares(left, right):
            squares += column_squares
        return self.mixture.value(squares)

    def mixing(self, row: Float, background: Float, points: Float) -> Mixing:
        """Return the function that maps coalitions to values between mixed rows and points."""
        row_squares = [squares[0] for squares in self.squares(row[None], points)]
        squares = combine_columns(
            self.columns, row_squares, [*self.squares(background, points)], np.add
        )

        def values(members: NDArray[np.bool_]) -> Float:
            results = squares(members)
            for result in results:
                result[...] = self.mixture.value(result)
            return results

        return values

    def unit(self, domain: Domain) -> float:
        """Return the scale of relative errors within a domain: the value of equal rows, or more."""
        return abs(self.mixture.unit(float(self._squares_of(domain.spans).sum())))

    def _squares_of(self, distances: Float) -> Float:
        """Return the squares of distances in each column, in units of the length-scales."""
        with np.errstate(over="ignore"):
            squares: Float = np.square(distances[self.columns] / self.parameters[:, 0])
        return squares

    def parts(self, domain: Domain) -> Iterator[tuple[float, tuple[Factor, ...]]]:
        """Yield coefficients and factors of the Gaussians that sum to the function in a domain."""
        high = float(self._squares_of(domain.spans).sum())
        if high == 0.0:
            yield self.mixture.at_zero, ()
            return
        # Typical distances in a column are half of the usual range.
        usual_squares = self._squares_of(domain.widths) / 4.0
        low = float(usual_squares[usual_squares > 0.0].min(initial=high))
        rates, weights = gaussian_sum(
            self.mixture, max(low, _MIN_SHARE * min(high, 1.0)), high, domain.error
        )
        for rate, weight in zip(rates.tolist(), weights.tolist(), strict=True):
            # exp(−v r²/ℓ²) = exp(−(r/L)²/2).
            yield weight, (Factor("rbf", self.columns, self.parameters / math.sqrt(2.0 * rate)),)
        yield self.mixture.at_zero - math.fsum(weights), ()


def _checked_shape(number: object, name: str, low: float, high: float) -> float:
    """Return a shape parameter that must be a number in a range."""
    shape = math.nan
    if not isinstance(number, bool) and isinstance(number, Real):
        shape = float(number)
    if low <= shape <= high:
        return shape
    up_to = "" if high == math.inf else f" and at most {high:g}"
    fix = ". Use RBF instead" if shape > high else ""
    raise ValueError(f"{name} must be a number, at least {low:g}{up_to}; got {number!r}{fix}")


def radial_term(
    kernel: object,
    mixture: Mixture,
    n_features: int,
    length_scale: float | tuple[float, ...],
) -> Term:
    """Return a function of the distance over all features.

    Raises
    ------
    ValueError
        If the number of length-scales is not the number of features.
    """
    (scales,) = over_features(kernel, "rbf", n_features, length_scale=length_scale).factors
    return Term(1.0, (Radial("rbf", scales.columns, scales.parameters, mixture),))


@dataclass(frozen=True, init=False)
class Matern(Kernel):
    """Matérn kernel of the distance between rows, (2^(1−ν)/Γ(ν)) z^ν K_ν(z).

    z is √(2ν) r, with r² = Σ_j ((x_j − y_j) / ℓ_j)² and the modified Bessel function K_ν [1]_. For
    ν = 1/2, 3/2 and 5/2 it is e^(−z), (1 + z) e^(−z) and (1 + z + z²/3) e^(−z). It tends to `RBF`
    for large ν, and equals it for ``nu=inf``. It is scikit-learn's ``Matern``. With several
    features it is not a product; for the product of one-dimensional kernels see `ProductMatern`.

    pkex approximates it by a sum of some tens of Gaussian kernels, with an error of at most 1e-12,
    and 1e-10 of the decay 1 − k, for the rows that occur. Values take a multiple of the time of
    `RBF`: about 45 for ν = 5/2, 65 for 3/2 and 170 for 1/2.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.
    nu : float, default 1.5
        ν ≥ 0.2: larger values give smoother functions.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite, or `nu` is not a number of at least 0.2.

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

    @reject_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, nu: float = 1.5) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        object.__setattr__(self, "nu", _checked_shape(nu, "nu", _ROUGHEST, math.inf))

    def terms(self, n_features: int) -> list[Term]:
        """Return the function of the distance; of one feature, and for ν = ∞, a product."""
        scale = self.length_scale
        if self.nu == math.inf:
            return [over_features(self, "rbf", n_features, length_scale=scale)]
        if n_features == 1 and self.nu in MATERN_FAMILIES:
            return [over_features(self, MATERN_FAMILIES[self.nu], 1, length_scale=scale)]
        return [radial_term(self, MaternMixture(self.nu), n_features, scale)]


@dataclass(frozen=True, init=False)
class RationalQuadratic(Kernel):
    """Rational quadratic kernel, (1 + r²/(2α))^(−α) with r² = Σ_j ((x_j − y_j) / ℓ_j)².

    It is scikit-learn's ``RationalQuadratic`` [1]_, the inverse multiquadric for α = 1/2, and tends
    to `RBF` for large α. Unlike `Cauchy`, which is a product over features, it is a function of
    the distance between rows.

    pkex approximates it by a sum of some tens of Gaussian kernels, with an error of at most 1e-12,
    and 1e-10 of the decay 1 − k, for the rows that occur. Values take a multiple of the time of
    `RBF`: for α = 1 about 10 if r is at most 1, 40 if it is at most 30; less for larger α.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each.
    alpha : float, default 1.0
        α, from 1e-5 to 1e7: smaller values mix more length-scales.

    Raises
    ------
    ValueError
        If a length-scale is not positive and finite, or `alpha` is out of range.

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

    @reject_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, alpha: float = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        object.__setattr__(self, "alpha", _checked_shape(alpha, "alpha", 1e-5, 1e7))

    def terms(self, n_features: int) -> list[Term]:
        """Return the function of the distance."""
        return [
            radial_term(self, RationalQuadraticMixture(self.alpha), n_features, self.length_scale)
        ]
