"""Weights of rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from pkex.errors import InputError
from pkex.tables.read import as_vector
from pkex.typing import Float


def equal_weights(n_rows: int) -> Float:
    """Return equal weights that add up to 1."""
    return np.full(n_rows, 1.0 / n_rows)


def as_weights(weights: ArrayLike, name: str, n_rows: int, rows_of: str) -> Float:
    """Return weights that are normalized to sum 1; see `relative_weights`."""
    relative = relative_weights(weights, name, n_rows, rows_of)
    normalized: Float = relative / math.fsum(relative)
    return normalized


def relative_weights(weights: ArrayLike, name: str, n_rows: int, rows_of: str) -> Float:
    """Return weights divided by the largest, so that their sum cannot overflow.

    Parameters
    ----------
    weights : array-like of shape (n_rows,)
    name, rows_of : str
        The names of the weights and of the rows in messages.
    n_rows : int

    Raises
    ------
    ValueError, TypeError
        If they have another shape, are not finite, negative, or all 0.
    """
    array = as_vector(weights, name, n_rows=n_rows, rows_of=rows_of)
    if (array < 0.0).any():
        row = int(np.argmax(array < 0.0))
        raise InputError(name, f"must not be negative; got {array[row]}", row=row)
    if not array.any():
        raise InputError(name, "must not all be zero")
    relative: Float = array / array.max()
    return relative
