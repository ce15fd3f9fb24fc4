"""Tables, read once where they come in: nothing asks again the object that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from pkex.tables.labels import Labels, numbered

__all__ = ["Table"]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, and what they and their columns are called.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Checked numbers, or objects where columns may hold others.
    labels : Labels
        Those of the table itself.
    known_names : tuple of str, optional
        What the columns are called; None if nothing names them.
    """

    rows: NDArray[Any]
    labels: Labels
    known_names: tuple[str, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called: x0, x1, … if nothing names them."""
        return self.known_names or numbered(self.rows.shape[1])
