"""Functions of few columns, the terms of sums: callables, tables over bins, and monomials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.inputs.choices import places_of
from pkex.inputs.skops_files import SkopsGuard
from pkex.inputs.wording import counted, shown
from pkex.tables.labels import Labels, check_column_names
from pkex.tables.read import as_matrix
from pkex.typing import Float

# Maps one array of shape (k,) per column to an array of shape (k,) or (k, outputs).
_Callable: TypeAlias = Callable[..., Any]
# The largest difference between results for the same row, relative to the largest value: more than
# the error of single precision.
_TOLERANCE = 1e-4
# Columns and a function of these; or columns, the edges of their bins, and a table of values.
TermArgument: TypeAlias = tuple[Any, _Callable] | tuple[Any, Any, Any]
# Functions of single columns, or the edges of bins and a table of values, by column.
ProductArgument: TypeAlias = Mapping[Any, _Callable | tuple[Any, Any]]


@dataclass(frozen=True, eq=False)
class Binned:
    """A function that is constant in each bin, given by a table.

    Parameters
    ----------
    edges : tuple of ndarray
        The ascending edges between bins, for each column. A value on an edge belongs to the bin
        above it.
    values : ndarray of shape (bins of the first column, …), or with an additional axis of outputs
    """

    edges: tuple[Float, ...]
    values: Float

    def __call__(self, *entries: Float) -> Float:
        places = [
            np.searchsorted(edges, column, side="right")
            for edges, column in zip(self.edges, entries, strict=True)
        ]
        values: Float = self.values[tuple(places)]
        return values


@dataclass(frozen=True, eq=False)
class Monomial:
    """The function coefficient · ∏_j x_j^powers_j of its columns.

    Parameters
    ----------
    powers : tuple of int
        Positive exponents.
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
    """Return x^power by multiplication, with the same bits on every machine."""
    product = np.ones(len(column))
    with np.errstate(over="ignore"):  # callers check their results
        for _ in range(power):
            product *= column
    return product


@dataclass(frozen=True, eq=False)
class ColumnFunction(SkopsGuard):
    """A function of some columns of rows.

    Parameters
    ----------
    columns : tuple of int
        Distinct column numbers.
    function : callable
        Maps one array of shape (k,) per column to an array of shape (k,) or (k, outputs).
    name : str
        The name of the term, for messages.
    """

    columns: tuple[int, ...]
    function: _Callable
    name: str

    def _unsaved_by_skops(self) -> str:
        if "<" not in getattr(self.function, "__qualname__", ""):
            return ""
        return (
            f" whose function cannot be imported by its name, such as {self.name}. Define the "
            "function in a module, with def"
        )

    def __call__(self, rows: NDArray[Any], n_outputs: int | None) -> Float:
        """Return the function of rows of its own columns, shape (k,) or (k, n_outputs).

        Raises
        ------
        ValueError, TypeError
            If the result has another shape, or is not finite.
        """
        entries = [_read_only(column) for column in rows.T]
        values = self._evaluate(entries, n_outputs)
        if len(rows) > 1 and not isinstance(self.function, Binned | Monomial):
            self._check_single_row(entries, values, n_outputs)
        return values

    def check_outputs(self, n_outputs: int | None) -> None:
        """Raise an error for a table with other outputs than the intercept.

        Raises
        ------
        ValueError
        """
        if not isinstance(self.function, Binned):
            return
        axes = self.function.values.shape[len(self.columns) :]
        if axes != (() if n_outputs is None else (n_outputs,)):
            table_outputs = (
                f"values of {counted(axes[0], 'output')}" if axes else "no axis of outputs"
            )
            intercept = "a single number" if n_outputs is None else f"{n_outputs} numbers"
            raise ValueError(
                f"{self.name} has {table_outputs}, but the intercept is {intercept}; both need one "
                "number per output"
            )

    def _evaluate(self, entries: list[NDArray[Any]], n_outputs: int | None) -> Float:
        """Return the result of the function, if it is finite and has the right shape."""
        try:
            result = np.asarray(self.function(*entries))
        except Exception as error:
            arrays = f"{counted(len(entries), 'array')}, one for each column"
            for kind in (TypeError, ValueError):
                if isinstance(error, kind):
                    message = f"{self.name} must be a function of {arrays}: {error}"
                    raise kind(message) from error
            error.add_note(f"{self.name} was called with {arrays}; it must not change them")
            raise
        if result.dtype.kind not in "fiub":
            raise TypeError(f"{self.name} must return real numbers; it returned {result.dtype}")
        n_rows = len(entries[0])
        shape = (n_rows,) if n_outputs is None else (n_rows, n_outputs)
        if result.shape != shape:
            raise ValueError(
                f"{self.name} must return an array of shape {shape} for {n_rows} rows, with the "
                f"outputs of the intercept; it returned shape {result.shape}"
            )
        values = result.astype(np.float64)
        if not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0, 0])
            raise ValueError(
                f"{self.name} is not finite at {_format_row(entries, row)}. Its values must be "
                "finite: change the function there, or remove the row"
            )
        return values

    def _check_single_row(
        self, entries: list[NDArray[Any]], values: Float, n_outputs: int | None
    ) -> None:
        """Raise an error if the value of a row depends on the other rows."""
        row = len(values) // 2
        single = self._evaluate([column[row : row + 1] for column in entries], n_outputs)[0]
        if np.any(np.abs(single - values[row]) > _TOLERANCE * np.abs(values).max()):
            raise ValueError(
                f"{self.name} must treat each row separately, but at {_format_row(entries, row)} "
                f"it returns {values[row].tolist()} among {len(values)} rows and {single.tolist()} "
                "for a single row. Compute statistics of the data, such as means, beforehand"
            )


