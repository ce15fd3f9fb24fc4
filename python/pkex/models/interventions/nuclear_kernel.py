"""Nuclear dominant kernels: processes whose sample paths are in the space of a Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.kernels import RBF
from pkex.typing import Float

# Eigenvalues below this share of the largest one are rounding errors.
_MIN_SHARE = 1e-8


@dataclass(frozen=True, eq=False)
class NuclearKernel:
    """The kernel r(y, y') ∝ ∫ k(y, u) k(u, y') exp(−½ Σ_j ((u_j − m_j) / η_j)²) du of an RBF k.

    In closed form (Chau 2023, equations B.15 and B.16, with the inverse that B.13 lacks), it is
    ∏_j exp(−(y_j − y_j')² / 4ℓ_j² − ½ v_j² / (ℓ_j² / 2 + η_j²)) with v = (y + y') / 2 − m, up to a
    factor such that r(m, m) = 1.

    Parameters
    ----------
    length_scales : ndarray of shape (p,)
        ℓ of k.
    center, widths : ndarray of shape (p,)
        m and η of the measure.
    """

    length_scales: Float
    center: Float
    widths: Float

    @classmethod
    def over(cls, kernel: RBF, rows: Float) -> NuclearKernel:
        """Return the kernel for a measure with the mean and the ranges of some rows."""
        n_columns = rows.shape[1]
        scales = np.broadcast_to(np.asarray(kernel.length_scale, dtype=np.float64), n_columns)
        ranges = np.ptp(rows, axis=0)
        # A constant column has factors of 1 for any width.
        widths = np.where(ranges > 0.0, ranges, scales)
        return cls(scales, rows.mean(axis=0), widths)

    def __call__(self, rows: Float, other_rows: Float | None = None) -> Float:
        """Return the kernel between rows and other rows (or themselves), shape (n, m)."""
        left = rows - self.center
        right = left if other_rows is None else other_rows - self.center
        exponents = np.zeros((len(left), len(right)))
        of_middles = 0.5 * self.length_scales**2 + self.widths**2
        for j, (scale, spread) in enumerate(zip(self.length_scales, of_middles, strict=True)):
            exponents += np.subtract.outer(left[:, j], right[:, j]) ** 2 / (4.0 * scale**2)
            exponents += np.add.outer(left[:, j], right[:, j]) ** 2 / (8.0 * spread)
        kernel: Float = np.exp(-exponents)
        return kernel


def inverse_root(matrix: Float) -> Float:
    """Return W of the pseudo-inverse W Wᵀ of a kernel matrix, shape (n, rank)."""
    values, vectors = _eigenvectors(matrix)
    root: Float = vectors / np.sqrt(values)
    return root


def coordinates(matrix: Float) -> Float:
    """Return coordinates of features whose inner products are a matrix, shape (n, rank)."""
    values, vectors = _eigenvectors(matrix)
    features: Float = vectors * np.sqrt(values)
    return features


def _eigenvectors(matrix: Float) -> tuple[Float, Float]:
    values, vectors = np.linalg.eigh(matrix)
    mask = values > _MIN_SHARE * values[-1]
    return values[mask], vectors[:, mask]
