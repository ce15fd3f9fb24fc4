"""The compared rows of a reference and a batch, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.arrays import ReadOnlyArrays
from pkex.inputs.choices import places_of
from pkex.inputs.wording import shown
from pkex.tables.encode import Column, Encoding
from pkex.typing import Float


@dataclass(frozen=True, eq=False, repr=False)
class ComparedRows(ReadOnlyArrays):
    """The compared rows of a reference and a batch.

    Parameters
    ----------
    reference, batch : ndarray of shape (n, k) and (m, k)
        Rows of numbers, read-only.
    encoding : Encoding
        The conversion of the columns of tables to numbers.
    unknown : dict of int to tuple
        Categories of the batch that are not in the reference, by the positions of their columns.
    """

    reference: Float
    batch: Float
    encoding: Encoding
    unknown: dict[int, tuple[Any, ...]]

    @property
    def new_levels(self) -> dict[int | str, tuple[Any, ...]]:
        """Categories of the batch that are not in the reference.

        The keys are names of columns, or positions of columns with equal names.
        """
        names = self.encoding.names
        return {
            names[j] if names.count(names[j]) == 1 else j: labels
            for j, labels in self.unknown.items()
        }

    def entries(self, column: int | str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the values of a column in the reference and in the batch.

        Parameters
        ----------
        column : int or str
            The position or the name of the column.

        Returns
        -------
        tuple of two ndarrays of shape (n,) and (m,)
            Numbers or days, NaN for missing values; objects for categories, None for missing ones.

        Raises
        ------
        ValueError
            If there is no such column, or several columns have the name; or if the result was read
            from a document, which does not contain the samples.
        """
        if not len(self.reference):
            raise ValueError(
                "the result was read from a document, which does not contain the rows of the "
                "samples. Call predict again for them"
            )
        names = self.encoding.names
        places = places_of(column, names) or []
        if len(places) != 1:
            raise ValueError(
                f"there is not exactly one column {column!r}. Pass a number from 0 to "
                f"{len(names) - 1} or a name from {shown(names)}"
            )
        return self._of(self.reference, places[0]), self._of(self.batch, places[0])

    def _of(self, rows: Float, j: int) -> NDArray[Any]:
        column, values = self.encoding.columns[j], rows[:, j].copy()
        if column.is_label:
            return _categories(values, column, self.unknown.get(j, ()))
        if column.imputed is not None:
            flag = len(self.encoding.columns) + self.encoding.flagged.index(j)
            values[rows[:, flag] == 1.0] = np.nan
        return values

    @classmethod
    def without_rows(cls, columns: tuple[Column, ...], new_levels: dict[str, Any]) -> ComparedRows:
        """Return the columns and new categories of samples without their rows.

        Parameters
        ----------
        columns : tuple of Column
        new_levels : dict of str to list
            As `new_levels`, with strings as keys.
        """
        names = [column.name for column in columns]
        unknown = {
            names.index(key) if names.count(key) == 1 else int(key): tuple(labels)
            for key, labels in new_levels.items()
        }
        if not set(unknown) <= set(range(len(columns))):
            raise ValueError(f"positions must be below the number of columns, {len(columns)}")
        empty_rows = np.empty((2, 0, len(columns)))
        return cls(empty_rows[0], empty_rows[1], Encoding(columns), unknown)

    def __repr__(self) -> str:
        return f"ComparedRows({len(self.reference)} and {len(self.batch)} rows)"


def _categories(codes: Float, column: Column, new_levels: tuple[Any, ...]) -> NDArray[Any]:
    levels = np.empty(len(column.levels or ()) + len(new_levels), dtype=object)
    levels[:] = [*(column.levels or ()), *new_levels]
    labels: NDArray[Any] = levels[codes.astype(np.intp)]
    return labels
