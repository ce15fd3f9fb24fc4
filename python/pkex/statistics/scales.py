"""The units of columns: their standard deviations, whatever the size of their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scale"]

_Float = NDArray[np.float64]

# A column whose range is so small a part of its numbers varies by their rounding only.
_ROUNDING = 1e-13
# Of a constant column, the length-scale as a part of its number: any other number is far away.
_OF_CONSTANT = 1e-6


@dataclass(frozen=True)
class Scale:
    """How the numbers of a column are standardised: ((x − middle) / 2^exponent − mean) / deviation.

    Scaled by a power of two around the middle of their range, they neither overflow nor vanish.

    Parameters
    ----------
    middle : float
    exponent : int
    mean, deviation : float
        Of the numbers so scaled; the deviation is infinite for a constant column.
    """

    middle: float
    exponent: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, column: _Float) -> Scale:
        """Return the scale of a column of shape (n,); the order of its rows plays no part."""
        low, high = float(column.min()), float(column.max())
        middle, half = low / 2.0 + high / 2.0, high / 2.0 - low / 2.0
        if half <= _ROUNDING * max(abs(low), abs(high)):
            return cls(middle, 0, 0.0, math.inf)
        exponent = math.frexp(half)[1]
        scaled = np.ldexp(column - middle, -exponent)
        mean = math.fsum(scaled.tolist()) / len(column)
        variance = math.fsum(((scaled - mean) ** 2).tolist()) / len(column)
        return cls(middle, exponent, mean, math.sqrt(variance))

    @property
    def is_constant(self) -> bool:
        """Whether the column varies by rounding at most."""
        return math.isinf(self.deviation)

    def standardised(self, column: _Float) -> _Float:
        """Return numbers of the column less its mean, over its standard deviation."""
        scaled = np.ldexp(column - self.middle, -self.exponent) - self.mean
        standardised: _Float = scaled / self.deviation
        return standardised

    def times(self, factor: float) -> float:
        """Return the standard deviation times a factor; not 0, nor infinite."""
        if self.is_constant:
            return _OF_CONSTANT * abs(self.middle) or _OF_CONSTANT
        with np.errstate(over="ignore", under="ignore"):
            product = np.ldexp(self.deviation * factor, self.exponent)
        return float(np.clip(product, _LEAST, _LARGEST))

    def over(self, length: float) -> float:
        """Return the standard deviation as a part of a length, 0 for a constant column."""
        if self.is_constant:
            return 0.0
        mantissa, exponent = math.frexp(length)
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(self.deviation / mantissa, self.exponent - exponent))


# Length-scales must have reciprocals.
_LEAST, _LARGEST = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)
