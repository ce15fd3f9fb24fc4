"""What a result says of itself: a table, and notes on what is easily misread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pkex.display.tables import aligned, number, numbers, shortened
from pkex.inputs.wording import counted
from pkex.kernels import Kernel

if TYPE_CHECKING:
    from pkex.statistics.results import Attribution

__all__ = ["COLUMNS", "SMALL_PVALUE", "described", "notes_of", "report"]

# P-values up to this are called small, others not.
SMALL_PVALUE = 0.05
# Lines of a table, and names in a note.
_MOST_LINES, _MOST_NAMES = 8, 5

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


def report(result: Attribution) -> str:
    """Return the statistic, a table of the strongest features, the kernel and the notes."""
    pvalue = "" if result.pvalue is None else f", p-value {number(result.pvalue)}"
    return "\n".join(
        [
            f"{type(result).__name__}: {result.label} = {number(result.statistic)}{pvalue} "
            f"({result.estimator}, {result.value_function} values)",
            *_table(result),
            f"kernel: {described(result.kernel, result.bandwidth)}",
            *(f"note: {note}" for note in result.notes),
        ]
    )


def described(kernel: Kernel, bandwidth: str | None) -> str:
    """Return how a kernel's length-scales were found, or a kernel that was given."""
    return bandwidth or shortened(repr(kernel), 80)


def _table(result: Attribution) -> list[str]:
    values = result.values
    strongest = np.argsort(-np.abs(values), kind="stable")[:_MOST_LINES]
    order = strongest[np.argsort(-values[strongest], kind="stable")]
    columns = [["feature", *(shortened(result.names[j]) for j in order)]]
    for name, title in COLUMNS.items():
        of_features = getattr(result, name)
        if of_features is not None:
            columns.append([title, *numbers(of_features[order])])
    left_out = len(values) - len(order)
    more = [f"({counted(left_out, 'smaller feature')} not shown)"] if left_out else []
    return [*aligned(columns), *more, *_legend(result)]


def _legend(result: Attribution) -> list[str]:
    """Return a line that says what the p-values are of, if there are any."""
    if result.significance is None:
        return []
    return [
        f"p: hypothesis that {result.hypothesis}; alone p: that {result.alone_hypothesis}; "
        "family: corrected for the number of features"
    ]


def notes_of(result: Attribution) -> tuple[str, ...]:
    """Say of which features the value and the test by itself disagree.

    A small value does not exclude that a feature differs by itself: it may share what it shows with
    others. A large p-value alone does not exclude it either: the test may lack power.
    """
    tested = result.significance
    if tested is None:
        return ()
    is_shared = (tested.alone_familywise_pvalues <= SMALL_PVALUE) & (
        tested.feature_pvalues > SMALL_PVALUE
    )
    is_joint = (tested.familywise_pvalues <= SMALL_PVALUE) & (tested.alone_pvalues > SMALL_PVALUE)
    notes = []
    if is_shared.any():
        outdone = ", or be outdone by them (neutral values)"
        notes.append(
            f"{_named(result, is_shared)}: small p-value alone, but not of the value: "
            f"{result.finding} by itself, and may share what it shows with others"
            f"{outdone if result.value_function == 'neutral' else ''}"
        )
    if is_joint.any():
        notes.append(
            f"{_named(result, is_joint)}: small p-value of the value, but not alone: little is "
            "seen of it by itself; what counts may be how it goes together with others"
        )
    return tuple(notes)


def _named(result: Attribution, chosen: NDArray[np.bool_]) -> str:
    names = [shortened(result.names[j]) for j in np.flatnonzero(chosen)]
    listed = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{listed} and {more} more" if more > 0 else listed
