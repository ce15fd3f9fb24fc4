"""The products that a kernel expands into near points, which depend on the distance of rows.

A kernel with mixtures (Matérn, rational quadratic) is a sum of products for rows up to some
distance from the points. The *reach* of a row is its distance in units of the points' own range, as
a power of two; each reach that occurs has products of its own. It depends on the row and the
background only, so values do not depend on which rows are explained together. The unit of sparse
points is the widest range of a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.execution.progress import parts_of
from pkex.functions.probing import evenly_spaced
from pkex.games.value_functions import Game
from pkex.kernels import Term
from pkex.kernels.domain import ERRORS, Domain, ranges
from pkex.kernels.factors import expand_terms, has_mixtures
from pkex.tables.sparse import dense_rows, is_sparse
from pkex.typing import Float, Report, Rows, SparseRows

# Computes a result of rows of a reach, with the rows on the first axis.
ComputeAt: TypeAlias = Callable[[int, Rows, Report | None], Float]

# The error of f due to mixtures, relative to the size of f.
_RELATIVE_ERROR = 1e-10
# Rows at which the size of f is measured, and pairs of these with points.
_MEASURED, _PAIRS = 16, 1 << 18
# Rows at larger reaches are not distinguished: squares of their distances are out of range.
_FARTHEST = 2.0**500


class Reaches:
    """The terms of a kernel near points, without mixtures, for rows of each reach.

    Parameters
    ----------
    points : ndarray or csr_array of shape (n, d)
    terms : list of Term
    """

    __slots__ = ("_error", "_highest", "_lowest", "_terms", "_unit", "_widths", "has_mixtures")

    has_mixtures: bool
    """Whether the kernel is a sum of products only within a reach."""

    def __init__(self, points: Rows, terms: list[Term]) -> None:
        self._terms = terms
        self.has_mixtures = has_mixtures(terms)
        if not self.has_mixtures:
            return
        self._lowest = self._highest = np.zeros(points.shape[1])
        if points.shape[0]:
            self._lowest = np.ravel(dense_rows(points.min(axis=0)))
            self._highest = np.ravel(dense_rows(points.max(axis=0)))
        self._widths = ranges(self._lowest, self._highest)
        self._unit = self._widths
        if is_sparse(points):
            # Few points have values in a column, and other rows have usual values there.
            with np.errstate(over="ignore"):
                widest = (self._highest - self._lowest).max(initial=0.0)
            self._unit = np.maximum(self._widths, widest)
        self._error = ERRORS[0]

    def refine(self, size: float) -> bool:
        """Choose the error of the kernel; return whether it is smaller than the default.

        Parameters
        ----------
        size : float
            The size of f, relative to its change for kernel errors as large as the kernel of equal
            rows. If large coefficients cancel, it is small.
        """
        tolerance = _RELATIVE_ERROR * size
        self._error = next((error for error in ERRORS if error <= tolerance), ERRORS[-1])
        return self._error < ERRORS[0]

    def scale_of_errors(self, coefficients: Float) -> float | Float:
        """Return the scale of the errors of mixtures, Σ_i |α_i| k(x, x), shape (outputs,)."""
        if not self.has_mixtures:
            return 0.0
        unit = math.fsum(term.unit(self._domain(0)) for term in self._terms)
        scale: Float = unit * np.abs(coefficients).sum(axis=0)
        return scale

    def _domain(self, reach: int) -> Domain:
        with np.errstate(over="ignore"):
            spans = np.ldexp(self._unit, reach + 1)
            largest = np.maximum(np.abs(self._lowest), np.abs(self._highest))
            return Domain(spans, largest + spans, self._widths, self._error)

    def terms_at(self, reach: int) -> list[Term]:
        """Return the terms of the kernel, without mixtures, for rows of a reach."""
        return expand_terms(self._terms, self._domain(reach)) if self.has_mixtures else self._terms

    def of_rows(self, rows: Rows) -> NDArray[np.int64]:
        """Return the reach of each row: 0 up to twice the range of the points, 1 up to four times.

        Parameters
        ----------
        rows : ndarray or csr_array of shape (n, d)
        """
        if not self.has_mixtures:
            return np.zeros(rows.shape[0], dtype=np.int64)
        shares = self._shares_of_sparse(rows) if is_sparse(rows) else self._shares(rows)
        exponents: NDArray[np.int64] = np.frexp(np.minimum(shares, _FARTHEST))[1].astype(np.int64)
        # A distance of 2^k has the reach k.
        exponents[np.ldexp(0.5, exponents) == shares] -= 1
        exponents[exponents < 0] = 0
        return exponents

    def _shares(self, rows: Float, columns: NDArray[np.intp] | slice = slice(None)) -> Float:
        """Return the largest distances from points in some columns, relative to twice the range."""
        lowest, highest = self._lowest[columns], self._highest[columns]
        with np.errstate(over="ignore"):
            farthest = np.maximum(np.abs(rows - lowest), np.abs(highest - rows))
            shares: Float = (farthest / 2.0 / self._unit[columns]).max(axis=1, initial=0.0)
        return shares

    def _shares_of_sparse(self, rows: SparseRows) -> Float:
        d = len(self._unit)
        zero_shares = self._shares(np.zeros((d, 1)), np.arange(d)[:, None])
        shares = np.empty(rows.shape[0])
        for number in range(len(shares)):
            entries = slice(rows.indptr[number], rows.indptr[number + 1])
            columns = rows.indices[entries]
            zero_share = np.delete(zero_shares, columns).max(initial=0.0)
            shares[number] = max(self._shares(rows.data[entries][None], columns)[0], zero_share)
        return shares

    def of_game(self, game: Game) -> int:
        """Return the largest reach of background rows."""
        if game.background is None:
            return 0
        return int(self.of_rows(game.background[0]).max(initial=0))

    def over(
        self, rows: Rows, game: Game | None, report: Report | None, compute: ComputeAt
    ) -> Float:
        """Compute a result of rows at their reach, or at the background's if it is larger."""
        min_reach = 0 if game is None or not self.has_mixtures else self.of_game(game)
        reaches = np.maximum(self.of_rows(rows), min_reach)
        distinct_reaches = np.unique(reaches).tolist()
        if len(distinct_reaches) <= 1:
            return compute(distinct_reaches[0] if distinct_reaches else min_reach, rows, report)
        places = [np.flatnonzero(reaches == reach) for reach in distinct_reaches]
        reports = parts_of(report, *(float(len(indices)) for indices in places))
        results = [
            compute(reach, rows[indices], progress)
            for reach, indices, progress in zip(distinct_reaches, places, reports, strict=True)
        ]
        result = np.empty((len(reaches), *results[0].shape[1:]))
        for indices, values in zip(places, results, strict=True):
            result[indices] = values
        return result


def measured_rows(points: Rows) -> Rows:
    """Return the points where the size of f is measured."""
    n = points.shape[0]
    count = max(2, min(_MEASURED, _PAIRS // max(n, 1)))
    return points[evenly_spaced(n, count)] if n else points


def relative_size(outputs: Float, scale: float | Float) -> float:
    """Return the size of outputs, shape (n, outputs), relative to the scale of errors."""
    sizes, scales = np.abs(outputs).max(axis=0, initial=0.0), np.asarray(scale)
    shares = sizes[scales > 0.0] / scales[scales > 0.0]
    return float(shares.min(initial=1.0))
