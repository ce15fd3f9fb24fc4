"""Neutral Shapley values of the Tanimoto kernel of rows of 0 and 1, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.kernels import Kernel, Tanimoto
from pkex.kernels.base import amplitude_and_kernel
from pkex.typing import Float, Report


def are_bits(rows: Float) -> NDArray[np.bool_]:
    """Return whether all values of each row are 0 or 1."""
    are: NDArray[np.bool_] = ((rows == 0.0) | (rows == 1.0)).all(axis=1)
    return are


class Fingerprints:
    """The function Σ_i α_i N/D of points of 0 and 1, by the places of their ones.

    N counts the bits that are set in both rows, D the bits that are set in one or both. Absent bits
    count in neither. The time per row grows with the number of ones of all points.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Rows of 0 and 1.
    coefficients : ndarray of shape (n, outputs)
    """

    def __init__(self, points: Float, coefficients: Float) -> None:
        self._points, self._columns = np.nonzero(points)
        self._bits = points.sum(axis=1)
        self._coefficients = coefficients
        sizes = np.arange(1.0, points.shape[1] + 1.0)
        self._harmonic = np.concatenate([[0.0], np.cumsum(1.0 / sizes)])

    @classmethod
    def of(cls, points: Float, coefficients: Float, kernel: Kernel) -> Fingerprints | None:
        """Return the function of a Tanimoto kernel of bits; None for other kernels and points."""
        amplitude, base_kernel = amplitude_and_kernel(kernel)
        if not isinstance(base_kernel, Tanimoto) or not are_bits(points).all():
            return None
        return cls(points, amplitude * coefficients)

    def neutral_values(self, rows: Float, *, report: Report | None = None) -> Float:
        """Return Shapley values.

        Let c bits be set in both rows and e bits in one of them, U = c + e. A coalition with c′ and
        e′ of these has the value c′/(c′ + e′). By symmetry, each of the c bits has the Shapley
        value 1/U + e (H_U − 1)/(U (U − 1)), and each of the e bits −c (H_U − 1)/(U (U − 1)), where
        H_U = 1 + 1/2 + … + 1/U.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            Rows of 0 and 1.
        report : callable, optional
            Receives the numbers of finished rows and of all rows.

        Returns
        -------
        ndarray of shape (m, d, outputs)
        """
        values = np.empty((*rows.shape, self._coefficients.shape[1]))
        for number, (row, row_values) in enumerate(zip(rows, values, strict=True)):
            shares_of_both, shares_of_one = self._shares(row)
            values_of_both = shares_of_both[:, None] * self._coefficients
            values_of_one = shares_of_one[:, None] * self._coefficients
            unset_values = self._sums(values_of_one, len(row))
            set_values = self._sums(values_of_both - values_of_one, len(row))
            set_values += values_of_one.sum(axis=0)
            row_values[:] = np.where(row[:, None] > 0.0, set_values, unset_values)
            if report is not None:
                report(number + 1, len(rows))
        return values

    def _shares(self, row: Float) -> tuple[Float, Float]:
        """Return the value of a bit that a point and the row have, and that one of them has."""
        # Integers: sums are exact in any order.
        n_shared = np.bincount(self._points, row[self._columns], minlength=len(self._bits))
        union = self._bits + row.sum() - n_shared
        pairs = np.maximum(union * (union - 1.0), 1.0)
        excess = (self._harmonic[union.astype(np.intp)] - 1.0) / pairs
        # A union of one bit has H − 1 = 0, and an empty union contributes nothing.
        shares_of_both = np.where(union > 0.0, 1.0 / np.maximum(union, 1.0), 0.0)
        shares_of_both += (union - n_shared) * excess
        return shares_of_both, np.where(union > 0.0, -n_shared * excess, 0.0)

    def _sums(self, point_values: Float, n_columns: int) -> Float:
        """Return sums over the points with each bit, from (n, outputs) to (d, outputs)."""
        values = point_values[self._points]
        sums = [np.bincount(self._columns, column, minlength=n_columns) for column in values.T]
        return np.stack(sums, axis=1)
