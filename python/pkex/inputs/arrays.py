"""Read-only arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Item = TypeVar("_Item")


class ReadOnlyArrays:
    """Base class of frozen data classes whose arrays are read-only, also after unpickling."""

    def __post_init__(self) -> None:
        for item in vars(self).values():
            owned(item)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Unpickled arrays are writable.
        self.__dict__.update(state)
        ReadOnlyArrays.__post_init__(self)


def owned(item: _Item) -> _Item:
    """Make an array read-only in place, without a copy; return other objects unchanged."""
    if isinstance(item, np.ndarray):
        item.setflags(write=False)
    return item


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array; a copy, unless the array owns its memory and is read-only."""
    if array.flags.writeable or not array.flags.owndata:
        array = array.copy()
        array.setflags(write=False)
    return array


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view; unpickled arrays are writable."""
    view = array.view()
    view.setflags(write=False)
    return view
