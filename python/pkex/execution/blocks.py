"""Blocks of rows, or of other items, that are computed one after the other."""

from __future__ import annotations


def blocks_of(length: int, size: int) -> list[slice]:
    """Return slices that divide items into blocks, in order.

    Parameters
    ----------
    length : int
        The number of items.
    size : int
        The number of items of each block, except that the last may have fewer. Numbers below 1
        stand for 1.

    Examples
    --------
    >>> blocks_of(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, size)
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
