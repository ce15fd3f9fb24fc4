"""Maps of rows in which each new column is a function of a single column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.probing import irregular_numbers
from pkex.typing import Float


class ColumnMap(ABC):
    """A map of rows in which each new column is a function of a single input column."""

    n_columns: int
    """The number of columns of the input."""

    sources: NDArray[np.intp]
    """For each new column, the number of its input column."""

    discrete: frozenset[int] = frozenset()
    """The numbers of the input columns of categories, which have a fixed set of values."""

    non_numeric: frozenset[int] = frozenset()
    """The numbers of the input columns that may have other values than numbers."""

    categories: Mapping[int, Sequence[object]] = MappingProxyType({})
    """The categories of input columns that are not numbers; `inverse` returns their places."""

    @abstractmethod
    def __call__(self, rows: Float) -> Float:
        """Map rows."""

    @abstractmethod
    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near these, with NaN for missing inverses.

        The rows are only used to probe a model. Columns that the map drops get arbitrary values.
        """


class Selection(ColumnMap):
    """Some of the columns, in a given order."""

    def __init__(self, n_columns: int, sources: ArrayLike) -> None:
        self.n_columns = n_columns
        self.sources = np.array(sources, dtype=np.intp)  # a copy

    def __call__(self, rows: Float) -> Float:
        return rows[:, self.sources]

    def inverse(self, rows: Float) -> Float:
        return scattered(rows, self.sources, self.n_columns)


class Scaling(ColumnMap):
    """Each column x_j as (x_j − center_j) / scale_j."""

    def __init__(self, center: ArrayLike, scale: ArrayLike) -> None:
        # Copies: the arguments may be the arrays of a model, which others can change.
        self._center, self._scale = np.array(center, np.float64), np.array(scale, np.float64)
        self.n_columns = len(self._center)
        self.sources = np.arange(self.n_columns)

    def __call__(self, rows: Float) -> Float:
        return (rows - self._center) / self._scale

    def inverse(self, rows: Float) -> Float:
        return rows * self._scale + self._center


def decode_categories(rows: Float, categories: Mapping[int, Sequence[object]]) -> NDArray[Any]:
    """Return rows with categories instead of their places, see `ColumnMap.categories`."""
    if not categories:
        return rows
    table = rows.astype(object)
    for column, values in categories.items():
        table[:, column] = [values[int(number)] for number in rows[:, column]]
    return table


def scattered(rows: Float, places: NDArray[np.intp], n_columns: int) -> Float:
    """Return rows with columns at the given places, and irregular numbers elsewhere."""
    table = irregular_numbers(len(rows), n_columns)
    table[:, places] = rows
    return table
