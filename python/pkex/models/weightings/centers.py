"""Centers of a weight function, each with a set of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pkex.execution.blocks import blocks_of
from pkex.models.weightings.closed_forms import Weighting
from pkex.typing import Float

# The number of outputs in memory at a time: about half of a core's cache.
_OUTPUTS = 1 << 15


@dataclass(frozen=True, eq=False)
class Standardization:
    """Columns minus their middle, divided by their scale.

    Parameters
    ----------
    middle, scale : ndarray of shape (d,)
    """

    middle: Float
    scale: Float

    @classmethod
    def fit(cls, rows: Float, weights: Float) -> Standardization:
        """Return the standardization by weighted moments; constant columns become 0."""
        shares = weights / weights.sum()
        middle = shares @ rows
        # Divided by the largest first, whose square may overflow.
        largest = np.abs(rows - middle).max(axis=0)
        scale = largest * np.sqrt(shares @ ((rows - middle) / np.where(largest, largest, 1.0)) ** 2)
        is_constant = scale <= 16.0 * np.finfo(np.float64).eps * np.abs(middle)
        return cls(middle, np.where(is_constant, 1.0, scale))

    @classmethod
    def none(cls, d: int) -> Standardization:
        """Return a standardization that does not change columns."""
        return cls(np.zeros(d), np.ones(d))

    def of(self, columns: tuple[int, ...]) -> Standardization:
        """Return the standardization of some of the columns."""
        return Standardization(self.middle[list(columns)], self.scale[list(columns)])

    def __call__(self, rows: Float) -> Float:
        """Return standardized rows."""
        standardized_rows: Float = (rows - self.middle) / self.scale
        return standardized_rows


@dataclass(frozen=True, eq=False)
class Centers:
    """Centers of functions of the same columns.

    Parameters
    ----------
    columns : tuple of int
    points : ndarray of shape (count, k)
        The parameters w_t.
    weighting : Weighting
    probability : float
        The probability of these columns.
    """

    columns: tuple[int, ...]
    points: Float
    weighting: Weighting
    probability: float

    def blocks(self, entries: Float) -> Iterator[tuple[slice, Float]]:
        """Yield blocks of rows, and the outputs of the centers at them, of shape (rows, count).

        Parameters
        ----------
        entries : ndarray of shape (n, k)
            Rows of these columns only.
        """
        for block in blocks_of(len(entries), _OUTPUTS // len(self.points)):
            outputs = self.weighting.outputs(entries[block], self.points)
            outputs *= self.probability
            yield block, outputs


@dataclass(frozen=True, eq=False)
class WeightedTerm:
    """The sum of the predictions of centers, as a function of their columns.

    Parameters
    ----------
    centers : Centers
    coefficients : ndarray of shape (count,)
        The a_t.
    scaling : Standardization
        The standardization of these columns.
    """

    centers: Centers
    coefficients: Float
    scaling: Standardization

    def __call__(self, *columns: Float) -> Float:
        """Return the sum for rows, given their columns."""
        entries = self.scaling(np.stack(columns, axis=1))
        sums = np.empty(len(entries))
        for block, outputs in self.centers.blocks(entries):
            outputs *= self.coefficients
            # Not a product by BLAS, whose bits depend on the number of rows.
            sums[block] = outputs.sum(axis=1)
        return sums
