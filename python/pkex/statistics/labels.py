"""Columns that hold labels: which a kernel compares as such, and which it must not subtract."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pkex.errors import InputError, InputWarning, warn
from pkex.inputs.wording import shown
from pkex.statistics.chosen_kernel import ChosenKernel
from pkex.typing import Float

__all__ = ["FEW", "check_labels", "label_columns", "warn_of_many_labels", "without_labels"]

# In fewer rows labels may all differ.
FEW = 10


def label_columns(chosen: ChosenKernel, n_columns: int) -> list[int]:
    """Return the columns that a kernel compares as labels."""
    return sorted(_columns(chosen, n_columns, as_labels=True))


def _columns(chosen: ChosenKernel, n_columns: int, *, as_labels: bool) -> set[int]:
    """Return the columns that factors of a kernel compare as labels, or as numbers."""
    places = chosen.kernel.engine_columns(n_columns)
    return {
        int(places[column])
        for term in chosen.terms
        for factor in term.all_factors
        if factor.definition.compares_labels == as_labels
        for column in factor.columns
    }


def check_labels(
    chosen: ChosenKernel, labels: Sequence[int], names: Sequence[str], what: str, argument: str
) -> None:
    """Refuse a kernel that subtracts labels.

    Parameters
    ----------
    chosen : ChosenKernel
    labels : sequence of int
        The columns that hold them.
    names : sequence of str
        Of all columns.
    what, argument : str
        What messages call the rows, and the kernel.
    """
    subtracted = _columns(chosen, len(names), as_labels=False)
    for series in (term.series for term in chosen.terms if term.series is not None):
        subtracted.update(series.columns.tolist())
    wrong = [names[j] for j in labels if j in subtracted]
    if wrong:
        hold = "hold" if " and " in what else "holds"
        raise InputError(
            what,
            f"{hold} labels (column{'s' if len(wrong) > 1 else ''} {shown(wrong)}), but "
            f"{argument} is {chosen.kernel!r}, which is one of numbers",
            "take pkex.kernels.Categorical() for labels, or turn them into numbers",
        )


def without_labels(rows: Float, chosen: ChosenKernel) -> Float:
    """Return the rows as if all had the same labels, so that the kernel is that of the numbers.

    Many labels are nothing to warn of: rows of different ones have nothing in common.
    """
    same = rows.copy()
    same[:, label_columns(chosen, rows.shape[1])] = 0.0
    return same


def warn_of_many_labels(
    rows: Float, labels: Sequence[int], argument: str, names: Sequence[str], fix: str
) -> None:
    """Warn of labels that mostly differ from each other: numbers, perhaps, read as text."""
    for j in labels:
        number = len(np.unique(rows[:, j]))
        if number > len(rows) / 2 and len(rows) >= FEW:
            what = f"has {number} different labels in {len(rows)} rows: hardly any rows are equal"
            warn(InputWarning(argument, what, fix, column=names[j] if len(names) > 1 else None))
