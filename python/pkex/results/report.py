"""Content of reports as plain data, independent of their format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.tables import numbers
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class ReportTable:
    """A table; its first column names the lines.

    Parameters
    ----------
    caption : str
    columns : mapping of str to sequence of str or ndarray
        The columns by their titles; numbers are rounded for display.
    """

    caption: str
    columns: Mapping[str, Sequence[str] | Float]

    def cells(self, n_lines: int | None = None) -> list[list[str]]:
        """Return the columns as texts, each with its title first; `n_lines` limits the lines."""
        columns = []
        for title, column in self.columns.items():
            cells = column[:n_lines]
            texts = numbers(cells) if isinstance(cells, np.ndarray) else list(cells)
            columns.append([title, *("–" if text == "nan" else text for text in texts)])
        return columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure with its title, caption and legend.

    Parameters
    ----------
    title : str
    picture : str
        Markup of an SVG element that has a text alternative, or of a text.
    caption : str
    legend : tuple of pairs of str
        The classes of marks in the figure, and their labels.
    """

    title: str
    picture: str
    caption: str
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class PageContent:
    """Content of a report: conclusion, figures, tables, notes and settings.

    Parameters
    ----------
    title : str
    conclusion : str
        The conclusion, in a few sentences.
    tables : tuple of ReportTable
    overview : tuple of Figure
        Figures of all features together.
    details : tuple of Figure
        A figure for each leading feature.
    details_title : str
    reading : tuple of str
        Paragraphs on how to read the tables and figures.
    settings : mapping of str to str
        The data and the settings of the computation.
    notes : tuple of str
        Warnings, and notes against misreadings.
    documents : tuple of Figure
        Explained documents with colored words, each on a page of its own in print.
    """

    title: str
    conclusion: str
    tables: tuple[ReportTable, ...]
    overview: tuple[Figure, ...]
    details: tuple[Figure, ...]
    details_title: str
    reading: tuple[str, ...]
    settings: Mapping[str, str]
    notes: tuple[str, ...] = ()
    documents: tuple[Figure, ...] = ()


def percent(share: float) -> str:
    """Return a share in percent, with two digits or more; "–" if it is not finite."""
    if not np.isfinite(share):
        return "–"
    return f"{100.0 * share:z.0f} %" if abs(share) >= 0.0995 else f"{100.0 * share:z.1f} %"


def join_texts(texts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def of_outputs_left_out(number: int) -> list[str]:
    """Return a note with the number of outputs that are not shown; an empty list for 0."""
    return (
        [f"{counted(number, 'more output')} not shown: JSON and CSV have all"] if number > 0 else []
    )
