"""Power series, such as polynomial and additive kernels, as sums of products.

With an argument g_j for each column, (Σ_j g_j)^q / q! = Σ_{|a|=q} ∏_j g_j^{a_j} / a_j!, and the
elementary symmetric polynomial of order q is the sum of the products over all sets of q columns. So
each pair of a point and a multi-index is an evaluation. Two kinds of series need far fewer: a
polynomial in a dot product is a polynomial in the values of x, for any number of points; and
Σ_q w r^q e_q(g) = w ∏_j (1 + r g_j).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.products import PointProducts, Products, column_factors
from pkex.kernels import Term
from pkex.kernels.series import Series, powers
from pkex.typing import Float

# The positive exponents of a multi-index, by column.
_Index: TypeAlias = dict[int, int]

_MAX_EVALUATIONS = 40_000


def products_of_series(points: Float, weights: Float, term: Term, rows: Float) -> Products:
    """Return Σ_i weights_i · term(x, points_i), for a term with a power series, as products.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n, outputs)
    term : Term
    rows : ndarray of shape (m, d)
        Rows by which monomials are centered and scaled.

    Raises
    ------
    UnsupportedModelError
        If there are too many products.
    """
    series = term.series
    assert series is not None, "terms without a series are products"
    if (ratio := _ratio_of_product(series)) is not None:
        return _ProductOfColumns(points, weights, term, series, ratio)
    is_of_dots = series.form == "exponential" and not series.factors and not term.factors
    products_per_index = 1 if is_of_dots else len(points)
    # Centered monomials have all orders up to the last one.
    orders = range(len(series.weights)) if is_of_dots else np.flatnonzero(series.weights).tolist()
    columns = _columns(series)
    count = products_per_index * sum(_number(series.form, len(columns), order) for order in orders)
    if count > _MAX_EVALUATIONS:
        raise UnsupportedModelError(
            f"sensitivity: the kernel is a sum of {count} products over columns; up to "
            f"{_MAX_EVALUATIONS} are supported: take a lower degree or order, or fewer "
            f"{'columns' if is_of_dots else 'points'}"
        )
    indices = [index for order in orders for index in _indices(series.form, columns, order)]
    if is_of_dots:
        return _Monomials(points, term.coefficient * weights, series, indices, rows)
    return _PowersOfArguments(points, term.coefficient * weights, term, series, indices)


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
        return [dict.fromkeys(members, 1) for members in itertools.combinations(columns, order)]
    multisets = itertools.combinations_with_replacement(columns, order)
    return [{column: multiset.count(column) for column in set(multiset)} for multiset in multisets]


def _ratio_of_product(series: Series) -> float | None:
    """Return r if the series is Σ_q w_0 r^q e_q(g) over all orders, else None."""
    first_weight, *other_weights = series.weights.tolist()
    if series.form != "linear" or first_weight == 0.0 or len(other_weights) < len(_columns(series)):
        return None
    ratio = other_weights[0] / first_weight if other_weights else 0.0
    is_geometric = np.allclose(
        series.weights, first_weight * powers(ratio, len(other_weights) + 1), rtol=1e-15
    )
    return ratio if is_geometric else None


class _SeriesProducts(PointProducts):
    """Products over columns of factors of a term and functions of the arguments of its series."""

    def __init__(self, weights: Float, points: Float, term: Term, series: Series) -> None:
        super().__init__(weights, points, term.all_factors, is_local=False)
        self._term, self._series = term, series

    def _term_factors(self, column: int, entries: NDArray[Any]) -> Float:
        return column_factors(self._term.factors, column, entries, self._points)

    def _argument(self, column: int, entries: NDArray[Any]) -> Float:
        """Return the argument g_j of values of a column, shape (points, values)."""
        argument = column_factors(self._series.factors, column, entries, self._points)
        for rate in self._series.rates[self._series.columns == column]:
            argument *= rate * np.multiply.outer(self._points[:, column], entries)
        return argument


class _ProductOfColumns(_SeriesProducts):
    """For each point, the product over columns of factors and 1 + ratio · g_j."""

    def __init__(
        self, points: Float, weights: Float, term: Term, series: Series, ratio: float
    ) -> None:
        super().__init__(term.coefficient * series.weights[0] * weights, points, term, series)
        self._ratio = ratio

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        factors = self._term_factors(column, entries)
        if column in _columns(self._series):
            factors *= 1.0 + self._ratio * self._argument(column, entries)
        return factors


class _PowersOfArguments(_SeriesProducts):
    """For each multi-index and point, the product over columns of factors and g_j^a_j / a_j!."""

    def __init__(
        self,
        points: Float,
        weights: Float,
        term: Term,
        series: Series,
        indices: Sequence[_Index],
    ) -> None:
        orders = [sum(index.values()) for index in indices]
        all_weights = np.concatenate([series.weights[order] * weights for order in orders])
        super().__init__(all_weights, points, term, series)
        self._indices = indices

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        exponents = [index.get(column, 0) for index in self._indices]
        factors_by_exponent = [self._term_factors(column, entries)]
        if max(exponents) > 0:
            argument = self._argument(column, entries)
            for exponent in range(1, max(exponents) + 1):
                factors_by_exponent.append(factors_by_exponent[-1] * argument / exponent)
        return np.concatenate([factors_by_exponent[exponent] for exponent in exponents])


class _Monomials(Products):
    """Σ_i weights_i Σ_q w_q (Σ_j rate_j x_j y_ij)^q / q! as a polynomial in (x − center) / spread.

    With t = Σ_j rate_j center_j y_ij and u = x − center, the sum is
    Σ_k W_k (Σ_j rate_j u_j y_ij)^k / k!, where W_k is Σ_{q≥k} w_q t^(q−k) / (q−k)!. In units of the
    spread of each column, monomials are of order 1, and their weights show their contribution,
    whatever the units of the columns.
    """

    def __init__(
        self,
        points: Float,
        weights: Float,
        series: Series,
        indices: Sequence[_Index],
        rows: Float,
    ) -> None:
        center, spread = rows.mean(axis=0), rows.std(axis=0)
        spread = np.where(spread > 0.0, spread, 1.0)
        rates = np.zeros(points.shape[1])
        rates[series.columns] = series.rates
        at_center = (points * rates) @ center
        shifted_weights = [
            sum(
                weight * at_center ** (order - k) / math.factorial(order - k)
                for order, weight in enumerate(series.weights.tolist())
                if order >= k
            )
            for k in range(len(series.weights))
        ]
        sums = []
        for index in indices:
            share = np.asarray(shifted_weights[sum(index.values())]) * np.ones(len(points))
            for column, exponent in index.items():
                argument = rates[column] * spread[column] * points[:, column]
                share *= argument**exponent / math.factorial(exponent)
            sums.append(share @ weights)
        super().__init__(np.stack(sums))
        self._indices, self._center, self._spread = indices, center, spread

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        exponents = np.array([index.get(column, 0) for index in self._indices])
        deviations = (entries - self._center[column]) / self._spread[column]
        factors: Float = deviations ** exponents[:, None]
        return factors
