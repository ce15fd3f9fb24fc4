"""Plots with matplotlib, which is imported when a plot is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.integers import as_integer
from pkex.inputs.optional import missing_library
from pkex.inputs.wording import counted
from pkex.results.options import Kind
from pkex.results.palette import BLUE, GRAY, LIGHT_GRAY, LOW_TO_HIGH, STYLE, VERMILION
from pkex.results.tables import number, shortened
from pkex.typing import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A normal distribution has 95 % within so many standard deviations of its mean.
DEVIATIONS = 1.959964

_VALUE, _MARK, _BAND = BLUE, VERMILION, LIGHT_GRAY
_NEGATIVE, _POSITIVE, _GRAY = BLUE, VERMILION, GRAY
# The opacity of pale colors.
_PALE = 0.3
# Numbers are written out if the largest is at least the first and less than the second; feature
# values and sums, whose last digits matter, if they are less than the third.
_TINY, _HUGE, _LONG = 1e-3, 1e5, 1e10
# Names along an axis of categories, at most.
_MAX_NAMES = 15
# The longest label, in characters.
_MAX_LENGTH = 34


def checked_count(max_features: int) -> int:
    """Return the largest number of features that are drawn, after a check."""
    return as_integer("max_features", max_features, "a positive integer", least=1)


def style_for(ax: Axes | None) -> AbstractContextManager[None]:
    """Return the context to draw in: pkex's style in a new figure, the user's own in given axes.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        from matplotlib import style
    except ImportError as error:
        raise missing_library("a picture", "matplotlib", "plots") from error
    context: AbstractContextManager[None] = style.context(STYLE)
    return context if ax is None else nullcontext()


def short_numbers(values: Float, changes: Float | None = None) -> list[str]:
    """Return numbers with the decimals of three significant digits of the largest.

    They have the minus sign of matplotlib's axes. Sums of `changes` have the decimals of the
    largest change if these are more, and at most ten digits: an offset would hide the changes
    otherwise.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return ["0"] * len(values)
    change = 0.0 if changes is None else float(np.abs(changes).max(initial=0.0))
    if not _TINY <= largest < (_HUGE if change == 0.0 else _LONG):
        texts = [f"{value:.2e}" for value in values]
    else:
        decimals = 2 - math.floor(math.log10(min(change or largest, largest)))
        decimals = min(decimals, 9 - math.floor(math.log10(largest)))
        texts = [f"{round(float(value), decimals):z.{max(decimals, 0)}f}" for value in values]
    return [text.replace("-", "−") for text in texts]


def datum(value: Any) -> str:
    """Return a feature value with three significant digits, integers and texts as they are."""
    if not isinstance(value, float | np.floating) or float(value).is_integer():
        return number(value)
    return f"{value:.0f}" if 100.0 <= abs(float(value)) < _LONG else f"{value:.3g}"


def axes_for(ax: Axes | None, n_bars: int) -> Axes:
    """Return the axes to draw in: by default those of a new figure with room for the bars.

    Raises
    ------
    TypeError
        If `ax` is not an Axes.
    """
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(7.0, 1.2 + 0.32 * n_bars), layout="constrained")
    elif not hasattr(ax, "barh"):
        fix = "One plot shows all features, or the strongest max_features"
        if repr(ax) in map(repr, get_args(Kind)):
            fix = f"For a kind of plot, pass kind={ax!r}"
        raise TypeError(
            f"ax must be an Axes of matplotlib, such as plt.gca(), or None; got {ax!r} "
            f"({type(ax).__name__}). {fix}"
        )
    return ax


def note_of_rest(number: int, thing: str = "feature") -> str:
    """Return a last line of a title with the number of things not shown, "" for 0."""
    if number == 0:
        return ""
    return f"\n{counted(number, f'smaller {thing}')} {'is' if number == 1 else 'are'} not shown"


def literal(text: str, longest: int = _MAX_LENGTH) -> str:
    """Return a shortened text for matplotlib, with dollar signs escaped."""
    return shortened(text, longest).replace("$", r"\$")


def draw_bars(
    ax: Axes,
    labels: Sequence[str],
    values: Float,
    n_gray: int = 0,
    margins: Float | None = None,
    starts: Float | None = None,
    *,
    are_sizes: bool = False,
) -> None:
    """Draw horizontal bars, the first on top, each with its number at its end.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of str of length n
    values : ndarray of shape (n,)
    n_gray : int, default 0
        The number of last bars that are gray; the others have the color of their sign.
    margins : ndarray of shape (n,), optional
        Half the length of error bars; a bar whose error bar reaches its start is pale.
    starts : ndarray of shape (n,), optional
        Where bars start, if not at 0.
    are_sizes : bool, default False
        Whether the numbers are absolute values: then all bars have one color.
    """
    places = np.arange(len(values))
    colors = [_NEGATIVE if value < 0 else _POSITIVE for value in values]
    if are_sizes:
        colors = [_VALUE] * len(values)
    colors[len(values) - n_gray :] = [_GRAY] * n_gray
    bars = ax.barh(
        places, values, height=0.65, left=0.0 if starts is None else starts, color=colors,
        xerr=margins, ecolor="#555555", capsize=2.5,
    )  # fmt: skip
    if margins is not None:
        for bar, is_pale in zip(bars, np.abs(values) <= margins, strict=True):
            bar.set_alpha(_PALE if is_pale else None)
    ax.bar_label(
        bars,
        [
            ("+" if value > 0.0 and not are_sizes else "") + text
            for value, text in zip(values, short_numbers(values), strict=True)
        ],
        padding=3,
    )
    # Room for the numbers on both sides, unless all bars start at 0.
    ax.use_sticky_edges = starts is None
    ax.margins(x=0.22)
    _finish(ax, labels, has_zero=starts is None)


def draw_points(
    ax: Axes,
    labels: Sequence[str],
    sizes: Float,
    values: Float,
    shades: Float,
    is_pale: NDArray[np.bool_] | None = None,
) -> None:
    """Draw a beeswarm plot: for each label, a bar from 0 and points that do not overlap.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of str of length n
    sizes : ndarray of shape (n,)
        The lengths of the bars.
    values : ndarray of shape (rows, n)
        The positions of the points.
    shades : ndarray of shape (rows, n)
        The colors of the points, from 0 (low) to 1 (high); NaN is gray.
    is_pale : ndarray of bool, shape (rows, n), optional
        Whether points are pale.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("low to high", LOW_TO_HIGH).with_extremes(bad=_GRAY)
    low, high = values.min(), values.max()
    ax.barh(range(len(sizes)), sizes, height=0.8, color=LIGHT_GRAY)
    for place in range(len(sizes)):
        column = values[:, place]
        points = ax.scatter(
            column,
            place + _spread(column, low, high),
            c=shades[:, place],
            cmap=colors,
            vmin=0.0,
            vmax=1.0,
            plotnonfinite=True,
            s=9.0,
            linewidths=0.0,
            zorder=2.0,
        )
        if is_pale is not None:
            points.set_alpha(np.where(is_pale[:, place], _PALE, 1.0).tolist())
        points.set_rasterized(len(column) > 1000)
    if not np.isnan(shades).all():
        bar = ax.figure.colorbar(points, ax=ax, fraction=0.03, pad=0.02, aspect=40, ticks=[])
        bar.set_label("feature value (low → high)")
        bar.outline.set_visible(False)
    _finish(ax, labels)


