"""Figures of columns: distributions in two samples, and the dependence of two columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.column_values import MISSING, ColumnValues, are_few
from pkex.results.report import Figure, percent
from pkex.results.svg import Drawing, Scale, lanes
from pkex.results.tables import shortened
from pkex.typing import Float

# The largest numbers of levels, classes of a target, points, and bins that are drawn.
_MAX_LEVELS, _MAX_CLASSES, _MAX_POINTS, _MAX_BINS = 8, 5, 300, 30
_BOX = "median, middle half and middle 90 % of rows"
# The margin, the height and the room for an axis of figures, in pixels.
_TOP, _HEIGHT, _AXIS = 6.0, 130.0, 20.0
# The distance between levels, in pixels.
_STEP = 42.0


def comparison_figure(
    name: str, first: ColumnValues, second: ColumnValues, labels: tuple[str, str]
) -> Figure:
    """Return a figure that compares the distributions of a column in two samples.

    Parameters
    ----------
    name : str
    first, second : ColumnValues
    labels : tuple of str
        The names of the samples.
    """
    title = f"{name} in {labels[0]} and {labels[1]}"
    are_alike = first.are_dates == second.are_dates
    if not (are_alike and _hold_numbers(first, second)) or are_few(first, second):
        legend = (("first", labels[0]), ("second", labels[1]))
        return Figure(name, _levels(title, first, second), "Shares of rows", legend)
    words = "; ".join(
        f"{label}: {column.in_words()}"
        for label, column in zip(labels, (first, second), strict=True)
    )
    if first.missing_share or second.missing_share:
        words += f"; missing: {_change((first.missing_share, second.missing_share))}"
    legend = (("area", labels[0]), ("line", labels[1]))
    return Figure(name, _histogram(title, words, first, second), words, legend)


def _hold_numbers(*columns: ColumnValues) -> bool:
    return all(column.numbers is not None for column in columns)


def _levels(title: str, first: ColumnValues, second: ColumnValues) -> str:
    """Draw the share of each level in both samples."""
    counts = [column.as_levels().counts() for column in (first, second)]
    sizes = [max(sum(count.values()), 1) for count in counts]
    order = _order_levels(counts[0] + counts[1])
    levels = order if len(order) <= _MAX_LEVELS + 2 else order[:_MAX_LEVELS]
    pairs = np.array(
        [[count[level] / n for count, n in zip(counts, sizes, strict=True)] for level in levels]
    )
    names = list(levels)
    if n_others := len(order) - len(levels):
        names.append(f"({counted(n_others, 'other')})")
        pairs = np.vstack([pairs, 1.0 - pairs.sum(axis=0)])
    texts = [_change(pair) for pair in pairs.tolist()]
    return lanes(title, names, pairs, texts)


def _order_levels(counts: Counter[str]) -> list[str]:
    """Return levels in ascending order if they are few numbers, otherwise by frequency."""
    frequent = [level for level, _ in counts.most_common()]
    are_numbers = not any(_order_key(level)[0] for level in frequent if level != MISSING)
    if are_numbers and len(frequent) <= _MAX_LEVELS + 2:
        return sorted(frequent, key=_order_key)
    return frequent


def _histogram(title: str, words: str, first: ColumnValues, second: ColumnValues) -> str:
    """Draw the shares of rows in bins: filled for one sample, a line for the other."""
    values = np.concatenate([first.finite_numbers, second.finite_numbers])
    low, high = _range(values)
    n_bins = min(_MAX_BINS, max(8, round(np.sqrt(len(values)))))
    edges = np.linspace(low, high, n_bins + 1)
    shares = [
        np.histogram(np.clip(column.finite_numbers, low, high), edges)[0]
        / max(len(column.finite_numbers), 1)
        for column in (first, second)
    ]
    top = max(float(np.max(shares)), 1e-300)
    missing = (first.missing_share, second.missing_share)
    has_missing = max(missing) > 0.0
    height = _TOP + _HEIGHT + _AXIS
    drawing = Drawing(title, words, height + 40.0 * has_missing)
    scale = Scale(low, high)
    for kind, heights in zip(("first area", "second line"), shares, strict=True):
        drawing.path(kind, _steps(scale, edges, 98.0 * heights / top), _TOP, _HEIGHT)
    ends = "≤ " * bool(values.min() < low), "≥ " * bool(values.max() > high)
    _axis(drawing, first, (low, high), ends)
    if has_missing:
        drawing.labels("missing", _change(missing), height + 14.0)
        drawing.pair(missing, Scale(0.0, 1.0), height + 20.0)
    return drawing.markup()


def _change(pair: Sequence[float]) -> str:
    return f"{percent(pair[0])} → {percent(pair[1])}"


def _range(values: Float) -> tuple[float, float]:
    """Return the range of a histogram, which excludes outliers."""
    minimum, low, high, maximum = np.quantile(values, [0.0, 0.005, 0.995, 1.0]).tolist()
    margin = 0.5 * (high - low)
    return (
        minimum if minimum >= low - margin or margin == 0.0 else low,
        maximum if maximum <= high + margin or margin == 0.0 else high,
    )


def _steps(scale: Scale, edges: Float, heights: Float) -> str:
    """Return the SVG path of a histogram, closed along its base line."""
    places = [f"{scale.place(edge):.2f}" for edge in edges.tolist()]
    steps = [
        f"V{100.0 - height:.2f}H{end}"
        for height, end in zip(heights.tolist(), places[1:], strict=True)
    ]
    return f"M{places[0]} 100{''.join(steps)}V100"


def _axis(
    drawing: Drawing,
    column: ColumnValues,
    ends: tuple[float, float],
    signs: tuple[str, str] = ("", ""),
) -> None:
    """Draw a horizontal axis below the figure, with labels at its ends and its middle."""
    ground = _TOP + _HEIGHT
    drawing.add("line", x1="0", x2="100%", y1=ground, y2=ground, kind="axis")
    low, high = ends
    drawing.label(signs[0] + column.text(low), ground + 15.0)
    if not column.are_dates:
        drawing.label(column.text(low / 2.0 + high / 2.0), ground + 15.0, "50%", "middle")
    drawing.label(signs[1] + column.text(high), ground + 15.0, "100%", "end")


def dependence_figure(
    name: str, column: ColumnValues, other_name: str, other: ColumnValues
) -> Figure:
    """Return a figure of the dependence of another column, such as a target, on a column.

    Two numeric columns are drawn as points; a numeric and a categorical one as quartiles for each
    level; two categorical ones as shares.
    """
    title = f"{other_name} by {name}"
    if _are_many(column) and _are_many(other):
        ends = Scale.of(other.finite_numbers)
        span = f"{other.text(ends.low)} to {other.text(ends.high)}"
        caption = f"{other_name}, upwards from {span}, by {name}; up to {_MAX_POINTS} rows"
        return Figure(name, _points(title, column, other), caption)
    if _are_many(other):
        picture = _boxes(title, column.as_levels(), other)
        return Figure(name, picture, f"{other_name} for each {name}: {_BOX}")
    if _are_many(column):
        picture = _boxes(f"{name} by {other_name}", other.as_levels(), column)
        return Figure(name, picture, f"{name} for each {other_name}: {_BOX}")
    return _stacks(title, name, column.as_levels(), other_name, other.as_levels())


def _are_many(column: ColumnValues) -> bool:
    return _hold_numbers(column) and not are_few(column)


def _points(title: str, column: ColumnValues, other: ColumnValues) -> str:
    x, y = column.numbers, other.numbers
    assert x is not None, "numeric column"
    assert y is not None, "numeric column"
    complete_rows = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    rows = complete_rows
    if len(complete_rows) > _MAX_POINTS:
        rows = np.random.default_rng(0).choice(complete_rows, _MAX_POINTS, replace=False)
    x_scale, y_scale = Scale.of(x[complete_rows]), Scale.of(y[complete_rows])
    correlation = _rank_correlation(x[complete_rows], y[complete_rows])
    rank = f"rank correlation {correlation:.2f}" if np.isfinite(correlation) else "one is constant"
    words = counted(len(rows), "point")
    if len(complete_rows):
        words += (
            f", {rank}; vertical axis from {other.text(y_scale.low)} to {other.text(y_scale.high)}"
        )
    drawing = Drawing(title, words, _TOP + _HEIGHT + _AXIS)
    for row in rows.tolist():
        y_place = _TOP + (_HEIGHT - 4.0) * (1.0 - (y_scale.place(y[row]) - 1.0) / 98.0)
        drawing.add("circle", cx=x_scale.at(float(x[row])), cy=y_place, r=2.5, kind="point")
    _axis(drawing, column, (x_scale.low, x_scale.high))
    return drawing.markup()


def _rank_correlation(x: Float, y: Float) -> float:
    """Return the rank correlation of two columns; NaN if one is constant or empty."""
    if not len(x):
        return float("nan")
    left, right = (ranks - ranks.mean() for ranks in (_ranks(x), _ranks(y)))
    size = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / size if size > 0.0 else float("nan")


def _ranks(values: Float) -> Float:
    """Return ranks; equal numbers have the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Float = (np.cumsum(counts) - counts / 2.0)[places]
    return ranks


