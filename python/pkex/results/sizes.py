"""The size of values over rows."""

from __future__ import annotations

import numpy as np

from pkex.typing import Float

__all__ = ["mean_size"]


def mean_size(values: Float, value_function: str | None) -> Float:
    """Return the mean absolute value over the rows, of neutral values that of what varies.

    Neutral values contain constants, the same for all rows, that depend on the amplitude of the
    model's coefficients rather than on the data. With itself, a single row does not vary.
    """
    if value_function == "neutral" and len(values) > 1:
        values = values - values.mean(axis=0)
    size: Float = np.abs(values).mean(axis=0)
    return size