def draw_scatter(
    ax: Axes, data: NDArray[Any], values: Float, is_pale: NDArray[np.bool_] | None = None
) -> None:
    """Draw a point for each row: its Shapley value against its feature value.

    Parameters
    ----------
    ax : matplotlib Axes
    data : ndarray of shape (n,)
        Numbers or dates, or categories, which are drawn in alphabetical order.
    values : ndarray of shape (n,)
    is_pale : ndarray of bool, shape (n,), optional
        Whether points are pale.
    """
    places: NDArray[Any] = data
    if data.dtype.kind not in "biufM":
        try:
            places = data.astype(np.float64)
        except (TypeError, ValueError):
            names, places = np.unique([str(entry) for entry in data], return_inverse=True)
            step = -(-len(names) // _MAX_NAMES)
            ticks = range(0, len(names), step)
            ax.set_xticks(ticks, [literal(names[k], 16) for k in ticks], rotation=45, ha="right")
    points = ax.scatter(places, values, s=14.0, c=_VALUE, linewidths=0.0, zorder=2.0)
    if is_pale is not None:
        points.set_alpha(np.where(is_pale, _PALE, 1.0).tolist())
    points.set_rasterized(len(values) > 1000)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)


def _spread(column: Float, low: float, high: float) -> Float:
    """Return offsets in [−0.36, 0.36] that alternate between both sides for close points."""
    cells = np.floor(80.0 * (column - low) / max(high - low, np.finfo(float).tiny))
    order = np.argsort(cells, kind="stable")
    _, starts, counts = np.unique(cells[order], return_index=True, return_counts=True)
    turn = np.empty(len(column))
    turn[order] = np.arange(len(column)) - np.repeat(starts, counts)
    side = np.where(turn % 2 == 0, -1.0, 1.0) * np.ceil(turn / 2.0)
    offsets: Float = side * min(0.08, 0.72 / counts.max())
    return offsets


