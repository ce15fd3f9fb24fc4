"""Rows at which functions are compared with models or measured, and numbers for such rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pkex.tables.sparse import dense_rows
from pkex.typing import Float, Rows


def evenly_spaced(length: int, max_count: int) -> NDArray[np.intp]:
    """Return up to `max_count` numbers from 0 to length − 1, including the first and the last."""
    return np.unique(np.linspace(0, length - 1, min(length, max_count)).astype(np.intp))


def irregular_numbers(*shape: int) -> Float:
    """Return a fixed set of irregular numbers between −1 and 1."""
    numbers: Float = np.cos(np.arange(1.0, 1.0 + math.prod(shape))).reshape(shape)
    return numbers


def rows_near(points: Rows) -> Float:
    """Return up to three of the points, and one row within the range of the kernel of each."""
    n, d = points.shape
    if n == 0:
        return np.zeros((1, d))
    centers = dense_rows(points[evenly_spaced(n, 3)])
    highest, lowest = dense_rows(points.max(axis=0)), dense_rows(points.min(axis=0))
    step = np.ravel(highest / 8.0 - lowest / 8.0)
    # Constant columns matter as well.
    step[step == 0.0] = 1.0
    return np.concatenate([centers, centers + step * irregular_numbers(*centers.shape)])
