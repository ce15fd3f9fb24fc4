"""Integer codes of categories, which allow kernels to compare rows with categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import HERE, InputError, Option, Text
from pkex.tables.missing import is_missing
from pkex.typing import Float

# The code of categories that are not in the background.
_UNKNOWN = -1.0
_OTHER_COLUMNS = Option(
    "kernel",
    python="value_function=pkex.Observational(kernel) with a kernel that is .on(the other columns)",
)
# A column may have so many distinct categories even if all of its values differ.
_FEW_CATEGORIES = 10


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """Integer codes of the categories in a background.

    Parameters
    ----------
    names : sequence of str
        The names of the columns, for messages.
    codes : mapping of int to mapping
        For each categorical column, by its number, the code of each category.
    ignored_columns : frozenset of int
        The columns that the kernel does not compare.
    """

    names: Sequence[str]
    codes: Mapping[int, Mapping[object, float]]
    ignored_columns: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls, rows: NDArray[Any], names: Sequence[str], ignored_columns: frozenset[int] = frozenset()
    ) -> CategoryCodes:
        """Return the codes of the columns of rows that are not numeric.

        Raises
        ------
        ValueError
            If nearly all categories of a column differ, or its values cannot be compared.
        """
        codes = {
            column: _encode_categories(values, names[column])
            for column, values in enumerate(rows.T)
            if column not in ignored_columns and not _are_numbers(values)
        }
        return cls(names, codes, ignored_columns)

    def numbers(self, rows: NDArray[Any], argument: str) -> Float:
        """Return rows with codes for categories, shape (n, d), C-contiguous; 0 if ignored.

        Raises
        ------
        ValueError
            If a value of a numeric column is missing or not a number.
        """
        numbers = np.empty(rows.shape)
        for column, values in enumerate(rows.T):
            column_codes = self.codes.get(column)
            if column in self.ignored_columns:
                numbers[:, column] = 0.0
            elif column_codes is None:
                numbers[:, column] = [_number(value) for value in values.tolist()]
            else:
                numbers[:, column] = [
                    column_codes.get(_label(v), _UNKNOWN) for v in values.tolist()
                ]
        if not np.isfinite(numbers).all():
            row, column = np.argwhere(~np.isfinite(numbers))[0].tolist()
            raise InputError(
                argument,
                (
                    f"has the value {rows[row, column]}",
                    HERE,
                    ", a numeric column, but ",
                    Option("value_function", "observational"),
                    " compares rows by numbers",
                ),
                [
                    "fill in the value",
                    (
                        "pass ",
                        Option("value_function", "interventional"),
                        " (the default with a background)",
                    ),
                ],
                row,
                self.names[column],
                "missing",
            )
        return numbers


def _encode_categories(values: NDArray[Any], name: str) -> dict[object, float]:
    """Return the codes of the categories of a column, in the order of their first occurrence."""
    try:
        categories = dict.fromkeys(map(_label, values.tolist()))
    except TypeError as error:
        reason = (
            f"has values that are neither numbers nor categories ({error}), but ",
            Option("value_function", "observational"),
            " compares rows by them",
        )
        fix: list[Text] = ["drop the column", ("pass ", _OTHER_COLUMNS)]
        raise InputError("background", reason, fix, column=name) from None
    if len(categories) > max(_FEW_CATEGORIES, len(values) // 2):
        raise InputError(
            "background",
            f"has {len(categories)} distinct categories in {len(values)} rows, so hardly any rows "
            "are equal in it",
            ["pass dates as numbers, and drop columns of row names", ("pass ", _OTHER_COLUMNS)],
            column=name,
        )
    return {category: float(code) for code, category in enumerate(categories)}


def _label(value: object) -> object:
    """Return a value as a category; all missing values are one category."""
    return None if is_missing(value) else value


def _number(value: object) -> float:
    """Return a value as a float, NaN if it is not a number."""
    return float(value) if isinstance(value, int | float | np.number) else np.nan


def _are_numbers(column: NDArray[Any]) -> bool:
    """Return whether all values of a column are numbers or missing."""
    values = (value for value in column.tolist() if value is not None)
    return all(isinstance(value, int | float | np.number) for value in values)
