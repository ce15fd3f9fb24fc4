"""What was found, in plain parts: a page or a text is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.tables import numbers
from pkex.typing import Float

__all__ = ["Figure", "PageContent", "ReportTable", "listed", "of_outputs_left_out", "percent"]


@dataclass(frozen=True, eq=False)
class ReportTable:
    """Columns below titles, of which the first says what a line is about.

    Parameters
    ----------
    caption : str
    columns : mapping of str to sequence of str or ndarray
        By their titles; those of numbers are rounded for display.
    """

    caption: str
    columns: Mapping[str, Sequence[str] | Float]

    def cells(self, most: int | None = None) -> list[list[str]]:
        """Return the columns as texts, each with its title first; the first lines, or all."""
        found = []
        for title, column in self.columns.items():
            entries = column[:most]
            texts = numbers(entries) if isinstance(entries, np.ndarray) else list(entries)
            found.append([title, *("–" if text == "nan" else text for text in texts)])
        return found

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture, and what stands below it.

    Parameters
    ----------
    title : str
    picture : str
        Markup of an SVG element that has a text alternative.
    caption : str
    legend : tuple of pairs of str
        The classes of marks in the picture, and what they are.
    """

    title: str
    picture: str
    caption: str
    legend: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class PageContent:
    """What was found, and how.

    Parameters
    ----------
    title : str
    conclusion : str
        What was found, in a few sentences.
    tables : tuple of ReportTable
    overview : tuple of Figure
        What is seen of all features together.
    details : tuple of Figure
        What is seen of the leading features, one by one.
    details_title : str
    reading : tuple of str
        How to read the tables and pictures, in paragraphs.
    computed : mapping of str to str
        What was computed: of what, how, with which settings.
    notes : tuple of str
        What is easily misread here, and what was warned of.
    """

    title: str
    conclusion: str
    tables: tuple[ReportTable, ...]
    overview: tuple[Figure, ...]
    details: tuple[Figure, ...]
    details_title: str
    reading: tuple[str, ...]
    computed: Mapping[str, str]
    notes: tuple[str, ...] = ()


def percent(share: float) -> str:
    """Return a share in percent, with two digits or more; "–" if there is none."""
    if not np.isfinite(share):
        return "–"
    return f"{100.0 * share:z.0f} %" if abs(share) >= 0.0995 else f"{100.0 * share:z.1f} %"


def listed(texts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def of_outputs_left_out(number: int) -> list[str]:
    """Return the note that outputs are not shown, if there are such."""
    return (
        [f"{counted(number, 'more output')} not shown: JSON and CSV have all"] if number > 0 else []
    )
