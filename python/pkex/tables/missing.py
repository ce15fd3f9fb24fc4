"""The test of missing values."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real

import numpy as np


def is_missing(value: object) -> bool:
    """Whether a value is missing: None, NaN, NaT or pandas' NA."""
    if isinstance(value, str | int):
        return False
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | Real | Decimal) and bool(value != value)
