"""Means of values of losses over rows, with standard errors: SAGE values and shares of R²."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np

from pkex.results.axes import FEATURE, ROW
from pkex.results.row_values import Reduction, RowValues
from pkex.results.uncertainty import Uncertainty
from pkex.typing import Float

# Calls by the kind of reduction, for messages.
_CALLS: dict[Reduction, str] = {"mean": "sage", "share": "r2_shares"}


def reductions(rows: RowValues, kind: Reduction) -> RowValues:
    """Return the reduction of the mean loss by each feature, or its share, with standard errors.

    The weighted mean of −φ_ij over rows i is the reduction. Its share is the ratio to the mean of
    the losses v_i(∅) of the base value. The standard error of the ratio is that of the mean of
    −φ_ij − share_j · v_i(∅), divided by the mean of v_i(∅) (delta method).

    Parameters
    ----------
    rows : RowValues
        Values of a loss.
    kind : {"mean", "share"}

    Raises
    ------
    ValueError
        If they are values of another function, or of fewer than two rows.
    """
    _check(rows, kind)
    values, uncertainty = -rows.values, rows.uncertainty
    weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
    weights = weights / weights.sum()
    bases, scale = _aligned_bases(rows), np.ones(())
    means = _mean(values, weights)
    if kind == "share":
        scale = _mean(bases, weights)
        if not np.all(scale > 0.0):
            raise ValueError(
                "r2_shares divides by the mean loss of the base value, which is 0 for these rows"
            )
        means = means / scale
        values = values - means * bases
    errors = _standard_errors(values, weights)
    if uncertainty is not None and uncertainty.standard_errors is not None:
        # Rows share their draws, so their sampling errors may all have the same sign.
        errors = np.hypot(errors, _mean(uncertainty.standard_errors, weights))
    axes = replace(rows.axes, present=tuple(rows.axes.without(ROW)), row_index=None)
    names = rows.axes.features
    data = np.full(len(names), np.nan) if FEATURE in rows.axes.present else np.array(np.nan)
    return replace(
        rows,
        values=means[()],
        base_values=np.zeros(rows.base_values.shape[1:])[()],
        data=data[()],
        axes=axes,
        uncertainty=Uncertainty((errors / scale)[()]),
        sample_weight=None,
        documents=None,
        reduction=kind,
    )


def _check(rows: RowValues, kind: Reduction) -> None:
    call = _CALLS[kind]
    if rows.loss is None:
        _raise(call, "these are values of an output")
    if rows.reduction is not None:
        _raise(call, "these are means over rows already")
    if rows.is_centered:
        _raise(call, "centered values have a mean of 0")
    n_rows = len(rows) if ROW in rows.axes.present else 1
    if n_rows < 2:
        raise ValueError(
            f"{call} averages over rows and estimates the standard error from their spread, which "
            f"requires two rows or more; there are {n_rows}"
        )
    weights = rows.sample_weight
    if weights is not None and np.count_nonzero(weights) < 2:
        raise ValueError(
            f"{call} requires two rows or more with a positive sample_weight; there are "
            f"{np.count_nonzero(weights)}"
        )


def _raise(call: str, reason: str) -> NoReturn:
    raise ValueError(
        f"{call} requires the values of a loss in several rows; {reason}. Explain the loss by "
        f"explainer.loss(X, y), and call explainer.loss(X, y).{call}()"
    )


def _aligned_bases(rows: RowValues) -> Float:
    """Return base values in a shape that broadcasts against the values."""
    has_features = FEATURE in rows.axes.present
    return np.expand_dims(rows.base_values, 1) if has_features else rows.base_values


def _mean(values: Float, weights: Float) -> Float:
    """Return the weighted mean over rows."""
    mean: Float = np.tensordot(weights, values, axes=1)
    return mean


def _standard_errors(values: Float, weights: Float) -> Float:
    """Return the standard error of the weighted mean over independent rows."""
    deviations = values - _mean(values, weights)
    # Weights of 0 are rows that are not there.
    n_rows = np.count_nonzero(weights)
    variance = np.tensordot(np.square(weights), np.square(deviations), axes=1)
    errors: Float = np.sqrt(variance * (n_rows / (n_rows - 1)))
    return errors
