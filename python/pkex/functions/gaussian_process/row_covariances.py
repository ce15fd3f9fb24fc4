"""Posterior covariances of values that are weighted means of a Gaussian process at whole rows.

With `Observational(embedding="rows")`, v(S) = Σ_l w_Sl f(z_l) for background rows z, and f(x) if
all features are present. The values are φ = c f(x) + W f(Z), where c is the last column of the
matrix that maps values of coalitions to Shapley values, and W the product of the others with w. The
covariance of the values of two rows is M κ M'ᵀ (Chau, Muandet and Sejdinovic 2023, Explaining the
uncertain, with f(x) in place of its regression if all features are present), where M = (c, W) and
κ is the posterior covariance of the process between the rows (x, Z) and (x', Z).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.functions.gaussian_process.covariances import whiten_values
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.games.indices import shapley_matrix
from pkex.typing import Float


def row_covariances(
    variance: LatentVariance,
    X: Float,
    pairs: NDArray[np.intp],
    rows: Float,
    coalition_weights: Float,
) -> Float:
    """Return the posterior covariances of the values of pairs of rows, (pairs, players, players).

    Parameters
    ----------
    variance : LatentVariance
    X : ndarray of shape (n, d)
    pairs : ndarray of int, shape (pairs, 2)
        The numbers of two rows, perhaps the same.
    rows : ndarray of shape (m, d)
        The background.
    coalition_weights : ndarray of shape (n, 2^players, m)
    """
    kernel = variance.kernel
    n_players = coalition_weights.shape[1].bit_length() - 1
    matrix = shapley_matrix(n_players)
    row_map, background_map = matrix[:, -1:], matrix[:, :-1] @ coalition_weights[:, :-1]
    to_points, among = kernel(variance.points, rows), variance.prior_covariance(rows, rows)
    # M k(·, (x, Z))ᵀ of each explained row, for points and background rows.
    at_points = kernel(X, variance.points)[:, None] * row_map + background_map @ to_points.T
    to_rows = variance.prior_covariance(X, rows)
    at_rows = to_rows[:, None] * row_map + background_map @ among
    whitened_rows = [whiten_values(variance, values.T) for values in at_points]
    covariances = np.empty((len(pairs), n_players, n_players))
    for covariance, (i, k) in zip(covariances, pairs.tolist(), strict=True):
        # Σ_l W_l k(z_l, x') plus c k(x, x').
        prior_covariance = variance.prior_covariance(X[[i]], X[[k]])[0, 0]
        with_row = background_map[i] @ to_rows[k] + row_map[:, 0] * prior_covariance
        prior = at_rows[i] @ background_map[k].T + with_row[:, None] * row_map.T
        covariance[:] = prior - whitened_rows[i][0].T @ whitened_rows[k][1]
        if i == k:
            covariance[:] = (covariance + covariance.T) / 2.0
    return covariances
