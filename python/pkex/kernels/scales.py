"""Standard deviations of columns, for numbers of any size, and constant columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

# Columns with half this range, relative to their values, vary by rounding to float32 only.
_ROUNDING = 2.0**-24
# The length-scale of a constant column, relative to its value: any other value is far away.
_CONSTANT_LENGTH_SCALE = 1e-6


@dataclass(frozen=True)
class ColumnScale:
    """Standardization of a column: ((x − middle) / 2^exponent − mean) / deviation.

    Scaled by a power of two around the middle of the range, values neither overflow nor vanish.

    Parameters
    ----------
    middle : float
    exponent : int
    mean, deviation : float
        The mean and standard deviation of scaled values; the latter is infinite for a constant
        column.
    """

    middle: float
    exponent: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, column: Float) -> ColumnScale:
        """Return the scale of a column of shape (n,), in any order of its rows."""
        middle, half = _range_of(column)
        if _is_rounding(half, middle):
            return cls(middle, 0, 0.0, math.inf)
        exponent = math.frexp(half)[1]
        values = np.ldexp(column - middle, -exponent)
        mean = math.fsum(values.tolist()) / len(column)
        variance = math.fsum(((values - mean) ** 2).tolist()) / len(column)
        return cls(middle, exponent, mean, math.sqrt(variance))

    @property
    def is_constant(self) -> bool:
        """Whether the column varies only by rounding."""
        return math.isinf(self.deviation)

    def standardize(self, column: Float) -> Float:
        """Return values minus the mean of the column, divided by its standard deviation."""
        differences = np.ldexp(column - self.middle, -self.exponent) - self.mean
        result: Float = differences / self.deviation
        return result

    def times(self, factor: float) -> float:
        """Return the standard deviation times a factor, clipped to positive finite numbers."""
        if self.is_constant:
            return _CONSTANT_LENGTH_SCALE * abs(self.middle) or _CONSTANT_LENGTH_SCALE
        with np.errstate(over="ignore", under="ignore"):
            product = np.ldexp(self.deviation * factor, self.exponent)
        return float(np.clip(product, _MIN_FLOAT, _MAX_FLOAT))

    def over(self, length: float) -> float:
        """Return the standard deviation divided by a length; 0 for a constant column."""
        if self.is_constant:
            return 0.0
        mantissa, exponent = math.frexp(length)
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(self.deviation / mantissa, self.exponent - exponent))


# Length-scales must have finite reciprocals.
_MIN_FLOAT, _MAX_FLOAT = float(np.finfo(np.float64).tiny), float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Constants:
    """Columns that are constant up to rounding to float32.

    Parameters
    ----------
    columns : tuple of int
    values : tuple of float
        The constant values.
    """

    columns: tuple[int, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, rows: Float) -> Constants:
        """Return the constant columns of rows of shape (n, d)."""
        constants = {}
        for j, column in enumerate(rows.T):
            middle, half = _range_of(column)
            if _is_rounding(half, middle):
                constants[j] = middle
        return cls(tuple(constants), tuple(constants.values()))

    def unequal(self, rows: Float) -> list[int]:
        """Return the columns that are not constant to the last bit."""
        return [j for j in self.columns if (rows[:, j] != rows[0, j]).any()]

    def differing(self, rows: Float) -> list[int]:
        """Return the columns in which new rows have other values."""
        return [
            j
            for j, value in zip(self.columns, self.values, strict=True)
            if not self._is_near(rows[:, j], value).all()
        ]

    def settled(self, rows: Float) -> Float:
        """Return rows with the constant values where theirs differ only by rounding."""
        result = rows.copy() if self.columns else rows
        for j, value in zip(self.columns, self.values, strict=True):
            result[self._is_near(rows[:, j], value), j] = value
        return result

    @staticmethod
    def _is_near(column: Float, value: float) -> NDArray[np.bool_]:
        is_near: NDArray[np.bool_] = np.abs(column / 2.0 - value / 2.0) <= _ROUNDING * abs(value)
        return is_near


def _range_of(column: Float) -> tuple[float, float]:
    """Return the middle of the range of a column, and half its width."""
    low, high = float(column.min()), float(column.max())
    return low / 2.0 + high / 2.0, high / 2.0 - low / 2.0


def _is_rounding(half: float, middle: float) -> bool:
    return half <= _ROUNDING * abs(middle)
