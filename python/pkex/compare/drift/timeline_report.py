"""Reports of many batches: which batches differ from the reference, and in which features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.drift.batches import batches_in_words
from pkex.compare.drift.result import DriftResult
from pkex.compare.results.conclusion import (
    describe_pairs,
    significant_features,
    significant_pairs,
)
from pkex.compare.results.report import n_permutations, settings
from pkex.inputs.wording import counted
from pkex.results.report import Figure, PageContent, ReportTable
from pkex.results.svg import bars, cells
from pkex.results.tables import number, numbers, shortened
from pkex.typing import Float

# Largest numbers of batches in the table and heat map, and in the bars; of features; of names.
_MAX_BATCHES, _MAX_BARS, _MAX_FEATURES, _MAX_NAMES = 100, 20, 20, 5

_READING = (
    "“MMD²” compares a batch with the reference: it is about 0 if both come from one distribution. "
    "The values of the features add up to it."
)
_TEST_READING = (
    "“p” is the p-value of the hypothesis that reference and batch come from one distribution. "
    "“p (adjusted)” is adjusted for the number of batches by Holm's method: the probability that "
    "any batch without drift has one of at most α is at most α.",
    "For batches with drift, the table names features that differ individually and pairs of "
    "columns whose dependence differs. Their p-values are adjusted for the number of features or "
    "pairs in the batch, not for the number of batches.",
)


def report_timeline(
    results: Sequence[DriftResult],
    names: Sequence[str],
    corrected_pvalues: Float | None,
    is_drift: NDArray[np.bool_] | None,
    notes: tuple[str, ...],
    title: str,
) -> PageContent:
    """Return the report of batches that were compared with one reference.

    Parameters
    ----------
    results : sequence of DriftResult
    names : sequence of str
        The names of the batches.
    corrected_pvalues : ndarray of shape (T,) or None
        P-values adjusted for the number of batches; None without a test.
    is_drift : ndarray of bool, shape (T,), or None
    notes : tuple of str
    title : str
        The batches in words.
    """
    first, latest = results[0], slice(-_MAX_BATCHES, None)
    latest_results, titles = results[latest], [shortened(name) for name in names[latest]]
    statistics = np.array([result.statistic for result in latest_results])
    rows = [str(result.n_batch) for result in latest_results]
    columns: dict[str, Any] = {"batch": titles}
    texts, heads, reading = numbers(statistics), [""] * len(latest_results), [_READING]
    if corrected_pvalues is not None and is_drift is not None:
        columns |= _test_columns(latest_results, corrected_pvalues[latest], is_drift[latest])
        texts = [f"adjusted p {number(p)}" for p in corrected_pvalues[latest].tolist()]
        heads = ["▾" if drifts else "" for drifts in is_drift[latest].tolist()]
        reading += _TEST_READING
    columns |= {"MMD²": statistics, "rows": rows}
    if corrected_pvalues is not None:
        columns["p"] = np.array([result.pvalue for result in latest_results])
    facts = {
        "Reference": counted(first.n_reference, "row"),
        "Estimator": first.estimator,
        "Permutations": str(n_permutations(first)),
        **settings(first, first.alpha),
    }
    note = ""
    if len(results) > _MAX_BATCHES:
        note = f", the latest {_MAX_BATCHES} of {len(results):,}"
    return PageContent(
        f"Drift in {title}",
        _conclusion(results, names, is_drift),
        (ReportTable(f"Batches, compared with the reference{note}", columns),),
        (_bars(titles, statistics, texts), _heat_map(latest_results, titles, heads)),
        (),
        "",
        tuple(reading),
        facts,
        notes,
    )


def _test_columns(
    results: Sequence[DriftResult], corrected_pvalues: Float, is_drift: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return adjusted p-values, and the features and pairs that differ in batches with drift."""
    batches = list(zip(results, is_drift.tolist(), strict=True))
    features = [_join_names(_features(result)) if drifts else "–" for result, drifts in batches]
    columns: dict[str, Any] = {
        "drift": ["yes" if drifts else "no" for drifts in is_drift.tolist()],
        "p (adjusted)": corrected_pvalues,
        "features that differ": features,
    }
    pairs = [_join_names(_pairs(result)) if drifts else "–" for result, drifts in batches]
    if set(pairs) != {"–"}:
        columns["dependence that differs"] = pairs
    return columns


