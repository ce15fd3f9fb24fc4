"""Pictures, drawn by matplotlib, which is imported when a picture is drawn."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pkex.display.tables import number, shortened
from pkex.inputs.optional import missing_library
from pkex.inputs.wording import counted
from pkex.statistics.report import SMALL_PVALUE
from pkex.typing import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pkex.statistics.results import Attribution

__all__ = [
    "axes_for",
    "checked_count",
    "draw_bars",
    "draw_points",
    "literal",
    "note_of_rest",
    "plot_attribution",
]

_VALUE, _ALONE, _PERMUTED = "#3b6ea5", "#d1632a", "#c9c9c9"
_NEGATIVE, _POSITIVE, _GREY = "#3b6ea5", "#c8452d", "#9a9a9a"
# The colours of points, from low to high.
_LOW_TO_HIGH = ("#2f6fb5", "#9a5ba5", "#d6402b")
# The longest label, in characters.
_LONGEST = 34


def checked_count(max_features: int) -> int:
    """Return how many features are drawn at most."""
    try:
        count = operator.index(max_features)
    except TypeError:
        raise TypeError(f"max_features must be a positive integer; got {max_features!r}") from None
    if count < 1:
        raise ValueError(f"max_features must be a positive integer; got {max_features}")
    return count


def axes_for(ax: Axes | None, n_bars: int) -> Axes:
    """Return the axes to draw in; in a new figure, high enough for the bars, if there are none.

    Raises
    ------
    TypeError
        If what was given is no Axes.
    """
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise missing_library("a picture", "matplotlib", "plots") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, 1.2 + 0.32 * n_bars), layout="constrained")
    elif not hasattr(ax, "barh"):
        raise TypeError(
            f"ax must be one Axes of matplotlib, such as plt.gca(), or left out; got {ax!r} "
            f"({type(ax).__name__}). All features are drawn, or the strongest max_features"
        )
    return ax


def note_of_rest(number: int) -> str:
    """Return a line for the end of a title that says how many are not shown, "" if all are."""
    if number == 0:
        return ""
    return f"\n{counted(number, 'smaller feature')} {'is' if number == 1 else 'are'} not shown"


def literal(text: str, longest: int = _LONGEST) -> str:
    """Return a text that matplotlib shows as it is, shortened: dollars are no mathematics."""
    return shortened(text, longest).replace("$", r"\$")


def draw_bars(ax: Axes, labels: Sequence[str], values: Float, n_grey: int = 0) -> None:
    """Draw numbers as bars from 0, the first on top, each with its number at its end.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of str of length n
    values : ndarray of shape (n,)
    n_grey : int, default 0
        How many of the last bars are grey; the others have the colour of their sign.
    """
    places = np.arange(len(values))
    colours = [_NEGATIVE if value < 0 else _POSITIVE for value in values]
    colours[len(values) - n_grey :] = [_GREY] * n_grey
    bars = ax.barh(places, values, height=0.65, color=colours)
    ax.bar_label(
        bars,
        [("" if value < 0 else "+") + number(value) for value in values],
        padding=3,
        fontsize="small",
    )
    ax.margins(x=0.22)
    _finish(ax, labels)


def draw_points(
    ax: Axes, labels: Sequence[str], sizes: Float, values: Float, shades: Float
) -> None:
    """Draw for each label a bar from 0, and points beside each other where they are many.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of str of length n
    sizes : ndarray of shape (n,)
        The lengths of the bars.
    values : ndarray of shape (rows, n)
        Where the points are.
    shades : ndarray of shape (rows, n)
        Their colours, from 0 (low) to 1 (high); NaN is grey.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("low to high", _LOW_TO_HIGH).with_extremes(
        bad=_GREY
    )
    low, high = values.min(), values.max()
    ax.barh(range(len(sizes)), sizes, height=0.8, color="#e3e3e3")
    for place in range(len(sizes)):
        column = values[:, place]
        points = ax.scatter(
            column,
            place + _spread(column, low, high),
            c=shades[:, place],
            cmap=colours,
            vmin=0.0,
            vmax=1.0,
            plotnonfinite=True,
            s=9.0,
            linewidths=0.0,
            zorder=2.0,
        )
        points.set_rasterized(len(column) > 1000)
    if not np.isnan(shades).all():
        bar = ax.figure.colorbar(
            points, ax=ax, fraction=0.03, pad=0.02, aspect=40, ticks=[0.0, 1.0]
        )
        bar.set_ticklabels(["low", "high"])
        bar.set_label("feature", labelpad=-14.0)
        bar.outline.set_visible(False)
    _finish(ax, labels)


