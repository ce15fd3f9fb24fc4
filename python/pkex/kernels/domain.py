"""Where a kernel is expanded into a sum of products: how far apart rows are, and how exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.typing import Float

__all__ = ["ERRORS", "Domain", "units"]

# Of sums that stand in for a kernel, relative to its value for equal rows: the default, and what
# rounding leaves of it at best.
ERRORS = (1e-12, 1e-13, 1e-14)


@dataclass(frozen=True, eq=False)
class Domain:
    """Between which rows a kernel is evaluated, and to which error.

    Parameters
    ----------
    spans : ndarray of shape (d,)
        For each column the largest difference between two entries that are compared.
    largest : ndarray of shape (d,)
        For each column the largest size of an entry.
    widths : ndarray of shape (d,)
        For each column how far apart entries usually are, at most.
    error : float
        The largest error of a mixture of products, relative to the kernel of equal rows; one of
        `ERRORS`.
    """

    spans: Float
    largest: Float
    widths: Float
    error: float = ERRORS[0]

    @classmethod
    def of(cls, rows: Float, error: float = ERRORS[0]) -> Domain:
        """Return the domain of all pairs among rows of shape (n, d)."""
        if not len(rows):
            nothing = np.zeros(rows.shape[1])
            return cls(nothing, nothing, nothing, error)
        lowest, highest = rows.min(axis=0), rows.max(axis=0)
        with np.errstate(over="ignore"):
            spans, sizes = highest - lowest, np.maximum(np.abs(lowest), np.abs(highest))
        return cls(spans, sizes, spans, error)

    @classmethod
    def around(cls, rows: Float, error: float = ERRORS[0]) -> Domain:
        """Return the domain of rows with others up to 4,096 times their range away from them."""
        largest = cls.of(rows).largest
        with np.errstate(over="ignore"):
            spans = units(rows) * 4096.0
            return cls(spans, largest + spans, units(rows), error)


def units(rows: Float) -> Float:
    """Return the range of each column of rows (n, d); of a constant one its size, or 1 if larger.

    Other rows may differ there.
    """
    if not len(rows):
        return np.ones(rows.shape[1])
    lowest, highest = rows.min(axis=0), rows.max(axis=0)
    with np.errstate(over="ignore"):
        spans: Float = highest - lowest
    is_constant = spans == 0.0
    spans[is_constant] = np.maximum(np.abs(highest[is_constant]), 1.0)
    return spans
