"""Maps of rows that make each column from a single one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.typing import Float

__all__ = ["ColumnMap", "Scaling", "Selection", "decoded", "scattered"]


class ColumnMap(ABC):
    """A map of rows that makes each of its columns from a single column of the input."""

    n_columns: int
    """The number of columns of the input."""

    sources: NDArray[np.intp]
    """For each column that is made, the number of the input column that it is made from."""

    discrete: frozenset[int] = frozenset()
    """The numbers of the input columns of which some entries only can be mapped: categories."""

    non_numeric: frozenset[int] = frozenset()
    """The numbers of the input columns whose entries need not be numbers."""

    categories: Mapping[int, Sequence[object]] = MappingProxyType({})
    """The categories of input columns where these are no numbers; `inverse` counts them."""

    @abstractmethod
    def __call__(self, rows: Float) -> Float:
        """Map rows."""

    @abstractmethod
    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near, NaN where there are none.

        They serve to try a model out, and nothing else depends on them. Input columns that the map
        drops get arbitrary entries.
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
    """Each column x_j as (x_j − centre_j) / scale_j."""

    def __init__(self, centre: ArrayLike, scale: ArrayLike) -> None:
        # Copies: what is passed may be the arrays of a model, which others can change.
        self._centre, self._scale = np.array(centre, np.float64), np.array(scale, np.float64)
        self.n_columns = len(self._centre)
        self.sources = np.arange(self.n_columns)

    def __call__(self, rows: Float) -> Float:
        return (rows - self._centre) / self._scale

    def inverse(self, rows: Float) -> Float:
        return rows * self._scale + self._centre


def decoded(rows: Float, categories: Mapping[int, Sequence[object]]) -> NDArray[Any]:
    """Return rows with categories where they have the numbers of these, as `ColumnMap` says."""
    if not categories:
        return rows
    table = rows.astype(object)
    for column, known in categories.items():
        table[:, column] = [known[int(number)] for number in rows[:, column]]
    return table


def scattered(rows: Float, places: NDArray[np.intp], n_columns: int) -> Float:
    """Return rows with the given columns at their places, and irregular numbers at the others."""
    size = len(rows) * n_columns
    wide: Float = np.cos(np.arange(1.0, 1.0 + size)).reshape(len(rows), n_columns)
    wide[:, places] = rows
    return wide
