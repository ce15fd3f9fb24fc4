"""Constants in values: importance without them, and the reference that values are centred by."""

from __future__ import annotations

import numpy as np

from pkex.results.axes import ROW, Axes
from pkex.typing import Float

__all__ = ["check_rows_of_reference", "check_same_base", "mean_size"]

# Base values of one explainer differ by rounding at most.
_TOLERANCE = 1e-9


def mean_size(values: Float, value_function: str | None) -> Float:
    """Return the mean absolute value over the rows, of neutral values that of what varies.

    Neutral values contain constants, the same for all rows, that depend on the amplitude of the
    model's coefficients rather than on the data. With itself, a single row does not vary.
    """
    if value_function == "neutral" and len(values) > 1:
        values = values - values.mean(axis=0)
    size: Float = np.abs(values).mean(axis=0)
    return size


def check_rows_of_reference(reference: Axes, n_rows: int, *, is_itself: bool) -> None:
    """Refuse a reference, perhaps the explanation itself, without rows to average over."""
    if ROW not in reference.present:
        raise ValueError(
            "a single row has no others to be compared with: give an explanation of some rows as "
            "the reference, as in explanation[0].centered(explanation)"
        )
    if n_rows == 0:
        raise ValueError("the reference has no rows to average over")
    if is_itself and n_rows == 1:
        raise ValueError(
            "a single row is its own mean, and its centred values would all be 0: give an "
            "explanation of several rows as the reference, as in "
            "explanation[:1].centered(explanation)"
        )


def check_same_base(base_values: Float, of_reference: Float, values: Float) -> None:
    """Refuse a reference of other base values: another explainer made it.

    Parameters
    ----------
    base_values : ndarray of shape (n,) or (n, outputs)
        Of the explanation.
    of_reference, values : ndarray of shape (m,) or (m, outputs) and (m, ...)
        Base values and values of the reference.
    """
    if base_values.size == 0:
        return
    its = np.mean(of_reference, axis=0)
    scale = np.abs(its) + np.abs(values).max(initial=0.0)
    if not np.all(np.abs(base_values.mean(axis=0) - its) <= _TOLERANCE * scale):
        raise ValueError(
            "the reference has other base values: the same explainer must have made it, and it "
            "must be centered exactly if the explanation is"
        )
