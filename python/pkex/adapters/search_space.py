"""Search spaces of Bayesian optimisation: what a model is given of each parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.column_maps import ColumnMap
from pkex.typing import Float

__all__ = ["Category", "Number", "Parameter", "SearchSpace"]


class Parameter(ABC):
    """A parameter of a search, which makes one or several columns of the model's."""

    width: int
    """The number of columns that are made."""

    categories: tuple[object, ...] = ()
    """All entries that it may have, unless it is a number in a range."""

    is_numeric: bool = True
    """Whether all entries are numbers."""

    @abstractmethod
    def made(self, entries: NDArray[Any]) -> Float:
        """Return the columns (n, width) of entries (n,)."""

    @abstractmethod
    def origin(self, made: Float) -> Float:
        """Return entries (n,) that make `made` or near; of what is no number, the places."""


class Number(Parameter):
    """A number, which makes a single column.

    Parameters
    ----------
    forward, backward : callable
        From an array of entries to their column, and back.
    """

    width = 1

    def __init__(self, forward: Callable[[Any], Any], backward: Callable[[Any], Any]) -> None:
        self._forward, self._backward = forward, backward

    def made(self, entries: NDArray[Any]) -> Float:
        return np.reshape(self._forward(entries.astype(np.float64)), (-1, 1)).astype(np.float64)

    def origin(self, made: Float) -> Float:
        return np.ravel(self._backward(made[:, 0])).astype(np.float64)


class Category(Parameter):
    """A choice, which makes the columns of a row of a table.

    Parameters
    ----------
    categories : sequence
    table : array-like of shape (n_categories, width)
    """

    def __init__(self, categories: Sequence[object], table: ArrayLike) -> None:
        self.categories = tuple(categories)
        self._table = np.array(table, dtype=np.float64).reshape(len(self.categories), -1)
        self.width = self._table.shape[1]
        self.is_numeric = all(isinstance(known, int | float | np.number) for known in categories)

    def made(self, entries: NDArray[Any]) -> Float:
        return self._table[[self._place(entry) for entry in entries.tolist()]]

    def origin(self, made: Float) -> Float:
        places = np.abs(made[:, None] - self._table).sum(axis=-1).argmin(axis=1)
        known: Any = self.categories if self.is_numeric else range(len(self.categories))
        entries: Float = np.asarray(known, dtype=np.float64)[places]
        return entries

    def _place(self, entry: object) -> int:
        if entry not in self.categories:
            known = ", ".join(map(repr, self.categories))
            raise ValueError(f"it is none of the categories {known}")
        return self.categories.index(entry)


class SearchSpace(ColumnMap):
    """The map from the parameters of a search to the columns of its model.

    Parameters
    ----------
    parameters : sequence of Parameter
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        self.n_columns = len(self._parameters)
        self.sources = np.repeat(np.arange(self.n_columns), [p.width for p in self._parameters])
        choices = {place: p for place, p in enumerate(self._parameters) if p.categories}
        self.discrete = frozenset(choices)
        self.categories = {
            place: choice.categories for place, choice in choices.items() if not choice.is_numeric
        }
        self.non_numeric = frozenset(self.categories)

    def __call__(self, rows: NDArray[Any]) -> Float:
        """Map rows of parameters."""
        columns = zip(self._parameters, rows.T, strict=True)
        return np.hstack([parameter.made(entries) for parameter, entries in columns])

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        ends = np.cumsum([parameter.width for parameter in self._parameters])[:-1]
        parts = zip(self._parameters, np.split(rows, ends, axis=1), strict=True)
        return np.column_stack([parameter.origin(made) for parameter, made in parts])
