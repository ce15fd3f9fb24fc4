"""Sparse tables of SciPy in one checked form.

SciPy is imported only after a user has passed one of its objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, InputTypeError
from pkex.inputs.arrays import owned
from pkex.tables.kinds import Kind, dense, kind_of
from pkex.tables.labels import column_labels
from pkex.tables.read import as_matrix, check_shape, not_finite, place
from pkex.typing import Float, Rows, SparseRows


def is_sparse(data: Any) -> TypeGuard[SparseRows]:
    """Whether data are a sparse matrix or array of SciPy."""
    return kind_of(data) is Kind.SPARSE


def as_sparse_rows(
    data: Any,
    name: str,
    *,
    n_columns: int | None = None,
    names: Sequence[str] | None = None,
    allow_no_rows: bool = False,
) -> SparseRows:
    """Return a table as a finite csr_array of float64 in canonical form, which is a copy.

    Its indices are sorted and unique, its values are not zero, and its arrays are read-only.

    Parameters
    ----------
    data : array-like, DataFrame or sparse matrix of shape (n, d)
        A sparse matrix may have any format. Duplicates are summed, and booleans are numbers.
    name : str
        The name of the argument in messages.
    n_columns : int, optional
        The required number of columns.
    names : sequence of str, optional
        The names of columns in messages.
    allow_no_rows : bool

    Raises
    ------
    ValueError
        If the shape is wrong, indices are out of range, or values are missing or infinite.
    TypeError
        If values are not real numbers.
    """
    from scipy.sparse import csr_array, issparse

    if not issparse(data):
        labels = column_labels(data) or names
        data = as_matrix(data, name, n_columns=n_columns, names=labels, allow_no_rows=allow_no_rows)
    _check_numbers(data, name)
    check_shape(data.shape, name, n_columns, allow_no_rows)
    try:
        if hasattr(data, "check_format"):
            data.check_format(full_check=True)
        rows = csr_array(data, dtype=np.float64, copy=True)
        rows.check_format(full_check=True)
    except ValueError as error:
        raise InputError(name, f"is not a valid sparse matrix ({error})") from None
    with np.errstate(over="ignore", invalid="ignore"):
        rows.sum_duplicates()
    non_finite = np.flatnonzero(~np.isfinite(rows.data))
    if len(non_finite):
        row = int(np.searchsorted(rows.indptr, non_finite[0], side="right")) - 1
        position = place((row, int(rows.indices[non_finite[0]])), names)
        raise not_finite(float(rows.data[non_finite[0]]), len(non_finite), name, position)
    rows.eliminate_zeros()
    return owned_rows(rows)


def _check_numbers(data: Any, name: str) -> None:
    """Raise InputTypeError unless a sparse matrix holds real numbers or booleans."""
    if data.dtype.kind in "fiub":
        return
    entries = "complex numbers" if data.dtype.kind == "c" else "objects"
    raise InputTypeError(
        name,
        f"must hold real numbers; got {type(data).__name__} of {entries} (dtype {data.dtype})",
        "pass its real part" if entries == "complex numbers" else f"pass {name}.astype(float)",
    )


def as_rows_of_any_kind(data: Any, name: str, *, n_columns: int) -> Rows:
    """Return a sparse table as `as_sparse_rows` does, and any other as `as_matrix` does."""
    reader = as_sparse_rows if is_sparse(data) else as_matrix
    rows: Rows = reader(data, name, n_columns=n_columns)
    return rows


def owned_rows(rows: Rows) -> Rows:
    """Make rows read-only in place."""
    if not is_sparse(rows):
        return owned(rows)
    for array in (rows.data, rows.indices, rows.indptr):
        owned(array)
    return rows


def dense_rows(rows: Rows, name: str = "X") -> Float:
    """Return rows as a C-contiguous array, if they are not too large.

    Raises
    ------
    InputError
        If sparse rows would take more than a gigabyte.
    """
    array: Float = np.ascontiguousarray(dense(rows, name))
    return array


def nonzero_columns(*tables: Rows | None) -> NDArray[np.int64]:
    """Return the columns in which a table has a value that is not zero, in order."""
    columns = [
        rows.indices if is_sparse(rows) else np.flatnonzero(rows.any(axis=0))
        for rows in tables
        if rows is not None
    ]
    return np.unique(np.concatenate(columns)).astype(np.int64)


def in_columns(values: Float, columns: NDArray[np.int64], n_columns: int) -> SparseRows:
    """Return rows with values of shape (n, k) in k columns, and 0 in all others."""
    from scipy.sparse import csr_array

    n_rows, k = values.shape
    starts = np.arange(n_rows + 1) * k
    parts = values.ravel(), np.tile(columns, n_rows), starts
    return as_sparse_rows(csr_array(parts, shape=(n_rows, n_columns)), "X", allow_no_rows=True)


def are_equal_rows(left: Rows, right: Rows) -> bool:
    """Whether two tables of one form have equal values."""
    if not is_sparse(left) or not is_sparse(right):
        return is_sparse(left) == is_sparse(right) and np.array_equal(left, right)
    return left.shape == right.shape and int((left != right).nnz) == 0
