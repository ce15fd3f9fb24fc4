"""Values minus their mean over the rows of a reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pkex.results.axes import FEATURE, ROW, Axes
from pkex.results.row_values import RowValues
from pkex.typing import Float

# Base values of one explainer differ by rounding at most.
_TOLERANCE = 1e-9


def center_values(rows: RowValues, reference: RowValues) -> RowValues:
    """Return values minus their mean over the rows of a reference; see `Attribution.centered`.

    Parameters
    ----------
    rows, reference : RowValues
        The two may be the same object.

    Raises
    ------
    ValueError
        If the reference has no rows, or different features, outputs, base values or value function.
    """
    _check_reference(rows, reference)
    mean = reference.values.mean(axis=0)
    shift = mean.sum(axis=0) if FEATURE in rows.axes.present else mean
    return replace(
        rows,
        values=rows.values - mean,
        base_values=rows.base_values + shift,
        is_centered=True,
        # The uncertainty of the mean requires covariances between rows.
        uncertainty=None
        if rows.uncertainty is None
        else rows.uncertainty.centered(reference.uncertainty),
    )


def _check_reference(rows: RowValues, reference: RowValues) -> None:
    """Raise ValueError if values cannot be centered by a reference."""
    is_itself = reference is rows
    n_rows = len(reference) if ROW in reference.axes.present else 1
    _check_rows(reference.axes, n_rows, is_itself=is_itself)
    rows.axes.check_same(reference.axes)
    if reference.value_function != rows.value_function:
        raise ValueError(
            f"reference has value_function={reference.value_function!r}, but the explanation has "
            f"{rows.value_function!r}; both must be the same"
        )
    if not is_itself:
        base_values = np.asarray(rows.base_values)
        base_values_by_row = base_values if ROW in rows.axes.present else base_values[None]
        _check_same_base(base_values_by_row, reference.base_values, reference.values)


def _check_rows(reference: Axes, n_rows: int, *, is_itself: bool) -> None:
    """Raise ValueError if a reference, perhaps the explanation itself, has too few rows."""
    if ROW not in reference.present:
        raise ValueError(
            "reference is a single row; several rows are required. Pass an explanation of several "
            "rows as the reference, as in explanation[0].centered(explanation)"
        )
    if n_rows == 0:
        raise ValueError("reference has no rows to average over")
    if is_itself and n_rows == 1:
        raise ValueError(
            "a single row is its own mean, so its centered values would all be 0. Pass an "
            "explanation of several rows as the reference, as in "
            "explanation[:1].centered(explanation)"
        )


def _check_same_base(base_values: Float, reference_base_values: Float, values: Float) -> None:
    """Raise ValueError if a reference has different base values, hence another explainer.

    Parameters
    ----------
    base_values : ndarray of shape (n,) or (n, outputs)
        Base values of the explanation.
    reference_base_values, values : ndarray of shape (m,) or (m, outputs) and (m, ...)
        Base values and values of the reference.
    """
    if base_values.size == 0:
        return
    reference_mean = np.mean(reference_base_values, axis=0)
    scale = np.abs(reference_mean) + np.abs(values).max(initial=0.0)
    if not np.all(np.abs(base_values.mean(axis=0) - reference_mean) <= _TOLERANCE * scale):
        raise ValueError(
            "reference has different base values from the explanation. Pass an explanation by the "
            "same explainer, centered if and only if this explanation is centered"
        )
