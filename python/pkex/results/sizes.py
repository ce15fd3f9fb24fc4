"""Mean absolute values over rows."""

from __future__ import annotations

import numpy as np

from pkex.typing import Float


def mean_size(values: Float, value_function: str | None) -> Float:
    """Return the mean absolute value over the rows; neutral values of several rows are centered.

    Neutral values contain constants, equal in all rows, that depend on the amplitude of the model's
    coefficients rather than on the data.
    """
    if value_function == "neutral" and len(values) > 1:
        values = values - values.mean(axis=0)
    size: Float = np.abs(values).mean(axis=0)
    return size
