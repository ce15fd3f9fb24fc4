"""The picture of an explanation: which features, in which order, with which words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkex.display.plots import (
    axes_for,
    checked_count,
    draw_bars,
    draw_points,
    literal,
    note_of_rest,
)
from pkex.display.tables import number
from pkex.inputs.wording import counted, shown
from pkex.typing import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pkex.explain.explanation import Explanation

__all__ = ["plot_explanation"]


def plot_explanation(explanation: Explanation, ax: Axes | None, max_features: int) -> Axes:
    """Draw one row as bars, or many as points; see `Explanation.plot`."""
    count = checked_count(max_features)
    if explanation.output_names is not None:
        raise ValueError(
            "a picture shows one output: choose it by explanation[..., name].plot(), among "
            f"{shown(explanation.output_names)}"
        )
    if np.size(explanation.values) == 0:
        raise ValueError(f"there is nothing to draw: values has shape {explanation.shape}")
    names = explanation.feature_names
    values = np.reshape(explanation.values, (-1, len(names)))
    if len(values) == 1:
        base = np.ravel(explanation.base_values)[0]
        ax = _draw_row(ax, count, names, values[0], np.ravel(explanation.data), base)
        what = "Shapley value"
    else:
        ax = _draw_rows(ax, count, explanation, values)
        what = "Shapley value − its mean" if explanation._has_offsets else "Shapley value"
    notes = [explanation.value_function, "centered" if explanation.is_centered else None]
    game = ", ".join(note for note in notes if note)
    label = f"{what} ({game})" if game else what
    if explanation.output_name is not None:
        label += f"\nof '{literal(explanation.output_name, 50)}'"
    ax.set_xlabel(label)
    return ax


def _draw_row(
    ax: Axes | None,
    count: int,
    names: list[str],
    values: Float,
    data: NDArray[Any],
    base: float,
) -> Axes:
    order = np.argsort(-np.abs(values), kind="stable")
    order, others = order[:count], order[count:]
    labels = [f"{literal(names[j])} = {literal(number(data[j]), 20)}" for j in order]
    lengths = values[order]
    if others.size:
        labels.append(f"{counted(others.size, 'smaller one')} together")
        lengths = np.append(lengths, values[others].sum())
    ax = axes_for(ax, len(labels))
    draw_bars(ax, labels, lengths, n_grey=int(others.size > 0))
    total = base + values.sum()
    ax.set_title(f"base value {number(base)} + values = {number(total)}", fontsize="medium")
    return ax


def _draw_rows(ax: Axes | None, count: int, explanation: Explanation, values: Float) -> Axes:
    names = explanation.feature_names
    sizes = np.ravel(explanation.importance())
    order = np.argsort(-sizes, kind="stable")[:count]
    points = values[:, order]
    if explanation._has_offsets:
        points = points - points.mean(axis=0)
    data = np.reshape(explanation.data, values.shape)[:, order]
    shades = np.column_stack([_shades(column) for column in data.T])
    ax = axes_for(ax, len(order))
    draw_points(ax, [literal(names[j]) for j in order], sizes[order], points, shades)
    ax.set_title(
        f"{counted(len(values), 'row')}, grey bars: {explanation._importance_label}"
        + note_of_rest(len(names) - len(order)),
        fontsize="medium",
    )
    return ax


def _shades(column: NDArray[Any]) -> Float:
    """Return where entries lie between the low and the high ones; NaN if they are no numbers."""
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        return np.full(len(column), np.nan)
    numbers[~np.isfinite(numbers)] = np.nan
    if np.isnan(numbers).all():
        return numbers
    low, high = np.nanpercentile(numbers, [5.0, 95.0])
    if low == high:  # nearly all entries are the same
        low, high = np.nanmin(numbers), np.nanmax(numbers)
    if low == high:
        return np.where(np.isnan(numbers), np.nan, 0.5)
    shades: Float = np.clip((numbers - low) / (high - low), 0.0, 1.0)
    return shades
