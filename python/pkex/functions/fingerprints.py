"""Neutral Shapley values of the Tanimoto kernel of rows of 0 and 1, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.kernels import Kernel, Tanimoto
from pkex.kernels.base import amplitude_and_kernel
from pkex.typing import Float, Report

__all__ = ["are_bits", "neutral_values", "tanimoto_amplitude"]


def tanimoto_amplitude(kernel: Kernel) -> float | None:
    """Return the amplitude of a Tanimoto kernel; None for other kernels."""
    amplitude, unscaled = amplitude_and_kernel(kernel)
    return amplitude if isinstance(unscaled, Tanimoto) else None


def are_bits(rows: Float) -> NDArray[np.bool_]:
    """Return whether all values of each row are 0 or 1."""
    are: NDArray[np.bool_] = ((rows == 0.0) | (rows == 1.0)).all(axis=1)
    return are


def neutral_values(
    points: Float, coefficients: Float, rows: Float, *, report: Report | None = None
) -> Float:
    """Return the Shapley values of Σ_i α_i N/D, where absent bits count in neither N nor D.

    Let c bits be set in both rows and e bits in one of them, U = c + e. A coalition with c′ and e′
    of these has the value c′/(c′ + e′). By symmetry, each of the c bits has the Shapley value
    1/U + e (H_U − 1)/(U (U − 1)), and each of the e bits −c (H_U − 1)/(U (U − 1)), where
    H_U = 1 + 1/2 + … + 1/U.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Rows of 0 and 1.
    coefficients : ndarray of shape (n, outputs)
    rows : ndarray of shape (m, d)
        Rows of 0 and 1.
    report : callable, optional
        Receives the numbers of finished rows and of all rows.

    Returns
    -------
    ndarray of shape (m, d, outputs)
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1.0, points.shape[1] + 1.0))])
    bits_of_points = points.sum(axis=1)
    values = np.empty((*rows.shape, coefficients.shape[1]))
    for number, (row, of_row) in enumerate(zip(rows, values, strict=True)):
        # Integers: sums are exact in any order.
        shared = points @ row
        union = bits_of_points + row.sum() - shared
        pairs = np.maximum(union * (union - 1.0), 1.0)
        excess = (harmonic[union.astype(np.intp)] - 1.0) / pairs
        # A union of one bit has H − 1 = 0, and an empty union contributes nothing.
        of_both = np.where(union > 0.0, 1.0 / np.maximum(union, 1.0), 0.0)
        of_both += (union - shared) * excess
        of_one = np.where(union > 0.0, -shared * excess, 0.0)
        both, one = (part[:, None] * coefficients for part in (of_both, of_one))
        # One row at a time, so that sums do not depend on the number of rows.
        with_bit = np.einsum("ij,ik->jk", points, both - one) + one.sum(axis=0)
        without = np.einsum("ij,ik->jk", points, one)
        of_row[:] = np.where(row[:, None] > 0.0, with_bit, without)
        if report is not None:
            report(number + 1, len(rows))
    return values
