"""Numbers that floats do not tell apart."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

INEXACT = "floats do not tell such numbers apart, integers from 2**53 on"
STRINGS = "strings of them, such as X['id'].astype(str)"


def any_inexact(entries: NDArray[Any]) -> bool:
    """Whether some are numbers that no float is equal to, or may have been rounded from such."""
    if entries.dtype.kind in "fiub":
        return bool(np.any(np.abs(entries.astype(np.float64)) >= 2.0**53))
    return any(isinstance(entry, Real | Decimal) and _is_inexact(entry) for entry in entries.flat)


def _is_inexact(number: Any) -> bool:
    return bool(number == number and (abs(number) >= 2**53 or float(number) != number))
