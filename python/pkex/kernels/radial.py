"""Functions of the distance of rows in several columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from pkex.kernels.domain import Domain
from pkex.kernels.factors import Mixed, Term
from pkex.kernels.family import Factor
from pkex.kernels.gaussian_sums import gaussian_sum
from pkex.kernels.length_scales import over_features
from pkex.kernels.mixture_products import product_of
from pkex.kernels.mixtures import Mixture
from pkex.typing import Float

__all__ = ["Radial", "checked_shape", "radial_term"]

# A column whose squares are smaller, as a part of all or of the squared length-scale, does not
# matter beside the others.
_LEAST_SHARE = 1e-16
# Of length-scales whose squares are compared.
_LEAST_RATIO = 1e-100


@dataclass(frozen=True, eq=False)
class Radial(Mixed):
    """A function of the distance in several columns: a mixture of products.

    Parameters
    ----------
    family : str
        "rbf": that of the Gaussians in the mixture.
    columns : ndarray of int64, shape (k,)
    parameters : ndarray of float64, shape (k, 1)
        The length-scales ℓ_j.
    mixture : Mixture
        The function of Σ_j ((x_j − y_j) / ℓ_j)².
    """

    mixture: Mixture

    @property
    def of_no_column(self) -> float:
        """What the function is of no column, at distance 0."""
        return self.mixture.at_zero

    def times(self, other: Factor) -> Factor | None:
        """Return the product with a function of the same distance, in other units, as one."""
        if not isinstance(other, Radial) or {self.of_no_column, other.of_no_column} != {1.0}:
            return None
        own, others = (factor.columns.argsort() for factor in (self, other))
        if not np.array_equal(self.columns[own], other.columns[others]):
            return None
        ratios = self.parameters[own, 0] / other.parameters[others, 0]
        ratio = float(ratios[0])
        # In units of the shorter length-scales, within which the product changes.
        if ratio > 1.0:
            return other.times(self)
        are_equal = np.allclose(ratios, ratio, rtol=4.0 * np.finfo(float).eps, atol=0.0)
        if not are_equal or ratio < _LEAST_RATIO:
            return None
        return replace(self, mixture=product_of(self.mixture, other.mixture, ratio * ratio))

    def squares(self, left: Float, right: Float) -> Float:
        """Return the squared distances in units of the length-scales, of shape (n, m)."""
        squares = np.zeros((len(left), len(right)))
        for column, (scale,) in zip(self.columns.tolist(), self.parameters, strict=True):
            with np.errstate(over="ignore"):
                squares += np.square((left[:, column, None] - right[:, column]) / scale)
        return squares

    def product(self, left: Float, right: Float) -> Float:
        """Return the function for all pairs of rows, of shape (n, m)."""
        return self.mixture.value(self.squares(left, right))

    def unit(self, domain: Domain) -> float:
        """Return what errors within a domain are relative to: the value of equal rows, or more."""
        return abs(self.mixture.unit(float(self._squares_of(domain.spans).sum())))

    def _squares_of(self, distances: Float) -> Float:
        """Return the squares of distances in each column, in units of the length-scales."""
        with np.errstate(over="ignore"):
            squares: Float = np.square(distances[self.columns] / self.parameters[:, 0])
        return squares

    def parts(self, domain: Domain) -> Iterator[tuple[float, tuple[Factor, ...]]]:
        """Yield the coefficients and the factors of the Gaussians that it is a sum of there."""
        high = float(self._squares_of(domain.spans).sum())
        if high == 0.0:
            yield self.mixture.at_zero, ()
            return
        # Typical distances in a column are half of the usual range.
        usual = self._squares_of(domain.widths) / 4.0
        low = float(usual[usual > 0.0].min(initial=high))
        rates, weights = gaussian_sum(
            self.mixture, max(low, _LEAST_SHARE * min(high, 1.0)), high, domain.error
        )
        for rate, weight in zip(rates.tolist(), weights.tolist(), strict=True):
            # exp(−v r²/ℓ²) = exp(−(r/L)²/2).
            yield weight, (Factor("rbf", self.columns, self.parameters / math.sqrt(2.0 * rate)),)
        yield self.mixture.at_zero - math.fsum(weights), ()


def checked_shape(number: object, name: str, least: float, most: float) -> float:
    """Return a shape parameter if it is a number in the range."""
    found = math.nan
    if not isinstance(number, bool) and isinstance(number, Real):
        found = float(number)
    if least <= found <= most:
        return found
    up_to = "" if most == math.inf else f" and at most {most:g}"
    instead = "; above, RBF is as good" if found > most else ""
    raise ValueError(f"{name} must be a number, at least {least:g}{up_to}; got {number!r}{instead}")


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
        If there is another number of length-scales than of features.
    """
    (scales,) = over_features(kernel, "rbf", n_features, length_scale=length_scale).factors
    return Term(1.0, (Radial("rbf", scales.columns, scales.parameters, mixture),))
