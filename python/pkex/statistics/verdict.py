"""The verdict of a test, and what features have to do with it, in sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.display.findings import listed, percent
from pkex.display.tables import number, shortened
from pkex.statistics.attribution import Attribution
from pkex.typing import Float

__all__ = ["DEPENDENCE", "DIFFERENCE", "Wording", "is_found", "shares", "verdict"]

# Features that are named, and the share of the statistic from which on they are, and are all of it.
_MOST_NAMED, _NOTABLE, _ALL = 5, 0.1, 0.995


@dataclass(frozen=True)
class Wording:
    """How a verdict is said; `{a}` and `{b}` are what is compared.

    Parameters
    ----------
    found, not_found : str
        What was found.
    hypothesis : str
        What the p-value is of, after "that".
    does, do : str
        What a feature does, and features do, by itself, whose p-value alone is small.
    whole : str
        What the values are shares of.
    alone_hypothesis : str
        What the p-value of a feature by itself is of.
    together : str
        What may be found of features together that none shows by itself.
    """

    found: str
    not_found: str
    hypothesis: str
    does: str
    do: str
    whole: str
    alone_hypothesis: str
    together: str

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
    "how features go together",
)
DEPENDENCE = Wording(
    "{b} depends on {a}",
    "No dependence of {b} on {a} was found",
    "{a} and {b} are independent",
    "goes together with {b}",
    "go together with {b}",
    "the dependence",
    "this feature and {b} are independent",
    "what features say together",
)


def is_found(result: Attribution, alpha: float) -> bool | None:
    """Say whether the hypothesis is rejected at the level α; None without a test."""
    return None if result.pvalue is None else bool(result.pvalue <= alpha)


def shares(result: Attribution) -> Float:
    """Return the share of the statistic that each feature has; NaN if it is not positive."""
    statistic = result.statistic
    if not statistic > 0.0:
        return np.full(len(result.values), np.nan)
    found: Float = result.values / statistic
    return found


def verdict(result: Attribution, wording: Wording, alpha: float) -> str:
    """Return what was found at the level α, which features show it, and their shares."""
    found = is_found(result, alpha)
    level = f"α = {number(alpha)}"
    if found is None:
        first = f"{result.label} is {number(result.statistic)}; nothing was tested."
        return " ".join([first, *_shared(result, wording)])
    pvalue = f"the p-value of the hypothesis that {wording.hypothesis} is {number(result.pvalue)}"
    if found:
        first = f"{wording.found}: {pvalue}, at most {level}."
        return " ".join([first, *_alone(result, wording, alpha), *_shared(result, wording)])
    first = f"{wording.not_found}: {pvalue}, above {level}."
    return " ".join([first, *_exceptions(result, wording, alpha)])


def _alone(result: Attribution, wording: Wording, alpha: float) -> list[str]:
    names = _named_alone(result, alpha)
    if len(result.names) == 1:
        return []
    if not names:
        return [
            f"No feature {wording.does} by itself at this level, corrected for their number: "
            f"{wording.together} may be what counts."
        ]
    does, itself = (wording.does, "itself") if len(names) == 1 else (wording.do, "themselves")
    return [f"By {itself}, corrected for the number of features, {_some(names)} {does}."]


def _exceptions(result: Attribution, wording: Wording, alpha: float) -> list[str]:
    names = _named_alone(result, alpha)
    if not names:
        return ["That is no proof that there is none: these rows may be too few to show it."]
    does, itself = (wording.does, "itself") if len(names) == 1 else (wording.do, "themselves")
    return [
        f"Yet {_some(names)} {does} by {itself}, corrected for the number of features: a test of "
        "all features together has less power where few of them count."
    ]


def _shared(result: Attribution, wording: Wording) -> list[str]:
    of_whole = shares(result)
    order = np.argsort(-of_whole, kind="stable")[:3]
    notable = [j for j in order.tolist() if of_whole[j] >= _NOTABLE]
    if not notable or len(result.names) == 1:
        return []
    if len(notable) == 1 and of_whole[notable[0]] > _ALL:
        # Or more than all, where noise makes the others' sum negative.
        return [f"Of {wording.whole}, {shortened(result.names[notable[0]])} carries all."]
    named = [(shortened(result.names[j]), percent(of_whole[j])) for j in notable]
    texts = [" carries ".join(named[0]), *(" ".join(pair) for pair in named[1:])]
    return [f"Of {wording.whole}, {listed(texts)}."]


def _named_alone(result: Attribution, alpha: float) -> list[str]:
    """Return the features whose family-wise p-value alone is at most α, the largest value first."""
    pvalues = result.alone_familywise_pvalues
    assert pvalues is not None, "of a test"
    order = np.argsort(-result.values, kind="stable")
    return [shortened(result.names[j]) for j in order.tolist() if pvalues[j] <= alpha]


def _some(names: list[str]) -> str:
    if len(names) <= _MOST_NAMED + 1:
        return listed(names)
    return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} more"
