"""Lines of a document's table: the features that are present, and sums of all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.results.row_values import RowValues
from pkex.results.tables import number, visible
from pkex.tables.documents import Documents
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class DocumentLines:
    """Lines whose values add up to the output minus the base value.

    Parameters
    ----------
    names : list of str
        The strongest present features, then "other present words (2)" and "absent words (190)",
        where there are such.
    values : ndarray of shape (lines,) or (lines, outputs)
    data : list of str
    spreads : dict of str to ndarray, shaped as the values
        Errors of the values, NaN for sums.
    """

    names: list[str]
    values: Float
    data: list[str]
    spreads: dict[str, Float]


def document_of(rows: RowValues) -> Documents | None:
    """Return the document of a single explained row; None for several rows, or rows of a table."""
    documents = rows.documents
    return documents if documents is not None and len(documents) == 1 else None


def document_lines(rows: RowValues, n_features: int) -> DocumentLines:
    """Return the lines of a single document, with at most `n_features` present features."""
    documents = document_of(rows)
    assert documents is not None, "a single document"
    values, _, data = (table[0] for table in rows.with_every_axis())
    present = documents.present[0]
    by_output = values.reshape(len(values), -1)
    order = np.argsort(-np.abs(by_output[present]).max(axis=1, initial=0.0), kind="stable")
    strongest, others = present[order[:n_features]], present[order[n_features:]]
    absent = np.setdiff1d(np.arange(len(values)), present)
    sums = [
        (f"{kind} {documents.noun}s ({len(part):,})", values[part].sum(axis=0), text)
        for kind, part, text in (("other present", others, ""), ("absent", absent, "0"))
        if len(part)
    ]
    missing_errors = np.full((len(sums), *values.shape[1:]), np.nan)
    # Hashed columns have no names of their own.
    words = documents.words(0) if documents.noun == "hashed word" else {}
    names = [_label_of(rows.axes.features[j], words.get(j, set())) for j in strongest.tolist()]
    return DocumentLines(
        names + [name for name, _, _ in sums],
        np.concatenate([values[strongest], *(part[None] for _, part, _ in sums)]),
        [number(entry) for entry in data[strongest]] + [text for _, _, text in sums],
        {
            name: np.concatenate([np.reshape(spread, values.shape)[strongest], missing_errors])
            for name, spread in rows.spreads.items()
        },
    )


def _label_of(name: str, words: set[str]) -> str:
    """Return the name of a column, with its words in a text."""
    return f"{name} ({', '.join(sorted(words))})" if words else visible(name)
