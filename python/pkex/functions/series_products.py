"""Power series of arguments, which polynomial and additive kernels are, as sums of products.

With arguments g_j of columns, (Σ_j g_j)^q / q! = Σ_{|a|=q} ∏_j g_j^{a_j} / a_j!, and the elementary
symmetric polynomial of order q adds the products over sets of q columns. So there is an evaluation
for each point and multi-index. Two series need far fewer: a polynomial in a dot product is one in
the entries of x, whatever the number of points; and Σ_q w r^q e_q(g) = w ∏_j (1 + r g_j).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.products import (
    Products,
    factors_of_column,
    kinks_of_column,
)
from pkex.functions.widths import Width, widths_of_column
from pkex.kernels import Term
from pkex.kernels.series import Series, powers
from pkex.typing import Float

__all__ = ["products_of_series"]

# The exponents a of some columns, and 0 of the others.
_Index: TypeAlias = dict[int, int]

_MOST_EVALUATIONS = 40_000


def products_of_series(points: Float, weights: Float, term: Term, rows: Float) -> Products:
    """Return Σ_i weights_i · term(x, points_i) of a term with a power series, as products.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n, outputs)
    term : Term
    rows : ndarray of shape (m, d)
        Entries of each column, by which monomials are centred and scaled.

    Raises
    ------
    UnsupportedModelError
        If the products are too many.
    """
    series = term.series
    assert series is not None, "terms without a series are products themselves"
    if (ratio := _ratio_of_product(series)) is not None:
        return _ProductOfColumns(points, weights, term, series, ratio)
    is_of_dots = series.form == "exponential" and not series.factors and not term.factors
    each = 1 if is_of_dots else len(points)
    # Monomials are of all orders up to the last, once they are those about a centre.
    orders = range(len(series.weights)) if is_of_dots else np.flatnonzero(series.weights).tolist()
    columns = _columns(series)
    count = each * sum(_number(series.form, len(columns), order) for order in orders)
    if count > _MOST_EVALUATIONS:
        raise UnsupportedModelError(
            f"sensitivity: the kernel is a sum of {count} products over columns; up to "
            f"{_MOST_EVALUATIONS} are supported: take a lower degree or order, or fewer "
            f"{'columns' if is_of_dots else 'points'}"
        )
    indices = [index for order in orders for index in _indices(series.form, columns, order)]
    if is_of_dots:
        return _Monomials(points, term.coefficient * weights, series, indices, rows)
    return _OfIndices(points, term.coefficient * weights, term, indices)


def _columns(series: Series) -> list[int]:
    """Return the columns that have an argument."""
    columns = [series.columns, *(factor.columns for factor in series.factors)]
    return [int(column) for column in np.unique(np.concatenate(columns))]


def _number(form: str, n_columns: int, order: int) -> int:
    """Return the number of multi-indices of an order."""
    return math.comb(n_columns + (order - 1 if form == "exponential" else 0), order)


def _indices(form: str, columns: list[int], order: int) -> list[_Index]:
    """Return the multi-indices of an order."""
    if form == "linear":
        return [dict.fromkeys(chosen, 1) for chosen in itertools.combinations(columns, order)]
    chosen = itertools.combinations_with_replacement(columns, order)
    return [{column: own.count(column) for column in set(own)} for own in chosen]


def _ratio_of_product(series: Series) -> float | None:
    """Return r if the series is Σ_q w_0 r^q e_q(g) of all orders, else None."""
    first, *others = series.weights.tolist()
    if series.form != "linear" or first == 0.0 or len(others) < len(_columns(series)):
        return None
    ratio = others[0] / first if others else 0.0
    is_geometric = np.allclose(series.weights, first * powers(ratio, len(others) + 1), rtol=1e-15)
    return ratio if is_geometric else None


def _argument(series: Series, column: int, entries: Float, points: Float) -> Float:
    """Return the argument g_j of a column's entries, of shape (points, entries)."""
    argument = factors_of_column(series.factors, column, entries, points)
    for rate in series.rates[series.columns == column]:
        argument *= rate * np.multiply.outer(points[:, column], entries)
    return argument


