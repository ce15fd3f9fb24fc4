"""Numbers and data as lists for JSON, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

_TYPES = re.compile(
    r"(bool|u?int(8|16|32|64)|float(16|32|64)|str|object|(datetime|timedelta)64\[\w+\])"
)
# By the first letter of the type of an array; integers for others.
_ENTRY_TYPES: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "d": (str,),
    "f": (float, int),
    "s": (str,),
}
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
# Readers of objects that are written as mappings with the name of their type.
_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "timedelta": lambda parts: timedelta(*parts),
}


def plain_numbers(name: str, numbers: Float | float) -> Any:
    """Return computed numbers as lists, with None for NaN.

    Raises
    ------
    ValueError
        If a number is infinite.
    """
    array = np.asarray(numbers, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError(f"{name} has an infinite value, which a document cannot hold")
    return _with_none(array)


def plain_entries(name: str, data: Any) -> dict[str, Any]:
    """Return data of any type as lists, with the name of the type.

    Floats have None for NaN and "inf" for infinity. Dates are texts, durations counts of their
    unit. Objects are texts, numbers and None, or mappings that name their type.

    Raises
    ------
    TypeError
        If an entry has a type that JSON cannot contain.
    """
    array = np.asarray(data)
    kind = array.dtype.kind
    entries: Any
    if kind in "biu":
        entries = array.tolist()
    elif kind == "f" and array.dtype.itemsize <= 8:
        entries = _with_none(array)
    elif kind == "U":
        return {"type": "str", "entries": array.tolist()}
    elif kind == "M":
        entries = np.datetime_as_string(array).tolist()
    elif kind == "m":
        entries = array.astype(np.int64).tolist()
    elif kind == "O":
        flat = [_plain_entry(name, entry) for entry in array.ravel().tolist()]
        entries = _object_array(array.shape, flat).tolist()
    else:
        raise TypeError(f"{name} has dtype {array.dtype}, which a document cannot hold; use pickle")
    return {"type": str(array.dtype.newbyteorder("=")), "entries": entries}


def _with_none(array: NDArray[Any]) -> Any:
    """Return floats as lists, with None for NaN and texts for infinity."""
    is_finite = np.isfinite(array)
    if is_finite.all():
        return array.tolist()
    objects = array.astype(object)
    for text, value in (*_INFINITE.items(), (None, math.nan)):
        objects[np.isnan(array) if text is None else array == value] = text
    return objects.tolist()


def _object_array(shape: tuple[int, ...], flat: Sequence[Any]) -> NDArray[Any]:
    """Return an array of objects of any type."""
    array = np.empty(len(flat), dtype=object)
    array[:] = flat
    return array.reshape(shape)


def _plain_entry(name: str, entry: Any) -> Any:
    """Return an object as plain data; dates and floats that are not finite as mappings."""
    if isinstance(entry, np.generic) and not isinstance(entry, np.datetime64 | np.timedelta64):
        entry = entry.item()
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(entry, bool | int | str):
        return entry
    if isinstance(entry, float):
        return float(entry) if math.isfinite(entry) else {"float": str(float(entry))}
    is_exact = not getattr(entry, "nanosecond", getattr(entry, "nanoseconds", 0))
    if isinstance(entry, datetime) and is_exact:
        return {"datetime": entry.isoformat()}
    if isinstance(entry, date) and is_exact:
        return {"date": entry.isoformat()}
    if isinstance(entry, timedelta) and is_exact:
        return {"timedelta": [entry.days, entry.seconds, entry.microseconds]}
    raise TypeError(
        f"{name} has the entry {entry!r} ({type(entry).__name__}), which a document cannot hold; "
        "turn it into a number or a text, or use pickle"
    )


def _entry(plain: Any) -> Any:
    """Return the object that `_plain_entry` has written."""
    if not isinstance(plain, dict):
        if plain is None or isinstance(plain, bool | int | float | str):
            return plain
        raise ValueError(f"{plain!r} is not an entry")
    ((kind, value),) = plain.items()
    return _READERS[kind](value)


def read_numbers(plain: Any) -> Float:
    """Return the numbers that `plain_numbers` has written.

    Raises
    ------
    ValueError
        If there are other values.
    """
    array = np.array(plain)
    if array.dtype.kind == "O":
        # None among numbers, or integers that are large.
        for entry in array.ravel().tolist():
            if entry is not None and type(entry) not in (int, float):
                raise ValueError(f"{entry!r} is not a number")
    elif array.dtype.kind not in "fiu":
        raise ValueError("it does not hold numbers")
    return array.astype(np.float64)


def read_entries(plain: Any, n_axes: int) -> NDArray[Any]:
    """Return the data that `plain_entries` has written, with a number of axes.

    Raises
    ------
    ValueError, TypeError, LookupError, ArithmeticError
        If the data are invalid, or have other axes.
    """
    kind, entries = plain["type"], plain["entries"]
    if not isinstance(kind, str) or not _TYPES.fullmatch(kind):
        raise ValueError(f"there is no type {kind!r}")
    objects = np.empty((), dtype=object)
    objects[()] = entries
    for _ in range(n_axes):
        if not all(isinstance(item, list) for item in objects.ravel().tolist()):
            raise ValueError(f"it does not have {n_axes} axes")
        lists = objects.ravel().tolist()
        lengths = {len(item) for item in lists}
        if len(lengths) > 1:
            raise ValueError("its rows differ in length")
        flat = [entry for item in lists for entry in item]
        objects = _object_array((*objects.shape, max(lengths, default=0)), flat)
    flat = objects.ravel().tolist()
    if kind == "object":
        return _object_array(objects.shape, [_entry(entry) for entry in flat])
    if kind.startswith("float"):
        flat = [math.nan if v is None else _INFINITE.get(v, v) for v in flat]
    if not all(type(entry) in _ENTRY_TYPES.get(kind[0], (int,)) for entry in flat):
        raise ValueError(f"an entry is not of type {kind!r}")
    return np.array(flat, dtype=kind).reshape(objects.shape)
