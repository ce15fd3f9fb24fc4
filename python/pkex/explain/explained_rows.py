"""The rows that a call explains, and the names of the features that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pkex.explain.model_columns import ModelColumns
from pkex.games.players import Players
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ExplainedRows"]


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """What is explained, in columns and in features, which may be groups of columns.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        What is computed with, which nobody else can change.
    data : ndarray of shape (n, features)
        What the result shows of them.
    features : sequence of str
    row_index : pandas.Index of length n, optional
    """

    rows: NDArray[Any]
    data: NDArray[Any]
    features: Sequence[str]
    row_index: pd.Index | None

    @classmethod
    def read(cls, X: Any, columns: ModelColumns, players: Players | None) -> ExplainedRows:
        """Read a table that must have certain columns.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
        columns : ModelColumns
        players : Players, optional
            None if each column is a feature of its own.
        """
        table = columns.read(X)
        is_shared = table.rows is X or not table.rows.flags.owndata
        rows = table.rows.copy() if is_shared else table.rows
        if players is None:
            return cls(rows, rows, table.names, table.labels.rows)
        # A table may name columns that had no names before.
        is_named = columns.known_names is not None
        features = players.names if is_named else players.renamed(table.names)
        return cls(rows, players.entries(rows), features, table.labels.rows)

    def axes(self, output_names: Sequence[str] | None, output_name: str | None) -> Axes:
        """Return the axes of a result of these rows.

        Parameters
        ----------
        output_names : sequence of str, optional
            Names along the output axis; None if there is no such axis.
        output_name : str, optional
            Without an output axis, what the single output is.
        """
        if output_names is not None:
            present: tuple[str, ...] = (ROW, FEATURE, OUTPUT)
            outputs: tuple[str, ...] | None = tuple(output_names)
        else:
            present = (ROW, FEATURE)
            outputs = None if output_name is None else (output_name,)
        return Axes(tuple(self.features), outputs, self.row_index, present)
