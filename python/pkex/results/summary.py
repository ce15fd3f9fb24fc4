"""Summaries of results: a headline, tables and notes, as text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.wording import counted
from pkex.results.palette import BLUE, VERMILION
from pkex.results.svg import Scale
from pkex.results.tables import align_columns, number, numbers, shortened
from pkex.typing import Float

# The largest numbers of features and outputs in a table that is printed or shown in a notebook.
SHOWN_LINES, _MAX_OUTPUTS = 8, 4

# Colors that can be seen on a light and on a dark page; text has the color of the page.
_POSITIVE, _NEGATIVE = VERMILION, BLUE
_CELL = "padding:2px 8px;border:none;background:none;color:inherit"


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """A table of texts, optionally with bars.

    Parameters
    ----------
    columns : sequence of sequence of str
        The columns, each with its title first; the first column has the names.
    sizes : ndarray of shape (lines,), optional
        Numbers that are drawn as bars next to the names, in HTML only.
    title : str, optional
        A line above the table.
    note : str, optional
        A line below the table.
    """

    columns: Sequence[Sequence[str]]
    sizes: Float | None = None
    title: str = ""
    note: str = ""

    def lines(self) -> list[str]:
        """Return the table as lines of text."""
        return [line for line in (self.title, *align_columns(self.columns), self.note) if line]

    def html(self) -> str:
        """Return the table as HTML."""
        heads, *rows = zip(*self.columns, strict=True)
        bars = [] if self.sizes is None else _bars(self.sizes)
        lines = [_line(heads, "th", "" if bars else None)]
        for place, row in enumerate(rows):
            lines.append(_line(row, "td", bars[place] if bars else None))
        table = f'<table style="border-collapse:collapse;margin:0">{"".join(lines)}</table>'
        return f"{_paragraphs([self.title])}{table}{_paragraphs([self.note])}"


@dataclass(frozen=True, eq=False)
class Summary:
    """A headline, tables and notes.

    Parameters
    ----------
    head : str
        One or more lines.
    tables : sequence of SummaryTable
    notes : sequence of str
    text_markup : callable, optional
        Returns an HTML element that notebooks show below the headline.
    """

    head: str
    tables: Sequence[SummaryTable] = ()
    notes: Sequence[str] = ()
    text_markup: Callable[[], str] | None = None

    def text(self) -> str:
        """Return the summary as lines of text."""
        tables = (line for table in self.tables for line in table.lines())
        return "\n".join([self.head, *tables, *self.notes])

    def html(self) -> str:
        """Return the summary as an HTML element, with all texts escaped."""
        tables = "".join(table.html() for table in self.tables)
        head = _paragraphs(self.head.split("\n"), "bold")
        markup = "" if self.text_markup is None else self.text_markup()
        return f'<div class="pkex-result">{head}{markup}{tables}{_paragraphs(self.notes)}</div>'


def table_of_largest(
    names: Callable[[int], str],
    values: NDArray[np.float64],
    *,
    thing: str,
    label: str,
    output_names: Sequence[str] | None = None,
    data: NDArray[Any] | None = None,
    spreads: Mapping[str, NDArray[np.float64]] | None = None,
    n_lines: int = SHOWN_LINES,
    are_sorted: bool = False,
) -> SummaryTable:
    """Return a table of the features or coalitions with the largest absolute values.

    Parameters
    ----------
    names : callable
        Returns the name at a place of `values`.
    values : ndarray of shape (d,), (d, 1) or (d, outputs)
    thing : str
        The word for the lines, such as "feature".
    label : str
        The label of the values.
    output_names : sequence of str, optional
        The titles of the columns if there are several.
    data : ndarray of shape (d,), optional
        The last column.
    spreads : mapping of str to ndarray, shaped as the values, optional
        Columns of errors next to each column of values, by their titles.
    n_lines : int, default 8
        The largest number of lines.
    are_sorted : bool, default False
        Whether the lines are already sorted.
    """
    by_output = values.reshape(len(values), -1)
    order = np.arange(len(values))
    if not are_sorted:
        order = np.argsort(-np.abs(by_output).max(axis=1), kind="stable")
    order = order[:n_lines]
    shown_names = [shortened(names(int(j))) for j in order]
    heads = [label] if output_names is None else list(output_names[:_MAX_OUTPUTS])
    columns = [[thing if output_names is None else f"{label} of", *shown_names]]
    for output, head in enumerate(heads):
        columns.append([shortened(head), *numbers(by_output[order, output])])
        for title, spread in (spreads or {}).items():
            column = spread.reshape(by_output.shape)[order, output]
            texts = numbers(column)
            columns.append([title, *("" if text == "nan" else text for text in texts)])
    if data is not None:
        columns.append(["data", *map(number, data[order])])
    left_out = [(len(values) - len(order), f"smaller {thing}")]
    left_out += [(len(output_names or ()) - _MAX_OUTPUTS, "more output")]
    notes = [counted(count, thing) for count, thing in left_out if count > 0]
    sizes = by_output[order, 0] if output_names is None else None
    note = f"({' and '.join(notes)} not shown)" if notes else ""
    return SummaryTable(columns, sizes, note=note)


def _line(cells: Sequence[str], tag: str, bar: str | None) -> str:
    """Return a row of an HTML table; the bar, if there is one, follows the name."""
    scope = ' scope="col"' if tag == "th" else ""
    name, *others = (escape(cell) for cell in cells)
    first = f'<{tag}{scope} style="{_CELL};text-align:left">{name}</{tag}>'
    if bar is not None:
        first += f'<{tag}{scope} style="{_CELL}">{bar}</{tag}>'
    style = f"{_CELL};text-align:right;white-space:nowrap"
    cell = "".join(f'<{tag}{scope} style="{style}">{text}</{tag}>' for text in others)
    return f"<tr>{first}{cell}</tr>"


def _bars(sizes: Float) -> list[str]:
    """Return a small SVG of each number, a bar from 0."""
    scale = Scale.of(sizes, np.zeros(1))
    zero = scale.at(0.0)
    axis = f'<line x1="{zero}" x2="{zero}" y1="0" y2="12" stroke="currentColor"/>'
    bars = []
    for size in sizes.tolist():
        span = scale.between(0.0, size) if size == size else {"x": zero, "width": "0%"}
        place = f'x="{span["x"]}" width="{span["width"]}" y="2" height="8"'
        bar = f'<rect {place} fill="{_NEGATIVE if size < 0.0 else _POSITIVE}"/>'
        bars.append(f'<svg width="120" height="12" aria-hidden="true">{bar}{axis}</svg>')
    return bars


def _paragraphs(texts: Iterable[str], weight: str = "normal") -> str:
    style = f"margin:4px 0;text-align:left;font-weight:{weight}"
    return "".join(f'<p style="{style}">{escape(text)}</p>' for text in texts if text)