def _boxes(title: str, groups: ColumnValues, column: ColumnValues) -> str:
    """Draw the quartiles of a column for each level of another, one below the other."""
    assert groups.levels is not None, "categorical column"
    assert column.numbers is not None, "numeric column"
    levels = np.array(groups.levels)
    names = [name for name, _ in groups.counts().most_common(_MAX_LEVELS)]
    names.sort(key=_order_key)
    scale = Scale(*_range(column.finite_numbers))
    rows = [column.numbers[levels == name] for name in names]
    finite = {name: row[np.isfinite(row)] for name, row in zip(names, rows, strict=True)}
    samples = {name: values for name, values in finite.items() if len(values)}
    medians = [column.text(float(np.median(values))) for values in samples.values()]
    texts = [
        f"median {median} ({counted(len(values), 'row')})"
        for median, values in zip(medians, samples.values(), strict=True)
    ]
    words = "; ".join(f"{name}: {text}" for name, text in zip(samples, texts, strict=True))
    drawing = Drawing(title, words, _STEP * len(samples))
    for place, ((name, values), text) in enumerate(zip(samples.items(), texts, strict=True)):
        drawing.labels(name, text, _STEP * place + 14.0)
        _box(drawing, scale, values, _STEP * place + 19.0)
    return drawing.markup()


