"""Domains in which kernels are expanded into sums of products: distances of rows, and errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.typing import Float

# Errors of approximations of a kernel, relative to its value for equal rows: the default, down to
# the smallest that rounding permits.
ERRORS = (1e-12, 1e-13, 1e-14)


@dataclass(frozen=True, eq=False)
class Domain:
    """The rows between which a kernel is approximated, and the error.

    Parameters
    ----------
    spans : ndarray of shape (d,)
        The largest difference between two compared values of each column.
    largest : ndarray of shape (d,)
        The largest absolute value of each column.
    widths : ndarray of shape (d,)
        The largest usual difference between values of each column.
    error : float
        The largest error, relative to the kernel of equal rows; one of `ERRORS`.
    """

    spans: Float
    largest: Float
    widths: Float
    error: float = ERRORS[0]

    @classmethod
    def of(cls, rows: Float, error: float = ERRORS[0]) -> Domain:
        """Return the domain of all pairs of rows of shape (n, d)."""
        if not len(rows):
            zeros = np.zeros(rows.shape[1])
            return cls(zeros, zeros, zeros, error)
        lowest, highest = rows.min(axis=0), rows.max(axis=0)
        with np.errstate(over="ignore"):
            spans, sizes = highest - lowest, np.maximum(np.abs(lowest), np.abs(highest))
        return cls(spans, sizes, spans, error)

    @classmethod
    def around(cls, rows: Float, error: float = ERRORS[0]) -> Domain:
        """Return the domain of rows and others up to 4,096 times their range away."""
        largest = cls.of(rows).largest
        with np.errstate(over="ignore"):
            spans = units(rows) * 4096.0
            return cls(spans, largest + spans, units(rows), error)


def units(rows: Float) -> Float:
    """Return the range of each column of rows of shape (n, d), as `ranges` does."""
    if not len(rows):
        return np.ones(rows.shape[1])
    return ranges(rows.min(axis=0), rows.max(axis=0))


def ranges(lowest: Float, highest: Float) -> Float:
    """Return the range of each column between its lowest and its highest value.

    Constant columns have their absolute value, at least 1, because other rows may differ there.
    """
    with np.errstate(over="ignore"):
        spans: Float = highest - lowest
    is_constant = spans == 0.0
    spans[is_constant] = np.maximum(np.abs(highest[is_constant]), 1.0)
    return spans
