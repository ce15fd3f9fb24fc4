"""What a result says of itself: a table, and notes on what is easily misread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pkex.compare.permutation.significance import Significance
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.results.summary import SummaryTable
from pkex.results.tables import numbers, shortened
from pkex.typing import Float

__all__ = ["COLUMNS", "SMALL_PVALUE", "described", "legend", "notes_of", "table"]

# P-values up to this are called small, others not.
SMALL_PVALUE = 0.05
# Names in a note.
_MOST_NAMES = 5

# What is known of each feature, and its title in a table.
COLUMNS = {
    "values": "value",
    "standard_errors": "std err",
    "feature_pvalues": "p",
    "familywise_pvalues": "family p",
    "alone": "alone",
    "alone_pvalues": "alone p",
    "alone_familywise_pvalues": "alone family p",
}


def described(kernel: Kernel, bandwidth: str | None) -> str:
    """Return how a kernel's length-scales were found, or a kernel that was given."""
    return bandwidth or shortened(repr(kernel), 80)


def table(names: Sequence[str], columns: Mapping[str, Float | None], most: int) -> SummaryTable:
    """Return a table of the strongest features, the largest value first.

    Parameters
    ----------
    names : sequence of str
        Of the features.
    columns : mapping of str to ndarray of shape (P,) or None
        What is known of each feature, by the names of `COLUMNS`.
    most : int
        The largest number of features.
    """
    values = columns["values"]
    assert values is not None, "values are always known"
    strongest = np.argsort(-np.abs(values), kind="stable")[:most]
    order = strongest[np.argsort(-values[strongest], kind="stable")]
    cells = [["feature", *(shortened(names[j]) for j in order)]]
    for name, title in COLUMNS.items():
        of_features = columns[name]
        if of_features is not None:
            cells.append([title, *numbers(of_features[order])])
    left_out = len(values) - len(order)
    note = f"({counted(left_out, 'smaller feature')} not shown)" if left_out else ""
    return SummaryTable(cells, values[order], note=note)


def legend(hypothesis: str, alone_hypothesis: str) -> str:
    """Return a line that says what the p-values are of."""
    return (
        f"p: hypothesis that {hypothesis}; alone p: that {alone_hypothesis}; "
        "family: corrected for the number of features"
    )


def notes_of(
    names: Sequence[str], tested: Significance, finding: str, *, is_neutral: bool
) -> tuple[str, ...]:
    """Say of which features of a significant result value and univariate test disagree.

    A small value does not exclude that a feature differs by itself: it may share what it shows with
    others. A large p-value alone does not exclude it either: the test may lack power.

    Parameters
    ----------
    names : sequence of str
        Of the features.
    tested : Significance
    finding : str
        What a feature does whose p-value alone is small, in words.
    is_neutral : bool
        Whether the values are neutral ones.
    """
    if tested.pvalue > SMALL_PVALUE:
        return ()
    is_shared = (tested.alone_familywise_pvalues <= SMALL_PVALUE) & (
        tested.feature_pvalues > SMALL_PVALUE
    )
    is_joint = (tested.familywise_pvalues <= SMALL_PVALUE) & (tested.alone_pvalues > SMALL_PVALUE)
    notes = []
    if is_shared.any():
        outdone = ", or be outdone by them (neutral values)"
        notes.append(
            f"{_named(names, is_shared)}: small p-value alone, but not of the value: "
            f"{finding} by itself, and may share what it shows with others"
            f"{outdone if is_neutral else ''}"
        )
    if is_joint.any():
        notes.append(
            f"{_named(names, is_joint)}: small p-value of the value, but not alone: little is "
            "seen of it by itself; what counts may be how it goes together with others"
        )
    return tuple(notes)


def _named(names: Sequence[str], chosen: NDArray[np.bool_]) -> str:
    shown = [shortened(names[j]) for j in np.flatnonzero(chosen).tolist()]
    listed = ", ".join(shown[:_MOST_NAMES])
    more = len(shown) - _MOST_NAMES
    return f"{listed} and {more} more" if more > 0 else listed
