"""Columns that rows must have, and the tables with these columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.adapters import AdaptedModel
from pkex.errors import InputError
from pkex.games.background import unwrap_background
from pkex.inputs.choices import check_names
from pkex.inputs.wording import counted
from pkex.results.tables import shortened
from pkex.tables.documents import DocumentEncoder, check_not_documents
from pkex.tables.labels import Labels, check_column_names, numbered, row_labels
from pkex.tables.read import as_table
from pkex.tables.sparse import as_sparse_rows, is_sparse, owned_rows
from pkex.tables.table import Table
from pkex.tables.weights import as_weights, equal_weights
from pkex.typing import Float, Rows


@dataclass(frozen=True)
class ModelColumns:
    """Columns of a model: their number, names and kinds of values.

    Parameters
    ----------
    number : int
    non_numeric : frozenset of int
        Numbers of the columns that may hold other values than numbers.
    allows_missing : bool
        Whether values may be NaN.
    known_names : tuple of str, optional
        Names of the columns, also in results.
    compared : tuple of str, optional
        Names that the columns of a DataFrame must have.
    compared_with : str
        The source of these names, for messages.
    labels : Labels, optional
        Labels of the columns of the model or the background. Other than names, such as integers,
        they are compared with the labels of tables.
    labels_of : str
        The source of these labels, for messages.
    encoder : DocumentEncoder, optional
        Encodes documents into rows.
    reads_sparse : bool
        Whether sparse rows remain sparse.
    """

    number: int
    non_numeric: frozenset[int]
    allows_missing: bool
    known_names: tuple[str, ...] | None = None
    compared: tuple[str, ...] | None = None
    compared_with: str = "the model"
    labels: Labels | None = None
    labels_of: str = "the model"
    encoder: DocumentEncoder | None = None
    reads_sparse: bool = False

    @classmethod
    def of(cls, adapted_model: AdaptedModel, feature_names: Sequence[str] | None) -> ModelColumns:
        """Return the columns of a model, with names to show if these are given."""
        function = adapted_model.function
        model_names, n = adapted_model.feature_names, function.n_features
        names = None if feature_names is None else check_names("feature_names", feature_names, n)
        return cls(
            n,
            function.non_numeric,
            function.allows_missing,
            known_names=names or model_names,
            compared=model_names or names,
            compared_with="the model" if model_names else "feature_names",
            labels=None if function.column_labels is None else Labels(function.column_labels),
            encoder=adapted_model.encoder,
            reads_sparse=function.reads_sparse,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; x0, x1, … if they are unknown."""
        return self.known_names or numbered(self.number)

    def read(
        self, data: Any, argument: str = "X", column_names: tuple[str, ...] | None = None
    ) -> Table:
        """Read a table that must have these columns.

        Parameters
        ----------
        data : array-like, DataFrame or sparse matrix of shape (n, d), or dict
            A dict is one row: values by column name.
        argument : str
            Name of the argument, for messages.
        column_names : tuple of str, optional
            Names of the columns of data without names of their own.

        Raises
        ------
        ValueError, TypeError
            If it is not a finite numeric table with these columns.
        """
        index = documents = None
        if self.encoder is None:
            check_not_documents(data, argument)
        elif (encoding := self.encoder.read(data, argument)) is not None:
            index, (data, documents) = row_labels(data), encoding
        if isinstance(data, Mapping) and not is_sparse(data):
            data = self._row(data, argument)
        labels = Labels.comparable(data, argument)
        if index is not None:
            labels = replace(labels, rows=index)
        if labels.columns is None and column_names is not None:
            labels = replace(labels, columns=column_names)
        self.check_labels(labels, argument)
        names = self.known_names or labels.texts
        if self.reads_sparse and is_sparse(data):
            sparse = as_sparse_rows(data, argument, n_columns=self.number, names=names)
            return Table(sparse, labels, names, documents)
        rows = as_table(
            data,
            argument,
            non_numeric=self.non_numeric,
            n_columns=self.number,
            names=names,
            allow_missing=self.allows_missing,
        )
        return Table(rows, labels, names, documents)

    def check_labels(self, labels: Labels, argument: str) -> None:
        """Raise InputError if the columns of a table have other names or labels."""
        if labels.names is not None and self.compared is not None:
            check_column_names(labels.names, self.compared, argument, self.compared_with)
        if self.labels is not None:
            labels.check_same(self.labels, argument, self.labels_of)

    def _row(self, entries: Mapping[Any, Any], argument: str) -> NDArray[Any]:
        """Return values by column name as one row, in the order of the columns."""
        if self.compared is None:
            raise InputError(
                argument,
                "is a dict, but the names of the model's columns are unknown",
                f"pass an array with {counted(self.number, 'column')}, or feature_names to the "
                "Explainer",
            )
        duplicates = [name for name, count in Counter(self.compared).items() if count > 1]
        if duplicates:
            raise InputError(
                argument,
                f"is a dict, but several columns of the model are named {duplicates[0]!r}",
                f"pass an array with {counted(self.number, 'column')}",
            )
        for name, entry in entries.items():
            if np.ndim(entry) or isinstance(entry, Mapping):
                raise InputError(
                    argument,
                    f"is a dict, which is one row, but {name!r} has the values "
                    f"{shortened(repr(entry))}",
                    f"pass several rows as pandas.DataFrame({argument})",
                )
        if entries.keys() != set(self.compared):
            check_column_names(list(entries), self.compared, argument, self.compared_with)
        row = np.empty((1, self.number), dtype=object)
        row[0] = [entries[name] for name in self.compared]
        return row

    def read_background(
        self, background: Any, weights: ArrayLike | None
    ) -> tuple[tuple[Rows, Float], ModelColumns]:
        """Read background rows of non-zero weight, and their weights.

        Returns
        -------
        background : tuple of ndarray or csr_array of shape (m, d) and ndarray of shape (m,)
        columns : ModelColumns
            With the names of the background's columns if the model has none.
        """
        data, own_weights, own_names = unwrap_background(background)
        if own_weights is not None and weights is not None:
            raise InputError(
                "background_weights",
                "was given, but the background has weights of its own",
                "pass its data with the weights that are meant",
            )
        table = self.read(data, "background", own_names)
        row_weights = own_weights if weights is None else weights
        n_rows = table.rows.shape[0]
        weights = (
            equal_weights(n_rows)
            if row_weights is None
            else as_weights(row_weights, "background_weights", n_rows, "background")
        )
        columns, names = self, table.labels.names
        if self.labels is None:
            labels = replace(table.labels, rows=None)
            columns = replace(self, labels=labels, labels_of="the background")
        if self.compared is None and names is not None:
            columns = replace(
                columns, known_names=names, compared=names, compared_with="the background"
            )
        counts = weights > 0.0
        # Indexing copies: nobody else can change these arrays.
        return (owned_rows(table.rows[counts]), weights[counts]), columns
