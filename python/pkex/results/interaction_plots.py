"""Plots of interactions: a heat map of pairs, and bars of the strongest coalitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pkex.results.coefficients import Coefficients
from pkex.results.heat_map import draw_matrix
from pkex.results.options import Kind, PlotOptions
from pkex.results.plots import axes_for, draw_bars, literal, note_of_rest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The kinds of plots that interactions support.
INTERACTION_KINDS: tuple[Kind, ...] = ("heatmap", "bar")


def draw_interactions(
    coefficients: Coefficients, options: PlotOptions, index: str, output: str | None
) -> Axes:
    """Draw the coefficients of one output; see `Result.plot`.

    Parameters
    ----------
    coefficients : Coefficients
    options : PlotOptions
        By default a heat map if there are pairs of three features or more.
    index : str
        The interaction index.
    output : str, optional
        The name of the output.
    """
    has_matrix = coefficients.order > 1 and len(coefficients.features) > 2
    if options.kind == "heatmap" and not has_matrix:
        raise ValueError(
            "kind='heatmap' requires pairs of three features or more. Pass kind='bar', or compute "
            "interactions with order=2"
        )
    draw = _draw_matrix if has_matrix and options.kind != "bar" else _draw_strongest
    ax = draw(coefficients, options.ax, options.max_features)
    label = f"{coefficients.label} ({index})"
    ax.set_xlabel(label if output is None else f"{label}\nof '{literal(output, 50)}'")
    return ax


def _draw_matrix(coefficients: Coefficients, ax: Axes | None, count: int) -> Axes:
    """Draw the pairs among the features of the strongest coalitions."""
    features, _, sizes = coefficients.pairs(count)
    np.fill_diagonal(sizes, np.nan)
    names = [coefficients.features[j] for j in features]
    ax = axes_for(ax, len(names) + 6)
    draw_matrix(ax, sizes, names, names, label="", are_sizes=len(coefficients.values) > 1)
    title = "pairs of features" + ("" if coefficients.order == 2 else ", of all coalitions")
    ax.set_title(title + note_of_rest(len(coefficients.features) - len(names)))
    return ax


def _draw_strongest(coefficients: Coefficients, ax: Axes | None, count: int) -> Axes:
    """Draw the strongest coalitions as bars."""
    places = coefficients.strongest(count)
    n_rows, n_coalitions = coefficients.values.shape
    start = 0 if coefficients.order == 1 else len(coefficients.features)
    labels = [literal(coefficients.name(k, longest=18)) for k in places.tolist()]
    ax = axes_for(ax, len(labels))
    draw_bars(ax, labels, coefficients.sizes[places], are_sizes=n_rows > 1)
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    left_out = n_coalitions - start - len(places)
    ax.set_title(
        f"{rows}: the strongest {coefficients.thing}s" + note_of_rest(left_out, coefficients.thing),
    )
    return ax
