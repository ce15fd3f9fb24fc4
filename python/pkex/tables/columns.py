"""Tables with columns of numbers, texts, categories or dates, read column by column.

Tables are data frames of pandas and polars, tables of pyarrow, and arrays. None of these libraries
is imported.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, InputTypeError, Option
from pkex.tables.kinds import Kind, columns_of, dense, is_pandas, kind_of, values_of
from pkex.tables.labels import Labels, numbered
from pkex.tables.missing import is_missing
from pkex.tables.read import LARGE, as_matrix, check_column_count, to_float

# Types of values in an object column; the first match counts.
_BASES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("boolean", (bool, np.bool_)),
    ("text", (str, bytes)),
    ("date", (dt.date, np.datetime64)),
    ("duration", (dt.timedelta, np.timedelta64)),
    ("integer", (int, np.integer)),
    ("number", (Real, Decimal)),
)
# Their names in messages.
_NAMES = {
    "boolean": "booleans",
    "text": "text",
    "date": "dates",
    "duration": "durations",
    "integer": "numbers",
    "number": "numbers",
}
# Types of pandas whose values are represented by their texts.
_OWN_TEXTS = ("Interval", "Period")
# A day in microseconds, the unit of dates and durations.
DAY = 86_400 * 10**6
_ZONE = re.compile(r"datetime64\[\w+, |tz=|time_zone='")
_TIMES = ("datetime64", "timedelta64", "Date", "Duration", "timestamp", "date32", "duration")
_CATEGORIES = ("category", "Categorical", "Enum", "dictionary<")


@dataclass(frozen=True, eq=False)
class TableColumn:
    """A column of a table.

    Parameters
    ----------
    name : str
    type : str
        "number", "integer", "boolean", "text", "category", "date" or "duration"; "empty" if all
        values are missing.
    base : str
        The type of the values, for "category" that of the categories.
    entries : ndarray of shape (n,)
        Floats for numbers, microseconds as integers for dates and durations, otherwise objects.
    missing : ndarray of bool, shape (n,)
    source : column, optional
        The original numbers, if float64 does not represent them exactly.
    """

    name: str
    type: str
    base: str
    entries: NDArray[Any]
    missing: NDArray[np.bool_]
    source: Any = None

    def __post_init__(self) -> None:
        if self.missing.all():
            object.__setattr__(self, "type", "empty")
            object.__setattr__(self, "base", "empty")
            object.__setattr__(self, "entries", np.full(len(self.missing), None))

    def exactly(self) -> list[Any]:
        """Return numbers as categories: integers exactly, whatever their size."""
        numbers = self.entries.tolist() if self.source is None else values_of(self.source)
        return [None if m else _exact(x) for x, m in zip(numbers, self.missing, strict=True)]

    @property
    def words(self) -> str:
        """The name of the values in messages."""
        noun = _NAMES.get(self.base, "nothing")
        return f"categories ({noun})" if self.type == "category" else noun


def table_labels(data: Any, argument: str | None) -> Labels:
    """Return the labels of a table, of pyarrow too; compared with others if it has a name here."""
    if kind_of(data) is Kind.ARROW:
        return Labels(tuple(data.column_names))
    return Labels.of(data) if argument is None else Labels.comparable(data, argument)


def holds_numbers_only(data: Any) -> bool:
    """Whether all columns are numeric by their types; True for arrays."""
    if kind_of(data) is Kind.ARROW:
        return False
    columns = columns_of(data) or ()
    return all(_is_numeric(column) and not _is_wide(column) for column in columns)


def table_columns(data: Any, argument: str, names: Sequence[str] | None) -> list[TableColumn]:
    """Read a table column by column.

    Parameters
    ----------
    data : DataFrame, pyarrow.Table or array-like of shape (n, d)
    argument : str
        The name of the argument in messages.
    names : sequence of str, optional
        The names of the columns.

    Raises
    ------
    ValueError, TypeError
        If the table is empty, or a column has values of several types, infinite numbers, a time
        zone, or objects of another type.
    """
    columns = columns_of(data)
    if columns is None:
        return _columns_of_array(data, argument, names)
    if not columns or len(columns[0]) == 0:
        raise InputError(argument, f"is empty: got {len(columns)} columns, no rows")
    assert names is not None, "such tables name their columns"
    check_column_count(len(columns), len(names), argument)
    return [
        read_column(column, name, argument) for name, column in zip(names, columns, strict=True)
    ]


def _columns_of_array(data: Any, argument: str, names: Sequence[str] | None) -> list[TableColumn]:
    kind = getattr(getattr(data, "dtype", None), "kind", "f")
    n_columns = None if names is None else len(names)
    matrix = as_matrix(data, argument, n_columns=n_columns, names=names, allow_missing=True)
    names = names or numbered(matrix.shape[1])
    of_type = "integer" if kind in "iu" else "number"
    sources: Any = [None] * len(names)
    if has_large(matrix):
        sources = np.asarray(dense(data, argument)).T
    return [
        _of_floats(column, name, of_type, argument, source)
        for name, column, source in zip(names, matrix.T, sources, strict=True)
    ]


def has_large(numbers: NDArray[Any]) -> bool:
    """Whether there are numbers so large that float64 does not represent all integers."""
    return bool((np.abs(numbers, dtype=np.float64) >= LARGE).any())


def _dtype(column: Any) -> Any:
    return getattr(column, "dtype", None) or getattr(column, "type", None)


def _is_numeric(column: Any) -> bool:
    dtype = _dtype(column)
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric())
    kind = getattr(dtype, "kind", None)
    if kind == "O" and str(dtype) == "object":
        bases = {_base_of(entry) for entry in column.tolist() if not is_missing(entry)}
        return bool(bases) and bases <= {"integer", "number"}
    if kind is None:  # pyarrow
        return str(dtype).startswith(("int", "uint", "float", "double", "halffloat", "decimal"))
    return kind in "fiu"


def _is_wide(column: Any) -> bool:
    """Whether a column has integers of polars without a NumPy type."""
    return str(_dtype(column)) in ("Int128", "UInt128")


def holds_times(column: Any) -> bool:
    """Whether a column has dates or durations, by its dtype or its first value."""
    dtype = str(_dtype(column))
    if dtype.startswith(_TIMES):
        return True
    if dtype != "object":
        return False
    entries = (entry for entry in values_of(column) if not is_missing(entry))
    return _base_of(next(entries, None)) in ("date", "duration")


def read_column(column: Any, name: str, argument: str) -> TableColumn:
    """Read a column of a table.

    Raises
    ------
    ValueError, TypeError
        As for `table_columns`.
    """
    dtype = str(_dtype(column))
    if _ZONE.search(dtype):
        raise _of_zone(name, argument)
    is_category = dtype.startswith(_CATEGORIES)
    if not is_category:
        if _is_numeric(column):
            return _of_numbers(column, name, argument, dtype)
        if dtype.startswith(_TIMES) and not dtype.endswith("[pyarrow]"):
            return _of_times(np.asarray(column), name)
    entries = values_of(column)
    missing = np.array([is_missing(entry) for entry in entries], dtype=bool)
    base = _common_base(entries, missing, name, argument)
    if is_category:
        # Categories of dates are represented by their texts.
        base = "text" if base in ("date", "duration") else base
        return TableColumn(name, "category", base, _as_labels(entries, missing), missing)
    if base in ("integer", "number"):
        return _of_floats(_as_floats(entries), name, base, argument, entries)
    if base in ("date", "duration"):
        unit = "datetime64[us]" if base == "date" else "timedelta64[us]"
        if any(getattr(entry, "tzinfo", None) is not None for entry in entries):
            raise _of_zone(name, argument)
        times = ["NaT" if m else _naive(e) for e, m in zip(entries, missing, strict=True)]
        return _of_times(np.array(times, dtype=unit), name)
    return TableColumn(name, base, base, _as_labels(entries, missing), missing)


def _base_of(entry: object) -> str | None:
    if type(entry).__name__ in _OWN_TEXTS:
        return "text"
    return next((base for base, types in _BASES if isinstance(entry, types)), None)


def _common_base(entries: list[Any], missing: NDArray[np.bool_], name: str, argument: str) -> str:
    """Return the common type of the values; "empty" if all are missing."""
    first_entries: dict[str, Any] = {}
    for entry, is_absent in zip(entries, missing.tolist(), strict=True):
        if is_absent:
            continue
        base = _base_of(entry)
        if base is None:
            raise InputTypeError(
                argument,
                f"has a value {entry!r} ({type(entry).__name__}), which is neither a number, a "
                "text, a boolean nor a date",
                ["convert the column", drop(name)],
                column=name,
            )
        first_entries.setdefault(base, entry)
    if {"integer", "number"} == set(first_entries):
        return "number"
    if len(first_entries) > 1:
        examples = " and ".join(
            f"{entry!r} ({_NAMES[base]})" for base, entry in first_entries.items()
        )
        raise InputTypeError(
            argument,
            f"has values of several kinds, such as {examples}",
            "make them of one kind, for example all text with .astype(str)",
            column=name,
        )
    return next(iter(first_entries), "empty")


def _as_labels(entries: list[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Return categories as texts, booleans and numbers; None for missing values."""
    labels = np.empty(len(entries), dtype=object)
    for row, (entry, is_absent) in enumerate(zip(entries, missing.tolist(), strict=True)):
        labels[row] = None if is_absent else _label(entry)
    return labels


