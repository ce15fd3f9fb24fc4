"""The conclusion of a test in sentences, which name features and pairs with small p-values."""

from __future__ import annotations

import numpy as np

from pkex.compare.permutation.pair_dependence import PairDependence
from pkex.compare.results.statistic import StatisticResult
from pkex.compare.results.wording import Wording
from pkex.results.report import percent
from pkex.results.tables import number, shortened
from pkex.typing import Float

# Largest number of named features and pairs, and the normal quantile of 95 % intervals.
_MAX_NAMES, _QUANTILE = 6, 1.96
# The widest interval of a share that a sentence gives.
_WIDEST_INTERVAL = 1.0


def is_significant(result: StatisticResult, alpha: float) -> bool | None:
    """Return whether the hypothesis is rejected at the level α; None without a test."""
    return None if result.pvalue is None else bool(result.pvalue <= alpha)


def share_intervals(result: StatisticResult) -> Float:
    """Return approximate 95 % intervals of the shares, shape (P, 2); NaN where there are none.

    The share of feature j is s = φ / (φ + R), with its value φ and the sum R of the others. By the
    delta method its derivatives are (1 − s) / S and −s / S, with the statistic S = φ + R. The
    standard error is at most (|1 − s| σ + |s| ρ) / S however φ and R are correlated; σ is the
    standard error of φ, and ρ, the standard error of R, is approximated by √Σ σ² over the other
    features.
    """
    errors, shares = result.standard_errors, result.shares
    if errors is None or shares is None:
        return np.full((len(result.values), 2), np.nan)
    statistic = result._values_without_bias().sum()
    # In units of the statistic; squares of other numbers can overflow or vanish.
    errors = errors / statistic
    other_errors = np.sqrt(np.maximum((errors**2).sum() - errors**2, 0.0))
    share_errors = np.abs(1.0 - shares) * errors + np.abs(shares) * other_errors
    return np.stack([shares - _QUANTILE * share_errors, shares + _QUANTILE * share_errors], axis=1)


def significant_features(result: StatisticResult, alpha: float) -> list[int]:
    """Return the positions of the features that differ individually, the largest value first.

    Their adjusted univariate p-values are at most α; none if the result is not significant.
    """
    pvalues = result.alone_familywise_pvalues
    if pvalues is None or not is_significant(result, alpha):
        return []
    order = np.argsort(-result.values, kind="stable")
    return [j for j in order.tolist() if pvalues[j] <= alpha]


def significant_pairs(result: StatisticResult, alpha: float) -> list[tuple[str, str]]:
    """Return the pairs of columns whose dependence differs in a significant result."""
    if not is_significant(result, alpha):
        return []
    pairs: tuple[PairDependence, ...] = getattr(result, "pair_dependence", None) or ()
    return [pair.columns for pair in pairs if pair.familywise_pvalue <= alpha]


def describe_pairs(pairs: list[tuple[str, str]]) -> list[str]:
    """Return pairs of names in words."""
    return [f"{shortened(a)} and {shortened(b)}" for a, b in pairs]


def conclusion(result: StatisticResult, wording: Wording, alpha: float) -> str:
    """Return the conclusion at the level α, with the features and pairs whose p-values are small.

    Features are not named for their shares, because shares of noise can be large.
    """
    is_rejected = is_significant(result, alpha)
    if is_rejected is None:
        return f"{result.label} is {number(result.statistic)}; nothing was tested."
    test = (
        f"(p = {number(result.pvalue)}, α = {number(alpha)}; null hypothesis: {wording.hypothesis})"
    )
    if not is_rejected:
        return (
            f"{wording.not_significant} {test}. This does not prove that there is none: there may "
            "be too few rows to detect it."
        )
    sentences = [f"{wording.significant} {test}."]
    features, pairs = significant_features(result, alpha), significant_pairs(result, alpha)
    if len(result.feature_names) == 1:
        features = []
    elif not features and not pairs:
        suffix = " or pair of columns" if getattr(result, "pair_dependence", None) else ""
        sentences.append(f"It is not significant for any single feature{suffix} at this level.")
    if features:
        does = wording.does if len(features) == 1 else wording.do
        names = _join_texts(_features_with_shares(result, features, wording))
        sentences.append(
            f"After correction for the number of features, {names} {does} individually."
        )
    if pairs:
        names = _join_texts(describe_pairs(pairs), "; ")
        sentences.append(
            f"After correction for the number of pairs, the dependence between {names} differs."
        )
    return " ".join(sentences)


def _features_with_shares(
    result: StatisticResult, features: list[int], wording: Wording
) -> list[str]:
    """Return names with their share and its interval, if these are known."""
    shares, intervals = result.shares, share_intervals(result)
    texts: list[str] = []
    is_first = True
    for j in features:
        name = shortened(result.feature_names[j])
        # Wide intervals are not informative; NaN if there are no standard errors.
        if shares is not None and not np.ptp(intervals[j]) > _WIDEST_INTERVAL:
            share = percent(shares[j]) + (f" of {wording.whole}" if is_first else "")
            if np.isfinite(intervals[j]).all():
                low, high = map(percent, intervals[j].tolist())
                share += f", {'95 % interval ' if is_first else ''}{low} to {high}"
            name += f" ({share})"
            is_first = False
        texts.append(name)
    return texts


def _join_texts(texts: list[str], divider: str = ", ") -> str:
    if len(texts) > _MAX_NAMES:
        texts = [*texts[:_MAX_NAMES], f"{len(texts) - _MAX_NAMES} more"]
    if len(texts) < 2:
        return "".join(texts)
    return f"{divider.join(texts[:-1])}{';' if divider == '; ' else ''} and {texts[-1]}"
