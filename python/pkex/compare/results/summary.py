"""Summaries of results: a table of features, and notes on results that are easily misread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pkex.compare.permutation.significance import Significance
from pkex.compare.results.wording import Wording
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.results.summary import SummaryTable
from pkex.results.tables import numbers, shortened
from pkex.typing import Float

# P-values up to this level are called small.
SMALL_PVALUE = 0.05
# Largest number of names in a note.
_MAX_NAMES = 5

# Attributes with one number per feature, and their titles in tables; the columns that answer
# "how much?" and "does this feature count?" come first.
COLUMNS = {
    "values": "value",
    "alone_familywise_pvalues": "univariate p (adjusted)",
    "standard_errors": "std err",
    "familywise_pvalues": "p (adjusted)",
    "alone": "univariate value",
    "alone_pvalues": "univariate p",
    "feature_pvalues": "p",
}


def describe_kernel(kernel: Kernel, bandwidth: str | None) -> str:
    """Return the rule that chose a kernel's length-scales, or the kernel that the user passed."""
    return bandwidth or shortened(repr(kernel), 80)


def strongest_features(values: Float, max_features: int) -> NDArray[np.intp]:
    """Return the positions of the largest absolute values, in descending order of the values."""
    indices = np.argsort(-np.abs(values), kind="stable")[:max_features]
    return indices[np.argsort(-values[indices], kind="stable")]


def features_table(
    names: Sequence[str], values: Float, columns: Mapping[str, Float], max_features: int
) -> SummaryTable:
    """Return a table of the strongest features, the largest value first.

    Parameters
    ----------
    names : sequence of str
        Names of the features.
    values : ndarray of shape (P,)
    columns : mapping of str to ndarray of shape (P,)
        Columns by their titles.
    max_features : int
        The largest number of features.
    """
    order = strongest_features(values, max_features)
    cells = [["feature", *(shortened(names[j]) for j in order)]]
    cells += [[title, *numbers(column[order])] for title, column in columns.items()]
    n_hidden = len(values) - len(order)
    note = f"({counted(n_hidden, 'smaller feature')} not shown)" if n_hidden else ""
    return SummaryTable(cells, values[order], note=note)


def legend(wording: Wording) -> list[str]:
    """Return lines with the hypotheses of the p-values."""
    return [
        f"p: hypothesis that {wording.hypothesis}; adjusted: for the number of features",
        f"univariate p: hypothesis that {wording.alone_hypothesis}",
    ]


def disagreement_notes(
    names: Sequence[str], significance: Significance, wording: Wording, *, is_neutral: bool
) -> tuple[str, ...]:
    """Return notes on features whose value and univariate test disagree in a significant result.

    A small value does not exclude that a feature differs: it may share its effect with others. A
    large univariate p-value does not exclude it either: the test may lack power.
    """
    if significance.pvalue > SMALL_PVALUE:
        return ()
    is_shared = (significance.alone_familywise_pvalues <= SMALL_PVALUE) & (
        significance.feature_pvalues > SMALL_PVALUE
    )
    is_joint = (significance.familywise_pvalues <= SMALL_PVALUE) & (
        significance.alone_pvalues > SMALL_PVALUE
    )
    notes = []
    if is_shared.any():
        reason = " or have a smaller value because of them (neutral values)" if is_neutral else ""
        notes.append(
            f"{_join_names(names, is_shared)}: small univariate p-value, but large p-value of the "
            f"Shapley value: {wording.does} individually, and may share its effect with other "
            f"features{reason}"
        )
    if is_joint.any():
        notes.append(
            f"{_join_names(names, is_joint)}: small p-value of the Shapley value, but large "
            "univariate p-value: may count through the dependence on other features"
        )
    return tuple(notes)


def _join_names(names: Sequence[str], mask: NDArray[np.bool_]) -> str:
    selected_names = [shortened(names[j]) for j in np.flatnonzero(mask).tolist()]
    text = ", ".join(selected_names[:_MAX_NAMES])
    n_more = len(selected_names) - _MAX_NAMES
    return f"{text} and {n_more} more" if n_more > 0 else text
