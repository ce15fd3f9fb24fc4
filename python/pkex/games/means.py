"""Means of columns, and sums whose order depends only on the number of terms."""

from __future__ import annotations

import numpy as np

from pkex.execution.blocks import blocks_of
from pkex.tables.sparse import dense_rows, is_sparse
from pkex.typing import Float, Rows, SparseRows

# The number of values in a block, which fits into a core's cache, and the fewest rows of a block.
_BLOCK, _MIN_ROWS = 1 << 15, 32


def added(terms: Float) -> Float:
    """Return the pairwise sum along the first axis, whose rounding errors grow as log n."""
    while len(terms) > 1:
        half = len(terms) // 2
        pairs = terms[:half] + terms[half : 2 * half]
        terms = np.concatenate([pairs, terms[2 * half :]]) if len(terms) % 2 else pairs
    total: Float = terms[0]
    return total


def blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Return slices that divide rows into blocks that fit into the cache."""
    return blocks_of(n_rows, max(_MIN_ROWS, _BLOCK // n_columns))


def column_means(rows: Rows, weights: Float) -> tuple[Float, Float]:
    """Return the weighted means of columns as sums of two numbers: an approximation and the rest.

    Subtracting both numbers from a value gives its deviation from the mean to full precision, even
    if the column is far from 0. The deviation is exactly 0 in a constant column.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (m, d)
    weights : ndarray of shape (m,)
        Weights with sum 1.

    Returns
    -------
    near, missing : ndarray of shape (d,)
    """
    deviation = _sparse_mean_deviation if is_sparse(rows) else _mean_deviation
    first_row = dense_rows(rows[:1])[0]
    # mean = r + Σ_l weight_l (z_l − r) for any r; rounding errors shrink as r approaches the mean.
    with np.errstate(over="ignore", invalid="ignore"):  # callers check their results
        near = first_row + deviation(rows, weights, first_row)
        return near, deviation(rows, weights, near)


def _mean_deviation(rows: Float, weights: Float, reference: Float) -> Float:
    sums = [
        added((rows[block] - reference) * weights[block, None]) for block in blocks(*rows.shape)
    ]
    return added(np.stack(sums))


def _sparse_mean_deviation(rows: SparseRows, weights: Float, reference: Float) -> Float:
    m, d = rows.shape
    columns, shares = rows.indices, np.repeat(weights, np.diff(rows.indptr))
    deviations = np.bincount(columns, shares * (rows.data - reference[columns]), minlength=d)
    # In a column without zeros, the weights of zeros are 0 without a rounding error.
    zero_shares = 1.0 - np.bincount(columns, shares, minlength=d)
    zero_shares[np.bincount(columns, minlength=d) == m] = 0.0
    return deviations - zero_shares * reference
