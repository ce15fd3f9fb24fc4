"""The prior of Shapley values: their distribution for a Gaussian process.

If f is a Gaussian process with covariance k, then so are its Shapley values φ = Φ f, with the
covariance Φ_x k Φ_x'ᵀ between the values of two rows: the prior part of `covariances`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.execution.computation import Computation
from pkex.functions.gaussian_process.covariances import value_covariances
from pkex.functions.gaussian_process.latent import ConditioningMatrix, LatentVariance
from pkex.functions.row_pairs import all_pairs, diagonal_pairs, matrix_of_pairs
from pkex.games.value_functions import Game
from pkex.kernels import Kernel
from pkex.typing import Float


class ShapleyPrior:
    """Covariances of the Shapley values of a Gaussian process without observations.

    Parameters
    ----------
    kernel : Kernel
    game : Game
        Interventional or marginal, with a background.
    n_columns : int
    """

    def __init__(self, kernel: Kernel, game: Game, n_columns: int) -> None:
        conditioning = ConditioningMatrix(np.empty((0, 0)), np.empty(0))
        self._latent = LatentVariance(np.empty((0, n_columns)), kernel, conditioning)
        self.kernel = kernel
        self._game, self._players = game, np.arange(n_columns)

    @property
    def variance(self) -> float:
        """The prior variance of f."""
        return self._latent.prior

    def among(self, rows: Float) -> Float:
        """Return the covariance matrix of the values of rows, shape (n d, n d)."""
        n, d = rows.shape
        return matrix_of_pairs(self._pair_covariances(rows, all_pairs(n)), n).reshape(n * d, n * d)

    def between(self, rows: Float, other_rows: Float) -> Float:
        """Return the covariances of values of rows with values of other rows, (n d, m d)."""
        (n, d), m = rows.shape, len(other_rows)
        first, second = np.indices((n, m)).reshape(2, -1)
        pairs = np.stack([first, n + second], axis=1)
        covariances = self._pair_covariances(np.concatenate([rows, other_rows]), pairs)
        return covariances.reshape(n, m, d, d).transpose(0, 2, 1, 3).reshape(n * d, m * d)

    def variances(self, rows: Float) -> Float:
        """Return the variance of each value, shape (n, d)."""
        covariances = self._pair_covariances(rows, diagonal_pairs(len(rows)))
        return np.diagonal(covariances, axis1=1, axis2=2)

    def _pair_covariances(self, rows: Float, pairs: NDArray[np.intp]) -> Float:
        self._latent.allowed_values.check(rows, "X")
        return value_covariances(
            self._latent, self._players, rows, pairs, self._game, Computation()
        )
