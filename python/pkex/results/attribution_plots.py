"""Plots of attributions: the features that are drawn, their order and the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import counted
from pkex.results.options import Kind
from pkex.results.plots import (
    DEVIATIONS,
    axes_for,
    datum,
    draw_bars,
    draw_points,
    draw_scatter,
    literal,
    note_of_rest,
    short_numbers,
)
from pkex.results.row_values import RowValues
from pkex.typing import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The kinds of plots that attributions support.
KINDS: tuple[Kind, ...] = ("beeswarm", "bar", "waterfall", "scatter")


def draw_rows(rows: RowValues, ax: Axes | None, kind: Kind | None, count: int) -> Axes:
    """Draw the values of one output; see `Result.plot`.

    Parameters
    ----------
    rows : RowValues
        The values of one output.
    ax : matplotlib Axes, optional
    kind : str, optional
        By default "bar" for one row, "beeswarm" for several.
    count : int
        The largest number of features that are drawn.
    """
    if np.size(rows.values) == 0:
        raise ValueError(
            f"there is nothing to draw: values has shape {np.shape(rows.values)}. Explain at "
            "least one row and feature"
        )
    n_rows = np.size(rows.values) // len(rows.axes.features)
    kind = kind or ("bar" if n_rows == 1 else "beeswarm")
    if kind == "waterfall" and n_rows > 1:
        raise ValueError(
            f"kind='waterfall' draws one row; there are {n_rows}. Choose one: "
            "explanation[0].plot(kind='waterfall')"
        )
    if kind == "beeswarm" and n_rows == 1:
        raise ValueError(
            "kind='beeswarm' requires several rows; there is one. Pass kind='bar' or 'waterfall'"
        )
    if kind == "scatter":
        return _draw_scatter(rows, ax)
    if n_rows == 1:
        return _draw_row(rows, ax, count, is_waterfall=kind == "waterfall")
    return _draw_importance(rows, ax, count) if kind == "bar" else _draw_points(rows, ax, count)


def _by_row(rows: RowValues) -> tuple[Float, NDArray[Any]]:
    """Return values and data of shape (n, d)."""
    n_features = len(rows.axes.features)
    return np.reshape(rows.values, (-1, n_features)), np.reshape(rows.data, (-1, n_features))


def _points(rows: RowValues) -> tuple[Float, NDArray[np.bool_] | None]:
    """Return the positions of points, and which values have a 95 % interval that contains 0."""
    values, _ = _by_row(rows)
    points = values - values.mean(axis=0) if rows.has_offsets else values
    margins = None if rows.uncertainty is None else rows.uncertainty.margins
    is_pale = None if margins is None else np.abs(values) <= margins.reshape(values.shape)
    return points, is_pale


def _label_of_values(rows: RowValues, *, is_row: bool) -> str:
    """Return the label of an axis of values: the values, their value function and the output."""
    is_deviation = rows.has_offsets and not is_row
    what = "Shapley value − its mean" if is_deviation else "Shapley value"
    notes = [rows.value_function, "centered" if rows.is_centered else None]
    game = ", ".join(note for note in notes if note)
    label = f"{what} ({game})" if game else what
    output = rows.axes.output_name
    label = label if output is None else f"{label}\nof '{literal(output, 50)}'"
    return label if rows.loss_label is None else f"{label}\n{literal(rows.loss_label, 80)}"


def _draw_row(rows: RowValues, ax: Axes | None, count: int, *, is_waterfall: bool) -> Axes:
    """Draw one row: a bar for each of the largest values, and one for the sum of the others."""
    names = rows.axes.features
    (values,), (data,) = _by_row(rows)
    base = float(np.ravel(rows.base_values)[0])
    roots = None if rows.uncertainty is None else rows.uncertainty.changes(len(names))
    order = np.argsort(-np.abs(values), kind="stable")
    order, other_features = order[:count], order[count:]
    labels = [literal(names[j]) for j in order]
    if rows.has_data:
        data_texts = [literal(datum(data[j]), 20) for j in order]
        labels = [f"{name} = {value}" for name, value in zip(labels, data_texts, strict=True)]
    lengths, changes = values[order], None if roots is None else roots[order]
    if other_features.size:
        labels.append(counted(other_features.size, "other feature"))
        lengths = np.append(lengths, values[other_features].sum())
        if roots is not None:
            changes = np.concatenate([changes, roots[other_features].sum(axis=0)[None]])
    ax = axes_for(ax, len(labels))
    margins = None if changes is None else DEVIATIONS * np.sqrt(np.square(changes).sum(axis=1))
    total = base + values.sum()
    # Each bar of a waterfall starts where the bar below it ends, the last one at the base value.
    starts = base + np.append(np.cumsum(lengths[::-1])[::-1][1:], 0.0) if is_waterfall else None
    draw_bars(
        ax, labels, lengths, n_gray=int(other_features.size > 0), margins=margins, starts=starts
    )
    if starts is not None:
        _join(ax, starts, base, total)
    start, end = short_numbers(np.array([base, total]), lengths)
    sums = f"base value {start} + values = {end}" if rows.has_data else f"values add up to {end}"
    ax.set_title(f"{sums}{_note(roots)}")
    label = _label_of_values(rows, is_row=True)
    ax.set_xlabel(
        label.replace("Shapley value", "base value + Shapley values", 1) if is_waterfall else label
    )
    return ax


def _join(ax: Axes, starts: Float, base: float, total: float) -> None:
    """Draw lines between the bars of a waterfall, and at the base value and the output."""
    line: dict[str, Any] = {"color": "#555555", "linewidth": 0.8, "zorder": 0.5}
    for place, start in enumerate(starts[:-1]):
        ax.plot([start, start], [place, place + 1.0], **line)
    ax.axvline(base, linestyle=":", **line)
    ax.axvline(total, linestyle="--", **line)


def _draw_importance(rows: RowValues, ax: Axes | None, count: int) -> Axes:
    """Draw a bar for the importance of each feature."""
    names, sizes = rows.axes.features, np.ravel(rows.importance())
    order = np.argsort(-sizes, kind="stable")[:count]
    ax = axes_for(ax, len(order))
    draw_bars(ax, [literal(names[j]) for j in order], sizes[order], are_sizes=True)
    note = note_of_rest(len(names) - len(order))
    ax.set_title(f"{counted(len(rows), 'row')}{note}")
    label = _label_of_values(rows, is_row=True)
    ax.set_xlabel(
        label.replace("Shapley value", rows.importance_label.replace("value", "Shapley value"), 1)
    )
    return ax


def _draw_points(rows: RowValues, ax: Axes | None, count: int) -> Axes:
    """Draw a point for each row, over a bar of the feature's importance."""
    names, sizes = rows.axes.features, np.ravel(rows.importance())
    points, is_pale = _points(rows)
    _, data = _by_row(rows)
    order = np.argsort(-sizes, kind="stable")[:count]
    shades = np.column_stack([_shades(column) for column in data[:, order].T])
    ax = axes_for(ax, len(order))
    labels = [literal(names[j]) for j in order]
    pale = None if is_pale is None else is_pale[:, order]
    draw_points(ax, labels, sizes[order], points[:, order], shades, pale)
    ax.set_title(
        f"{counted(len(points), 'row')}, gray bars: {rows.importance_label}"
        + note_of_rest(len(names) - len(order))
        + _note(is_pale),
    )
    ax.set_xlabel(_label_of_values(rows, is_row=False))
    return ax


