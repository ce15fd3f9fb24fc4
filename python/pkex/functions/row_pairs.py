"""Pairs of rows, and matrices of their covariances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float


def diagonal_pairs(n_rows: int) -> NDArray[np.intp]:
    """Return the pairs of each row with itself, shape (n, 2)."""
    return np.repeat(np.arange(n_rows)[:, None], 2, axis=1)


def all_pairs(n_rows: int) -> NDArray[np.intp]:
    """Return each pair of rows once, and each row with itself, shape (n (n + 1) / 2, 2)."""
    return np.stack(np.triu_indices(n_rows), axis=1)


def matrix_of_pairs(covariances: Float, n_rows: int) -> Float:
    """Return the symmetric matrix of covariances between rows, shape (n, players, n, players).

    Parameters
    ----------
    covariances : ndarray of shape (pairs, players, players)
        Of `all_pairs`.
    n_rows : int
    """
    n_players = covariances.shape[1]
    matrix = np.empty((n_rows, n_players, n_rows, n_players))
    for (i, k), covariance in zip(all_pairs(n_rows).tolist(), covariances, strict=True):
        matrix[i, :, k], matrix[k, :, i] = covariance, covariance.T
    return matrix
