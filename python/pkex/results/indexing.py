"""Indexing of results by number or by name, ``explanation[rows, features, outputs]``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import places_of

# The names of axes, in the order of arrays.
ROW, FEATURE, OUTPUT = "row", "feature", "output"

# The index of an axis after names have been resolved.
AxisIndex: TypeAlias = int | slice | NDArray[np.intp]
# The names along each axis that has names.
_Names: TypeAlias = Mapping[str, Sequence[str]]


def resolve_key(key: Any, sizes: Mapping[str, int], names: _Names) -> dict[str, AxisIndex]:
    """Return a number, slice or array of numbers for each axis, given the key in brackets.

    Parameters
    ----------
    key : Any
    sizes : dict of str to int
        The sizes of the axes, in order.
    names : dict of str to sequence of str
        The names of features and outputs, and optionally the labels of rows, for messages.

    Raises
    ------
    IndexError, KeyError, TypeError
        If the key is out of range, an unknown name, or of a wrong type.
    """
    keys = _expand_key(key, tuple(sizes))
    return {
        axis: _resolve_axis(axis, size, key, names)
        for (axis, size), key in zip(sizes.items(), keys, strict=True)
    }


def pick(array: Any, axes: Sequence[str], indices: Mapping[str, AxisIndex]) -> Any:
    """Return an array indexed axis by axis, from the last, so that removed axes shift no others."""
    for position in reversed(range(len(axes))):
        array = array[(slice(None),) * position + (indices[axes[position]],)]
    return array


def pick_names(names: tuple[str, ...], index: AxisIndex) -> tuple[str, ...]:
    """Return the selected names along an axis, as a tuple also for a single one."""
    if isinstance(index, slice):
        return names[index]
    positions = [index] if isinstance(index, int) else index
    return tuple(names[position] for position in positions)


def _expand_key(key: Any, axes: Sequence[str]) -> list[Any]:
    """Return one index per axis: full slices replace ``...`` and missing indices."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [position for position, k in enumerate(keys) if isinstance(k, EllipsisType)]
    if len(dots) > 1:
        raise IndexError(f"an index may contain '...' only once; got it {len(dots)} times")
    missing = len(axes) - (len(keys) - len(dots))
    if missing < 0:
        axis_names = ", ".join(f"{axis}s" for axis in axes) or "none"
        hint = "" if OUTPUT in axes else "; it has a single output, so no output axis"
        raise IndexError(
            f"{len(keys) - len(dots)} indices for an explanation with "
            f"{len(axes)} axes ({axis_names}){hint}"
        )
    position = dots[0] if dots else len(keys)
    return [*keys[:position], *[slice(None)] * missing, *keys[position + len(dots) :]]


def _resolve_axis(axis: str, size: int, key: Any, names: _Names) -> AxisIndex:
    """Return the index of one axis as a number, a slice, or an array of numbers."""
    if isinstance(key, slice):
        if any(isinstance(bound, str) for bound in (key.start, key.stop, key.step)):
            raise TypeError(
                f"slices of {axis}s require numbers; got {key.start!r}:{key.stop!r}. Pass a list "
                f"of {axis} names instead"
            )
        return key
    array = np.asarray(key, dtype=None if isinstance(key, np.ndarray) else object)
    if array.ndim == 0:
        return place_on(axis, size, key, names, or_else=_LISTS)
    if array.ndim != 1:
        raise IndexError(
            f"an index of {axis}s must be a list or a 1-d array; got a {array.ndim}-d array"
        )
    if array.dtype == object and array.size and all(map(_is_boolean, array)):
        array = array.astype(np.bool_)
    if array.dtype == np.bool_:
        if array.size != size:
            raise IndexError(
                f"the boolean index of {axis}s has length {array.size}, but there are {size} "
                f"{axis}s"
            )
        return np.flatnonzero(array)
    positions = [place_on(axis, size, item, names, or_else=_LISTS) for item in array]
    return np.array(positions, dtype=np.intp)


# Keys that brackets accept besides a number or a name, in messages.
_LISTS = ", a list of these, or a slice"


def place_on(axis: str, size: int, key: object, names: _Names, *, or_else: str = "") -> int:
    """Return the place on an axis, given a number or a name.

    Parameters
    ----------
    axis : str
    size : int
        The size of the axis.
    key : int or str
    names : dict of str to sequence of str
        The names of features and outputs, and optionally the labels of rows, for messages.
    or_else : str
        Other keys that are accepted, for messages.

    Raises
    ------
    KeyError, IndexError, TypeError
        If there is no such place, or several have the name.
    """
    if isinstance(key, str) and axis == ROW:
        raise KeyError(_no_row_name(key, names))
    places = places_of(key, () if axis == ROW else names[axis], size, from_end=True)
    if places is None:
        kinds = "a number" if axis == ROW else "a number or a name"
        raise TypeError(
            f"{axis}s cannot be selected by {key!r} of type {type(key).__name__}. Pass "
            f"{kinds}{or_else}"
        )
    if len(places) == 1:
        return places[0]
    if not isinstance(key, str):
        raise IndexError(f"{axis} {key} is out of range: there are {size} {axis}s")
    if places:
        raise KeyError(f"{len(places)} {axis}s are named {key!r} (at {places}). Pass a number")
    raise KeyError(_no_such_name(axis, key, names))


def _no_row_name(name: str, names: _Names) -> str:
    labels = list(names.get(ROW, ()))
    if name in names[FEATURE] or name in names[OUTPUT]:
        where = ":, " if name in names[FEATURE] else "..., "
        return f"rows have no names; did you mean [{where}{name!r}]?"
    if name in labels:
        return f"rows are selected by number; {name!r} is the label of row {labels.index(name)}"
    return f"rows are selected by number, and no feature or output is named {name!r}"


def _no_such_name(axis: str, name: str, names: _Names) -> str:
    axis_names, other_names = names[axis], names[FEATURE if axis == OUTPUT else OUTPUT]
    message = f"no {axis} is named {name!r}"
    close = difflib.get_close_matches(name, axis_names, n=3)
    if close:
        message += f" (did you mean {' or '.join(map(repr, close))}?)"
    elif name in other_names:
        message += f" (but {'a feature' if axis == OUTPUT else 'an output'} is)"
    return f"{message}; {axis}_names: {_list_names(axis_names)}"


def _is_boolean(item: object) -> bool:
    return isinstance(item, bool | np.bool_)


def _list_names(names: Sequence[str], limit: int = 20) -> str:
    text = ", ".join(repr(name) for name in names[:limit])
    return text if len(names) <= limit else f"{text}, … ({len(names)} in all)"
