"""Nyström approximation of a kernel by landmarks, a sample of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.optional import missing_library
from pkex.typing import Float

# Relative to the largest pivot: landmarks with smaller pivots are linearly dependent on others.
_TOLERANCE = 1e-12
# Relative to the largest kernel value: more negative residuals are not due to rounding.
_INDEFINITE_TOLERANCE = 1e-8


class Features:
    """Nyström features, whose inner products approximate a kernel: φ(x) = L⁻¹ k_U(x), L Lᵀ = K_UU.

    Landmarks that are linearly dependent on others, up to rounding, are dropped, so K_UU needs no
    regularization.

    Parameters
    ----------
    gram : ndarray of shape (b, b)
        K_UU, the kernel between landmarks U.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is not positive semi-definite.
    """

    def __init__(self, gram: Float) -> None:
        lapack = linear_algebra().lapack
        tolerance = _TOLERANCE * float(gram.diagonal().max())
        factor, pivots, rank, _ = lapack.dpstrf(gram, tol=tolerance, lower=1)
        self._n_landmarks = len(gram)
        self._pivots = pivots[:rank] - 1
        self._factor = np.tril(factor[:rank, :rank])
        if not rank:
            raise np.linalg.LinAlgError("the kernel is 0 on all of its landmarks")
        residuals = gram.diagonal() - np.square(self.of(gram)).sum(axis=0)
        if residuals.min() < -_INDEFINITE_TOLERANCE * float(gram.diagonal().max()):
            raise np.linalg.LinAlgError("the kernel is not positive definite on its landmarks")

    def of(self, values: Float) -> Float:
        """Return the features of rows, shape (r, n), given kernel values of shape (b, n)."""
        solve = linear_algebra().solve_triangular
        features: Float = solve(self._factor, values[self._pivots], lower=True, check_finite=False)
        return features

    def from_values(self, sides: Float) -> Float:
        """Convert coefficients of features, (n, r), into coefficients of kernel values, (n, b).

        For the result c, Σ_r sides_r φ_r(x) = Σ_u c_u k(u, x).
        """
        coefficients = np.zeros((len(sides), self._n_landmarks))
        solve = linear_algebra().solve_triangular
        coefficients[:, self._pivots] = solve(
            self._factor, sides.T, lower=True, trans="T", check_finite=False
        ).T
        return coefficients


def sample_rows(n_rows: int, number: int) -> NDArray[np.intp]:
    """Return the numbers of a fixed random sample of rows, ascending."""
    order = np.random.default_rng(0).permutation(n_rows)
    return np.sort(order[:number])


def linear_algebra() -> Any:
    """Return the module `scipy.linalg`.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    """
    try:
        import scipy.linalg
    except ImportError:
        raise missing_library("value_function='observational'", "scipy", "scikit-learn") from None
    return scipy.linalg
