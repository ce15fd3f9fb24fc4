"""Small tables of text, which results show of themselves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import counted

__all__ = ["MOST_VALUES", "aligned", "number", "numbers", "shortened", "table_of_largest"]

# Of more values than these a result shows no table: it would take long, and much memory.
MOST_VALUES = 10**7
# What the largest number of a column is at least and below, if none has a power of ten.
_TINY, _HUGE = 1e-4, 1e10
# The most lines and columns of numbers of a table, and the longest name, in characters.
_MOST_LINES, _MOST_OUTPUTS = 8, 4
_LONGEST = 40


def number(value: Any) -> str:
    """Return a number with five significant digits; anything else as it is, shortened.

    Up to ten digits before the point are written out: 123456, not 1.2346e+05. For numbers below
    each other there is `numbers`.
    """
    if not isinstance(value, float | int | np.number) or isinstance(value, bool):
        return shortened(str(value), 20)
    # Where rounding makes six digits before the point, and where eleven.
    return f"{value:.0f}" if 99999.5 <= abs(float(value)) < 9999999999.5 else f"{value:.5g}"


def numbers(values: NDArray[np.float64]) -> list[str]:
    """Return the numbers of a column, with one number of decimals: five digits of the largest.

    All are powers of ten where the largest is tiny, or too large to be written out.
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    if largest == 0.0:
        return [f"{value:.0f}" for value in np.abs(values)]
    if not _TINY <= largest < _HUGE:
        return [f"{value:.4e}" for value in values]
    decimals = max(0, 4 - math.floor(math.log10(largest)))
    # Without a minus before what is rounded to 0.
    texts = [f"{value:z.{decimals}f}" for value in values]
    is_lost = (values != 0.0) & (np.abs(values) < 0.5 * 10.0**-decimals)
    if decimals and np.isfinite(values).all() and not is_lost.any():
        useless = min(len(text) - len(text.rstrip("0")) for text in texts)
        texts = [text[: len(text) - useless].removesuffix(".") for text in texts]
    return texts


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Return a text on one line, with its middle left out if it is long."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def table_of_largest(
    names: Callable[[int], str],
    values: NDArray[np.float64],
    *,
    thing: str,
    label: str,
    output_names: Sequence[str] | None = None,
    data: NDArray[Any] | None = None,
    spreads: Mapping[str, NDArray[np.float64]] | None = None,
) -> str:
    """Return a table of features or coalitions with the largest values in size, largest first.

    Parameters
    ----------
    names : callable
        Returns the name at a place of `values`.
    values : ndarray of shape (d,), (d, 1) or (d, outputs)
    thing : str
        What has a value.
    label : str
        What the values are.
    output_names : sequence of str, optional
        Heads of the columns if there are several.
    data : ndarray of shape (d,), optional
        For a last column.
    spreads : mapping of str to ndarray, shaped as the values, optional
        What stands beside each column of values, by its head.
    """
    by_output = values.reshape(len(values), -1)
    order = np.argsort(-np.abs(by_output).max(axis=1), kind="stable")[:_MOST_LINES]
    shown_names = [shortened(names(int(j))) for j in order]
    heads = [label] if output_names is None else list(output_names[:_MOST_OUTPUTS])
    columns = [[thing if output_names is None else f"{label} of", *shown_names]]
    for output, head in enumerate(heads):
        columns.append([shortened(head), *numbers(by_output[order, output])])
        for title, spread in (spreads or {}).items():
            own = spread.reshape(by_output.shape)[order, output]
            columns.append([title, *numbers(own)])
    if data is not None:
        columns.append(["data", *map(number, data[order])])
    lines = aligned(columns)
    left_out = [(len(values) - len(order), f"smaller {thing}")]
    left_out += [(len(output_names or ()) - _MOST_OUTPUTS, "more output")]
    notes = [counted(count, thing) for count, thing in left_out if count > 0]
    return "\n".join([*lines, f"({' and '.join(notes)} not shown)"] if notes else lines)


def aligned(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of text, the first column at its left, the others at their right."""
    first, *others = ((column, max(map(len, column))) for column in columns)
    cells = [[cell.ljust(first[1]) for cell in first[0]]]
    cells += [[cell.rjust(width) for cell in column] for column, width in others]
    return ["  ".join(line).rstrip() for line in zip(*cells, strict=True)]