def _spread(column: Float, low: float, high: float) -> Float:
    """Return offsets in [−0.36, 0.36]: points that are close take turns to both sides."""
    cells = np.floor(80.0 * (column - low) / max(high - low, np.finfo(float).tiny))
    order = np.argsort(cells, kind="stable")
    _, starts, counts = np.unique(cells[order], return_index=True, return_counts=True)
    turn = np.empty(len(column))
    turn[order] = np.arange(len(column)) - np.repeat(starts, counts)
    side = np.where(turn % 2 == 0, -1.0, 1.0) * np.ceil(turn / 2.0)
    offsets: Float = side * min(0.08, 0.72 / counts.max())
    return offsets


def _finish(ax: Axes, labels: Sequence[str]) -> None:
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0.0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def plot_attribution(result: Attribution, ax: Axes | None, max_features: int) -> Axes:
    """Draw the values of a statistic as bars; see `MMDResult.plot`."""
    max_features = checked_count(max_features)
    values = result.values
    strongest = np.argsort(-np.abs(values), kind="stable")[:max_features]
    # The largest value on top.
    order = strongest[np.argsort(values[strongest], kind="stable")]
    places = np.arange(len(order))
    # With a line more for the legend.
    ax = axes_for(ax, len(order) + 1)
    if result.permuted_values is not None:
        low, high = np.quantile(result.permuted_values[:, order], [0.025, 0.975], axis=0)
        ax.barh(
            places,
            high - low,
            left=low,
            height=0.9,
            color=_PERMUTED,
            label="95 % of relabelled values",
        )
    ax.barh(places, values[order], height=0.55, color=_VALUE, label="Shapley value")
    if result.standard_errors is not None:
        ax.errorbar(
            values[order],
            places,
            xerr=result.standard_errors[order],
            fmt="none",
            ecolor="black",
            elinewidth=1.0,
            capsize=2.5,
            label="± one standard error",
        )
    _draw_alone(result, ax, order)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(places, [result.feature_names[j] for j in order])
    ax.set_xlabel("contribution")
    ax.set_title(_title(result) + note_of_rest(len(values) - len(order)))
    _legend_below(ax)
    return ax


def _legend_below(ax: Axes) -> None:
    """Put the legend below the label of the x-axis, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    inches = ScaledTranslation(0.0, -0.45, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + inches,
        borderaxespad=0.0,
        fontsize="small",
        frameon=False,
        ncols=2,
    )


def _draw_alone(result: Attribution, ax: Axes, order: NDArray[np.intp]) -> None:
    """Draw a circle for each feature alone, filled where its test by itself finds something."""
    pvalues = result.alone_familywise_pvalues
    fill: str | list[str] = "none"
    label = "alone"
    if pvalues is not None:
        fill = [_ALONE if p <= SMALL_PVALUE else "none" for p in pvalues[order]]
        label = f"alone (filled: family-wise p ≤ {SMALL_PVALUE})"
    places = np.arange(len(order))
    ax.scatter(
        result.alone[order], places, s=36.0, zorder=3.0, c=fill, edgecolors=_ALONE, label=label
    )


def _title(result: Attribution) -> str:
    title = f"{result.label} = {result.statistic:.5g}"
    return title if result.pvalue is None else f"{title}, p = {result.pvalue:.3g}"