def _draw_scatter(rows: RowValues, ax: Axes | None) -> Axes:
    """Draw the values of one feature against its data."""
    names = rows.axes.features
    if len(names) > 1:
        strongest = names[int(np.argmax(np.ravel(rows.importance())))]
        raise ValueError(
            f"kind='scatter' draws one feature; there are {len(names)}. Choose one by "
            f"explanation[:, name], such as explanation[:, {strongest!r}].plot(kind='scatter')"
        )
    _, data = _by_row(rows)
    points, is_pale = _points(rows)
    ax = axes_for(ax, 8)
    draw_scatter(ax, data[:, 0], points[:, 0], None if is_pale is None else is_pale[:, 0])
    ax.set_title(f"{counted(len(points), 'row')}{_note(is_pale)}")
    ax.set_xlabel(literal(names[0]))
    ax.set_ylabel(_label_of_values(rows, is_row=len(points) == 1))
    return ax


def _note(uncertainty: NDArray[Any] | None) -> str:
    return "" if uncertainty is None else "\npale: the 95 % interval contains 0"


def _shades(column: NDArray[Any]) -> Float:
    """Return feature values scaled to [0, 1] between low and high; NaN if they are not numbers."""
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        return np.full(len(column), np.nan)
    numbers[~np.isfinite(numbers)] = np.nan
    if np.isnan(numbers).all():
        return numbers
    low, high = np.nanpercentile(numbers, [5.0, 95.0])
    if low == high:  # nearly all feature values are equal
        low, high = np.nanmin(numbers), np.nanmax(numbers)
    if low == high:
        return np.where(np.isnan(numbers), np.nan, 0.5)
    shades: Float = np.clip((numbers - low) / (high - low), 0.0, 1.0)
    return shades
