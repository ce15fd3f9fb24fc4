"""Arrays that are protected from change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ReadOnlyArrays", "read_only", "read_only_view"]


class ReadOnlyArrays:
    """A frozen data class whose arrays cannot be written, out of a pickle neither."""

    def __post_init__(self) -> None:
        for item in vars(self).values():
            if isinstance(item, np.ndarray):
                item.setflags(write=False)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come writable out of a pickle.
        self.__dict__.update(state)
        ReadOnlyArrays.__post_init__(self)


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