def _features(result: DriftResult) -> list[str]:
    """Return the names of the features that differ individually."""
    return [shortened(result.feature_names[j]) for j in significant_features(result, result.alpha)]


def _pairs(result: DriftResult) -> list[str]:
    """Return the names of the pairs of columns whose dependence differs."""
    return describe_pairs(significant_pairs(result, result.alpha))


def _join_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of further ones."""
    more = len(names) - _MAX_NAMES
    return "; ".join([*names[:_MAX_NAMES], *([f"{more} more"] if more > 0 else [])]) or "–"


def _conclusion(
    results: Sequence[DriftResult], names: Sequence[str], is_drift: NDArray[np.bool_] | None
) -> str:
    """Return which batches differ, and the features and pairs that differ in most of them."""
    count = batches_in_words(len(results))
    if is_drift is None:
        verb = "was" if len(results) == 1 else "were"
        return f"{count} {verb} compared with the reference; nothing was tested."
    level = f"α = {number(results[0].alpha)}, adjusted for the number of batches"
    if not is_drift.any():
        return (
            f"No drift was found in {count} ({level}). This does not prove that there is none: "
            "there may be too few rows to detect it."
        )
    places = np.flatnonzero(is_drift).tolist()
    verb = "differs" if len(places) == 1 else "differ"
    batch_names = _join_names([shortened(names[place]) for place in places])
    drift_results = [results[place] for place in places]
    sentences = [
        f"{len(places)} of {count} {verb} from the reference ({level}): {batch_names}.",
        _count_names("Features that differ individually", map(_features, drift_results)),
        _count_names("Pairs of columns whose dependence differs", map(_pairs, drift_results)),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _count_names(title: str, names_of_batches: Iterable[Sequence[str]]) -> str:
    """Return the most frequent names with their numbers of batches; "" without names."""
    counts = Counter(chain.from_iterable(names_of_batches))
    text = _join_names([f"{name} in {batches_in_words(n)}" for name, n in counts.most_common()])
    return f"{title}: {text}." if counts else ""


def _bars(names: Sequence[str], statistics: Float, texts: Sequence[str]) -> Figure:
    """Return a figure of the statistic of the latest batches."""
    latest = slice(-_MAX_BARS, None)
    title = "How much batches differ from the reference"
    note = "earlier batches not shown" if len(names) > _MAX_BARS else ""
    picture = bars(title, names[latest], statistics[latest], texts[latest])
    return Figure(title, picture, note, (("value", "MMD²"),))


def _heat_map(results: Sequence[DriftResult], names: Sequence[str], heads: Sequence[str]) -> Figure:
    """Return a figure of the values of the strongest features by batch."""
    values = np.array([result.values for result in results]).T
    indices = np.argsort(-np.abs(values).max(axis=1), kind="stable")[:_MAX_FEATURES]
    features = [shortened(results[0].feature_names[j]) for j in indices.tolist()]
    rows = values[indices]
    description = "; ".join(
        f"{feature}: largest in {names[place]}, {number(float(row[place]))}"
        for feature, row, place in zip(features, rows, rows.argmax(axis=1), strict=True)
    )
    title = "Values of features in each batch"
    ends = f"from {names[0]} to {names[-1]}" if len(names) > 1 else names[0]
    caption = f"Columns are batches, {ends}."
    if any(heads):
        caption += " Batches with drift have a triangle above them."
    n_hidden = len(values) - len(indices)
    caption += f" {counted(n_hidden, 'smaller feature')} not shown." if n_hidden else ""
    picture = cells(title, features, rows, description, heads=heads if any(heads) else ())
    return Figure(title, picture, caption, (("above", "above 0"), ("below", "below 0")))
