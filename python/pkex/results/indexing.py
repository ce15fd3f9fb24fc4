"""Indexing by number or by name: what ``explanation[rows, features, outputs]`` selects."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.choices import places_of

__all__ = ["FEATURE", "OUTPUT", "ROW", "Resolved", "pick", "pick_names", "place_on", "resolved_key"]

# What axes are called, in the order that arrays have them.
ROW, FEATURE, OUTPUT = "row", "feature", "output"

# What an axis may be indexed with once names are resolved.
Resolved: TypeAlias = int | slice | NDArray[np.intp]
# The names along each axis that has names.
_Names: TypeAlias = Mapping[str, Sequence[str]]


def resolved_key(key: Any, sizes: Mapping[str, int], names: _Names) -> dict[str, Resolved]:
    """Turn what stands in brackets into a number, slice or array of numbers for each axis.

    Parameters
    ----------
    key : Any
    sizes : dict of str to int
        The size of each axis that there is, in order.
    names : dict of str to sequence of str
        The names of features and outputs.

    Raises
    ------
    IndexError, KeyError, TypeError
        If there is no such part; the message says what there is.
    """
    keys = _expanded(key, tuple(sizes))
    return {
        axis: _resolved(axis, size, key, names)
        for (axis, size), key in zip(sizes.items(), keys, strict=True)
    }


def pick(array: Any, axes: Sequence[str], resolved: Mapping[str, Resolved]) -> Any:
    """Index one array axis by axis, from the last, so that removed axes shift none."""
    for position in reversed(range(len(axes))):
        array = array[(slice(None),) * position + (resolved[axes[position]],)]
    return array


def pick_names(names: tuple[str, ...], index: Resolved) -> tuple[str, ...]:
    """Return the names that remain along an axis; the one that is singled out, too."""
    if isinstance(index, slice):
        return names[index]
    positions = [index] if isinstance(index, int) else index
    return tuple(names[position] for position in positions)


def _expanded(key: Any, axes: Sequence[str]) -> list[Any]:
    """One index per axis: fill ``...`` and the axes left out with full slices."""
    keys = list(key) if isinstance(key, tuple) else [key]
    dots = [position for position, k in enumerate(keys) if isinstance(k, EllipsisType)]
    if len(dots) > 1:
        raise IndexError("an index may contain '...' only once")
    missing = len(axes) - (len(keys) - len(dots))
    if missing < 0:
        listed = ", ".join(f"{axis}s" for axis in axes) or "none"
        hint = "" if OUTPUT in axes else "; it has a single output, so no output axis"
        raise IndexError(
            f"{len(keys) - len(dots)} indices for an explanation with "
            f"{len(axes)} axes ({listed}){hint}"
        )
    at = dots[0] if dots else len(keys)
    return [*keys[:at], *[slice(None)] * missing, *keys[at + len(dots) :]]


def _resolved(axis: str, size: int, key: Any, names: _Names) -> Resolved:
    """Turn one index of one axis into a number, a slice, or an array of numbers."""
    if isinstance(key, slice):
        if any(isinstance(bound, str) for bound in (key.start, key.stop, key.step)):
            raise TypeError(
                f"slices go by number, not by name: give a list of {axis} names instead of "
                f"{key.start!r}:{key.stop!r}"
            )
        return key
    listed = np.asarray(key, dtype=None if isinstance(key, np.ndarray) else object)
    if listed.ndim == 0:
        return place_on(axis, size, key, names, or_else=_LISTS)
    if listed.ndim != 1:
        raise IndexError(f"{axis}s are chosen by a list or 1-d array, not {listed.ndim}-d")
    if listed.dtype == object and listed.size and all(map(_is_boolean, listed)):
        listed = listed.astype(np.bool_)
    if listed.dtype == np.bool_:
        if listed.size != size:
            raise IndexError(f"the boolean index for {axis}s has length {listed.size}, not {size}")
        return np.flatnonzero(listed)
    positions = [place_on(axis, size, item, names, or_else=_LISTS) for item in listed]
    return np.array(positions, dtype=np.intp)


# What brackets take besides a number or a name.
_LISTS = ", a list of these, or a slice"


def place_on(axis: str, size: int, key: object, names: _Names, *, or_else: str = "") -> int:
    """Return the place on an axis that a number or a name stands for.

    Parameters
    ----------
    axis : str
    size : int
        Of the axis.
    key : int or str
    names : dict of str to sequence of str
        The names of features and outputs.
    or_else : str
        What messages say that may be given besides.

    Raises
    ------
    KeyError, IndexError, TypeError
        If it stands for none, or for several.
    """
    if isinstance(key, str) and axis == ROW:
        where = ":, " if key in names[FEATURE] else "..., "
        raise KeyError(f"rows have no names; did you mean [{where}{key!r}]?")
    found = places_of(key, names.get(axis, ()), size, from_end=True)
    if found is None:
        kinds = "a number" if axis == ROW else "a number or a name"
        raise TypeError(
            f"cannot choose {axis}s by {key!r} of type {type(key).__name__}; give {kinds}{or_else}"
        )
    if len(found) == 1:
        return found[0]
    if not isinstance(key, str):
        raise IndexError(f"{axis} {key} is out of range: there are {size} {axis}s")
    if found:
        raise KeyError(f"{len(found)} {axis}s are named {key!r} (at {found}); use a number")
    raise KeyError(_no_such_name(axis, key, names))


def _no_such_name(axis: str, name: str, names: _Names) -> str:
    mine, other = names[axis], names[FEATURE if axis == OUTPUT else OUTPUT]
    message = f"no {axis} is named {name!r}"
    close = difflib.get_close_matches(name, mine, n=3)
    if close:
        message += f" (did you mean {' or '.join(map(repr, close))}?)"
    elif name in other:
        message += f" (but {'a feature' if axis == OUTPUT else 'an output'} is)"
    return f"{message}; {axis}_names: {_listed(mine)}"


def _is_boolean(item: object) -> bool:
    return isinstance(item, bool | np.bool_)


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
