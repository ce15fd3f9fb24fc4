"""Rows of numbers and labels as numbers, by which they can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["Levels"]

# The number of labels that the background has not: of none of its rows.
_UNKNOWN = -1.0


@dataclass(frozen=True, eq=False)
class Levels:
    """The labels in some columns of a background, each with a number.

    Parameters
    ----------
    names : sequence of str
        What messages call the columns.
    known : mapping of int to mapping
        Of the columns that hold labels, by their number, the number of each label.
    """

    names: Sequence[str]
    known: Mapping[int, Mapping[object, float]]

    @classmethod
    def of(cls, rows: NDArray[Any], names: Sequence[str]) -> Levels:
        """Return the labels in rows: entries of the columns that are not all numbers."""
        known = {
            column: {label: float(place) for place, label in enumerate(labels)}
            for column in range(rows.shape[1])
            if not _are_numbers(rows[:, column])
            for labels in [dict.fromkeys(map(_label, rows[:, column].tolist()))]
        }
        return cls(names, known)

    def numbers(self, rows: NDArray[Any], argument: str) -> Float:
        """Return rows as numbers, shape (n, d), C-contiguous.

        Raises
        ------
        ValueError
            If an entry of a column of numbers is missing, or no number.
        """
        found = np.empty(rows.shape)
        for column, entries in enumerate(rows.T):
            codes = self.known.get(column)
            if codes is None:
                found[:, column] = [_number(entry) for entry in entries.tolist()]
            else:
                found[:, column] = [codes.get(_label(own), _UNKNOWN) for own in entries.tolist()]
        if not np.isfinite(found).all():
            row, column = np.argwhere(~np.isfinite(found))[0].tolist()
            raise ValueError(
                f"{argument}: row {row} has {rows[row, column]!r} in {self.names[column]}, a "
                "column of numbers, by which value_function='observational' compares rows; fill it "
                "in, or take value_function='interventional' (the default with a background)"
            )
        return found


def _label(entry: object) -> object:
    """Return an entry; all that are missing are one label."""
    return None if entry is None or entry != entry else entry


def _number(entry: object) -> float:
    """Return a number, NaN for what is none."""
    return float(entry) if isinstance(entry, int | float | np.number) else np.nan


def _are_numbers(column: NDArray[Any]) -> bool:
    """Whether entries are numbers, or missing."""
    known = (entry for entry in column.tolist() if entry is not None)
    return all(isinstance(entry, int | float | np.number) for entry in known)
