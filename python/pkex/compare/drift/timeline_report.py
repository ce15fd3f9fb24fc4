"""Reports of many batches: which batches differ from the reference, and in which features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.drift.batches import counted_batches
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
_MOST_BATCHES, _MOST_BARS, _MOST_FEATURES, _MOST_NAMED = 100, 20, 20, 5

_READING = (
    "“MMD²” compares a batch with the reference: it is about 0 if both come from one distribution. "
    "The values of the features add up to it."
)
_TESTED = (
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
    corrected: Float | None,
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
    corrected : ndarray of shape (T,) or None
        P-values adjusted for the number of batches; None without a test.
    is_drift : ndarray of bool, shape (T,), or None
    notes : tuple of str
    title : str
        The batches in words.
    """
    first, latest = results[0], slice(-_MOST_BATCHES, None)
    some, titles = results[latest], [shortened(name) for name in names[latest]]
    statistics = np.array([result.statistic for result in some])
    rows = [str(result.n_batch) for result in some]
    columns: dict[str, Any] = {"batch": titles}
    texts, heads, reading = numbers(statistics), [""] * len(some), [_READING]
    if corrected is not None and is_drift is not None:
        columns |= _test_columns(some, corrected[latest], is_drift[latest])
        texts = [f"adjusted p {number(p)}" for p in corrected[latest].tolist()]
        heads = ["▾" if drifts else "" for drifts in is_drift[latest].tolist()]
        reading += _TESTED
    columns |= {"MMD²": statistics, "rows": rows}
    if corrected is not None:
        columns["p"] = np.array([result.pvalue for result in some])
    computed = {
        "Reference": counted(first.n_reference, "row"),
        "Estimator": first.estimator,
        "Permutations": str(n_permutations(first)),
        **settings(first, first.alpha),
    }
    which = f", the latest {len(some)} of {len(results):,}" if len(some) < len(results) else ""
    return PageContent(
        f"Drift in {title}",
        _conclusion(results, names, is_drift),
        (ReportTable(f"Batches, compared with the reference{which}", columns),),
        (_bars(titles, statistics, texts), _heat_map(some, titles, heads)),
        (),
        "",
        tuple(reading),
        computed,
        notes,
    )


def _test_columns(
    results: Sequence[DriftResult], corrected: Float, is_drift: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return adjusted p-values, and the features and pairs that differ in batches with drift."""
    batches = list(zip(results, is_drift.tolist(), strict=True))
    features = [_few(_features(result)) if drifts else "–" for result, drifts in batches]
    columns: dict[str, Any] = {
        "drift": ["yes" if drifts else "no" for drifts in is_drift.tolist()],
        "p (adjusted)": corrected,
        "features that differ": features,
    }
    pairs = [_few(_pairs(result)) if drifts else "–" for result, drifts in batches]
    if set(pairs) != {"–"}:
        columns["dependence that differs"] = pairs
    return columns


def _features(result: DriftResult) -> list[str]:
    """Return the names of the features that differ individually."""
    return [shortened(result.feature_names[j]) for j in significant_features(result, result.alpha)]


def _pairs(result: DriftResult) -> list[str]:
    """Return the names of the pairs of columns whose dependence differs."""
    return describe_pairs(significant_pairs(result, result.alpha))


def _few(names: Sequence[str]) -> str:
    """Return the first names, and the number of further ones."""
    more = len(names) - _MOST_NAMED
    return "; ".join([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]) or "–"


def _conclusion(
    results: Sequence[DriftResult], names: Sequence[str], is_drift: NDArray[np.bool_] | None
) -> str:
    """Return which batches differ, and the features and pairs that differ in most of them."""
    count = counted_batches(len(results))
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
    named = _few([shortened(names[place]) for place in places])
    some = [results[place] for place in places]
    sentences = [
        f"{len(places)} of {count} {verb} from the reference ({level}): {named}.",
        _most_common("Features that differ individually", map(_features, some)),
        _most_common("Pairs of columns whose dependence differs", map(_pairs, some)),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _most_common(title: str, names_of_batches: Iterable[Sequence[str]]) -> str:
    """Return the most frequent names with their numbers of batches; "" without names."""
    counts = Counter(chain.from_iterable(names_of_batches))
    named = _few([f"{name} in {counted_batches(n)}" for name, n in counts.most_common()])
    return f"{title}: {named}." if counts else ""


def _bars(names: Sequence[str], statistics: Float, texts: Sequence[str]) -> Figure:
    """Return a figure of the statistic of the latest batches."""
    latest = slice(-_MOST_BARS, None)
    title = "How much batches differ from the reference"
    rest = "earlier batches not shown" if len(names) > _MOST_BARS else ""
    picture = bars(title, names[latest], statistics[latest], texts[latest])
    return Figure(title, picture, rest, (("value", "MMD²"),))


def _heat_map(results: Sequence[DriftResult], names: Sequence[str], heads: Sequence[str]) -> Figure:
    """Return a figure of the values of the strongest features by batch."""
    values = np.array([result.values for result in results]).T
    chosen = np.argsort(-np.abs(values).max(axis=1), kind="stable")[:_MOST_FEATURES]
    features = [shortened(results[0].feature_names[j]) for j in chosen.tolist()]
    shown = values[chosen]
    spoken = "; ".join(
        f"{feature}: largest in {names[place]}, {number(float(line[place]))}"
        for feature, line, place in zip(features, shown, shown.argmax(axis=1), strict=True)
    )
    title = "Values of features in each batch"
    ends = f"from {names[0]} to {names[-1]}" if len(names) > 1 else names[0]
    caption = f"Columns are batches, {ends}."
    if any(heads):
        caption += " Batches with drift have a triangle above them."
    left_out = len(values) - len(chosen)
    caption += f" {counted(left_out, 'smaller feature')} not shown." if left_out else ""
    picture = cells(title, features, shown, spoken, heads=heads if any(heads) else ())
    return Figure(title, picture, caption, (("above", "above 0"), ("below", "below 0")))
