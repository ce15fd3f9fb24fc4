"""Functions as sums of products of functions of single columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.widths import Width, widths_of_column
from pkex.kernels import Term
from pkex.kernels.family import Factor
from pkex.typing import Float

__all__ = [
    "Joined",
    "Products",
    "TermsOfPoints",
    "factors_of_column",
    "kinks_of_column",
    "products",
]


class Products(ABC):
    """The function constant + Σ_e weights_e ∏_j φ_ej(x_j), but for its constant.

    Parameters
    ----------
    weights : ndarray of shape (evaluations, outputs)
    """

    def __init__(self, weights: Float) -> None:
        self.weights = weights

    @abstractmethod
    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        """Return the factors φ_ej of a column's entries, of shape (evaluations, entries)."""

    def kinks(self, column: int) -> Float:
        """Return the entries where the factors of a column are not smooth."""
        return np.empty(0)

    def widths(self, column: int) -> list[Width]:
        """Return how far apart entries are between which the factors of a column differ, where."""
        return []


@singledispatch
def products(function: Function, rows: NDArray[Any]) -> Products:
    """Return a function as a sum of products, near rows.

    Each class that is such a sum registers how.

    Parameters
    ----------
    function : Function
        Each of its columns a player.
    rows : ndarray of shape (n, d)
        The sum holds for all rows that combine entries of these.

    Raises
    ------
    UnsupportedModelError
        If it is none.
    """
    raise UnsupportedModelError(
        f"{type(function).__name__} is no sum of products over columns, which sensitivity is for: "
        "of a model, pass it or its predict or decision_function, not its predict_proba"
    )


class TermsOfPoints(Products):
    """Σ_i weights_i k(x, points_i), of a kernel that is a sum of products.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    weights : ndarray of shape (n, outputs)
    terms : sequence of Term
        Without mixtures and power series.
    """

    def __init__(self, points: Float, weights: Float, terms: Sequence[Term]) -> None:
        super().__init__(np.concatenate([term.coefficient * weights for term in terms]))
        self._points, self._terms = points, terms

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        return np.concatenate(
            [factors_of_column(term.factors, column, entries, self._points) for term in self._terms]
        )

    def kinks(self, column: int) -> Float:
        factors = [factor for term in self._terms for factor in term.factors]
        return kinks_of_column(factors, column, self._points)

    def widths(self, column: int) -> list[Width]:
        factors = (factor for term in self._terms for factor in term.factors)
        return widths_of_column(factors, column, self._points)


def factors_of_column(
    factors: Iterable[Factor], column: int, entries: NDArray[Any], points: Float
) -> Float:
    """Return the product of a column's factors, of shape (points, entries); 1 if there are none."""
    product = np.ones((len(points), len(entries)))
    for factor in factors:
        value = factor.definition.value
        for place in np.flatnonzero(factor.columns == column):
            with np.errstate(over="ignore"):
                product *= value(entries, points[:, column, None], *factor.parameters[place])
    return product


def kinks_of_column(factors: Iterable[Factor], column: int, points: Float) -> Float:
    """Return the entries of a column where some of the factors are not smooth."""
    has_kinks = any(factor.definition.has_kinks and column in factor.columns for factor in factors)
    return np.unique(points[:, column]) if has_kinks else np.empty(0)


class Joined(Products):
    """The sum of several sums of products, whose weights are given anew.

    Parameters
    ----------
    parts : sequence of Products
    weights : sequence of ndarray of shape (evaluations of the part, outputs)
    """

    def __init__(self, parts: Sequence[Products], weights: Sequence[Float]) -> None:
        super().__init__(np.concatenate(weights))
        self._parts = parts

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        return np.concatenate([part.factors(column, entries) for part in self._parts])

    def kinks(self, column: int) -> Float:
        return np.unique(np.concatenate([part.kinks(column) for part in self._parts]))

    def widths(self, column: int) -> list[Width]:
        return [width for part in self._parts for width in part.widths(column)]
