"""Small tables of text, which results show of themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_VALUES", "aligned", "number", "numbers", "shortened"]

# Of more values than these a result shows no table: it would take long, and much memory.
MOST_VALUES = 10**7
# What the largest number of a column is at least and below, if none has a power of ten.
_TINY, _HUGE = 1e-4, 1e10
# The longest name, in characters.
_LONGEST = 40


def number(value: Any) -> str:
    """Return a number with five significant digits; anything else as it is, shortened.

    Up to ten digits before the point are written out: 123456, not 1.2346e+05. For numbers below
    each other there is `numbers`.
    """
    # To NumPy durations are integers.
    is_number = isinstance(value, float | int | np.number)
    if not is_number or isinstance(value, bool | np.timedelta64):
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


def aligned(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of text, the first column at its left, the others at their right."""
    first, *others = ((column, max(map(len, column))) for column in columns)
    cells = [[cell.ljust(first[1]) for cell in first[0]]]
    cells += [[cell.rjust(width) for cell in column] for column, width in others]
    return ["  ".join(line).rstrip() for line in zip(*cells, strict=True)]
