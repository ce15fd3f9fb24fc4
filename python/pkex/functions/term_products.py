"""Sums of terms as sums of products of functions of single columns, for terms that are such."""

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

# A weight for each output, and the factors by column.
Product: TypeAlias = tuple[Float, Mapping[int, Callable[[Float], Float]]]


class TermProducts(Products):
    """Products of few factors each; factors of other columns are 1."""

    def __init__(self, products: Iterable[Product], n_outputs: int) -> None:
        products = list(products)
        weights = [weight for weight, _ in products]
        super().__init__(np.array(weights).reshape(len(weights), n_outputs))
        self._factors = [factors for _, factors in products]

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        numbers = np.ascontiguousarray(entries, dtype=np.float64)
        factors = np.ones((len(self._factors), len(numbers)))
        for row, functions in zip(factors, self._factors, strict=True):
            if column in functions:
                row[:] = functions[column](numbers)
        return factors

    def kinks(self, column: int) -> Float:
        functions = [factors[column] for factors in self._factors if column in factors]
        edges = [function.edges[0] for function in functions if isinstance(function, Binned)]
        return np.unique(np.concatenate([np.empty(0), *edges]))


def products_of_term(
    term: ColumnFunction, n_outputs: int | None, outputs: list[int]
) -> Iterable[Product]:
    """Return products that add up to a term.

    Parameters
    ----------
    term : ColumnFunction
    n_outputs : int, optional
        The number of its outputs; None without an output axis.
    outputs : list of int
        The numbers of the selected outputs.

    Raises
    ------
    UnsupportedModelError
        If it is a Python function of several columns, which is not known to be such a sum.
    """
    function = term.function
    if isinstance(function, Monomial):
        weights = np.atleast_1d(function.coefficient)[outputs]
        powers = zip(term.columns, function.powers, strict=True)
        return [(weights, {j: partial(integer_power, power=power) for j, power in powers})]
    if isinstance(function, Binned):
        return _products_of_table(function, term.columns, outputs)
    if len(term.columns) > 1:
        raise UnsupportedModelError(
            f"{term.name}, a function of {len(term.columns)} columns, is not known to be a sum of "
            "products over columns, which sensitivity requires. Use functions of one column, or "
            "tables over bins, (columns, edges, values)"
        )
    (column,) = term.columns
    unit = np.eye(len(outputs))
    return [
        (unit[place], {column: partial(_output, term, n_outputs, output)})
        for place, output in enumerate(outputs)
    ]


def function_of_column(factor: ColumnFunction) -> Callable[[Float], Float]:
    """Return a function of one column, without outputs, as a function of its values."""
    function = factor.function
    return function if isinstance(function, Binned) else partial(_output, factor, None, 0)


def _output(term: ColumnFunction, n_outputs: int | None, output: int, entries: Float) -> Float:
    values = term(entries[:, None], n_outputs)
    return values if n_outputs is None else values[:, output]


def _products_of_table(
    table: Binned, columns: tuple[int, ...], outputs: list[int]
) -> Iterable[Product]:
    """Yield a product for each combination of bins of all columns except the longest one.

    Its factors are the indicators of these bins, and the remaining row of the table.
    """
    longest = int(np.argmax([len(edges) for edges in table.edges]))
    other_places = [place for place in range(len(columns)) if place != longest]
    # The other columns first, then the longest one, then outputs.
    values = np.moveaxis(table.values, longest, len(other_places))
    values = values[..., outputs] if values.ndim > len(columns) else values[..., None]
    edges = [table.edges[place] for place in other_places]
    unit = np.eye(values.shape[-1])
    for bins in product(*(range(len(bounds) + 1) for bounds in edges)):
        indicators = {
            columns[place]: Binned((bounds,), (np.arange(len(bounds) + 1) == number).astype(float))
            for place, bounds, number in zip(other_places, edges, bins, strict=True)
        }
        for weight, row in zip(unit, values[bins].T, strict=True):
            if row.any():
                table_row = Binned((table.edges[longest],), row)
                yield weight, {**indicators, columns[longest]: table_row}
