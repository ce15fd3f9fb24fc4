"""Search spaces of Bayesian optimization, and the columns that they make for a model.

Their objects need no library, since an explainer is pickled with them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.column_maps import ColumnMap
from pkex.typing import Float


class Parameter(ABC):
    """A parameter of a search, which makes one or several columns for the model."""

    width: int
    """Number of columns."""

    categories: tuple[object, ...] = ()
    """All values of a categorical parameter; empty for a number in a range."""

    is_numeric: bool = True
    """Whether all values are numbers."""

    @abstractmethod
    def to_columns(self, entries: NDArray[Any]) -> Float:
        """Return the columns (n, width) for values (n,)."""

    @abstractmethod
    def from_columns(self, columns: Float) -> Float:
        """Return values (n,) that make about these columns, for non-numeric values their places."""


class Number(Parameter):
    """A number, which makes a single column.

    Parameters
    ----------
    forward, backward : callable
        From an array of values to their column, and back.
    """

    width = 1

    def __init__(self, forward: Callable[[Any], Any], backward: Callable[[Any], Any]) -> None:
        self._forward, self._backward = forward, backward

    def to_columns(self, entries: NDArray[Any]) -> Float:
        return np.reshape(self._forward(entries.astype(np.float64)), (-1, 1)).astype(np.float64)

    def from_columns(self, columns: Float) -> Float:
        return np.ravel(self._backward(columns[:, 0])).astype(np.float64)


class Category(Parameter):
    """A choice among categories, each of which makes a row of a table.

    Parameters
    ----------
    categories : sequence
    table : array-like of shape (n_categories, width)
    """

    def __init__(self, categories: Sequence[object], table: ArrayLike) -> None:
        self.categories = tuple(categories)
        self._table = np.array(table, dtype=np.float64).reshape(len(self.categories), -1)
        self.width = self._table.shape[1]
        self.is_numeric = all(isinstance(entry, int | float | np.number) for entry in categories)

    def to_columns(self, entries: NDArray[Any]) -> Float:
        return self._table[[self._place(entry) for entry in entries.tolist()]]

    def from_columns(self, columns: Float) -> Float:
        places = np.abs(columns[:, None] - self._table).sum(axis=-1).argmin(axis=1)
        numbers: Any = self.categories if self.is_numeric else range(len(self.categories))
        entries: Float = np.asarray(numbers, dtype=np.float64)[places]
        return entries

    def _place(self, entry: object) -> int:
        if entry not in self.categories:
            categories = ", ".join(map(repr, self.categories))
            raise ValueError(f"it is not one of the categories {categories}")
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
        return np.hstack([parameter.to_columns(entries) for parameter, entries in columns])

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        ends = np.cumsum([parameter.width for parameter in self._parameters])[:-1]
        parts = zip(self._parameters, np.split(rows, ends, axis=1), strict=True)
        return np.column_stack([parameter.from_columns(part) for parameter, part in parts])


_Function = Callable[[Float], Float]
# A function and its inverse.
Step = tuple[_Function, _Function]


def number_of(steps: Sequence[Step]) -> Number:
    """Return the parameter that several steps turn into a column."""
    forward = [step[0] for step in steps]
    backward = [step[1] for step in reversed(steps)]
    return Number(partial(_apply_functions, forward), partial(_apply_functions, backward))


def reversed_step(step: Step) -> Step:
    """Return the inverse of a step."""
    forward, backward = step
    return backward, forward


def affine(offset: float, scale: float) -> Step:
    """Return (x − offset) / scale."""
    return partial(_divide, offset, scale), partial(_multiply, offset, scale)


def logarithm() -> Step:
    """Return log₁₀ x."""
    return np.log10, partial(np.power, 10.0)


def rounding() -> Step:
    """Return the nearest integer, halves to even."""
    return np.rint, np.asarray


def kumaraswamy(c0: float, c1: float, eps: float) -> Step:
    """Return Kumaraswamy's distribution function, 1 − (1 − u^c1)^c0 of u = eps + (1 − 2 eps) x.

    u is clipped to [eps, 1 − eps].
    """
    return partial(_warp, c0, c1, eps), partial(_unwarp, c0, c1, eps)


def _apply_functions(functions: Sequence[_Function], entries: Float) -> Float:
    # Values that are not finite, such as the logarithm of 0, raise an error later.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for function in functions:
            entries = function(entries)
    return entries


def _divide(offset: float, scale: float, entries: Float) -> Float:
    return (entries - offset) / scale


def _multiply(offset: float, scale: float, entries: Float) -> Float:
    return entries * scale + offset


def _warp(c0: float, c1: float, eps: float, entries: Float) -> Float:
    u = np.clip(entries * (1.0 - 2.0 * eps) + eps, eps, 1.0 - eps)
    return np.asarray(1.0 - (1.0 - u**c1) ** c0)


def _unwarp(c0: float, c1: float, eps: float, entries: Float) -> Float:
    u = (1.0 - (1.0 - entries) ** (1.0 / c0)) ** (1.0 / c1)
    return np.clip((u - eps) / (1.0 - 2.0 * eps), 0.0, 1.0)
