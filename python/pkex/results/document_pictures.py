"""Documents as HTML, with their words colored by Shapley values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from html import escape

import numpy as np

from pkex.inputs.wording import counted
from pkex.results.report import Figure
from pkex.results.row_values import RowValues
from pkex.results.tables import number, visible
from pkex.tables.documents import Occurrences
from pkex.typing import Float

__all__ = ["colored_document", "segments"]

# Words with less than this share of the largest value have no color and no hidden sign.
_PALEST = 0.02
# The largest number of terms that the note of a word names.
_MOST_TERMS = 5


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
    assert row.documents is not None, "a document"
    text, occurrences = row.documents.texts[0] or "", row.documents.occurrences(0)
    parts = list(segments(text, occurrences))
    sums = np.array([row.values[features].sum() for _, _, features in parts])
    largest = float(np.abs(sums).max(initial=0.0)) or 1.0
    marked, end = [], 0
    for (start, stop, features), value in zip(parts, sums.tolist(), strict=True):
        marked.append(escape(text[end:start]))
        note = _note(row, features, value)
        marked.append(_marked(text[start:stop], value, abs(value) / largest, note))
        end = stop
    marked.append(escape(text[end:]))
    label = escape(f"{title}: the text, with its words colored by value", quote=True)
    picture = f'<p class="text" role="group" aria-label="{label}">{"".join(marked)}</p>'
    return Figure(title, picture, _caption(row, occurrences), _LEGEND)


_LEGEND = (("above", "raises the output"), ("below", "lowers the output (dotted line)"))


def _marked(word: str, value: float, share: float, note: str) -> str:
    """Return the markup of a word with a value; its sign is also said without color."""
    if share < _PALEST:
        return f'<span title="{note}">{escape(word)}</span>'
    kind = "raises" if value > 0.0 else "lowers"
    sign = f'<span class="unseen"> ({_signed(value)}) </span>'
    return (
        f'<span class="{kind}" style="--share:{share:.2f}" title="{note}">{escape(word)}{sign}'
        "</span>"
    )


def _note(row: RowValues, features: list[int], value: float) -> str:
    """Return the text that appears above a word: the values of its terms, the strongest first."""
    terms = sorted(features, key=lambda feature: -abs(row.values[feature]))
    names = [visible(row.axes.features[j]) for j in terms[:_MOST_TERMS]]
    texts = [f"{name}: {_signed(row.values[j])}" for name, j in zip(names, terms, strict=False)]
    if len(terms) > _MOST_TERMS:
        texts.append(f"{len(terms) - _MOST_TERMS} more")
    if len(terms) > 1:
        texts.append(f"sum: {_signed(value)}")
    return escape("; ".join(texts), quote=True)


def _caption(row: RowValues, occurrences: Occurrences) -> str:
    """Return how the values add up to the output, and what the colors do not show."""
    assert row.documents is not None, "a document"
    noun, present = row.documents.noun, row.documents.present[0]
    of_present = float(row.values[present].sum())
    of_absent = float(row.values.sum() - of_present)
    base = float(row.base_values)
    texts = [
        f"Output {number(base + of_present + of_absent)} = base value {number(base)} "
        f"{_term(of_present)} (present {noun}s) {_term(of_absent)} (absent {noun}s)."
    ]
    located = np.unique(occurrences[:, 2])
    missing = len(np.setdiff1d(present, located))
    if missing:
        texts.append(f"{counted(missing, f'present {noun}')} not found in the text: see the table.")
    if noun != "word":
        texts.append("A word in several terms has the color of their sum.")
    return " ".join(texts)


def _signed(value: Float | float) -> str:
    return f"{'+' if value > 0.0 else '−' if value < 0.0 else ''}{number(abs(float(value)))}"


def _term(value: float) -> str:
    return f"{'−' if value < 0.0 else '+'} {number(abs(value))}"
