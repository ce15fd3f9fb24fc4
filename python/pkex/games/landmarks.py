"""Nyström's approximation of a kernel by some of the rows, its landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.optional import missing_library
from pkex.typing import Float

__all__ = ["Features", "linear_algebra", "sampled_rows"]

# Of the largest pivot: landmarks that leave less of the kernel are determined by others.
_TOLERANCE = 1e-12
# Of the largest kernel value: what is less than nothing by more than this is no rounding.
_INDEFINITE = 1e-8


class Features:
    """Functions of rows whose inner products approximate a kernel, φ(x) = L⁻¹ k_U(x), L Lᵀ = K_UU.

    Landmarks that others determine, up to rounding, are left out: nothing is added to K_UU.

    Parameters
    ----------
    among : ndarray of shape (b, b)
        K_UU, the kernel between landmarks U.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it is not positive semi-definite.
    """

    def __init__(self, among: Float) -> None:
        lapack = linear_algebra().lapack
        tolerance = _TOLERANCE * float(among.diagonal().max())
        factor, pivots, rank, _ = lapack.dpstrf(among, tol=tolerance, lower=1)
        self._n_landmarks = len(among)
        self._kept = pivots[:rank] - 1
        self._factor = np.tril(factor[:rank, :rank])
        if not rank:
            raise np.linalg.LinAlgError("the kernel is nowhere positive on its landmarks")
        left = among.diagonal() - np.square(self.of(among)).sum(axis=0)
        if left.min() < -_INDEFINITE * float(among.diagonal().max()):
            raise np.linalg.LinAlgError("the kernel is not positive definite on its landmarks")

    def of(self, values: Float) -> Float:
        """Return the features of rows, shape (r, n), given the kernel to them, shape (b, n)."""
        solve = linear_algebra().solve_triangular
        found: Float = solve(self._factor, values[self._kept], lower=True, check_finite=False)
        return found

    def from_values(self, sides: Float) -> Float:
        """Return what sums over features, of shape (n, r), are in terms of kernel values, (n, b).

        Then Σ_r sides_r φ_r(x) = Σ_u found_u k(u, x).
        """
        found = np.zeros((len(sides), self._n_landmarks))
        solve = linear_algebra().solve_triangular
        found[:, self._kept] = solve(
            self._factor, sides.T, lower=True, trans="T", check_finite=False
        ).T
        return found


def sampled_rows(n_rows: int, number: int) -> NDArray[np.intp]:
    """Return the numbers of so many rows, ascending: a random sample, the same each time."""
    order = np.random.default_rng(0).permutation(n_rows)
    return np.sort(order[:number])


def linear_algebra() -> Any:
    """Return SciPy's module of LAPACK's functions.

    Raises
    ------
    ImportError
        If there is no SciPy.
    """
    try:
        import scipy.linalg
    except ImportError:
        raise missing_library("value_function='observational'", "scipy", "scikit-learn") from None
    return scipy.linalg
