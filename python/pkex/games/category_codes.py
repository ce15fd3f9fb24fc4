"""Rows of numbers and labels as numbers, by which they can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, InputError, Option, Text
from pkex.tables.missing import is_missing
from pkex.typing import Float

__all__ = ["CategoryCodes"]

# The number of labels that the background has not: of none of its rows.
_UNKNOWN = -1.0
_OTHER_COLUMNS = Option(
    "kernel",
    python="value_function=pkex.Observational(kernel) with a kernel that is .on(the other columns)",
)
# As many labels may be all different.
_FEW = 10


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """The labels in some columns of a background, each with a number.

    Parameters
    ----------
    names : sequence of str
        What messages call the columns.
    known : mapping of int to mapping
        Of the columns that hold labels, by their number, the number of each label.
    ignored : frozenset of int
        The columns that rows are not compared by.
    """

    names: Sequence[str]
    known: Mapping[int, Mapping[object, float]]
    ignored: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, rows: NDArray[Any], names: Sequence[str], ignored: frozenset[int] = frozenset()
    ) -> CategoryCodes:
        """Return the labels in rows: entries of the columns that are not all numbers.

        Raises
        ------
        ValueError
            If labels tell nearly all rows from each other, or cannot be compared.
        """
        known = {
            column: _numbered(entries, names[column])
            for column, entries in enumerate(rows.T)
            if column not in ignored and not _are_numbers(entries)
        }
        return cls(names, known, ignored)

    def numbers(self, rows: NDArray[Any], argument: str) -> Float:
        """Return rows as numbers, shape (n, d), C-contiguous; 0 in ignored columns.

        Raises
        ------
        ValueError
            If an entry of a column of numbers is missing, or no number.
        """
        found = np.empty(rows.shape)
        for column, entries in enumerate(rows.T):
            codes = self.known.get(column)
            if column in self.ignored:
                found[:, column] = 0.0
            elif codes is None:
                found[:, column] = [_number(entry) for entry in entries.tolist()]
            else:
                found[:, column] = [codes.get(_label(own), _UNKNOWN) for own in entries.tolist()]
        if not np.isfinite(found).all():
            row, column = np.argwhere(~np.isfinite(found))[0].tolist()
            raise InputError(
                argument,
                (
                    f"has the value {rows[row, column]}",
                    HERE,
                    ", a column of numbers, by which ",
                    Option("value_function", "observational"),
                    " compares rows",
                ),
                [
                    "fill it in",
                    (
                        "take ",
                        Option("value_function", "interventional"),
                        " (the default with a background)",
                    ),
                ],
                row,
                self.names[column],
                "missing",
            )
        return found


def _numbered(entries: NDArray[Any], name: str) -> dict[object, float]:
    """Return the number of each label of a column, in the order in which they first occur."""
    try:
        labels = dict.fromkeys(map(_label, entries.tolist()))
    except TypeError as error:
        what = f"has values that are neither numbers nor labels ({error}), and "
        compares = (what, Option("value_function", "observational"), " compares rows by them")
        fix: list[Text] = ["leave the column out", ("give ", _OTHER_COLUMNS)]
        raise InputError("background", compares, fix, column=name) from None
    if len(labels) > max(_FEW, len(entries) // 2):
        raise InputError(
            "background",
            f"has {len(labels)} different labels in {len(entries)} rows: hardly any are equal",
            ["give dates as numbers, and leave names of rows out", ("give ", _OTHER_COLUMNS)],
            column=name,
        )
    return {label: float(place) for place, label in enumerate(labels)}


def _label(entry: object) -> object:
    """Return an entry; all that are missing are one label."""
    return None if is_missing(entry) else entry


def _number(entry: object) -> float:
    """Return a number, NaN for what is none."""
    return float(entry) if isinstance(entry, int | float | np.number) else np.nan


def _are_numbers(column: NDArray[Any]) -> bool:
    """Whether entries are numbers, or missing."""
    known = (entry for entry in column.tolist() if entry is not None)
    return all(isinstance(entry, int | float | np.number) for entry in known)