def _label(entry: Any) -> Any:
    if isinstance(entry, bytes):
        return entry.decode("utf-8", "backslashreplace")
    if isinstance(entry, dt.date | dt.timedelta | np.datetime64 | np.timedelta64):
        return time_text(entry)
    if isinstance(entry, Decimal) or type(entry).__name__ in _OWN_TEXTS:
        return str(entry)
    return entry.item() if isinstance(entry, np.generic) else entry


def _exact(entry: Any) -> Any:
    """Return a number as an integer if it is integral, otherwise as a float."""
    if isinstance(entry, int | np.integer):
        return int(entry)
    as_float = float(entry)
    return int(entry) if as_float.is_integer() else as_float


def is_time(entry: object) -> bool:
    """Whether a value is a date or a duration that is not missing."""
    return _base_of(entry) in ("date", "duration") and not is_missing(entry)


def time_text(entry: Any) -> str:
    """Return a date or duration as text, independent of its type."""
    if isinstance(entry, np.datetime64 | np.timedelta64):
        unit = "ns" if np.datetime_data(entry)[0] == "ns" else "us"
        entry = entry.astype(f"{entry.dtype.kind}8[{unit}]")
    if isinstance(entry, dt.timedelta):
        microseconds = entry // dt.timedelta(microseconds=1)
        return _duration_text(microseconds, getattr(entry, "nanoseconds", 0))
    if isinstance(entry, np.timedelta64):
        per_microsecond = 1000 if np.datetime_data(entry)[0] == "ns" else 1
        microseconds, nanoseconds = divmod(int(entry.astype(np.int64)), per_microsecond)
        return _duration_text(microseconds, nanoseconds)
    text = entry.isoformat() if isinstance(entry, dt.date) else str(entry)
    text = re.sub(r"(\.\d*?)0+(?=$|[+-])", r"\1", text.replace("T", " "))
    return re.sub(r"\.(?=$|[+-])", "", text).removesuffix(" 00:00:00")


