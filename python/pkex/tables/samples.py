"""Samples of users: read, checked and encoded as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pkex.errors import Argument, InputError, InputWarning, warn
from pkex.inputs.choices import check_choice
from pkex.inputs.wording import columns_named, counted, shown
from pkex.tables.columns import holds_numbers_only, table_columns, table_labels
from pkex.tables.encode import INDICATOR, MISSING, Encoding, Missing, categorical_columns
from pkex.tables.labels import column_labels, numbered
from pkex.tables.read import as_matrix, check_column_count
from pkex.tables.table import Table
from pkex.typing import Float

# Fixes for values that are not numbers, by the kind of error.
_FIXES = {
    "date": "give a DataFrame, whose dates become days, or dates as numbers, such as days since "
    "the first",
    "text": "give a DataFrame, whose columns of text are compared as labels",
}


def as_rows(
    data: Any, name: str, *, n_columns: int | None = None, names: Sequence[str] | None = None
) -> Float:
    """Return a table as `as_matrix` does, with fixes for dates, texts and missing values."""
    try:
        return as_matrix(data, name, n_columns=n_columns, names=names)
    except InputError as error:
        if error.kind in _FIXES:
            raise error.with_fields(fix=[error.fix, _FIXES[error.kind]]) from None
        if error.kind != "missing" or name == "y":
            raise
        rows = as_matrix(data, name, n_columns=n_columns, names=names, allow_missing=True)
        incomplete = np.flatnonzero(np.isnan(rows).any(axis=0)).tolist()
        titles = column_labels(data) or names or numbered(rows.shape[1])
        suffix = f" (columns with missing values: {shown([titles[j] for j in incomplete])})"
        fix = [error.fix, (*INDICATOR, suffix)]
        raise error.with_fields(fix=fix) from None


def read_samples(
    samples: Mapping[str, Any],
    categorical: Iterable[int | str] | None,
    missing: Missing,
    *,
    looks_ahead: bool = False,
    compares_names: bool = True,
) -> tuple[list[Table], Encoding]:
    """Read samples with the same columns, which may have values of any type.

    Parameters
    ----------
    samples : dict of str to table
        One or two samples; a table without names of columns has those of the other.
    categorical : list of columns, optional
        The columns that are always categories.
    missing : {"error", "indicator"}
    looks_ahead : bool
        Whether other samples may have missing values in columns where these have none.
    compares_names : bool, default True
        Whether the names of columns are compared.

    Returns
    -------
    tables : list of Table
        Encoded rows, and the names of the columns.
    encoding : Encoding

    Raises
    ------
    ValueError, TypeError
        If one is not a table, columns differ in name or type, or a value is missing.
    """
    check_choice("missing", missing, MISSING)
    is_plain = categorical is None and missing == "error"
    labels = {
        name: table_labels(data, name if compares_names else None) for name, data in samples.items()
    }
    first_name = next(iter(labels))
    for name, sample in labels.items():
        sample.check_same(labels[first_name], name, first_name)
    names = next((texts for sample in labels.values() if (texts := sample.texts)), None)
    if is_plain and all(map(holds_numbers_only, samples.values())):
        tables: list[Table] = []
        for name, data in samples.items():
            d = tables[0].rows.shape[1] if tables else None
            column_names = labels[name].texts or names
            rows = as_rows(data, name, n_columns=d, names=column_names)
            tables.append(Table(rows, labels[name], column_names))
        return tables, Encoding.plain(tables[0].names)
    columns = {
        name: table_columns(data, name, labels[name].texts or names)
        for name, data in samples.items()
    }
    d = len(columns[first_name])
    for name, sample_columns in columns.items():
        check_column_count(len(sample_columns), d, name)
    names = names or numbered(d)
    label_columns = categorical_columns(categorical, names)
    encoding = Encoding.fit(columns, label_columns, missing, looks_ahead=looks_ahead)
    return [
        Table(encoding.rows(columns[name], name), labels[name], labels[name].texts or names)
        for name in samples
    ], encoding


def encoded(data: Any, name: str, encoding: Encoding) -> tuple[Float, dict[int, tuple[Any, ...]]]:
    """Return another sample with the same columns as rows of numbers.

    Returns
    -------
    rows : ndarray of shape (m, k)
    new_levels : dict of int to tuple
        Categories that the encoding does not know, by the numbers of their columns.

    Raises
    ------
    ValueError, TypeError
        As for `read_samples`.
    """
    names = [column.name for column in encoding.columns]
    if encoding.is_plain and holds_numbers_only(data):
        return as_rows(data, name, n_columns=len(names), names=names), {}
    columns = table_columns(data, name, names)
    check_column_count(len(columns), len(names), name)
    return encoding.rows(columns, name), encoding.new_levels(columns)


def two_samples(
    X: Any, Y: Any, categorical: Iterable[int | str] | None = None, missing: Missing = "error"
) -> tuple[Table, Table, Encoding]:
    """Read two samples with the same columns and at least two rows each; see `read_samples`."""
    (x, y), encoding = read_samples({"X": X, "Y": Y}, categorical, missing)
    for table, name in ((x, "X"), (y, "Y")):
        check_row_count(table.rows, name, 2)
    return x, y, encoding


def check_row_count(rows: Float, name: str, least: int, purpose: str = "") -> None:
    """Raise InputError for a sample with too few rows."""
    if len(rows) < least:
        raise InputError(
            name, f"must have at least {least} rows{purpose}; got {counted(len(rows), 'row')}"
        )


def warn_of_constant_columns(
    rows: Float, names: Sequence[str], rows_name: str, to: str | None = None
) -> None:
    """Warn of constant columns, which contribute nothing to kernels of differences.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    names : sequence of str
        The names of the columns.
    rows_name : str
        The name of the rows in messages.
    to : str, optional
        The quantity that such columns contribute nothing to, if they contribute to others.
    """
    is_constant = (rows == rows[0]).all(axis=0)
    constant = [name for name, flag in zip(names, is_constant, strict=True) if flag]
    if constant:
        plural = len(constant) > 1
        effect = (
            f" {'are' if plural else 'is'} constant and contribute{'' if plural else 's'} nothing"
            f"{'' if to is None else f' to {to}'}"
        )
        columns = f"{columns_named(constant)} of "
        warn(InputWarning(None, (columns, Argument(rows_name), effect)))
