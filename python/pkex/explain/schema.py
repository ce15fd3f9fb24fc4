"""Names and tables of an explained function: its columns, features and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pkex.errors import Text
from pkex.explain.model_columns import ModelColumns
from pkex.explain.outputs import Outputs
from pkex.games.players import Players
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.tables.documents import Documents
from pkex.tables.kinds import check_dense_size
from pkex.tables.sparse import dense_rows, is_sparse
from pkex.typing import Rows

if TYPE_CHECKING:
    import pandas as pd

# Results hold dense values and rows.
_FIXES: list[Text] = [
    "explain fewer rows at a time",
    "take sparse values, which have no such limit: explainer.shap_values(X, sparse=True)",
]


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Rows to explain, by columns and by features, which may be groups of columns.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Rows to compute with, which nobody else can change.
    data : ndarray of shape (n, features)
        Feature values that results show. They are dense, as values are.
    features : sequence of str
    row_index : pandas.Index of length n, optional
    documents : Documents, optional
        The documents that were encoded into the rows, by features.
    """

    rows: Rows
    data: NDArray[Any]
    features: Sequence[str]
    row_index: pd.Index | None
    documents: Documents | None = None


@dataclass(frozen=True)
class Schema:
    """Columns that rows must have, and features and outputs that results have.

    Parameters
    ----------
    columns : ModelColumns
    players : Players or None
        None if each column is a feature of its own.
    outputs : Outputs
    """

    columns: ModelColumns
    players: Players | None
    outputs: Outputs

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; x0, x1, … where only the explained rows can name them."""
        return list(self.columns.names if self.players is None else self.players.names)

    def read(self, X: Any, *, keeps_sparse: bool = False) -> ExplainedRows:
        """Read a table of shape (n, d) that must have these columns.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d), or dict
        keeps_sparse : bool, default False
            Whether sparse rows to compute with remain sparse, if the function supports it.
        """
        table = self.columns.read(X)
        if is_sparse(table.rows):
            check_dense_size(table.rows.shape, "X", _FIXES)
        data, rows = dense_rows(table.rows), table.rows
        if not is_sparse(rows) or not keeps_sparse:
            is_shared = data is X or not data.flags.owndata
            rows = data = data.copy() if is_shared else data
        index, documents = table.labels.rows, table.documents
        if self.players is None:
            return ExplainedRows(rows, data, table.names, index, documents)
        # A table may name columns that had no names before.
        is_named = self.columns.known_names is not None
        features = self.players.names if is_named else self.players.rename(table.names)
        entries = self.players.entries(data)
        if documents is not None:
            documents = replace(documents.by_feature(self.players.of_column), noun="feature")
        return ExplainedRows(rows, entries, features, index, documents)

    def axes(self, explained_rows: ExplainedRows) -> Axes:
        """Return the axes of values of rows: rows, features and, if there is such an axis, outputs.

        The axis of a single chosen output is still there.
        """
        outputs = self.outputs
        features = tuple(explained_rows.features)
        if outputs.names is not None:
            return Axes(features, outputs.names, explained_rows.row_index, (ROW, FEATURE, OUTPUT))
        names = None if outputs.single is None else (outputs.single,)
        return Axes(features, names, explained_rows.row_index, (ROW, FEATURE))
