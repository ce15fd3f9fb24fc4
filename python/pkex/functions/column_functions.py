"""Functions of few columns, which others are sums of: callables, tables over bins, monomials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import places_of
from pkex.inputs.skops_files import SkopsGuard
from pkex.inputs.wording import counted, shown
from pkex.typing import Float

__all__ = [
    "Binned",
    "ColumnFunction",
    "GivenTerm",
    "Monomial",
    "as_column_functions",
    "integer_power",
]

# Of one entry for each of some rows, column by column, to a number for each row, or several.
_Of: TypeAlias = Callable[..., Any]
# How far values of the same row may be apart, of the largest: that of single precision, and more.
_SAME = 1e-4
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
class Monomial:
    """The function coefficient · ∏_j x_j^powers_j of its columns.

    Parameters
    ----------
    powers : tuple of int
        At least 1.
    coefficient : float or ndarray of shape (outputs,)
    """

    powers: tuple[int, ...]
    coefficient: float | Float

    def __call__(self, *entries: Float) -> Float:
        product = np.ones(len(entries[0]))
        for column, power in zip(entries, self.powers, strict=True):
            product *= integer_power(column, power)
        return np.multiply.outer(product, self.coefficient)


def integer_power(column: Float, power: int) -> Float:
    """Return x^power by multiplication, whose bits are the same on every machine."""
    product = np.ones(len(column))
    with np.errstate(over="ignore"):  # whatever is made of it is checked
        for _ in range(power):
            product *= column
    return product


@dataclass(frozen=True, eq=False)
class ColumnFunction(SkopsGuard):
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

    def _unsaved_by_skops(self) -> str:
        if "<" not in getattr(self.function, "__qualname__", ""):
            return ""
        return (
            f" whose function cannot be imported by its name, as here {self.name}. Define the "
            "function in a module, with def"
        )

    def __call__(self, rows: NDArray[Any], n_outputs: int | None) -> Float:
        """Return it at rows of its columns alone, shape (k,), or (k, n_outputs).

        Raises
        ------
        ValueError, TypeError
            If what it returns has another shape, or is not a finite number.
        """
        entries = [_read_only(column) for column in rows.T]
        values = self._checked(entries, n_outputs)
        if len(rows) > 1 and not isinstance(self.function, Binned | Monomial):
            self._check_row_alone(entries, values, n_outputs)
        return values

    def check_outputs(self, n_outputs: int | None) -> None:
        """Refuse a table that has not the outputs of the intercept.

        Raises
        ------
        ValueError
        """
        if not isinstance(self.function, Binned):
            return
        axes = self.function.values.shape[len(self.columns) :]
        if axes != (() if n_outputs is None else (n_outputs,)):
            has = f"values of {counted(axes[0], 'output')}" if axes else "no axis of outputs"
            takes = "a single number" if n_outputs is None else f"{n_outputs} of them"
            raise ValueError(
                f"{self.name} has {has}, and the intercept is {takes}: both have one an output"
            )

    def _checked(self, entries: list[NDArray[Any]], n_outputs: int | None) -> Float:
        """Return what the function returns, if that is a finite number for each row."""
        try:
            found = np.asarray(self.function(*entries))
        except Exception as error:
            arrays = f"{counted(len(entries), 'array')}, one of each column's entries"
            if isinstance(error, TypeError):
                raise TypeError(f"{self.name} must be a function of {arrays}: {error}") from error
            error.add_note(f"{self.name} was called with {arrays}, which it must not change")
            raise
        if found.dtype.kind not in "fiub":
            raise TypeError(f"{self.name} must return real numbers; it returned {found.dtype}")
        n_rows = len(entries[0])
        wanted = (n_rows,) if n_outputs is None else (n_rows, n_outputs)
        if found.shape != wanted:
            raise ValueError(
                f"{self.name} must return an array of shape {wanted} for {n_rows} rows, as the "
                f"intercept has it; it returned shape {found.shape}"
            )
        values = found.astype(np.float64)
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise ValueError(f"{self.name} is not finite at {_shown(entries, row)}")
        return values

    def _check_row_alone(
        self, entries: list[NDArray[Any]], values: Float, n_outputs: int | None
    ) -> None:
        """Refuse a function that gives one of the rows another value where it is alone."""
        row = len(values) // 2
        alone = self._checked([column[row : row + 1] for column in entries], n_outputs)[0]
        if np.any(np.abs(alone - values[row]) > _SAME * np.abs(values).max()):
            raise ValueError(
                f"{self.name} must treat each row by itself: at {_shown(entries, row)} it returns "
                f"{values[row].tolist()} among {len(values)} rows and {alone.tolist()} alone. "
                "Numbers of the data, such as means, are to be computed beforehand"
            )


def _read_only(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column that a function cannot write to."""
    entries = np.ascontiguousarray(column).view()
    entries.flags.writeable = False
    return entries


def _shown(entries: list[NDArray[Any]], row: int) -> str:
    return f"({', '.join(repr(column[row].item()) for column in entries)})"


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
    if not (_is_single(given) or isinstance(given, Iterable)):
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
    if not np.isfinite(table).all():
        raise ValueError(f"{term}: values must be finite")
    shape = tuple(len(own) + 1 for own in arrays)
    if table.shape[:n_columns] != shape or table.ndim > n_columns + 1:
        raise ValueError(
            f"{term}: values must have shape {shape}, a bin more than edges in each column, or an "
            f"axis of outputs more; got {table.shape}"
        )
    return Binned(arrays, table)
