"""Functions of few columns, which others are sums of: callables, and tables over bins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import places_of
from pkex.inputs.wording import counted, shown
from pkex.typing import Float

__all__ = ["Binned", "ColumnFunction", "GivenTerm", "as_column_functions"]

# Of one entry for each of some rows, column by column, to a number for each row, or several.
_Of: TypeAlias = Callable[..., Any]
# Columns and a function of them; or columns, the edges of bins in each, and a table of values.
GivenTerm: TypeAlias = tuple[Any, _Of] | tuple[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Binned:
    """A function that is constant in bins, a table of which it is.

    Parameters
    ----------
    edges : tuple of ndarray
        For each column the edges between bins, ascending. An entry on an edge is above it.
    values : ndarray of shape (bins of the first column, …), or with an axis of outputs more
    """

    edges: tuple[Float, ...]
    values: Float

    def __call__(self, *entries: Float) -> Float:
        places = [
            np.searchsorted(edges, column, side="right")
            for edges, column in zip(self.edges, entries, strict=True)
        ]
        found: Float = self.values[tuple(places)]
        return found


@dataclass(frozen=True, eq=False)
class ColumnFunction:
    """A function of some columns of rows.

    Parameters
    ----------
    columns : tuple of int
        Different from each other.
    function : callable
        Of one array of shape (k,) for each column; returns (k,) or (k, outputs).
    name : str
        What messages call it.
    """

    columns: tuple[int, ...]
    function: _Of
    name: str

    def __call__(self, rows: NDArray[Any], n_outputs: int | None) -> Float:
        """Return it at rows of its columns alone, shape (k,), or (k, n_outputs).

        Raises
        ------
        ValueError, TypeError
            If what it returns has another shape, or is not a finite number.
        """
        entries = [np.ascontiguousarray(column) for column in rows.T]
        try:
            found = np.asarray(self.function(*entries))
        except TypeError as error:
            raise TypeError(
                f"{self.name} must be a function of {counted(len(entries), 'array')}, one of each "
                f"column's entries: {error}"
            ) from error
        if found.dtype.kind not in "fiub":
            raise TypeError(f"{self.name} must return real numbers; it returned {found.dtype}")
        wanted = (len(rows),) if n_outputs is None else (len(rows), n_outputs)
        if found.shape != wanted:
            raise ValueError(
                f"{self.name} must return an array of shape {wanted} for {len(rows)} rows, as the "
                f"intercept has it; it returned shape {found.shape}"
            )
        values = found.astype(np.float64)
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0, 0])
            at = ", ".join(repr(column[row].item()) for column in entries)
            raise ValueError(f"{self.name} is not finite at ({at})")
        return values


def as_column_functions(
    terms: Iterable[Any], feature_names: Sequence[str] | None
) -> list[ColumnFunction]:
    """Return terms, given as `GivenTerm` says, with their columns as numbers.

    Raises
    ------
    ValueError, TypeError
        If a term is none, or names a column that there is not; the message says which.
    """
    if not isinstance(terms, Iterable):
        raise TypeError(f"terms must be pairs of columns and a function of them; got {terms!r}")
    found = []
    for number, given in enumerate(terms):
        name = f"terms[{number}]"
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            raise TypeError(
                f"{name} must be a pair (columns, function), or (columns, edges, values) for a "
                f"table over bins; got {given!r}"
            )
        columns = _columns(given[0], feature_names, name)
        if len(given) == 3:
            edges = [given[1]] if _is_single(given[0]) else given[1]
            found.append(
                ColumnFunction(columns, _binned(len(columns), edges, given[2], name), name)
            )
        elif callable(given[1]):
            found.append(ColumnFunction(columns, given[1], name))
        else:
            raise TypeError(f"{name} must have a function of its columns; got {given[1]!r}")
    return found


def _columns(given: Any, names: Sequence[str] | None, term: str) -> tuple[int, ...]:
    """Return the numbers of a term's columns."""
    if not (_is_single(given) or isinstance(given, list | tuple | np.ndarray)):
        raise TypeError(
            f"{term}: columns are a number from 0 or a name, or a sequence of these; got {given!r}"
        )
    several = [given] if _is_single(given) else list(given)
    if not several:
        raise ValueError(f"{term} has no column; a constant belongs to the intercept")
    numbers = []
    for key in several:
        if names is None:
            is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
            if not is_number or key < 0:
                raise ValueError(
                    f"{term}: columns are numbers from 0, or names of feature_names; got {key!r}"
                )
            numbers.append(int(key))
            continue
        places = places_of(key, names)
        if places is None or len(places) != 1:
            what = "several columns are called" if places else "there is no column"
            raise ValueError(f"{term}: {what} {key!r}; feature_names are {shown(names)}")
        numbers.append(places[0])
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{term} has a column twice: {several}")
    return tuple(numbers)


def _is_single(columns: Any) -> bool:
    """Whether columns are given as one, not as a sequence of them."""
    return isinstance(columns, str | int | np.integer)


def _binned(n_columns: int, edges: Any, values: Any, term: str) -> Binned:
    """Return a table over bins, of arrays of edges and of values."""
    try:
        arrays = tuple(np.array(own, dtype=np.float64) for own in edges)
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{term}: edges and values must be arrays of numbers ({error})") from None
    if len(arrays) != n_columns or any(own.ndim != 1 for own in arrays):
        raise ValueError(f"{term} must have an array of edges for each of its {n_columns} columns")
    if any(not (np.diff(own) > 0.0).all() or np.isnan(own).any() for own in arrays):
        raise ValueError(f"{term}: edges must ascend")
    shape = tuple(len(own) + 1 for own in arrays)
    if table.shape[:n_columns] != shape or table.ndim > n_columns + 1:
        raise ValueError(
            f"{term}: values must have shape {shape}, a bin more than edges in each column, or an "
            f"axis of outputs more; got {table.shape}"
        )
    return Binned(arrays, table)
