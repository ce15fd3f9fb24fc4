"""Kernel values between points and mixed rows.

A mixed row has the columns of a coalition from one row, and the others from a background row.
Its values are combined from those of single columns, which all coalitions share. A coalition and
the next one also share what is combined over the columns before the first in which they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

# Maps coalitions, booleans of shape (count, d), to values of shape (count, background rows, m).
Mixing: TypeAlias = Callable[[NDArray[np.bool_]], Float]


def mixed_rows(row: Float, background: Float, members: NDArray[np.bool_]) -> Float:
    """Return the mixed rows of coalitions, shape (count · background rows, d)."""
    rows: Float = np.where(members[:, None], row, background).reshape(-1, len(row))
    return rows


def combine_columns(
    columns: NDArray[np.int64],
    row_values: Sequence[Float],
    background_values: Sequence[Float],
    combine: np.ufunc,
) -> Mixing:
    """Return the function that combines values over columns.

    Parameters
    ----------
    columns : ndarray of shape (k,)
        At least one.
    row_values : sequence of ndarray of shape (m,)
        The values of the row in each column, for all points.
    background_values : sequence of ndarray of shape (n, m)
        The values of the background rows.
    combine : ufunc
        A function of two values, such as ``np.add``.
    """
    # The last columns change least from one coalition to the next.
    order = range(len(columns))[::-1]
    choices = [(background_values[place], row_values[place]) for place in order]

    def values(members: NDArray[np.bool_]) -> Float:
        present = members[:, columns[::-1]]
        results = np.empty((len(present), *background_values[0].shape))
        partial = np.empty((len(choices), *background_values[0].shape))
        is_changed = np.ones_like(present)
        is_changed[1:] = present[1:] != present[:-1]
        # Without a change, all columns are combined again.
        for number, first in enumerate(is_changed.argmax(axis=1).tolist()):
            for place in range(first, len(choices)):
                value = choices[place][int(present[number, place])]
                if place == 0:
                    partial[0] = value
                else:
                    combine(partial[place - 1], value, out=partial[place])
            results[number] = partial[-1]
        return results

    return values
