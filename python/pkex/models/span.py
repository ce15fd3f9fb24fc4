"""The functions Σ_i a_i k(·, x_i), in coordinates in which their norm is the Euclidean one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.kernels import Kernel
from pkex.typing import Float

__all__ = ["Span", "check_finite", "not_semidefinite"]

# Of the largest eigenvalue, times the number of points: what rounding makes of 0, and of a kernel
# that is positive semidefinite at most.
_ROUNDING = float(np.finfo(np.float64).eps)
_NEGATIVE = 16.0 * _ROUNDING


@dataclass(frozen=True, eq=False)
class Span:
    """The functions of a kernel at points; K = U Λ Uᵀ, and of coordinates g the norm is that of g.

    Directions whose eigenvalue is no more than rounding are left out: no function can be told from
    another by them.

    Parameters
    ----------
    at_points : ndarray of shape (n, r)
        U Λ^½, which takes g to the function at the points.
    coefficients : ndarray of shape (n, r)
        U Λ^−½, which takes g to the coefficients a.
    """

    at_points: Float
    coefficients: Float

    @classmethod
    def of(cls, kernel: Kernel, points: Float) -> Span:
        """Return the span of a kernel's functions at points.

        Raises
        ------
        ValueError
            If the kernel is not positive semidefinite there, or too large for a float.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return cls.of_matrix(kernel(points), repr(kernel), "X")

    @classmethod
    def of_matrix(cls, matrix: Float, kernel: str, rows: str) -> Span:
        """Return the span of functions whose inner products are a matrix, (n, n), of a kernel.

        `kernel` and `rows` are what messages call the kernel, and what it is evaluated at.

        Raises
        ------
        ValueError
            As `of`.
        """
        check_finite(matrix, kernel, rows)
        eigenvalues, vectors = np.linalg.eigh(matrix)
        scale = len(matrix) * float(np.abs(eigenvalues).max())
        if eigenvalues[0] < -_NEGATIVE * scale:
            found = f"its matrix has the eigenvalue {eigenvalues[0]:.3g}"
            raise not_semidefinite(kernel, rows, found)
        kept = eigenvalues > _ROUNDING * scale
        roots = np.sqrt(eigenvalues[kept])
        return cls(vectors[:, kept] * roots, vectors[:, kept] / roots)


def check_finite(matrix: Float, kernel: str, rows: str) -> None:
    """Refuse a kernel that is too large for a float between rows."""
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"{kernel} is too large for a float between rows of {rows}; scale {rows} down"
        )


def not_semidefinite(kernel: str, rows: str, found: str) -> ValueError:
    """Return the error that a kernel is not positive semidefinite on rows, and what says so."""
    return ValueError(
        f"kernel must be positive semidefinite, and {kernel} is not on {rows}: {found}; take "
        "another kernel"
    )
