"""Documents as HTML, with their words colored by Shapley values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from html import escape

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.palette import BLUE, VERMILION, channels
from pkex.results.report import Figure
from pkex.results.row_values import RowValues
from pkex.results.tables import number, signed_number, visible
from pkex.tables.documents import Occurrences

# Words with less than this share of the largest value have no color and no hidden sign.
_PALEST = 0.02
# How to read the color of a word in a group of columns.
GROUPS = (
    "A group has one value for all its words, present and absent: a present word has the color of "
    "its group, not of the word."
)
# The largest number of terms that the note of a word names.
_MAX_TERMS = 5


def segments(text: str, occurrences: Occurrences) -> Iterator[tuple[int, int, list[int]]]:
    """Yield start, end and features of parts of a text, which have the same features throughout.

    Parts without features are omitted.
    """
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for start, end, feature in occurrences.tolist():
        starts.setdefault(start, []).append(feature)
        ends.setdefault(end, []).append(feature)
    cuts = sorted({*starts, *ends, len(text)})
    open_features: list[int] = []
    for start, end in itertools.pairwise(cuts):
        for feature in ends.get(start, ()):
            open_features.remove(feature)
        open_features += starts.get(start, ())
        if open_features:
            yield start, end, sorted(set(open_features))


def colored_document(row: RowValues, title: str) -> Figure:
    """Return a document with its words colored, one output; base value and output are below it.

    Parameters
    ----------
    row : RowValues
        A single row without axes of rows and outputs, with its document.
    title : str
    """
    label = escape(f"{title}: the text, with its words colored by value", quote=True)
    markup = _text(row, _class_attribute)
    picture = f'<p class="text" role="group" aria-label="{label}">{markup}</p>'
    return Figure(title, picture, _caption(row), _LEGEND)


def document_for_notebooks(row: RowValues) -> str:
    """Return a document as `colored_document` does, with styles of its own and without a caption.

    The table below it has the numbers.
    """
    return f'<p style="white-space:pre-wrap;margin:4px 0">{_text(row, _style_attribute)}</p>'


_LEGEND = (("above", "raises the output"), ("below", "lowers the output (dotted line)"))


def _text(row: RowValues, attributes: Callable[[float, float], str]) -> str:
    """Return the markup of a text with its words marked.

    Parameters
    ----------
    row : RowValues
    attributes : callable
        Returns the attributes of a word, given its value and the share of the largest value.
    """
    assert row.documents is not None, "a document"
    text = row.documents.texts[0] or ""
    parts = list(segments(text, row.documents.occurrences(0)))
    sums = np.array([row.values[features].sum() for _, _, features in parts])
    largest = float(np.abs(sums).max(initial=0.0)) or 1.0
    pieces, end = [], 0
    for (start, stop, features), value in zip(parts, sums.tolist(), strict=True):
        share, word = abs(value) / largest, escape(text[start:stop])
        style = attributes(value, share) if share >= _PALEST else ""
        # Screen readers read the number of a word.
        sign = f'<span class="unseen"> ({signed_number(value)}) </span>' if "class" in style else ""
        note = _note(row, features, value)
        pieces.append(f'{escape(text[end:start])}<span{style} title="{note}">{word}{sign}</span>')
        end = stop
    return "".join([*pieces, escape(text[end:])])


def _class_attribute(value: float, share: float) -> str:
    return f' class="{"raises" if value > 0.0 else "lowers"}" style="--share:{share:.2f}"'


def _style_attribute(value: float, share: float) -> str:
    # Colors that can be seen on a light and on a dark page.
    color, line = (VERMILION, "solid") if value > 0.0 else (BLUE, "dotted")
    background, border = (f"rgb({channels(color)} / {part:.2f})" for part in (share / 2.0, share))
    return f' style="background:{background};border-bottom:2px {line} {border}"'


def _note(row: RowValues, features: list[int], value: float) -> str:
    """Return the text that appears above a word: the values of its terms, the strongest first."""
    terms = sorted(features, key=lambda feature: -abs(row.values[feature]))
    names = [visible(row.axes.features[j]) for j in terms[:_MAX_TERMS]]
    texts = [
        f"{name}: {signed_number(row.values[j])}" for name, j in zip(names, terms, strict=False)
    ]
    if len(terms) > _MAX_TERMS:
        texts.append(f"{len(terms) - _MAX_TERMS} more")
    if len(terms) > 1:
        texts.append(f"sum: {signed_number(value)}")
    return escape("; ".join(texts), quote=True)


def _caption(row: RowValues) -> str:
    """Return how the values add up to the output, and what the colors do not show."""
    assert row.documents is not None, "a document"
    noun, present = row.documents.noun, row.documents.present[0]
    kinds = f"present {noun}s", f"absent {noun}s"
    if row.documents.has_groups:
        kinds = "features with a present word", "features without one"
    present_sum = float(row.values[present].sum())
    absent_sum = float(row.values.sum() - present_sum)
    base = float(row.base_values)
    texts = [
        f"Output {number(base + present_sum + absent_sum)} = base value {number(base)} "
        f"{_term(present_sum)} ({kinds[0]}) {_term(absent_sum)} ({kinds[1]})."
    ]
    if row.documents.has_groups:
        texts.append(GROUPS)
    occurrences = row.documents.occurrences(0)
    located_features = np.unique(occurrences[:, 2])
    missing = len(np.setdiff1d(present, located_features))
    if missing:
        texts.append(f"{counted(missing, f'present {noun}')} not found in the text: see the table.")
    parts = segments(row.documents.texts[0] or "", occurrences)
    if any(len(features) > 1 for _, _, features in parts):
        texts.append("A word in several terms has the color of their sum.")
    return " ".join(texts)


def _term(value: float) -> str:
    return f"{'−' if value < 0.0 else '+'} {number(abs(value))}"
