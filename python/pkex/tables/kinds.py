"""The library that a table or a column belongs to.

Objects are recognized by the attributes of their classes, and no library is imported. The names of
pandas columns are attributes of the objects themselves. narwhals, which has one interface for data
frames, does not accept equal column names, arrays, sparse matrices and lists, so half of these
cases would remain.
"""

from __future__ import annotations

from enum import Enum
from math import prod
from typing import Any

import numpy as np

from pkex.errors import InputError, Text


class Kind(Enum):
    """The library that a table or a column belongs to."""

    ARRAY = "an array of NumPy"
    PANDAS = "a DataFrame of pandas"
    POLARS = "a DataFrame of polars"
    ARROW = "a Table of pyarrow"
    SPARSE = "a sparse matrix of SciPy"
    SERIES = "a column of pandas, polars or pyarrow"
    OTHER = "a list, or anything else"


def kind_of(data: Any) -> Kind:
    """Return the kind of a table or a column."""
    if isinstance(data, np.ndarray):
        return Kind.ARRAY
    cls = type(data)
    if hasattr(cls, "column_names"):
        return Kind.ARROW
    if hasattr(cls, "to_numpy"):
        if not hasattr(cls, "columns"):
            return Kind.SERIES
        return Kind.PANDAS if is_pandas(data) else Kind.POLARS
    return Kind.SPARSE if hasattr(cls, "toarray") else Kind.OTHER


def is_frame(data: Any) -> bool:
    """Whether data are a DataFrame of pandas or polars."""
    return kind_of(data) in (Kind.PANDAS, Kind.POLARS)


def is_pandas(data: Any) -> bool:
    """Whether a DataFrame or a column belongs to pandas."""
    return hasattr(type(data), "iloc")


def labels_of(data: Any) -> tuple[Any, ...] | None:
    """Return the labels of the columns of a table that has labels, None for others."""
    if kind_of(data) is Kind.ARROW:
        return tuple(data.column_names)
    is_dask_frame = hasattr(type(data), "dask") and hasattr(type(data), "columns")
    return tuple(data.columns) if is_frame(data) or is_dask_frame else None


def columns_of(data: Any) -> list[Any] | None:
    """Return the columns of a data frame or a pyarrow table, in order; None for other data.

    In pandas, names may be equal.
    """
    kind = kind_of(data)
    if kind is Kind.ARROW:
        return list(data.columns)
    if kind is Kind.PANDAS:
        return [data.iloc[:, j] for j in range(len(data.columns))]
    return [data[name] for name in data.columns] if kind is Kind.POLARS else None


# The largest dense form of a sparse matrix, in bytes.
_MAX_BYTES = 10**9


def dense(data: Any, name: str) -> Any:
    """Return a sparse matrix as an array; other data unchanged.

    Parameters
    ----------
    data : object
    name : str
        The name of the argument in messages.

    Raises
    ------
    InputError
        If the array would take more than a gigabyte.
    """
    if kind_of(data) is not Kind.SPARSE:
        return data
    check_dense_size(data.shape, name)
    return data.toarray()


_REDUCE: list[Text] = [
    "reduce the number of columns, for instance with sklearn.decomposition.TruncatedSVD(100)",
    "pass fewer rows",
]


def check_dense_size(shape: tuple[int, ...], name: str, fix: list[Text] = _REDUCE) -> None:
    """Raise InputError if a dense array of a shape takes more than a gigabyte."""
    size = 8 * prod(shape)
    if size > _MAX_BYTES:
        raise InputError(
            name,
            f"is a sparse matrix of shape {shape}, which takes {size / 1e9:,.1f} GB as a dense "
            f"array. This computation requires one, of at most {_MAX_BYTES / 1e9:.0f} GB",
            fix,
            kind="size",
        )


def values_of(column: Any) -> list[Any]:
    """Return the values of a column as Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(type(column), method):
            values: list[Any] = getattr(column, method)()
            return values
    return list(column)