class _ProductOfColumns(Products):
    """Of each point the product over columns of factors and 1 + ratio · g_j."""

    def __init__(
        self, points: Float, weights: Float, term: Term, series: Series, ratio: float
    ) -> None:
        super().__init__(term.coefficient * series.weights[0] * weights)
        self._points, self._term, self._series, self._ratio = points, term, series, ratio

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        own = factors_of_column(self._term.factors, column, entries, self._points)
        if column in _columns(self._series):
            own *= 1.0 + self._ratio * _argument(self._series, column, entries, self._points)
        return own

    def kinks(self, column: int) -> Float:
        return kinks_of_column(self._term.all_factors, column, self._points)

    def widths(self, column: int) -> list[Width]:
        # Polynomials do not end where factors do.
        own = widths_of_column(self._term.all_factors, column, self._points)
        return [width.everywhere(1.0) for width in own]


class _OfIndices(Products):
    """Of each multi-index and point the product over columns of factors and g_j^a_j / a_j!."""

    def __init__(
        self, points: Float, weights: Float, term: Term, indices: Sequence[_Index]
    ) -> None:
        assert term.series is not None
        of_orders = term.series.weights
        super().__init__(
            np.concatenate([of_orders[sum(index.values())] * weights for index in indices])
        )
        self._points, self._term, self._series = points, term, term.series
        self._indices = indices

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        own = factors_of_column(self._term.factors, column, entries, self._points)
        exponents = [index.get(column, 0) for index in self._indices]
        by_exponent = [own]
        if max(exponents) > 0:
            argument = _argument(self._series, column, entries, self._points)
            for exponent in range(1, max(exponents) + 1):
                by_exponent.append(by_exponent[-1] * argument / exponent)
        return np.concatenate([by_exponent[exponent] for exponent in exponents])

    def kinks(self, column: int) -> Float:
        return kinks_of_column(self._term.all_factors, column, self._points)

    def widths(self, column: int) -> list[Width]:
        # Polynomials do not end where factors do.
        own = widths_of_column(self._term.all_factors, column, self._points)
        return [width.everywhere(1.0) for width in own]


class _Monomials(Products):
    """Σ_i weights_i Σ_q w_q (Σ_j rate_j x_j y_ij)^q / q! as a polynomial in (x − centre) / spread.

    With t = Σ_j rate_j centre_j y_ij and u = x − centre it is Σ_k W_k (Σ_j rate_j u_j y_ij)^k / k!,
    where W_k is Σ_{q≥k} w_q t^(q−k) / (q−k)!. In units of the spread of each column, monomials are
    of the size of 1, and their weights that of what they contribute, whatever the columns' units.
    """

    def __init__(
        self,
        points: Float,
        weights: Float,
        series: Series,
        indices: Sequence[_Index],
        rows: Float,
    ) -> None:
        centre, spread = rows.mean(axis=0), rows.std(axis=0)
        spread = np.where(spread > 0.0, spread, 1.0)
        rates = np.zeros(points.shape[1])
        rates[series.columns] = series.rates
        at_centre = (points * rates) @ centre
        shifted = [
            sum(
                weight * at_centre ** (order - k) / math.factorial(order - k)
                for order, weight in enumerate(series.weights.tolist())
                if order >= k
            )
            for k in range(len(series.weights))
        ]
        found = []
        for index in indices:
            share = np.asarray(shifted[sum(index.values())]) * np.ones(len(points))
            for column, exponent in index.items():
                argument = rates[column] * spread[column] * points[:, column]
                share *= argument**exponent / math.factorial(exponent)
            found.append(share @ weights)
        super().__init__(np.stack(found))
        self._indices, self._centre, self._spread = indices, centre, spread

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        exponents = np.array([index.get(column, 0) for index in self._indices])
        deviations = (entries - self._centre[column]) / self._spread[column]
        factors: Float = deviations ** exponents[:, None]
        return factors
