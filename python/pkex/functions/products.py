"""Functions as sums of products of functions of single columns, and the widths of these.

The widths say how fast functions of a column change, and where: quadrature rules depend on them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.kernels import Term
from pkex.kernels.factors import TILE
from pkex.kernels.family import Factor
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Width:
    """The distance over which functions change within some intervals.

    Outside of the intervals, the functions are 0 up to 1e-17.

    Parameters
    ----------
    width : float
    starts, ends : ndarray of shape (k,)
        The ends of the intervals, each in ascending order.
    """

    width: float
    starts: Float
    ends: Float

    def meets(self, low: Float, high: Float) -> NDArray[np.bool_]:
        """Return whether panels overlap an interval."""
        n_started = np.searchsorted(self.starts, high, side="left")
        n_ended = np.searchsorted(self.ends, low, side="right")
        return np.asarray(n_started > n_ended)

    def before(self, slope: float, offset: float) -> Width:
        """Return the width in units of x, if this width is in units of slope · x + offset."""
        ends = (np.stack([self.starts, self.ends]) - offset) / slope
        return Width(self.width / abs(slope), np.sort(ends.min(axis=0)), np.sort(ends.max(axis=0)))

    def everywhere(self, ratio: float) -> Width:
        """Return the width times a ratio, on the whole line."""
        return Width(self.width * ratio, np.array([-np.inf]), np.array([np.inf]))


class Products(ABC):
    """The function constant + Σ_e weights_e ∏_j φ_ej(x_j), without its constant.

    Parameters
    ----------
    weights : ndarray of shape (evaluations, outputs)
    """

    allows_threads = False
    """Whether several threads may compute factors at once. Functions of users may not allow it."""

    def __init__(self, weights: Float) -> None:
        self.weights = weights

    @abstractmethod
    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        """Return the factors φ_ej of values of a column, shape (evaluations, values)."""

    def kinks(self, column: int) -> Float:
        """Return the values where the factors of a column are not smooth."""
        return np.empty(0)

    def widths(self, column: int) -> list[Width]:
        """Return the widths of the factors of a column."""
        return []


class PointProducts(Products):
    """Products whose factors come from kernel factors between a column and stored points.

    Parameters
    ----------
    weights : ndarray of shape (evaluations, outputs)
    points : ndarray of shape (n, d)
    kernel_factors : sequence of Factor
    is_local : bool
        Whether the products vanish where the kernel factors do; polynomials do not.
    """

    def __init__(
        self, weights: Float, points: Float, kernel_factors: Sequence[Factor], *, is_local: bool
    ) -> None:
        super().__init__(weights)
        self._points, self._kernel_factors, self._is_local = points, kernel_factors, is_local

    def kinks(self, column: int) -> Float:
        factors = self._kernel_factors
        has_kinks = any(f.definition.has_kinks and column in f.columns for f in factors)
        return np.unique(self._points[:, column]) if has_kinks else np.empty(0)

    def widths(self, column: int) -> list[Width]:
        """Return the length-scales of the column's factors, around the points; equal ones once."""
        widths: dict[tuple[float, float], Width] = {}
        for factor in self._kernel_factors:
            family = factor.definition
            if not (family.is_of_distance or factor.parameters.shape[1] == 2):
                continue
            for scale in np.abs(factor.parameters[factor.columns == column]).min(
                axis=1, initial=np.inf
            ):
                reach = float(family.reach * scale)
                entries = np.unique(self._points[:, column])
                width = Width(float(scale), entries - reach, entries + reach)
                widths[float(scale), reach] = width if self._is_local else width.everywhere(1.0)
        return list(widths.values())


class TermsOfPoints(PointProducts):
    """Σ_i weights_i k(x, points_i) for a kernel that is a sum of products.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n, outputs)
    terms : sequence of Term
        Terms without mixtures and power series.
    """

    allows_threads = True

    def __init__(self, points: Float, weights: Float, terms: Sequence[Term]) -> None:
        factors = [factor for term in terms for factor in term.factors]
        term_weights = np.concatenate([term.coefficient * weights for term in terms])
        super().__init__(term_weights, points, factors, is_local=True)
        self._terms = terms

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        products = np.empty((len(self._terms), len(self._points), len(entries)))
        for block in blocks_of(len(self._points), TILE // max(1, len(entries))):
            for term_factors, term in zip(products[:, block], self._terms, strict=True):
                term_factors[:] = column_factors(term.factors, column, entries, self._points[block])
        return products.reshape(-1, len(entries))


def column_factors(
    factors: Iterable[Factor], column: int, entries: NDArray[Any], points: Float
) -> Float:
    """Return the product of the factors of a column, shape (points, values); 1 without factors."""
    product = None
    for factor in factors:
        value = factor.definition.value
        for place in np.flatnonzero(factor.columns == column):
            with np.errstate(over="ignore"):
                values = value(entries, points[:, column, None], *factor.parameters[place])
            product = values if product is None else product * values
    return np.ones((len(points), len(entries))) if product is None else product


class JoinedProducts(Products):
    """The sum of several sums of products, with new weights.

    Parameters
    ----------
    parts : sequence of Products
    weights : sequence of ndarray of shape (evaluations of the part, outputs)
    """

    def __init__(self, parts: Sequence[Products], weights: Sequence[Float]) -> None:
        super().__init__(np.concatenate(weights))
        self._parts = parts
        self.allows_threads = all(part.allows_threads for part in parts)

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        return np.concatenate([part.factors(column, entries) for part in self._parts])

    def kinks(self, column: int) -> Float:
        return np.unique(np.concatenate([part.kinks(column) for part in self._parts]))

    def widths(self, column: int) -> list[Width]:
        return [width for part in self._parts for width in part.widths(column)]
