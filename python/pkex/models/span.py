"""The functions Σ_i a_i k(·, x_i), in coordinates with the Euclidean norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.kernels import Kernel
from pkex.typing import Float

# Rounding errors of eigenvalues, relative to the largest times the number of points, and the bound
# for negative eigenvalues of positive semidefinite kernels.
_ROUNDING = float(np.finfo(np.float64).eps)
_NEGATIVE = 16.0 * _ROUNDING


@dataclass(frozen=True, eq=False)
class Span:
    """The functions of a kernel at points, by coordinates g with the same norm; K = U Λ Uᵀ.

    Directions whose eigenvalue is a rounding error are left out.

    Parameters
    ----------
    at_points : ndarray of shape (n, r)
        U Λ^½, which maps g to the values of the function at the points.
    coefficients : ndarray of shape (n, r)
        U Λ^−½, which maps g to the coefficients a.
    """

    at_points: Float
    coefficients: Float

    @classmethod
    def of(cls, kernel: Kernel, points: Float) -> Span:
        """Return the span of a kernel's functions at points.

        Raises
        ------
        ValueError
            If the kernel is not positive semidefinite at the points, or overflows.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return cls.of_matrix(kernel(points), repr(kernel), "X")

    @classmethod
    def of_matrix(cls, matrix: Float, kernel: str, rows: str) -> Span:
        """Return the span of functions, given the matrix of their inner products, shape (n, n).

        `kernel` and `rows` are the names of the kernel and of the rows in messages.

        Raises
        ------
        ValueError
            As for `of`.
        """
        check_finite(matrix, kernel, rows)
        eigenvalues, vectors = np.linalg.eigh(matrix)
        scale = len(matrix) * float(np.abs(eigenvalues).max())
        if eigenvalues[0] < -_NEGATIVE * scale:
            reason = f"its matrix has the eigenvalue {eigenvalues[0]:.3g}"
            raise not_semidefinite(kernel, rows, reason)
        mask = eigenvalues > _ROUNDING * scale
        roots = np.sqrt(eigenvalues[mask])
        return cls(vectors[:, mask] * roots, vectors[:, mask] / roots)


def check_finite(matrix: Float, kernel: str, rows: str) -> None:
    """Raise ValueError if the kernel overflows between rows."""
    if not np.isfinite(matrix).all():
        raise ValueError(f"{kernel} overflows between rows of {rows}. Scale {rows} down")


def not_semidefinite(kernel: str, rows: str, reason: str) -> ValueError:
    """Return the error of a kernel that is not positive semidefinite on rows."""
    return ValueError(
        f"kernel must be positive semidefinite, but {kernel} is not on {rows}: {reason}. Choose "
        "another kernel"
    )


def hidden_penalty(alpha: float, rounding: float) -> ValueError:
    """Return the error of an alpha that is below the rounding errors of the kernel of pairs."""
    return ValueError(
        f"alpha={alpha:g} is below the rounding errors of the kernel between pairs. "
        f"Increase it, for example to {1e3 * rounding:.1g}"
    )
