"""The encoding of tables, as a map of their columns to those of a kernel expansion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.functions.column_maps import scattered
from pkex.functions.encoded import TableMap
from pkex.tables.columns import (
    is_time,
    read_column,
    table_labels,
    time_text,
)
from pkex.tables.encode import Column, Encoding
from pkex.tables.labels import Labels
from pkex.tables.missing import is_missing
from pkex.tables.samples import encoded
from pkex.typing import Float

__all__ = ["EncodedColumns"]


class EncodedColumns(TableMap):
    """How the columns of a table become numbers.

    Parameters
    ----------
    encoding : Encoding
    labels : Labels
        Those of the columns, which other tables are compared with.
    """

    def __init__(self, encoding: Encoding, labels: Labels) -> None:
        d = len(encoding.columns)
        self._encoding, self._labels = encoding, labels
        self.names = encoding.row_names[:d]
        self.n_columns = d
        self.sources = np.array([*range(d), *encoding.flagged], dtype=np.intp)
        self.discrete = frozenset(encoding.labels) & frozenset(range(d))
        self.non_numeric = frozenset(
            j for j, column in enumerate(encoding.columns) if column.compared != "numbers"
        )

    def of_table(self, table: Any) -> Float:
        """Return the rows of a table as numbers."""
        table_labels(table, "X").check_same(self._labels, "X", self._encoding.known_from)
        return encoded(table, "X", self._encoding)[0]

    def __call__(self, rows: NDArray[Any]) -> Float:
        """Return rows of a table, which an explainer has read, as numbers."""
        columns = [
            read_column(_unread(column, own), own.name, "X")
            for column, own in zip(rows.T, self._encoding.columns, strict=True)
        ]
        return self._encoding.rows(columns, "X")

    def inverse(self, rows: Float) -> Float:
        """Return arbitrary numbers: the expansion is the model itself, and not compared."""
        return scattered(rows[:, : self.n_columns], np.arange(self.n_columns), self.n_columns)


def _unread(entries: NDArray[Any], column: Column) -> NDArray[Any]:
    """Return entries as the table had them: truth values, and categories of dates as texts."""
    if column.type == "category" and any(map(is_time, entries.tolist())):
        texts = np.empty(len(entries), dtype=object)
        texts[:] = [time_text(entry) if is_time(entry) else entry for entry in entries.tolist()]
        return texts
    if not any(isinstance(level, bool) for level in column.levels or ()):
        return entries
    found = np.empty(len(entries), dtype=object)
    found[:] = [None if is_missing(entry) else bool(entry) for entry in entries.tolist()]
    return found