def _box(drawing: Drawing, scale: Scale, values: Float, top: float) -> None:
    """Draw a box between the quartiles, with a line from the 5 % to the 95 % quantile."""
    low, first, median, third, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    ends, middle = (scale.at(low), scale.at(high)), scale.at(median)
    drawing.add("line", x1=ends[0], x2=ends[1], y1=top + 8.0, y2=top + 8.0, kind="error")
    drawing.add("rect", **scale.between(first, third), y=top + 2.0, height=12.0, kind="value")
    drawing.add("line", x1=middle, x2=middle, y1=top, y2=top + 16.0, kind="median")


def _order_key(name: str) -> tuple[bool, float, str]:
    """Return a key that sorts numbers in ascending order, before texts in alphabetical order."""
    try:
        value = float(name)
    except ValueError:
        return True, 0.0, name
    return (False, value, "") if np.isfinite(value) else (True, 0.0, name)


def _stacks(
    title: str, name: str, column: ColumnValues, other_name: str, other: ColumnValues
) -> Figure:
    """Draw the shares of the other column's levels for each level, as stacked bars."""
    assert column.levels is not None, "categorical column"
    assert other.levels is not None, "categorical column"
    frequent = [level for level, _ in other.counts().most_common(_MAX_CLASSES)]
    frequent.sort(key=_order_key)
    column_levels, other_levels = np.array(column.levels), np.array(other.levels)
    levels = sorted((n for n, _ in column.counts().most_common(_MAX_LEVELS)), key=_order_key)
    shares = [
        [float((other_levels[column_levels == level] == c).mean()) for c in frequent]
        for level in levels
    ]
    texts = [_largest_share(frequent, row_shares) for row_shares in shares]
    words = "; ".join(f"{level}: {text}" for level, text in zip(levels, texts, strict=True))
    drawing = Drawing(title, words, _STEP * len(levels))
    for place, (level, row_shares, text) in enumerate(zip(levels, shares, texts, strict=True)):
        top = _STEP * place
        drawing.labels(level, text, top + 14.0)
        start = 0.0
        for number, share in enumerate(row_shares):
            drawing.add(
                "rect",
                x=f"{100.0 * start:.2f}%",
                width=f"{100.0 * share:.2f}%",
                y=top + 20.0,
                height=14.0,
                kind=f"class{number}",
            )
            start += share
    legend = tuple((f"class{number}", shortened(c, 24)) for number, c in enumerate(frequent))
    return Figure(name, drawing.markup(), f"Shares of {other_name} for each {name}", legend)


def _largest_share(names: Sequence[str], shares: Sequence[float]) -> str:
    largest = int(np.argmax(shares))
    return f"{shortened(names[largest], 16)} {percent(shares[largest])}"
