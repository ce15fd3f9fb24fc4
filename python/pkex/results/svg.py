"""Responsive SVG figures: lengths are percentages of the width, texts keep their size.

Colors are classes of the page's style sheet, which has a light and a dark scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import NDArray

from pkex.results.tables import shortened
from pkex.typing import Float

# The heights of a label, of the bars below it and of the gap below these, in pixels.
_LABEL, _BAR, _GAP = 20, 14, 8
# The number of characters in a line on a phone.
_LINE = 42
# For a line of cells: its height, the percentage of the width before it, characters of its name.
_CELL, _BEFORE_CELLS, _NAME = 20, 36.0, 16
# Cells are empty for numbers below this fraction of the largest.
_PALEST = 0.005


@dataclass
class Drawing:
    """An SVG figure that elements are added to.

    Parameters
    ----------
    title : str
    description : str
        The text alternative, which follows the title.
    height : float
        The height in pixels.
    """

    title: str
    description: str
    height: float
    _parts: list[str] = field(default_factory=list)

    def add(self, tag: str, text: str | None = None, **attributes: str | float) -> None:
        """Add an element; `_` in names of attributes stands for `-`, and `kind` for `class`."""
        self._parts.append(_element(tag, text, attributes))

    def label(self, text: str, y: float, x: str = "0", anchor: str = "start") -> None:
        """Add a text on one line."""
        self.add("text", text, x=x, y=y, text_anchor=anchor)

    def labels(self, name: str, text: str, y: float) -> None:
        """Add a name at the left, shortened if necessary, and a text at the right."""
        self.label(shortened(name, max(_LINE - len(text), 8)), y)
        self.label(text, y, "100%", "end")

    def pair(self, pair: Sequence[float], scale: Scale, top: float) -> None:
        """Add two thin bars from 0, one for each sample."""
        for kind, y, share in zip(("first", "second"), (top, top + _BAR / 2.0), pair, strict=True):
            self.add("rect", **scale.between(0.0, share), y=y, height=_BAR / 2.0, kind=kind)

    def path(self, kind: str, points: str, top: float, height: float) -> None:
        """Add a path over the whole width, in units of a hundredth of width and height."""
        path = _element("path", None, {"d": points, "kind": kind})
        self._parts.append(
            f'<svg x="0" y="{top:g}" width="100%" height="{height:g}" viewBox="0 0 100 100" '
            f'preserveAspectRatio="none" aria-hidden="true">{path}</svg>'
        )

    def markup(self) -> str:
        """Return the figure as an SVG element, with its text alternative."""
        words = escape(f"{self.title}. {self.description}", quote=True)
        return (
            f'<svg class="picture" role="img" aria-label="{words}" width="100%" '
            f'height="{self.height:g}"><title>{escape(self.title)}</title>'
            f"{''.join(self._parts)}</svg>"
        )


def _element(tag: str, text: str | None, attributes: dict[str, str | float]) -> str:
    names = {"kind": "class"}
    markup = "".join(
        f' {names.get(name, name.replace("_", "-"))}="{_attribute(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{markup}/>" if text is None else f"<{tag}{markup}>{escape(text)}</{tag}>"


def _attribute(value: str | float) -> str:
    return escape(value, quote=True) if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True)
class Scale:
    """A linear scale from numbers to positions, from 1 to 99 percent of the width."""

    low: float
    high: float

    @classmethod
    def of(cls, *values: Float | None) -> Scale:
        """Return a scale that contains all finite numbers."""
        numbers = np.concatenate([np.ravel(v) for v in values if v is not None])
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return cls(0.0, 1.0)
        low, high = float(numbers.min()), float(numbers.max())
        return cls(low, high) if low < high else cls(low - 0.5, high + 0.5)

    def place(self, value: float) -> float:
        """Return the position of a number in percent: the middle if all numbers are equal."""
        # Halved before subtraction: the difference of two floats may overflow.
        width = self.high / 2.0 - self.low / 2.0
        share = (value / 2.0 - self.low / 2.0) / width if width > 0.0 else 0.5
        return 1.0 + 98.0 * min(max(share, 0.0), 1.0)

    def at(self, value: float) -> str:
        """Return the position of a number as an SVG length."""
        return f"{self.place(value):.2f}%"

    def between(self, low: float, high: float) -> dict[str, str]:
        """Return the position and width of a rectangle, at least about a pixel wide."""
        start, end = sorted((self.place(low), self.place(high)))
        return {"x": f"{start:.2f}%", "width": f"{max(end - start, 0.15):.2f}%"}


def bars(
    title: str,
    names: Sequence[str],
    values: Float,
    texts: Sequence[str],
    *,
    lines: Float | None = None,
    bands: Float | None = None,
    marks: Sequence[tuple[Sequence[str], Float]] = (),
) -> str:
    """Draw a bar for each feature, in the given order, with its name and a text above it.

    Parameters
    ----------
    title : str
    names, texts : sequence of str of length n
    values : ndarray of shape (n,)
    lines : ndarray of shape (n, 2), optional
        The ends of thin lines.
    bands : ndarray of shape (n, 2), optional
        The ends of pale bands behind the bars.
    marks : sequence of pairs
        The classes of circles, one for each feature, and their positions.
    """
    step = _LABEL + _BAR + _GAP
    scale = Scale.of(np.zeros(1), values, lines, bands, *(places for _, places in marks))
    description = "; ".join(f"{n}: {t}" for n, t in zip(names, texts, strict=True))
    drawing = Drawing(title, description, step * len(names))
    for place, (name, value, text) in enumerate(zip(names, values.tolist(), texts, strict=True)):
        top = place * step + _LABEL
        middle = top + _BAR / 2.0
        drawing.labels(name, text, top - 5.0)
        if bands is not None:
            span = scale.between(*bands[place].tolist())
            drawing.add("rect", **span, y=top - 1.0, height=_BAR + 2.0, kind="band")
        span = scale.between(0.0, value)
        drawing.add("rect", **span, y=top + 2.0, height=_BAR - 4.0, kind="value")
        if lines is not None and np.isfinite(lines[place]).all():
            ends = [scale.at(end) for end in lines[place].tolist()]
            drawing.add("line", x1=ends[0], x2=ends[1], y1=middle, y2=middle, kind="error")
        for kinds, places in marks:
            drawing.add("circle", cx=scale.at(places[place]), cy=middle, r=5.0, kind=kinds[place])
        zero = scale.at(0.0)
        drawing.add("line", x1=zero, x2=zero, y1=top - 2.0, y2=top + _BAR + 2.0, kind="axis")
    return drawing.markup()


def lanes(
    title: str, names: Sequence[str], pairs: NDArray[np.float64], texts: Sequence[str]
) -> str:
    """Draw two thin bars for each level, its shares in two samples.

    Parameters
    ----------
    title : str
    names, texts : sequence of str of length n
    pairs : ndarray of shape (n, 2)
        Shares, from 0 to 1.
    """
    step = _LABEL + _BAR + _GAP
    scale = Scale(0.0, max(float(pairs.max(initial=0.0)), 1e-300))
    description = "; ".join(f"{n}: {t}" for n, t in zip(names, texts, strict=True))
    drawing = Drawing(title, description, step * len(names))
    for place, (name, pair, text) in enumerate(zip(names, pairs.tolist(), texts, strict=True)):
        top = place * step + _LABEL
        drawing.labels(name, text, top - 5.0)
        drawing.pair(pair, scale, top)
    return drawing.markup()


def cells(
    title: str,
    names: Sequence[str],
    values: Float,
    description: str,
    *,
    heads: Sequence[str] = (),
    are_sizes: bool = False,
) -> str:
    """Draw a heat map: a line of cells for each name, paler where numbers are smaller.

    Parameters
    ----------
    title : str
    names : sequence of str of length n
    values : ndarray of shape (n, columns)
        Cells above 0 have the class "above", cells below 0 the class "below".
    description : str
        The text alternative.
    heads : sequence of str, optional
        A short text above each column.
    are_sizes : bool, default False
        Whether the numbers are sizes, without a sign: then all cells have the class "first".
    """
    shades = values / (float(np.abs(values).max(initial=0.0)) or 1.0)
    above = _LABEL if heads else 0
    width = (99.0 - _BEFORE_CELLS) / values.shape[1]
    starts = (_BEFORE_CELLS + width * np.arange(values.shape[1])).tolist()
    frame = {"x": f"{_BEFORE_CELLS}%", "width": f"{99.0 - _BEFORE_CELLS}%", "kind": "band"}
    drawing = Drawing(title, description, above + _CELL * len(names))
    for start, head in zip(starts, heads, strict=False):
        drawing.label(head, _LABEL - 5.0, f"{start + width / 2.0:.2f}%", "middle")
    for place, (name, line) in enumerate(zip(names, shades.tolist(), strict=True)):
        top, height = above + place * _CELL + 1.0, _CELL - 2.0
        drawing.label(shortened(name, _NAME), top + 13.0, f"{_BEFORE_CELLS - 1.5}%", "end")
        drawing.add("rect", **frame, y=top, height=height, fill_opacity=0.25)
        for start, shade in zip(starts, line, strict=True):
            if abs(shade) >= _PALEST:
                span = {"x": f"{start:.2f}%", "width": f"{0.95 * width:.2f}%"}
                kind = "first" if are_sizes else "above" if shade > 0.0 else "below"
                opacity = round(abs(shade), 2)
                drawing.add("rect", **span, y=top, height=height, kind=kind, fill_opacity=opacity)
    return drawing.markup()
