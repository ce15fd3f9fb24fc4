"""Values of the parts of a text, for shap's plots."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pkex.results.document_pictures import segments
from pkex.results.row_values import RowValues
from pkex.typing import Float


def document_tokens(row: RowValues) -> tuple[list[str], Float]:
    """Return the parts of a document in order, which add up to its text, and their values.

    Separators belong to the part before them. The value of a feature is divided among the
    characters at its places. The last two parts, in brackets, have the values of present features
    that are not found in the text, and of absent ones.

    Parameters
    ----------
    row : RowValues
        A single row without an axis of rows, with the text of its document.

    Returns
    -------
    parts : list of str of length k
    values : ndarray of shape (k,) or (k, outputs)
    """
    documents = row.documents
    text = None if documents is None else documents.texts[0]
    if documents is None or text is None:
        raise ValueError(
            "to_shap(tokens=True) requires explained texts, from a Pipeline that begins with a "
            "vectorizer of texts. Use to_shap()"
        )
    spans = list(segments(text, documents.occurrences(0)))
    starts = [0, *(start for start, _, _ in spans[1:]), len(text)]
    parts = [text[start:end] for start, end in pairwise(starts)] if spans else [text]
    lengths = np.zeros(len(row.axes.features))
    for start, end, features in spans:
        lengths[features] += end - start
    per_character = row.values / np.maximum(lengths, 1.0).reshape(-1, *(1,) * (row.values.ndim - 1))
    values = [
        (end - start) * per_character[features].sum(axis=0) for start, end, features in spans
    ] or [np.zeros(row.values.shape[1:])]
    missing = np.flatnonzero(lengths == 0.0)
    is_present = np.isin(missing, documents.present[0])
    for kind, places in (("other present", missing[is_present]), ("absent", missing[~is_present])):
        if len(places):
            parts.append(f" [{len(places):,} {kind} {documents.noun}s]")
            values.append(row.values[places].sum(axis=0))
    return parts, np.array(values)