def _read_only(column: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only copy or view of a column."""
    entries = np.ascontiguousarray(column).view()
    entries.flags.writeable = False
    return entries


def _format_row(entries: list[NDArray[Any]], row: int) -> str:
    return f"({', '.join(repr(column[row].item()) for column in entries)})"


def as_column_functions(
    terms: Iterable[Any], feature_names: Sequence[str] | None
) -> list[ColumnFunction]:
    """Return terms, passed as `TermArgument`, with their columns as numbers.

    Raises
    ------
    ValueError, TypeError
        If a term or one of its columns is invalid; the message names the term.
    """
    if not isinstance(terms, Iterable):
        raise TypeError(f"terms must be pairs of columns and a function of these; got {terms!r}")
    functions = []
    for number, term in enumerate(terms):
        name = f"terms[{number}]"
        if not isinstance(term, tuple) or len(term) not in (2, 3):
            raise TypeError(
                f"{name} must be a pair (columns, function), or (columns, edges, values) for a "
                f"table over bins; got {term!r}"
            )
        columns = _columns(term[0], feature_names, name)
        if len(term) == 3:
            edges = [term[1]] if _is_single(term[0]) else term[1]
            table = _bin_table(len(columns), edges, term[2], name)
            functions.append(ColumnFunction(columns, table, name))
        elif callable(term[1]):
            functions.append(ColumnFunction(columns, term[1], name))
        else:
            raise TypeError(f"{name} must have a function of its columns; got {term[1]!r}")
    return functions


def as_products(
    factors: Iterable[Any], feature_names: Sequence[str] | None
) -> list[dict[int, ColumnFunction]]:
    """Return products, passed as `ProductArgument`, with their columns as numbers.

    Raises
    ------
    ValueError, TypeError
        If a factor or its column is invalid; the message names the factor.
    """
    if isinstance(factors, Mapping) or not isinstance(factors, Iterable):
        raise TypeError(
            "factors must be a sequence of dicts from columns to functions, one for each product, "
            f"such as [{{0: numpy.exp}}]; got {factors!r}"
        )
    products = []
    for number, product in enumerate(factors):
        if not isinstance(product, Mapping):
            raise TypeError(
                f"factors[{number}] must be a dict from columns to functions; got {product!r}"
            )
        if not product:
            raise ValueError(f"factors[{number}] has no columns; add a constant to the intercept")
        columns: dict[int, ColumnFunction] = {}
        for key, function in product.items():
            name = f"factors[{number}][{key!r}]"
            if not _is_single(key):
                raise TypeError(f"{name}: a column must be a number from 0 or a name; got {key!r}")
            (column,) = _columns(key, feature_names, name)
            columns[column] = _factor(column, function, name)
        if len(columns) < len(product):
            raise ValueError(f"factors[{number}] has a column twice: {list(product)}")
        products.append(columns)
    return products


def _factor(column: int, function: Any, name: str) -> ColumnFunction:
    """Return a factor of a single column, given as a function or as edges and values."""
    if isinstance(function, tuple) and len(function) == 2:
        table = _bin_table(1, [function[0]], function[1], name)
        if table.values.ndim > 1:
            raise ValueError(f"{name}: values must have one dimension; got {table.values.shape}")
        return ColumnFunction((column,), table, name)
    if not callable(function):
        raise TypeError(
            f"{name} must be a function of its column, or a pair (edges, values); got {function!r}"
        )
    return ColumnFunction((column,), function, name)


def labeled_matrix(X: ArrayLike, n_columns: int, names: Sequence[str] | None, of: str) -> Float:
    """Return rows as a matrix, whose columns must have these names if there are any."""
    if names is not None:
        labels = Labels.comparable(X, "X").names or tuple(names)
        check_column_names(labels, names, "X", of)
    return as_matrix(X, "X", n_columns=n_columns)


def _columns(columns: Any, names: Sequence[str] | None, term: str) -> tuple[int, ...]:
    """Return the numbers of a term's columns."""
    if not (_is_single(columns) or isinstance(columns, Iterable)):
        raise TypeError(
            f"{term}: columns must be a number from 0 or a name, or a sequence of these; "
            f"got {columns!r}"
        )
    keys = [columns] if _is_single(columns) else list(columns)
    if not keys:
        raise ValueError(f"{term} has no columns; add a constant to the intercept")
    numbers = []
    for key in keys:
        if names is None:
            is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
            if not is_number or key < 0:
                raise ValueError(
                    f"{term}: columns must be numbers from 0, or names in feature_names; "
                    f"got {key!r}"
                )
            numbers.append(int(key))
            continue
        places = places_of(key, names)
        if places is None or len(places) != 1:
            what = "several columns have the name" if places else "there is no column"
            raise ValueError(f"{term}: {what} {key!r}; feature_names are {shown(names)}")
        numbers.append(places[0])
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{term} has a column twice: {keys}")
    return tuple(numbers)


def _is_single(columns: Any) -> bool:
    """Whether the argument is a single column, not a sequence."""
    return isinstance(columns, str | int | np.integer)


def _bin_table(n_columns: int, edges: Any, values: Any, term: str) -> Binned:
    """Return a table over bins from arrays of edges and of values."""
    try:
        arrays = tuple(np.array(column, dtype=np.float64) for column in edges)
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{term}: edges and values must be arrays of numbers ({error})") from None
    if len(arrays) != n_columns or any(array.ndim != 1 for array in arrays):
        raise ValueError(f"{term} must have an array of edges for each of its {n_columns} columns")
    if any(not (np.diff(array) > 0.0).all() or np.isnan(array).any() for array in arrays):
        raise ValueError(f"{term}: edges must be ascending")
    if not np.isfinite(table).all():
        raise ValueError(f"{term}: values must be finite")
    shape = tuple(len(array) + 1 for array in arrays)
    if table.shape[:n_columns] != shape or table.ndim > n_columns + 1:
        raise ValueError(
            f"{term}: values must have shape {shape}, one more bin than edges in each column, or "
            f"this shape with an additional axis of outputs; got {table.shape}"
        )
    return Binned(arrays, table)
