"""Arrays that are protected from change."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ReadOnlyArrays", "owned", "read_only", "read_only_view"]

_Item = TypeVar("_Item")


class ReadOnlyArrays:
    """A frozen data class whose arrays cannot be written, out of a pickle neither."""

    def __post_init__(self) -> None:
        for item in vars(self).values():
            owned(item)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come writable out of a pickle.
        self.__dict__.update(state)
        ReadOnlyArrays.__post_init__(self)


def owned(item: _Item) -> _Item:
    """Protect an array that nobody else holds from change, in place; return anything as it is."""
    if isinstance(item, np.ndarray):
        item.setflags(write=False)
    return item


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Protect an array from change; copied, unless nothing can write to its memory already."""
    if array.flags.writeable or not array.flags.owndata:
        array = array.copy()
        array.setflags(write=False)
    return array


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same memory, to be read; unpickled arrays can be written."""
    view = array.view()
    view.setflags(write=False)
    return view
