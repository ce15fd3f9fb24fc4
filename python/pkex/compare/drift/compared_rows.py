"""The rows of two samples that were compared, to be looked at column by column."""

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

__all__ = ["ComparedRows"]


@dataclass(frozen=True, eq=False, repr=False)
class ComparedRows(ReadOnlyArrays):
    """A reference and a batch, as they were compared.

    Parameters
    ----------
    reference, batch : ndarray of shape (n, k) and (m, k)
        Rows of numbers, read-only.
    encoding : Encoding
        How the columns of the tables became numbers.
    unknown : dict of int to tuple
        Labels of the batch that the reference does not have, by the numbers of their columns.
    """

    reference: Float
    batch: Float
    encoding: Encoding
    unknown: dict[int, tuple[Any, ...]]

    @property
    def new_levels(self) -> dict[int | str, tuple[Any, ...]]:
        """Labels of the batch that the reference does not have.

        By the name of their column, or by its number where several have that name.
        """
        names = self.encoding.names
        return {
            names[j] if names.count(names[j]) == 1 else j: labels
            for j, labels in self.unknown.items()
        }

    def entries(self, column: int | str) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the entries of a column in the reference and in the batch.

        Parameters
        ----------
        column : int or str
            By number or name.

        Returns
        -------
        tuple of two ndarrays of shape (n,) and (m,)
            Numbers, or days; NaN where they are missing. Of labels objects, None where missing.

        Raises
        ------
        ValueError
            If there is no such column, or several of the name; or if the result was read from a
            document, which does not hold the samples.
        """
        if not len(self.reference):
            raise ValueError(
                "there are no rows: the result was read from a document, which does not hold the "
                "samples"
            )
        names = self.encoding.names
        places = places_of(column, names) or []
        if len(places) != 1:
            raise ValueError(
                f"there is no one column {column!r}; choose by number from 0 to {len(names) - 1} "
                f"or by name from {shown(names)}"
            )
        return self._of(self.reference, places[0]), self._of(self.batch, places[0])

    def _of(self, rows: Float, j: int) -> NDArray[Any]:
        column, found = self.encoding.columns[j], rows[:, j].copy()
        if column.is_label:
            return _labelled(found, column, self.unknown.get(j, ()))
        if column.imputed is not None:
            flag = len(self.encoding.columns) + self.encoding.flagged.index(j)
            found[rows[:, flag] == 1.0] = np.nan
        return found

    @classmethod
    def without_rows(cls, columns: tuple[Column, ...], new_levels: dict[str, Any]) -> ComparedRows:
        """Return the columns and the new labels of samples whose rows are not there.

        Parameters
        ----------
        columns : tuple of Column
        new_levels : dict of str to list
            As `new_levels`, with texts as keys.
        """
        names = [column.name for column in columns]
        unknown = {
            names.index(key) if names.count(key) == 1 else int(key): tuple(new)
            for key, new in new_levels.items()
        }
        if not set(unknown) <= set(range(len(columns))):
            raise ValueError(f"there are {len(columns)} columns")
        none = np.empty((2, 0, len(columns)))
        return cls(none[0], none[1], Encoding(columns), unknown)

    def __repr__(self) -> str:
        return f"ComparedRows({len(self.reference)} and {len(self.batch)} rows)"


def _labelled(codes: Float, column: Column, new: tuple[Any, ...]) -> NDArray[Any]:
    levels = np.empty(len(column.levels or ()) + len(new), dtype=object)
    levels[:] = [*(column.levels or ()), *new]
    labels: NDArray[Any] = levels[codes.astype(np.intp)]
    return labels
