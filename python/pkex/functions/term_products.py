"""Sums of terms as sums of products of functions of single columns, as far as they are such."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.column_functions import Binned, ColumnFunction, Monomial, integer_power
from pkex.functions.products import Products
from pkex.typing import Float

__all__ = ["Product", "TermProducts", "products_of_term"]

# A weight for each output, and the factors by their column.
Product: TypeAlias = tuple[Float, Mapping[int, Callable[[Float], Float]]]


class TermProducts(Products):
    """Products of few factors each; that of any other column is 1."""

    def __init__(self, found: Iterable[Product], n_outputs: int) -> None:
        products = list(found)
        weights = [weight for weight, _ in products]
        super().__init__(np.array(weights).reshape(len(weights), n_outputs))
        self._factors = [factors for _, factors in products]

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        numbers = np.ascontiguousarray(entries, dtype=np.float64)
        factors = np.ones((len(self._factors), len(numbers)))
        for row, own in zip(factors, self._factors, strict=True):
            if column in own:
                row[:] = own[column](numbers)
        return factors

    def kinks(self, column: int) -> Float:
        functions = [own[column] for own in self._factors if column in own]
        edges = [one.edges[0] for one in functions if isinstance(one, Binned)]
        return np.unique(np.concatenate([np.empty(0), *edges]))


def products_of_term(
    term: ColumnFunction, n_outputs: int | None, chosen: list[int]
) -> Iterable[Product]:
    """Return the products that a term is the sum of.

    Parameters
    ----------
    term : ColumnFunction
    n_outputs : int, optional
        The number of outputs that it has; None without an axis of them.
    chosen : list of int
        Those that are meant.

    Raises
    ------
    UnsupportedModelError
        If none are known: it is a Python function of several columns.
    """
    function = term.function
    if isinstance(function, Monomial):
        weights = np.atleast_1d(function.coefficient)[chosen]
        powers = zip(term.columns, function.powers, strict=True)
        return [(weights, {j: partial(integer_power, power=power) for j, power in powers})]
    if isinstance(function, Binned):
        return _products_of_table(function, term.columns, chosen)
    if len(term.columns) > 1:
        raise UnsupportedModelError(
            f"{term.name}, a function of {len(term.columns)} columns, is no sum of products over "
            "columns, as far as is known, which sensitivity is for: functions of one column are, "
            "and tables over bins, (columns, edges, values)"
        )
    (column,) = term.columns
    unit = np.eye(len(chosen))
    return [
        (unit[place], {column: partial(_output, term, n_outputs, output)})
        for place, output in enumerate(chosen)
    ]


def _output(term: ColumnFunction, n_outputs: int | None, output: int, entries: Float) -> Float:
    values = term(entries[:, None], n_outputs)
    return values if n_outputs is None else values[:, output]


def _products_of_table(
    table: Binned, columns: tuple[int, ...], chosen: list[int]
) -> Iterable[Product]:
    """Yield a product for each combination of bins of all columns but the longest one.

    Its factors are whether entries are in these bins, and the row of the table that is left.
    """
    longest = int(np.argmax([len(edges) for edges in table.edges]))
    others = [place for place in range(len(columns)) if place != longest]
    # The other columns first, then the longest one, then outputs.
    values = np.moveaxis(table.values, longest, len(others))
    values = values[..., chosen] if values.ndim > len(columns) else values[..., None]
    edges = [table.edges[place] for place in others]
    unit = np.eye(values.shape[-1])
    for bins in product(*(range(len(own) + 1) for own in edges)):
        indicators = {
            columns[place]: Binned((own,), (np.arange(len(own) + 1) == number).astype(np.float64))
            for place, own, number in zip(others, edges, bins, strict=True)
        }
        for weight, row in zip(unit, values[bins].T, strict=True):
            if row.any():
                left = Binned((table.edges[longest],), row)
                yield weight, {**indicators, columns[longest]: left}
