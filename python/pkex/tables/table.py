"""Tables that have been read, independent of the objects of users."""

from __future__ import annotations

from dataclasses import dataclass

from pkex.tables.documents import Documents
from pkex.tables.labels import Labels, numbered
from pkex.typing import Rows


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with the labels of rows and columns.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Checked numbers, or objects if columns may have other values.
    labels : Labels
        The labels of the table.
    known_names : tuple of str, optional
        The names of the columns; None if they are not known.
    documents : Documents, optional
        The documents that were encoded into the rows.
    """

    rows: Rows
    labels: Labels
    known_names: tuple[str, ...] | None
    documents: Documents | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; x0, x1, … by default."""
        return self.known_names or numbered(self.rows.shape[1])
