"""The conclusion of a test in sentences, which name only features and pairs that were tested."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.compare.permutation.pair_dependence import PairDependence
from pkex.compare.results.statistic import StatisticResult
from pkex.results.report import percent
from pkex.results.tables import number, shortened
from pkex.typing import Float

__all__ = [
    "DEPENDENCE",
    "DIFFERENCE",
    "Wording",
    "changed_pairs",
    "conclusion",
    "found_features",
    "is_found",
    "share_intervals",
]

# Features and pairs that are named, and the normal quantile of intervals of 95 %.
_MOST_NAMED, _QUANTILE = 6, 1.96
# The widest interval of a share that is shown in words.
_WIDEST = 1.0


@dataclass(frozen=True)
class Wording:
    """How a conclusion is said; `{a}` and `{b}` are what is compared.

    Parameters
    ----------
    found, not_found : str
        What was found.
    hypothesis : str
        What the p-value is of, after "that".
    does, do : str
        What a feature does, and features do, with a small univariate p-value.
    whole : str
        What the values are shares of.
    alone_hypothesis : str
        The hypothesis of a univariate p-value.
    """

    found: str
    not_found: str
    hypothesis: str
    does: str
    do: str
    whole: str
    alone_hypothesis: str

    def of(self, first: str, second: str) -> Wording:
        """Return the same with names."""
        return Wording(*(text.format(a=first, b=second) for text in vars(self).values()))


DIFFERENCE = Wording(
    "{a} and {b} differ",
    "No difference between {a} and {b} was found",
    "both come from one distribution",
    "differs",
    "differ",
    "the difference",
    "this feature is distributed alike in both",
)
DEPENDENCE = Wording(
    "{b} depends on {a}",
    "No dependence of {b} on {a} was found",
    "{a} and {b} are independent",
    "is associated with {b}",
    "are associated with {b}",
    "the dependence",
    "this feature and {b} are independent",
)


def is_found(result: StatisticResult, alpha: float) -> bool | None:
    """Say whether the hypothesis is rejected at the level α; None without a test."""
    return None if result.pvalue is None else bool(result.pvalue <= alpha)


def share_intervals(result: StatisticResult) -> Float:
    """Return approximate 95 % intervals of the shares, shape (P, 2); NaN where there are none.

    The share of feature j is s = φ / (φ + R), with its value φ and the sum R of the others. By the
    delta method its derivatives are (1 − s) / S and −s / S, with the statistic S = φ + R. The
    standard error is at most (|1 − s| σ + |s| ρ) / S however φ and R are correlated; σ is the
    standard error of φ, and ρ, that of R, is taken as √Σ σ² over the other features.
    """
    errors, of_whole = result.standard_errors, result.shares
    if errors is None or of_whole is None:
        return np.full((len(result.values), 2), np.nan)
    of_rest = np.sqrt(np.maximum((errors**2).sum() - errors**2, 0.0))
    statistic = result._values_without_bias().sum()
    of_shares = (np.abs(1.0 - of_whole) * errors + np.abs(of_whole) * of_rest) / statistic
    return np.stack([of_whole - _QUANTILE * of_shares, of_whole + _QUANTILE * of_shares], axis=1)


def found_features(result: StatisticResult, alpha: float) -> list[int]:
    """Return the places of the features that a significant result names, the largest value first.

    Those whose univariate family-wise adjusted p-value is at most α.
    """
    pvalues = result.alone_familywise_pvalues
    if pvalues is None or not is_found(result, alpha):
        return []
    order = np.argsort(-result.values, kind="stable")
    return [j for j in order.tolist() if pvalues[j] <= alpha]


def changed_pairs(result: StatisticResult, alpha: float) -> list[tuple[str, str]]:
    """Return the pairs of columns whose dependence differs in a significant result."""
    if not is_found(result, alpha):
        return []
    tested: tuple[PairDependence, ...] = getattr(result, "pair_dependence", None) or ()
    return [pair.columns for pair in tested if pair.familywise_pvalue <= alpha]


def conclusion(result: StatisticResult, wording: Wording, alpha: float) -> str:
    """Return what was found at the level α, and the features and pairs that are proven to show it.

    No feature is named for its share: that of noise may be large.
    """
    found = is_found(result, alpha)
    if found is None:
        return f"{result.label} is {number(result.statistic)}; nothing was tested."
    level = f"α = {number(alpha)}"
    pvalue = f"the p-value of the hypothesis that {wording.hypothesis} is {number(result.pvalue)}"
    if not found:
        return (
            f"{wording.not_found}: {pvalue}, above {level}. That does not prove that there is "
            "none: these rows may be too few to show it."
        )
    sentences = [f"{wording.found}: {pvalue}, at most {level}."]
    features, pairs = found_features(result, alpha), changed_pairs(result, alpha)
    if len(result.feature_names) == 1:
        features = []
    elif not features and not pairs:
        also = " and no pair of columns" if getattr(result, "pair_dependence", None) else ""
        sentences.append(f"No single feature{also} is proven to show it at this level.")
    if features:
        does = wording.does if len(features) == 1 else wording.do
        named = _some(_with_shares(result, features, wording))
        sentences.append(f"Corrected for the number of features, {named} {does} individually.")
    if pairs:
        named = _some([f"{shortened(a)} and {shortened(b)}" for a, b in pairs], "; ")
        sentences.append(
            f"Corrected for the number of pairs, the dependence between {named} differs."
        )
    return " ".join(sentences)


def _with_shares(result: StatisticResult, features: list[int], wording: Wording) -> list[str]:
    """Return names with their share of the whole and its interval, as far as these are known."""
    of_whole, intervals = result.shares, share_intervals(result)
    named: list[str] = []
    is_said = False
    for j in features:
        name = shortened(result.feature_names[j])
        # An interval of more than that says nothing; without one it is NaN.
        if of_whole is not None and not np.ptp(intervals[j]) > _WIDEST:
            share = percent(of_whole[j]) + ("" if is_said else f" of {wording.whole}")
            if np.isfinite(intervals[j]).all():
                low, high = map(percent, intervals[j].tolist())
                share += f", {'' if is_said else '95 % interval '}{low} to {high}"
            name += f" ({share})"
            is_said = True
        named.append(name)
    return named


def _some(texts: list[str], divider: str = ", ") -> str:
    if len(texts) > _MOST_NAMED:
        texts = [*texts[:_MOST_NAMED], f"{len(texts) - _MOST_NAMED} more"]
    if len(texts) < 2:
        return "".join(texts)
    return f"{divider.join(texts[:-1])}{';' if divider == '; ' else ''} and {texts[-1]}"
