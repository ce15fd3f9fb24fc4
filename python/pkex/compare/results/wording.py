"""Words for the hypotheses and conclusions of the two statistics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """Words of a statistic; `{a}` and `{b}` stand for the names of the compared tables.

    Parameters
    ----------
    significant, not_significant : str
        The conclusion with and without a small p-value.
    hypothesis : str
        The hypothesis of the p-value, after "that".
    does, do : str
        What a feature, or several features, do if their univariate p-values are small.
    whole : str
        What the Shapley values are shares of.
    alone_hypothesis : str
        The hypothesis of a univariate p-value, after "that".
    """

    significant: str
    not_significant: str
    hypothesis: str
    does: str
    do: str
    whole: str
    alone_hypothesis: str

    def of(self, a: str, b: str) -> Wording:
        """Return the words with names."""
        return Wording(*(text.format(a=a, b=b) for text in vars(self).values()))


DIFFERENCE = Wording(
    "{a} and {b} differ",
    "No difference between {a} and {b} was found",
    "{a} and {b} come from one distribution",
    "differs",
    "differ",
    "the difference",
    "this feature has the same distribution in both",
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
