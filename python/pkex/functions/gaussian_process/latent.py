"""The variance of a Gaussian process at rows, and of some columns of a row alone."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.functions.gaussian_process.conditioning import ConditioningMatrix
from pkex.functions.weighted import probing_rows
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.allowed_values import AllowedValues
from pkex.kernels.factors import has_series, restricted
from pkex.typing import Float

__all__ = ["BLOCK", "LatentVariance"]

# Rows whose variance is computed at a time, which does not depend on how many there are.
BLOCK = 1024
_LOOKED_AT = 16
_EPSILON = float(np.finfo(np.float64).eps)


class LatentVariance:
    """The function k(x, x) − k(x, P) C k(P, x), and c (1 − uᵀ k(P, x))² more of a constant trend.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        P.
    kernel : Kernel
    known : ConditioningMatrix
        C.
    trend : tuple of ndarray of shape (n,) and float, optional
        u = C 1 and c, of a constant that was estimated, too. Sums over pairs do not have it.
    """

    def __init__(
        self,
        points: Float,
        kernel: Kernel,
        known: ConditioningMatrix,
        trend: tuple[Float, float] | None = None,
    ) -> None:
        self.points, self.kernel, self.known, self.trend = points, kernel, known, trend
        self.terms = kernel.terms(points.shape[1])
        self.entries = AllowedValues.of(self.terms)
        self.entries.check(points, "points")

    def at(self, rows: Float) -> Float:
        """Return the variance at rows, shape (n,)."""
        variances = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK]
            cross = self.kernel(some, self.points)
            variances[start : start + BLOCK] = self._left(self.priors(some), cross)
        return variances

    def of_columns(self, row: Float, members: NDArray[np.bool_]) -> Float:
        """Return what it is of a row with kernels of some columns alone.

        Parameters
        ----------
        row : ndarray of shape (d,)
        members : ndarray of bool, shape (n, d)
            The columns of each such kernel.

        Returns
        -------
        ndarray of shape (n,)
        """
        cross, prior = np.empty((len(members), len(self.points))), np.empty(len(members))
        for number, present in enumerate(members):
            terms = [restricted(term, present) for term in self.terms]
            cross[number] = sum(term.evaluated(row[None], self.points)[0] for term in terms)
            prior[number] = sum(term.evaluated(row[None], row[None])[0, 0] for term in terms)
        return self._left(prior, cross)

    def _left(self, prior: Any, cross: Float) -> Float:
        """Return what is left of the prior variance, given kernel values (n, points)."""
        left: Float = prior - self.known.forms(cross.T)
        if self.trend is not None:
            times_ones, share = self.trend
            # A square, of which nothing is to cancel.
            left += share * (1.0 - cross @ times_ones) ** 2
        return left

    @property
    def prior(self) -> float:
        """The prior variance of no column: of every row, unless there are dot products."""
        return math.fsum(term.of_no_column for term in self.terms)

    def priors(self, rows: Float) -> float | Float:
        """Return k(x, x), which is the same in all rows but for dot products."""
        if not has_series(self.terms):
            return self.prior
        blocks = [rows[start : start + _LOOKED_AT] for start in range(0, len(rows), _LOOKED_AT)]
        return np.concatenate([np.diag(self.kernel(some, some)) for some in blocks])

    def probing_rows(self) -> Float:
        """Return rows at the points and beside them."""
        return self.entries.nearest(probing_rows(self.points))

    def magnitude(self, rows: Float) -> Float:
        """Return the scale of errors that the kernel's values bring, and not their sums."""
        cross = self.kernel(rows, self.points).T
        changes = (np.abs(self.known.times(cross)) * np.abs(cross)).sum(axis=0)
        magnitude: Float = self.priors(rows) + 2.0 * changes
        return magnitude

    def relative_size(self) -> float:
        """Return the variance relative to its change where k(x, P) is wrong by the prior variance.

        The largest ones at points and near them.
        """
        rows = self.probing_rows()
        weights = np.abs(self.known.times(self.kernel(rows, self.points).T)).sum(axis=0)
        change = 2.0 * self.prior * float(weights.max(initial=0.0))
        size = float(np.abs(self.at(rows)).max(initial=0.0))
        return min(1.0, size / change) if change > 0.0 else 1.0

    # --- as a sum over pairs of points ---

    def roundings(self, rows: Float) -> Float:
        """Return the rounding errors that the sum over pairs may have, ε Σ_pq |C_pq| k_p k_q."""
        sizes, bounds = np.abs(self.known.matrix), np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            kernel = np.abs(self.kernel(rows[start : start + BLOCK], self.points))
            sums = np.einsum("ri,ri->r", kernel @ sizes, kernel)
            bounds[start : start + BLOCK] = _EPSILON * sums
        return bounds

    @cached_property
    def largest_rounding(self) -> float:
        """The largest of these at points and near them.

        Terms are largest at the points, however few of them are near each other.
        """
        rows = np.concatenate([self.probing_rows(), self.points])
        return float(self.roundings(rows).max())

    @cached_property
    def rounding_of_no_column(self) -> float:
        """What it may be of no column, where all factors are 1."""
        return _EPSILON * float(np.abs(self.known.matrix).sum()) * self.prior**2

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.points, self.kernel, self.known, self.trend)

    def __repr__(self) -> str:
        return f"LatentVariance({counted(len(self.points), 'point')}, kernel={self.kernel!r})"