def _finish(ax: Axes, labels: Sequence[str], *, has_zero: bool = True) -> None:
    if has_zero:
        ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0.0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def draw_statistic(
    ax: Axes | None,
    max_features: int,
    *,
    names: Sequence[str],
    values: Float,
    standard_errors: Float | None,
    alone: Float,
    is_filled: NDArray[np.bool_] | None,
    fill_label: str,
    permuted_values: Float | None,
    title: str,
) -> Axes:
    """Draw the values of a statistic as bars, the largest on top.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    max_features : int
        The largest number of features: the strongest are drawn.
    names : sequence of str of length P
    values, standard_errors : ndarray of shape (P,)
    alone : ndarray of shape (P,)
        The univariate value of each feature, drawn as a circle.
    is_filled : ndarray of bool, shape (P,), optional
        Whether circles are filled.
    fill_label : str
        The legend of filled circles.
    permuted_values : ndarray of shape (n_permutations, P), optional
        Values after permutations; bands contain 95 % of them.
    title : str
    """
    strongest = np.argsort(-np.abs(values), kind="stable")[:max_features]
    order = strongest[np.argsort(values[strongest], kind="stable")]
    places = np.arange(len(order))
    # One line more, for the legend.
    ax = axes_for(ax, len(order) + 1)
    if permuted_values is not None:
        _draw_bands(ax, places, permuted_values[:, order])
    ax.barh(places, values[order], height=0.55, color=_VALUE, label="Shapley value")
    if standard_errors is not None:
        _draw_errors(ax, places, values[order], standard_errors[order])
    fill: str | list[str] = "none"
    if is_filled is not None:
        fill = [_MARK if flag else "none" for flag in is_filled[order]]
    label = "univariate" if is_filled is None else f"univariate (filled: {fill_label})"
    ax.scatter(alone[order], places, s=36.0, zorder=3.0, c=fill, edgecolors=_MARK, label=label)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(places, [names[j] for j in order])
    ax.set_xlabel("contribution")
    ax.set_title(title + note_of_rest(len(values) - len(order)))
    _legend_below(ax)
    return ax


def _draw_bands(ax: Axes, places: NDArray[np.intp], permuted_values: Float) -> None:
    low, high = np.quantile(permuted_values, [0.025, 0.975], axis=0)
    label = "95 % of permuted values"
    ax.barh(places, high - low, left=low, height=0.9, color=_BAND, label=label)


def _draw_errors(ax: Axes, places: NDArray[np.intp], values: Float, errors: Float) -> None:
    ax.errorbar(
        values,
        places,
        xerr=errors,
        fmt="none",
        ecolor="black",
        elinewidth=1.0,
        capsize=2.5,
        label="± one standard error",
    )


def _legend_below(ax: Axes) -> None:
    """Add a legend below the label of the x-axis, where it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    inches = ScaledTranslation(0.0, -0.45, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + inches,
        borderaxespad=0.0,
        frameon=False,
        ncols=2,
    )


def draw_indices(
    ax: Axes | None,
    max_features: int,
    names: Sequence[str],
    effects: Float,
    first: Float,
    total: Float,
    title: str,
    intervals: Float | None = None,
) -> Axes:
    """Draw Shapley effects as bars, and lines from first-order to total Sobol indices.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    max_features : int
        The largest number of features: those with the largest effects are drawn.
    names : sequence of str of length P
    effects, first, total : ndarray of shape (P,)
    title : str
    intervals : ndarray of shape (2, P), optional
        The ends of 95 % intervals of the effects.
    """
    order = np.argsort(-effects, kind="stable")[:max_features]
    ax = axes_for(ax, len(order))
    places = np.arange(len(order))
    ax.barh(places, effects[order], color=_VALUE, alpha=0.55, label="Shapley effect")
    ax.hlines(places, first[order], total[order], color=_MARK, linewidth=1.5)
    # Circles at 0 are not clipped.
    circles: dict[str, Any] = {"color": _MARK, "clip_on": False, "zorder": 3.0}
    ax.plot(first[order], places, "o", markerfacecolor="white", label="first order", **circles)
    ax.plot(total[order], places, "o", label="total", **circles)
    if intervals is not None:
        # Below the lines of the indices, which are in the middle of the bars.
        low, high = intervals[:, order]
        ax.hlines(places + 0.25, low, high, color=_VALUE, linewidth=3.0, label="effect, 95 %")
    ax.set_yticks(places, [literal(names[j]) for j in order])
    ax.invert_yaxis()
    ax.set_xlabel("share of the variance")
    ax.set_title(f"{literal(title, 60)}{note_of_rest(len(names) - len(order))}")
    ax.legend(loc="lower right")
    return ax
