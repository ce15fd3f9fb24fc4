"""Formatting of numbers and small text tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Results with more values are printed without a table, which would take much time and memory.
MAX_VALUES = 10**7
# Columns whose largest absolute value is in [_TINY, _HUGE) have no powers of ten.
_TINY, _HUGE = 1e-4, 1e10
# The largest length of a name, in characters.
_MAX_LENGTH = 40


def number(value: Any) -> str:
    """Return a number with five significant digits; other objects as shortened text.

    Up to ten digits before the point are written out: 123456, not 1.2346e+05. For columns of
    numbers, use `numbers`. The entries of a group, "1, 2, 3", are omitted as a whole.
    """
    # In NumPy, durations are integers.
    is_number = isinstance(value, float | int | np.number)
    if not is_number or isinstance(value, bool | np.timedelta64):
        return _shortened_entries(str(value), 20)
    # Rounding gives six digits before the point at the lower limit, eleven at the upper one.
    return f"{value:.0f}" if 99999.5 <= abs(float(value)) < 9999999999.5 else f"{value:.5g}"


def signed_number(value: float) -> str:
    """Return a number as `number` does, with its sign."""
    return f"{'+' if value > 0.0 else '−' if value < 0.0 else ''}{number(abs(value))}"


def numbers(values: NDArray[np.float64]) -> list[str]:
    """Return the numbers of a column with equal decimals: five significant digits of the largest.

    All have powers of ten if the largest absolute value is tiny, or too large to be written out.
    """
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    if largest == 0.0:
        return [f"{value:.0f}" for value in np.abs(values)]
    if not _TINY <= largest < _HUGE:
        return [f"{value:.4e}" for value in values]
    decimals = max(0, 4 - math.floor(math.log10(largest)))
    # The format "z" omits the minus sign of numbers that are rounded to 0.
    texts = [f"{value:z.{decimals}f}" for value in values]
    is_lost = (values != 0.0) & (np.abs(values) < 0.5 * 10.0**-decimals)
    if decimals and np.isfinite(values).all() and not is_lost.any():
        n_zeros = min(len(text) - len(text.rstrip("0")) for text in texts)
        texts = [text[: len(text) - n_zeros].removesuffix(".") for text in texts]
    return texts


def visible(name: str) -> str:
    """Return a name, in quotes if it begins or ends with a space, as parts of words may."""
    return name if name == name.strip() else f"“{name}”"


def shortened(text: str, longest: int = _MAX_LENGTH) -> str:
    """Return a text on one line, with its middle replaced by "…" if it is long."""
    text = " ".join(text.split())
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


def _shortened_entries(text: str, longest: int) -> str:
    """Return a text on one line; of a long list of entries the middle ones are omitted."""
    text = " ".join(text.split())
    *entries, last = text.split(", ")
    if len(text) <= longest:
        return text
    parts: list[str] = []
    for entry in entries:
        if len(", ".join([*parts, entry, "…", last])) > longest:
            break
        parts.append(entry)
    return ", ".join([*parts, "…", last]) if parts else shortened(text, longest)


def align_columns(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of text, the first column left-aligned, the others right-aligned."""
    first, *others = ((column, max(map(len, column))) for column in columns)
    cells = [[cell.ljust(first[1]) for cell in first[0]]]
    cells += [[cell.rjust(width) for cell in column] for column, width in others]
    return ["  ".join(line).rstrip() for line in zip(*cells, strict=True)]
