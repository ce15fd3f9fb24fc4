"""Heat maps of numbers by features and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pkex.results.palette import BLUE, VERMILION
from pkex.results.plots import axes_for, literal, note_of_rest
from pkex.typing import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The largest number of names along the columns.
_MAX_NAMES = 15
# Characters of names that fit side by side.
_MAX_CHARACTERS = 48


def draw_heat_map(
    ax: Axes | None,
    max_features: int,
    *,
    values: Float,
    names: Sequence[str],
    columns: Sequence[str],
    is_marked: NDArray[np.bool_] | None,
    mark_label: str | None,
    title: str,
) -> Axes:
    """Draw numbers as colors, blue below 0 and red above, the strongest feature on top.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    max_features : int
        The largest number of features: those with the largest absolute values are drawn.
    values : ndarray of shape (P, T)
    names, columns : sequence of str of length P and T
    is_marked : ndarray of bool, shape (T,), optional
        The columns that have a triangle above them.
    mark_label : str, optional
        The legend of the triangles.
    title : str
    """
    strength = np.abs(values).max(axis=1)
    order = np.argsort(-strength, kind="stable")[:max_features]
    ax = axes_for(ax, len(order) + 2)
    draw_matrix(ax, values[order], [names[j] for j in order], columns, label="Shapley value")
    if is_marked is not None and is_marked.any():
        ax.scatter(
            np.flatnonzero(is_marked), np.full(int(is_marked.sum()), -0.75), marker="v",
            color="#333333", s=22, clip_on=False, label=mark_label,
        )  # fmt: skip
        ax.set_ylim(len(order) - 0.5, -1.0)
        ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.2), frameon=False)
    ax.set_title(title + note_of_rest(len(values) - len(order)))
    return ax


def draw_matrix(
    ax: Axes,
    values: Float,
    names: Sequence[str],
    columns: Sequence[str],
    label: str,
    *,
    are_sizes: bool = False,
) -> None:
    """Draw a matrix of numbers as colors, with the names of lines and columns and a color bar.

    Parameters
    ----------
    ax : matplotlib Axes
    values : ndarray of shape (P, T)
        Cells with NaN are empty.
    names, columns : sequence of str of length P and T
    label : str
        The label of the color bar.
    are_sizes : bool, default False
        Whether the numbers are absolute values, for which colors start at 0.
    """
    from matplotlib.colors import LinearSegmentedColormap

    largest = float(np.nanmax(np.abs(values))) or 1.0
    # A list: matplotlib before 3.8 reads a tuple of two as a color and its opacity.
    tones, lowest = (["white", BLUE], 0.0) if are_sizes else ([BLUE, "white", VERMILION], -largest)
    image = ax.imshow(
        values, aspect="auto", cmap=LinearSegmentedColormap.from_list("values", tones), vmin=lowest,
        vmax=largest, interpolation="nearest",
    )  # fmt: skip
    ax.figure.colorbar(image, ax=ax, label=label, pad=0.02)
    ax.set_yticks(range(len(names)), [literal(name) for name in names])
    step = -(-len(columns) // _MAX_NAMES)
    places = range(0, len(columns), step)
    labels = [literal(columns[t], 16) for t in places]
    if sum(map(len, labels)) > _MAX_CHARACTERS:
        ax.set_xticks(places, labels, rotation=45, ha="right")
    else:
        ax.set_xticks(places, labels)
