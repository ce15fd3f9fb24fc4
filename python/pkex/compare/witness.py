"""The witness function of two samples, as a kernel expansion of numbers or of tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.compare.kernel.choice import choose_kernel
from pkex.compare.kernel.sample_kernel import check_user_kernel
from pkex.functions.descriptions import KernelExpansion
from pkex.functions.encoded import EncodedKernelSum, TableMap
from pkex.functions.kernel_sum import KernelSum
from pkex.inputs.keywords import with_known_keywords
from pkex.kernels import Kernel
from pkex.tables.columns import (
    is_time,
    read_column,
    table_labels,
    time_text,
)
from pkex.tables.encode import Column, Encoding, Missing
from pkex.tables.labels import Labels
from pkex.tables.missing import is_missing
from pkex.tables.samples import encoded, two_samples
from pkex.typing import Float


@with_known_keywords
def witness(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    kernel: Kernel | None = None,
    categorical: Iterable[int | str] | None = None,
    missing: Missing = "error",
) -> KernelExpansion:
    """Return the witness function of two samples: mean k(·, X) − mean k(·, Y).

    It is positive where X is denser and negative where Y is denser. Its mean over X minus its mean
    over Y is the biased MMD². `Explainer` attributes its value at a row to features; with
    ``value_function="neutral"``, the mean of these explanations over X minus their mean over Y
    equals the biased values of `mmd`.

    Parameters
    ----------
    X, Y : array-like, DataFrame, pyarrow.Table or sparse matrix of shape (n, d) and (m, d)
        The samples.
    kernel, categorical, missing
        As in `mmd`.

    Returns
    -------
    KernelExpansion
        With the names of the columns, if they have names. If columns are not all numeric, its
        `predict` and an `Explainer` accept tables with the same columns; its `points` are the
        encoded rows, with one more column for each column that may have missing values.

    Raises
    ------
    ValueError, TypeError
        As `mmd`.

    Examples
    --------
    >>> import pkex
    >>> f = pkex.witness([[0.0], [1.0]], [[4.0], [5.0]], kernel=pkex.kernels.RBF())
    >>> f.predict([[0.5], [4.5]]).round(2)
    array([ 0.88, -0.88])
    >>> pkex.Explainer(f, value_function="neutral").shap_values([[0.5]]).round(2)
    array([[0.88]])
    """
    table_x, table_y, encoding = two_samples(X, Y, categorical, missing)
    x, y = table_x.rows, table_y.rows
    user_kernel = check_user_kernel(kernel, len(encoding.names), X=x, Y=y)
    points = np.concatenate([x, y])
    kernel = choose_kernel(user_kernel, points, encoding, "X and Y").kernel
    coefficients = np.repeat([1.0 / len(x), -1.0 / len(y)], [len(x), len(y)])
    labels = table_x.labels if table_x.labels.columns else table_y.labels
    if encoding.is_plain:
        names = table_x.labels.names or table_y.labels.names
        column_labels = labels.columns if names is None else None
        return KernelExpansion._of(
            KernelSum(points, coefficients, kernel, 0.0, names, column_labels)
        )
    columns = EncodedColumns(encoding, replace(labels, rows=None))
    return KernelExpansion._of(EncodedKernelSum(points, coefficients, kernel, columns))


class EncodedColumns(TableMap):
    """Map of the columns of a table to the numeric columns of a kernel expansion.

    Parameters
    ----------
    encoding : Encoding
    labels : Labels
        Column labels, which other tables must have.
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
        """Return rows of a table that an explainer has read, as numbers."""
        columns = [
            read_column(_restore_types(column, encoded_column), encoded_column.name, "X")
            for column, encoded_column in zip(rows.T, self._encoding.columns, strict=True)
        ]
        return self._encoding.rows(columns, "X")

    def inverse(self, rows: Float) -> NDArray[Any]:
        """Return encoded rows in the form of the table, with None for missing values."""
        table = np.empty((len(rows), self.n_columns), dtype=object)
        for j, column in enumerate(self._encoding.columns):
            table[:, j] = column.decode(rows[:, j])
        for flag, j in enumerate(self._encoding.flagged, self.n_columns):
            table[rows[:, flag] != 0.0, j] = None
        return table


def _restore_types(entries: NDArray[Any], column: Column) -> NDArray[Any]:
    """Return values in the types of the table: booleans, and categories of dates as texts."""
    if column.type == "category" and any(map(is_time, entries.tolist())):
        texts = np.empty(len(entries), dtype=object)
        texts[:] = [time_text(entry) if is_time(entry) else entry for entry in entries.tolist()]
        return texts
    if not any(isinstance(level, bool) for level in column.levels or ()):
        return entries
    values = np.empty(len(entries), dtype=object)
    values[:] = [None if is_missing(entry) else bool(entry) for entry in entries.tolist()]
    return values
