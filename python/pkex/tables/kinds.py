"""The library that a table or a column belongs to.

Objects are recognized by the attributes of their classes, and no library is imported. The names of
pandas columns are attributes of the objects themselves. narwhals, which has one interface for data
frames, does not accept equal column names, arrays, sparse matrices and lists, so half of these
cases would remain.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

__all__ = [
    "Kind",
    "columns_of",
    "dense",
    "is_frame",
    "is_pandas",
    "kind_of",
    "labels_of",
    "values_of",
]


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


def dense(data: Any) -> Any:
    """Return a sparse matrix as an array; other data unchanged."""
    return data.toarray() if kind_of(data) is Kind.SPARSE else data


def values_of(column: Any) -> list[Any]:
    """Return the values of a column as Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(type(column), method):
            values: list[Any] = getattr(column, method)()
            return values
    return list(column)
