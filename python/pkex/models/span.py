"""The functions Σ_i a_i k(·, x_i), in coordinates in which their norm is the Euclidean one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.kernels import Kernel
from pkex.typing import Float

__all__ = ["Span"]

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
            matrix = kernel(points)
        if not np.isfinite(matrix).all():
            raise ValueError(f"{kernel!r} is too large for a float between rows of X; scale X down")
        eigenvalues, vectors = np.linalg.eigh(matrix)
        scale = len(points) * float(np.abs(eigenvalues).max())
        if eigenvalues[0] < -_NEGATIVE * scale:
            raise ValueError(
                f"kernel must be positive semidefinite, and {kernel!r} is not on X: its matrix has "
                f"the eigenvalue {eigenvalues[0]:.3g}; take another kernel"
            )
        kept = eigenvalues > _ROUNDING * scale
        roots = np.sqrt(eigenvalues[kept])
        return cls(vectors[:, kept] * roots, vectors[:, kept] / roots)
