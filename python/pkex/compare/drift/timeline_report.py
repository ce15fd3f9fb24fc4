"""What a report of many batches shows: which differ from the reference, and in which features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.drift.batches import counted_batches
from pkex.compare.drift.result import DriftResult
from pkex.compare.results.conclusion import changed_pairs, found_features
from pkex.compare.results.report import n_permutations, settings
from pkex.inputs.wording import counted
from pkex.results.report import Figure, PageContent, ReportTable
from pkex.results.svg import bars, cells
from pkex.results.tables import number, numbers, shortened
from pkex.typing import Float

__all__ = ["report_timeline"]

# Batches in the table and the heat map, and in the bars; features in the heat map; names in a list.
_MOST_BATCHES, _MOST_BARS, _MOST_FEATURES, _MOST_NAMED = 100, 20, 20, 5

_READING = (
    "“MMD²” compares a batch with the reference: it is about 0 if both have one distribution. The "
    "values of the features add up to it."
)
_TESTED = (
    "“p” is the p-value of the hypothesis that reference and batch have one distribution. "
    "“corrected p” is corrected for the number of batches by Holm's method: the chance that any "
    "batch without drift has one of at most α is at most α.",
    "For batches with drift, the table names features that differ individually and pairs of "
    "columns whose dependence differs. Their p-values are corrected for the number of features or "
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
    """Return what a report shows of batches that were compared with one reference.

    Parameters
    ----------
    results : sequence of DriftResult
    names : sequence of str
        Of the batches.
    corrected : ndarray of shape (T,) or None
        P-values, corrected for the number of batches; None if nothing was tested.
    is_drift : ndarray of bool, shape (T,), or None
    notes : tuple of str
    title : str
        What the batches are called.
    """
    first, latest = results[0], slice(-_MOST_BATCHES, None)
    some, titles = results[latest], [shortened(name) for name in names[latest]]
    statistics = np.array([result.statistic for result in some])
    rows = [str(result.n_batch) for result in some]
    columns: dict[str, Any] = {"batch": titles, "rows": rows, "MMD²": statistics}
    texts, heads, reading = numbers(statistics), [""] * len(some), [_READING]
    if corrected is not None and is_drift is not None:
        columns |= _tested_columns(some, corrected[latest], is_drift[latest])
        texts = [f"corrected p {number(p)}" for p in corrected[latest].tolist()]
        heads = ["▾" if drifts else "" for drifts in is_drift[latest].tolist()]
        reading += _TESTED
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


def _tested_columns(
    results: Sequence[DriftResult], corrected: Float, is_drift: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return p-values of batches, and names of what differs in those with drift."""
    found = list(zip(results, is_drift.tolist(), strict=True))
    features = [_few(_features(result)) if drifts else "–" for result, drifts in found]
    columns: dict[str, Any] = {
        "p": np.array([result.pvalue for result in results]),
        "corrected p": corrected,
        "drift": ["yes" if drifts else "no" for drifts in is_drift.tolist()],
        "features that differ": features,
    }
    pairs = [_few(_pairs(result)) if drifts else "–" for result, drifts in found]
    if set(pairs) != {"–"}:
        columns["dependence that differs"] = pairs
    return columns


def _features(result: DriftResult) -> list[str]:
    """Return the names of the features that differ individually."""
    return [shortened(result.feature_names[j]) for j in found_features(result, result.alpha)]


def _pairs(result: DriftResult) -> list[str]:
    """Return the names of the pairs of columns whose dependence differs."""
    pairs = changed_pairs(result, result.alpha)
    return [f"{shortened(a)} and {shortened(b)}" for a, b in pairs]


def _few(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return "; ".join([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]) or "–"


def _conclusion(
    results: Sequence[DriftResult], names: Sequence[str], is_drift: NDArray[np.bool_] | None
) -> str:
    """Return which batches differ, and the features that differ in most of them."""
    count = counted_batches(len(results))
    if is_drift is None:
        verb = "was" if len(results) == 1 else "were"
        return f"{count} {verb} compared with the reference; nothing was tested."
    level = f"α = {number(results[0].alpha)}, corrected for the number of batches"
    if not is_drift.any():
        return (
            f"No drift was found in {count} ({level}). That does not prove that there is none: "
            "these rows may be too few to show it."
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
    """Return the names that the most batches have, and in how many; "" if there are none."""
    found = Counter(chain.from_iterable(names_of_batches))
    named = _few([f"{name} in {counted_batches(n)}" for name, n in found.most_common()])
    return f"{title}: {named}." if found else ""


def _bars(names: Sequence[str], statistics: Float, texts: Sequence[str]) -> Figure:
    """Return the statistic of the latest batches."""
    latest = slice(-_MOST_BARS, None)
    title = "How much batches differ from the reference"
    rest = "earlier batches not shown" if len(names) > _MOST_BARS else ""
    picture = bars(title, names[latest], statistics[latest], texts[latest])
    return Figure(title, picture, rest, (("value", "MMD²"),))


def _heat_map(results: Sequence[DriftResult], names: Sequence[str], heads: Sequence[str]) -> Figure:
    """Return the values of the strongest features by batch."""
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
        caption += " Those with drift have a triangle above them."
    left_out = len(values) - len(chosen)
    caption += f" {counted(left_out, 'smaller feature')} not shown." if left_out else ""
    picture = cells(title, features, shown, spoken, heads=heads if any(heads) else ())
    return Figure(title, picture, caption, (("above", "above 0"), ("below", "below 0")))