def _duration_text(microseconds: int, nanoseconds: int) -> str:
    text = str(dt.timedelta(microseconds=microseconds))
    return f"{text} and {nanoseconds} ns" if nanoseconds else text


def _of_numbers(column: Any, name: str, argument: str, dtype: str) -> TableColumn:
    of_type = "integer" if re.match(r"u?int", dtype, re.IGNORECASE) else "number"
    if is_pandas(column) and dtype != "object":
        floats = column.to_numpy(dtype=np.float64, na_value=np.nan)
    elif dtype == "object" or dtype.lower().startswith("decimal") or _is_wide(column):
        floats = _as_floats(values_of(column))
    elif hasattr(column, "to_pylist"):  # pyarrow: with missing values there is no view
        floats = column.to_numpy(zero_copy_only=False)
    else:
        floats = column if isinstance(column, np.ndarray) else column.to_numpy()
    return _of_floats(floats, name, of_type, argument, column)


def _as_floats(entries: list[Any]) -> list[float]:
    return [np.nan if is_missing(entry) else to_float(entry) for entry in entries]


def _of_floats(
    floats: Any, name: str, of_type: str, argument: str, source: Any = None
) -> TableColumn:
    """Return a column of numbers, with the `source` if float64 does not represent all exactly."""
    entries = np.array(floats, dtype=np.float64)
    infinite = np.flatnonzero(np.isinf(entries)).tolist()
    if infinite:
        reason = f"has an infinite value ({entries[infinite[0]]})"
        fix = "replace or remove it"
        raise InputError(argument, reason, fix, infinite[0], name, kind="infinite")
    if not has_large(entries):
        source = None
    return TableColumn(name, of_type, of_type, entries, np.isnan(entries), source)


def _of_times(times: NDArray[Any], name: str) -> TableColumn:
    """Return dates or durations in microseconds; 0 for missing values."""
    base = "date" if times.dtype.kind == "M" else "duration"
    missing = np.isnat(times)
    unit = "datetime64[us]" if base == "date" else "timedelta64[us]"
    entries = np.where(missing, 0, times.astype(unit).astype(np.int64))
    return TableColumn(name, base, base, entries, missing)


def _naive(entry: Any) -> Any:
    """Return a time as a NumPy type, which has no time zone."""
    if isinstance(entry, np.datetime64 | np.timedelta64):
        return entry
    is_date = isinstance(entry, dt.date)
    return np.datetime64(entry) if is_date else np.timedelta64(entry)


def _of_zone(name: str, argument: str) -> InputTypeError:
    return InputTypeError(
        argument,
        "has dates with a time zone",
        "give all in one zone, without it: with pandas "
        ".dt.tz_convert('UTC').dt.tz_localize(None), with polars "
        ".dt.convert_time_zone('UTC').dt.replace_time_zone(None)",
        column=name,
    )


def drop(name: str) -> Option:
    """Return the advice to leave a column out."""
    return Option("exclude", name, python=f"drop column {name!r}", verb="pass")
