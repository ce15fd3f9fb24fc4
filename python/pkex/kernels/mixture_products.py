"""Products of functions of one distance, each a mixture of Gaussians: mixtures themselves.

For ∏_i f_i(s) = ∫ exp(−v s) dμ(v), the rate v is the sum of independent rates of the f_i. The
product is made a sum of Gaussians as a whole, which takes about as many of them as one f_i does,
instead of as many as the numbers of all multiply to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from pkex.kernels.mixtures import Mixture
from pkex.kernels.series import multiplied
from pkex.typing import Float

__all__ = ["ProductMixture", "product_of"]

# Of log₂ v, of the grid of rates.
_STEPS = 4
# How far rates may lie from those that have mass, for sums of several that stand for one between.
_MARGIN = 32


@dataclass(frozen=True)
class ProductMixture(Mixture):
    """∏_i f_i(ρ_i s) of mixtures f_i that are kernels, with f_i(0) = 1.

    Parameters
    ----------
    parts : tuple of (Mixture, float)
        All f_i, none a product, and ρ_i.
    """

    parts: tuple[tuple[Mixture, float], ...]

    def value(self, squares: Float) -> Float:
        """Return the product at s, to rounding."""
        product = np.ones(squares.shape)
        for mixture, ratio in self.parts:
            product *= mixture.value(ratio * squares)
        return product

    def decay(self, squares: Float) -> Float:
        """Return 1 − the product without cancellation: 1 − f g = (1 − f) + f (1 − g)."""
        total = np.zeros(squares.shape)
        for mixture, ratio in self.parts:
            total += (1.0 - total) * mixture.decay(ratio * squares)
        return total

    def candidates(self, low: float, high: float) -> tuple[Float, Float]:
        """Return a geometric grid of rates, and about how much of the measure is near to each."""
        grids = (
            _Grid.of(ratio * rates, weights)
            for mixture, ratio in self.parts
            for rates, weights in [mixture.candidates(ratio * low, ratio * high)]
        )
        return reduce(_Grid.plus, grids).widened()


def product_of(left: Mixture, right: Mixture, ratio: float) -> Mixture:
    """Return the function f(s) g(ρ s) of s."""
    parts = [*_parts_of(left, 1.0), *_parts_of(right, ratio)]
    return ProductMixture(tuple(sorted(parts, key=repr)))


def _parts_of(mixture: Mixture, ratio: float) -> Iterator[tuple[Mixture, float]]:
    parts = mixture.parts if isinstance(mixture, ProductMixture) else ((mixture, 1.0),)
    return ((part, ratio * own) for part, own in parts)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Masses of random rates, of which the logarithm is rounded.

    Parameters
    ----------
    first : int
        The logarithm of the first rate, in steps.
    masses : ndarray of shape (k,)
        Those of the rates from there on.
    """

    first: int
    masses: Float

    @classmethod
    def of(cls, rates: Float, masses: Float) -> _Grid:
        """Round the logarithms of rates."""
        places = np.rint(_STEPS * np.log2(rates)).astype(np.int64)
        first = int(places.min())
        total = np.zeros(int(places.max()) - first + 1)
        np.add.at(total, places - first, masses)
        return cls(first, total)

    @property
    def rates(self) -> Float:
        """The rates of the grid."""
        exponents = self.first + np.arange(len(self.masses))
        rates: Float = np.exp2(exponents / _STEPS)
        return rates

    def plus(self, other: _Grid) -> _Grid:
        """Return the masses of sums of two independent rates."""
        sums = np.add.outer(self.rates, other.rates)
        return _Grid.of(sums.ravel(), np.multiply.outer(self.masses, other.masses).ravel())

    def widened(self) -> tuple[Float, Float]:
        """Return the rates and masses, of which each has smaller and smaller ones on its sides."""
        shares = np.exp2(-np.abs(np.arange(-_MARGIN, _MARGIN + 1.0)))
        wider = _Grid(self.first - _MARGIN, multiplied(shares, self.masses))
        return wider.rates, wider.masses
