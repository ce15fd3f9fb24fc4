"""Pictures of attributions: which features, in which order, with which words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import counted
from pkex.results.plots import DEVIATIONS, axes_for, draw_bars, draw_points, literal, note_of_rest
from pkex.results.result import Kind
from pkex.results.row_values import RowValues
from pkex.results.tables import number
from pkex.typing import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["KINDS", "draw_rows"]

# The pictures that there are of attributions.
KINDS: tuple[Kind, ...] = ("beeswarm", "bar")


def draw_rows(rows: RowValues, ax: Axes | None, kind: Kind | None, count: int) -> Axes:
    """Draw the values of one output; see `Result.plot`.

    Parameters
    ----------
    rows : RowValues
        Of one output.
    ax : matplotlib Axes, optional
    kind : str, optional
        By default bars of one row, points of several.
    count : int
        How many features are drawn at most.
    """
    if np.size(rows.values) == 0:
        raise ValueError(f"there is nothing to draw: values has shape {np.shape(rows.values)}")
    names = rows.axes.features
    uncertainty = rows.uncertainty
    parts = (rows.values, rows.data)
    values, data = (np.reshape(array, (-1, len(names))) for array in parts)
    if len(values) == 1:
        base = np.ravel(rows.base_values)[0]
        roots = None if uncertainty is None else uncertainty.changes(len(names))
        ax = _draw_row(ax, count, names, values[0], data[0], base, roots)
    else:
        has_offsets = rows.has_offsets
        points = values - values.mean(axis=0) if has_offsets else values
        sizes = np.ravel(rows.importance())
        margins = None if uncertainty is None else uncertainty.margins
        is_pale = None if margins is None else np.abs(values) <= margins.reshape(values.shape)
        label = rows.importance_label
        ax = _draw_rows(ax, count, names, sizes, points, data, label=label, is_pale=is_pale)
    ax.set_xlabel(_label_of_values(rows, is_row=len(values) == 1))
    return ax


def _label_of_values(rows: RowValues, *, is_row: bool) -> str:
    """Return what a picture shows, in words: the values, their game and the output."""
    is_deviation = rows.has_offsets and not is_row
    what = "Shapley value − its mean" if is_deviation else "Shapley value"
    notes = [rows.value_function, "centered" if rows.is_centered else None]
    game = ", ".join(note for note in notes if note)
    label = f"{what} ({game})" if game else what
    output = rows.axes.output_name
    return label if output is None else f"{label}\nof '{literal(output, 50)}'"


def _draw_row(
    ax: Axes | None,
    count: int,
    names: Sequence[str],
    values: Float,
    data: NDArray[Any],
    base: float,
    roots: Float | None = None,
) -> Axes:
    """Draw one row: a bar for each of the strongest values, and one for the others together.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    count : int
        How many features are drawn at most.
    names : sequence of str of length d
    values, data : ndarray of shape (d,)
    base : float
        The base value, for the title.
    roots : ndarray of shape (d, k), optional
        R of the covariances R Rᵀ of values, for lines about their ends.
    """
    order = np.argsort(-np.abs(values), kind="stable")
    order, others = order[:count], order[count:]
    labels = [f"{literal(names[j])} = {literal(number(data[j]), 20)}" for j in order]
    lengths, changes = values[order], None if roots is None else roots[order]
    if others.size:
        labels.append(f"{counted(others.size, 'smaller one')} together")
        lengths = np.append(lengths, values[others].sum())
        if roots is not None:
            changes = np.concatenate([changes, roots[others].sum(axis=0)[None]])
    ax = axes_for(ax, len(labels))
    margins = None if changes is None else DEVIATIONS * np.sqrt(np.square(changes).sum(axis=1))
    draw_bars(ax, labels, lengths, n_grey=int(others.size > 0), margins=margins)
    total = base + values.sum()
    ax.set_title(
        f"base value {number(base)} + values = {number(total)}{_note(roots)}", fontsize="medium"
    )
    return ax


def _draw_rows(
    ax: Axes | None,
    count: int,
    names: Sequence[str],
    sizes: Float,
    points: Float,
    data: NDArray[Any],
    *,
    label: str,
    is_pale: NDArray[np.bool_] | None = None,
) -> Axes:
    """Draw many rows: a point for each, over a bar of the feature's importance.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    count : int
        How many features are drawn at most.
    names : sequence of str of length d
    sizes : ndarray of shape (d,)
        The importance of each feature.
    points, data : ndarray of shape (n, d)
        Where the points are, and what their colours stand for.
    label : str
        What the bars are.
    is_pale : ndarray of bool, shape (n, d), optional
        Which points cannot be told from 0.
    """
    order = np.argsort(-sizes, kind="stable")[:count]
    shades = np.column_stack([_shades(column) for column in data[:, order].T])
    ax = axes_for(ax, len(order))
    labels = [literal(names[j]) for j in order]
    pale = None if is_pale is None else is_pale[:, order]
    draw_points(ax, labels, sizes[order], points[:, order], shades, pale)
    ax.set_title(
        f"{counted(len(points), 'row')}, grey bars: {label}"
        + note_of_rest(len(names) - len(order))
        + _note(is_pale),
        fontsize="medium",
    )
    return ax


def _note(uncertainty: NDArray[Any] | None) -> str:
    return "" if uncertainty is None else "\npale: not to be told from 0 (95 %)"


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
