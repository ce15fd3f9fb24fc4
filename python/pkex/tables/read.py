"""Tables of users as C-contiguous float64 arrays; errors name the place and the fix.

The reader accepts lists, NumPy arrays of any real type and memory order, masked arrays without
masked values, pandas and polars DataFrames, and SciPy sparse matrices. It imports none of these
libraries: it recognizes their objects by their methods.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Sequence
from numbers import Complex, Number, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, Argument, InputError, InputTypeError, Option, Text
from pkex.tables.kinds import Kind, dense, is_frame, is_pandas, kind_of
from pkex.tables.labels import column_labels
from pkex.tables.missing import is_missing
from pkex.typing import Float

# The memory layout that the engine reads.
_LAYOUT: Final = ("C_CONTIGUOUS", "ALIGNED")
_TIMES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
# From this number on, float64 does not represent all integers.
LARGE: Final = 2.0**53


def as_matrix(
    data: Any,
    name: str,
    *,
    n_columns: int | None = None,
    names: Sequence[str] | None = None,
    allow_no_rows: bool = False,
    allow_missing: bool = False,
) -> Float:
    """Return `data` as a finite, aligned, C-contiguous float64 matrix, the same memory if possible.

    Parameters
    ----------
    data : array-like, DataFrame or sparse matrix of shape (n, d)
    name : str
        The name of the argument in messages.
    n_columns : int, optional
        The required number of columns.
    names : sequence of str, optional
        The names of columns in messages if `data` has none.
    allow_no_rows : bool
    allow_missing : bool
        Whether values may be NaN.

    Raises
    ------
    ValueError
        If the shape is wrong, or values are missing or infinite.
    TypeError
        If values are not real numbers.
    """
    labels = column_labels(data) or names
    array = _as_array(data, name)
    if array.ndim == 1 and array.dtype.names is None:
        # Before values are checked: a row of a mixed table has strings. Records have fields.
        raise _of_one_dimension(data, name, array.shape)
    matrix = _as_float64(array, data, name, labels)
    check_shape(matrix.shape, name, n_columns, allow_no_rows)
    if not np.isfinite(matrix).all():
        mask = np.isinf(matrix) if allow_missing else ~np.isfinite(matrix)
        if mask.any():
            raise _not_finite(matrix, mask, name, labels)
    return np.require(matrix, requirements=_LAYOUT)


def as_table(
    data: Any,
    name: str,
    *,
    non_numeric: Collection[int],
    n_columns: int | None = None,
    names: Sequence[str] | None = None,
    allow_missing: bool = False,
) -> NDArray[Any]:
    """Return a matrix as `as_matrix` does, or a matrix of objects if some columns are not numeric.

    Only the `non_numeric` columns may have other values, which are not changed.
    """
    if isinstance(data, np.ma.MaskedArray):
        data = unmask(data, name)
    objects = _objects(data) if non_numeric else None
    object_columns = (
        [] if objects is None else [c for c in non_numeric if not _are_floats(objects, c)]
    )
    numbers, labels = data, names
    if objects is not None and object_columns:
        numbers, labels = objects.copy(), column_labels(data) or names
        numbers[:, object_columns] = 0.0
    table: NDArray[Any] = as_matrix(
        numbers, name, n_columns=n_columns, names=labels, allow_missing=allow_missing
    )
    if objects is None or not object_columns:
        return table
    table = table.astype(object)
    for column in object_columns:
        # Encoders do not support pandas' NA.
        table[:, column] = [
            np.nan if entry is not None and is_missing(entry) else entry
            for entry in objects[:, column]
        ]
    return table


def _objects(data: Any) -> NDArray[Any] | None:
    """Return the values of a table as objects; None if all are numbers."""
    kind = getattr(getattr(data, "dtype", None), "kind", "O")
    if kind_of(data) is Kind.SPARSE or kind in "fb" or (kind in "iu" and np.all(_fits(data))):
        return None
    if kind_of(data) is Kind.POLARS:
        # NumPy has no common type for dates and numbers, and rounds large integers.
        objects = np.empty(data.shape, dtype=object)
        for j, column in enumerate(data.columns):
            objects[:, j] = data[column].to_list()
        return objects
    try:
        objects = data.to_numpy(dtype=object) if is_pandas(data) else np.asarray(data, object)
    except ValueError:  # rows of different lengths
        return None
    return objects if objects.ndim == 2 else None


def _are_floats(objects: NDArray[Any], column: int) -> bool:
    """Whether values are numbers that float64 represents exactly."""
    if column >= objects.shape[1]:
        return True
    return all(_is_real(x) and bool(_fits(x)) for x in objects[:, column])


def _fits(numbers: Any) -> Any:
    """Return whether float64 represents numbers exactly; integers may be too large."""
    is_integer = not isinstance(numbers, float | np.floating)
    return (numbers > -LARGE) & (numbers < LARGE) if is_integer else True


def as_vector(data: Any, name: str, *, n_rows: int, rows_of: str) -> Float:
    """Return a number for each of `n_rows` rows."""
    requirement = f"must have shape ({n_rows},), one value for each row of {rows_of}"
    return _by_row(data, name, n_rows, (1,), requirement)


def as_vector_or_matrix(
    data: Any, name: str, *, n_rows: int, rows_of: str, columns: str = "n_outputs"
) -> Float:
    """Return a number, or a row of numbers, for each of `n_rows` rows.

    `columns` is the number of columns in messages.
    """
    requirement = (
        f"must have shape ({n_rows},) or ({n_rows}, {columns}), one value or row for each row of "
        f"{rows_of}"
    )
    return _by_row(data, name, n_rows, (1, 2), requirement)


def _by_row(
    data: Any, name: str, n_rows: int, dimensions: tuple[int, ...], requirement: str
) -> Float:
    """Return an array with an entry for each row, of one of some numbers of dimensions."""
    names = column_labels(data)
    array = _as_float64(_as_array(data, name), data, name, names)
    if array.ndim not in dimensions or len(array) != n_rows or 0 in array.shape[1:]:
        raise InputError(name, f"{requirement}; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise _not_finite(array, ~np.isfinite(array), name, names)
    return np.require(array, requirements=_LAYOUT)


_TWO_DIMENSIONAL = "must be two-dimensional, of shape (n_rows, n_columns); got"


def _of_one_dimension(data: Any, name: str, shape: tuple[int, ...]) -> InputError:
    """Return the error for one-dimensional data, with code that makes it a row or a column."""
    argument = Argument(name)
    row: tuple[str | Argument, ...]
    column: tuple[str | Argument, ...]
    if kind_of(data) is Kind.SERIES and hasattr(data, "to_frame"):
        row = (argument, ".to_frame().T") if is_pandas(data) else ()
        column, got = (argument, ".to_frame()"), f"a Series of length {shape[0]}"
    elif hasattr(data, "reshape"):
        row, column = (argument, ".reshape(1, -1)"), (argument, ".reshape(-1, 1)")
        got = f"shape {shape}"
    else:
        row, column = (("np.reshape(", argument, f", {to})") for to in ((1, -1), (-1, 1)))
        got = f"shape {shape}"
    fixes: list[Text] = [("give ", *row, " if it is one row")] if row else []
    fixes.append(("" if row else "give ", *column, " if it is one column"))
    return InputError(name, f"{_TWO_DIMENSIONAL} {got}", fixes, kind="vector")


def check_shape(
    shape: tuple[int, ...], name: str, n_columns: int | None, allow_no_rows: bool
) -> None:
    """Raise InputError unless a shape is two-dimensional and not empty."""
    if len(shape) != 2:
        raise InputError(name, f"{_TWO_DIMENSIONAL} shape {shape}")
    rows, columns = shape
    if columns == 0 or (rows == 0 and not allow_no_rows):
        raise InputError(name, f"is empty: got shape {shape}")
    if n_columns is not None:
        check_column_count(columns, n_columns, name)


def check_column_count(n_columns: int, expected: int, name: str) -> None:
    """Raise InputError unless a table has the expected number of columns."""
    if n_columns != expected:
        raise InputError(
            name, f"has the wrong number of columns: expected {expected}, got {n_columns}"
        )


def _as_array(data: Any, name: str) -> NDArray[Any]:
    """Return data as an array of any type."""
    if is_frame(data):
        return _array_of_frame(data, name)
    if isinstance(data, np.ma.MaskedArray):
        data = unmask(data, name)
    if kind_of(data) is Kind.ARROW:
        _check_no_dates(data, name)
    return _array_of_sequence(dense(data, name), name)


def _as_float64(array: NDArray[Any], data: Any, name: str, names: Sequence[str] | None) -> Float:
    """Convert to float64, for any shape and any numbers."""
    if array.dtype.kind in "fiub":
        # A long double may overflow; it is then an infinite value.
        with np.errstate(over="ignore"):
            return array.astype(np.float64, copy=False)
    if array.dtype.kind == "O" and array.ndim > 0:
        return _floats_of_objects(array, name, names)
    raise _not_numbers(name, f"{type(data).__name__} of ", array.dtype)


_KINDS = {
    "c": "complex numbers",
    "U": "strings",
    "S": "strings",
    "T": "strings",
    "M": "dates",
    "m": "time differences",
    "V": "records",
}


# Kinds of errors that have fixes of their own.
_ERRORS = dict.fromkeys("UST", "text") | dict.fromkeys("Mm", "date")


def _not_numbers(
    name: str, container: str, dtype: Any, column: str | None = None, kind: str | None = None
) -> InputTypeError:
    kind = kind or dtype.kind
    values = f"{_KINDS[kind]} (dtype {dtype})" if kind in _KINDS else f"dtype {dtype}"
    reason = f"must hold real numbers; got {container}{values}"
    return InputTypeError(name, reason, column=column, kind=_ERRORS.get(kind))


def unmask(data: np.ma.MaskedArray[Any, Any], name: str) -> NDArray[Any]:
    """Return the values of a masked array; raise InputError if one is masked."""
    places = np.argwhere(np.ma.getmaskarray(data))
    if len(places):
        raise InputError(name, "has a masked value", _FILL, *place(places[0]), kind="missing")
    return np.asarray(data.data)


def _array_of_sequence(data: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(data)
    except (TypeError, ValueError) as error:
        raise InputError(
            name,
            "must be a table of numbers with rows of equal length; "
            f"got a {type(data).__name__} that is not ({error})",
        ) from None


def _array_of_frame(frame: Any, name: str) -> NDArray[Any]:
    """Return the values of a pandas or polars DataFrame; objects if a column is of objects."""
    if not len(frame.columns):
        return np.empty((len(frame), 0))
    objects = False
    for column, dtype in zip(frame.columns, frame.dtypes, strict=True):
        # pandas and numpy types have a kind, polars types a method for temporal ones.
        kind = getattr(dtype, "kind", "M" if _is_temporal(dtype) else "f")
        if kind not in "fiubO":
            raise _not_numbers(name, "", dtype, str(column), kind)
        objects |= kind == "O"
    if objects:
        return np.asarray(frame.to_numpy(dtype=object))
    if is_pandas(frame):
        # Missing values of nullable columns become NaN.
        return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(frame.to_numpy())


def _check_no_dates(table: Any, name: str) -> None:
    """Raise InputTypeError if a pyarrow table has dates, which NumPy does not join with numbers."""
    for column, values in zip(table.column_names, table.columns, strict=True):
        type_name = str(values.type)
        if type_name.startswith(("date", "time", "duration")):
            kind = "m" if type_name.startswith("duration") else "M"
            raise _not_numbers(name, "", values.type, str(column), kind)


def _is_temporal(dtype: Any) -> bool:
    return bool(getattr(dtype, "is_temporal", bool)())


def _floats_of_objects(array: NDArray[Any], name: str, names: Sequence[str] | None) -> Float:
    """Convert objects that are numbers one by one; None and pandas' NA become NaN."""
    floats = np.empty(array.shape)
    for index, item in np.ndenumerate(array):
        if is_missing(item):
            floats[index] = np.nan
        elif _is_real(item):
            floats[index] = to_float(item)
        else:
            reason = f"must hold real numbers; got {item!r} ({type(item).__name__})"
            row, column = place(index, names)
            kind = "text" if isinstance(item, str) else "date" if isinstance(item, _TIMES) else None
            raise InputTypeError(name, reason, _fix_of_text(item), row, column, kind)
    return floats


