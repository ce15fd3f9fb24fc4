"""Arrays that are protected from change."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["read_only", "read_only_view"]


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
