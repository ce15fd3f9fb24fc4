"""Restrictions of a kernel between the same rows to many subsets of columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.kernels.factors import TILE, Term, evaluate_terms, has_mixtures, has_series, restrict_term
from pkex.typing import Float

# The largest size of the tables of single columns that are stored: 1 GB.
MAX_KEPT = 1 << 27


def are_products(terms: Iterable[Term]) -> bool:
    """Whether terms are products over columns, without mixtures and power series."""
    terms = list(terms)
    return not has_mixtures(terms) and not has_series(terms)


class Restrictions:
    """A sum of terms between rows, which can be restricted to subsets of the columns.

    The factors of products are computed once per column, if they fit in memory. Other terms are
    evaluated for each subset.

    Parameters
    ----------
    terms : iterable of Term
    left, right : ndarray of shape (n, d) and (m, d)
    most_kept : int
        The largest number of stored factors.
    """

    def __init__(
        self, terms: Iterable[Term], left: Float, right: Float, most_kept: int = MAX_KEPT
    ) -> None:
        self._terms, self._left, self._right = list(terms), left, right
        self._tables: list[dict[int, Float]] | None = None
        columns = sum(len(factor.columns) for term in self._terms for factor in term.factors)
        if are_products(self._terms) and columns * len(left) * len(right) <= most_kept:
            self._tables = [column_products(term, left, right) for term in self._terms]

    def of(self, present: NDArray[np.bool_]) -> Float:
        """Return the kernel restricted to the present columns, shape (n, m).

        Parameters
        ----------
        present : ndarray of bool, shape (d,)
        """
        if self._tables is None:
            terms = [restrict_term(term, present) for term in self._terms]
            return evaluate_terms(terms, self._left, self._right)
        total = np.zeros((len(self._left), len(self._right)))
        tiles = blocks_of(len(total), TILE // max(1, total.shape[1]))
        for term, table in zip(self._terms, self._tables, strict=True):
            factors = [values for column, values in table.items() if present[column]]
            for tile in tiles:
                product = np.full_like(total[tile], term.coefficient)
                for values in factors:
                    product *= values[tile]
                total[tile] += product
        return total


def column_products(term: Term, left: Float, right: Float) -> dict[int, Float]:
    """Return the product of a term's factors for each column, shape (n, m), by column number."""
    tables: dict[int, Float] = {}
    for factor in term.factors:
        for column, values in factor.evaluated(left, right):
            tables[column] = tables[column] * values if column in tables else values
    return tables
