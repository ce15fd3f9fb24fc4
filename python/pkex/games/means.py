"""Means of columns, and sums in an order that depends on their number alone."""

from __future__ import annotations

import numpy as np

from pkex.typing import Float

__all__ = ["added", "blocks", "column_means"]

# As many numbers as fit into a core's cache several times, if that is not too few rows.
_BLOCK, _FEWEST_ROWS = 1 << 15, 32


def added(terms: Float) -> Float:
    """Add along the first axis by pairs, then pairs of pairs: the rounding grows as log n."""
    while len(terms) > 1:
        half = len(terms) // 2
        pairs = terms[:half] + terms[half : 2 * half]
        terms = np.concatenate([pairs, terms[2 * half :]]) if len(terms) % 2 else pairs
    first: Float = terms[0]
    return first


def blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Return slices of rows, each of a table that is quick to pass over several times."""
    size = max(_FEWEST_ROWS, _BLOCK // n_columns)
    return [slice(start, start + size) for start in range(0, n_rows, size)]


def column_means(rows: Float, weights: Float) -> tuple[Float, Float]:
    """Return the weighted means of columns as sums of two numbers each: near, and what is missing.

    An entry less the first number and less the second has the digits of its deviation from the
    mean, however far from 0 the column is; it is exactly 0 if all entries are that one.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
        Which add up to 1.

    Returns
    -------
    near, missing : ndarray of shape (d,)
    """
    # mean = r + Σ_l weight_l (z_l − r) for any r; the nearer r, the smaller the rounding.
    with np.errstate(over="ignore", invalid="ignore"):  # whatever is made of them is checked
        near = rows[0] + _mean_deviation(rows, weights, rows[0])
        return near, _mean_deviation(rows, weights, near)


def _mean_deviation(rows: Float, weights: Float, reference: Float) -> Float:
    sums = [
        added((rows[block] - reference) * weights[block, None]) for block in blocks(*rows.shape)
    ]
    return added(np.stack(sums))
