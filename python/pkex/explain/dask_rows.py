"""Lazy Shapley values of Dask collections and Parquet files, chunk by chunk."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pkex.execution.backends import SerializedFunction
from pkex.explain.model_columns import ModelColumns
from pkex.inputs.optional import missing_library
from pkex.tables.labels import Labels
from pkex.tables.stream import parts_of_rows
from pkex.typing import Float


def open_files(data: Any, columns: ModelColumns) -> Any:
    """Return Parquet files as a Dask DataFrame, and other data unchanged.

    Parameters
    ----------
    data : path of a file *.parquet or of a directory of them, or other data
    columns : ModelColumns
        The columns to read, if their names are known.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ImportError
        If Dask or pyarrow is not installed.
    """
    if not isinstance(data, str | PathLike):
        return data
    path = Path(data)
    if path.suffix != ".parquet" and not (path.is_dir() and any(path.glob("*.parquet"))):
        return data
    if not path.exists():
        raise FileNotFoundError(f"X={str(data)!r}: there is no such file or directory")
    for module, extra in (("dask.dataframe", "dask"), ("pyarrow", "parquet")):
        try:
            import_module(module)
        except ImportError:
            library = module.partition(".")[0]
            raise missing_library("explaining the rows of files", library, extra) from None
    dd: Any = import_module("dask.dataframe")
    names = columns.compared
    return dd.read_parquet(os.fspath(data), columns=None if names is None else list(names))


def map_dask_rows(
    values: Callable[[Any], Float], data: Any, columns: ModelColumns, shape: tuple[int, ...]
) -> Any:
    """Return the values of rows as a Dask array with the same chunks of rows.

    Parameters
    ----------
    values : callable
        Computes the values of a chunk of rows; can be pickled.
    data : dask.array.Array or dask.dataframe.DataFrame of shape (n, d), or Series of documents
    columns : ModelColumns
        The columns that the data must have.
    shape : tuple of int
        Shape of the values of one row.

    Raises
    ------
    ValueError
        If the data have other columns.
    """
    # Imported by name, because few of Dask's functions have types.
    da: Any = import_module("dask.array")
    delay: Any = import_module("dask").delayed
    if hasattr(data, "map_blocks"):
        if data.ndim != 2 or data.shape[1] != columns.number:
            raise ValueError(
                f"X must have shape (n, {columns.number}); got an array of shape {data.shape}"
            )
        lengths = data.chunks[0]
    else:
        table_columns = None if columns.encoder is None else columns.encoder.columns
        are_documents = data.ndim == 1 and columns.encoder is not None
        if not are_documents and (table_columns is None or tuple(data.columns) != table_columns):
            columns.check_labels(Labels(tuple(data.columns)), "X")
        lengths = (np.nan,) * data.npartitions
    explain = delay(SerializedFunction(_ChunkValues(values, shape)))
    chunks = [
        da.from_delayed(explain(part), shape=(length, *shape), dtype=np.float64)
        for length, part in zip(lengths, parts_of_rows(data), strict=True)
    ]
    return da.concatenate(chunks, allow_unknown_chunksizes=True)


class _ChunkValues:
    """Values of a chunk of rows, which may be empty."""

    def __init__(self, values: Callable[[Any], Float], shape: tuple[int, ...]) -> None:
        self._values, self._shape = values, shape

    def __call__(self, rows: Any) -> Float:
        return self._values(rows) if len(rows) else np.empty((0, *self._shape))