def _fix_of_text(item: object) -> Text:
    """Return the fix for a number that is a string."""
    try:
        is_number = isinstance(item, str) and math.isfinite(float(item))
    except ValueError:
        is_number = False
    if not is_number:
        return ""
    of_numpy = "quotes: NumPy turns numbers next to text into text, except with dtype=object"
    return "pass numbers without ", Option("categorical", python=of_numpy)


def _is_real(item: object) -> bool:
    # Decimal is a Number, but neither Real nor Complex.
    return isinstance(item, Real | np.bool_) or (
        isinstance(item, Number) and not isinstance(item, Complex)
    )


def to_float(number: Any) -> float:
    """Return a number as a float; infinity if it overflows."""
    try:
        return float(number)
    except OverflowError:  # of an int or a fraction
        return np.inf


def _not_finite(
    array: Float, mask: NDArray[np.bool_], name: str, names: Sequence[str] | None
) -> InputError:
    places = np.argwhere(mask)
    value = float(array[tuple(places[0])])
    return not_finite(value, len(places), name, place(places[0], names))


def not_finite(
    value: float, count: int, name: str, position: tuple[int | None, int | str | None]
) -> InputError:
    """Return the error for the first of several values that are missing or infinite.

    Parameters
    ----------
    value : float
    count : int
        The number of all such values.
    name : str
        The name of the argument in messages.
    position : tuple
        The row and the column of the value, as `place` returns them.
    """
    is_missing = bool(np.isnan(value))
    description = "missing value (NaN)" if is_missing else f"infinite value ({value})"
    suffix = f", and {count - 1} more such values" if count > 1 else ""
    reason = f"has {'a' if is_missing else 'an'} {description}", HERE, suffix
    kind = "missing" if is_missing else "infinite"
    return InputError(name, reason, _FILL, *position, kind=kind)


_FILL = "fill or remove it"


def place(
    index: Sequence[int] | NDArray[np.intp], names: Sequence[str] | None = None
) -> tuple[int | None, int | str | None]:
    """Return the row and the column of a value; the column by its name if only one has it."""
    row = int(index[0]) if len(index) else None
    if len(index) < 2:
        return row, None
    column = int(index[1])
    # If there are more columns than names, that is another error.
    has_name = names and column < len(names) and names.count(names[column]) == 1
    return row, names[column] if names and has_name else column
