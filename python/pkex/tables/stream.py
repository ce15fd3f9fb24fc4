"""Rows that are read in chunks: (memory-mapped) arrays, tables, Parquet files and Dask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Argument, InputError, InputTypeError, Option
from pkex.inputs.wording import shown
from pkex.tables.encode import Encoding, Missing
from pkex.tables.labels import Labels, numbered
from pkex.tables.parquet_files import ParquetFiles
from pkex.tables.read import as_matrix
from pkex.tables.samples import as_rows, read_samples
from pkex.typing import Float

# The number of rows in a chunk.
_CHUNK = 1 << 16


class RowStream:
    """Rows of numbers that can be read repeatedly, in the same order.

    Parameters
    ----------
    n_rows, n_columns : int
    labels : Labels
        The labels of the columns.
    column_types : dict of str to type
        Types of the columns of files that contain booleans or integers.
    """

    def __init__(self, n_rows: int, n_columns: int, labels: Labels) -> None:
        self.n_rows, self.n_columns, self.labels = n_rows, n_columns, labels
        self.column_types: dict[str, type] = {}

    def chunks(self) -> Iterator[Float]:
        """Yield chunks of rows in order, shape (·, n_columns), checked, as float64."""
        raise NotImplementedError


def read_sources(
    samples: Mapping[str, Any],
    categorical: Iterable[int | str] | None,
    missing: Missing,
    *,
    compares_names: bool = True,
) -> tuple[list[RowStream], tuple[str, ...], Encoding]:
    """Return samples with the same columns as streams of rows of numbers.

    Files and arrays of numbers are read in chunks, other tables as by `read_samples`.

    Returns
    -------
    sources : list of RowStream
        Streams of encoded rows.
    names : tuple of str
        The names of the columns.
    encoding : Encoding

    Raises
    ------
    ValueError, TypeError
        If one is not a table, or columns differ. Values that are not finite raise when they are
        read.
    FileNotFoundError
        If there is no such file.
    ImportError
        If pyarrow, which reads Parquet, is not installed.
    """
    if not any(map(_is_elsewhere, samples.values())) and not (
        categorical is None and missing == "error" and all(map(_is_array, samples.values()))
    ):
        tables, encoding = read_samples(
            samples, categorical, missing, compares_names=compares_names
        )
        sources: list[RowStream] = [
            _Array(table.rows, table.labels, name)
            for table, name in zip(tables, samples, strict=True)
        ]
        return sources, tables[0].names, encoding
    if categorical is not None or missing != "error":
        raise ValueError(
            "files and Dask's collections are read as numbers, with neither categorical nor "
            "missing: leave these out, and give kernel if columns are labels, such as "
            "RBF(1.0).on([0, 1]) * Categorical().on([2])"
        )
    sources = [_numbers(data, name) for name, data in samples.items()]
    for source, name in zip(sources, samples, strict=True):
        if not (source.n_rows and source.n_columns):
            raise InputError(
                name, f"is empty: it has {source.n_rows} rows of {source.n_columns} columns"
            )
    reference, name = sources[0], next(iter(samples))
    for source, other_name in zip(sources[1:], list(samples)[1:], strict=True):
        source.labels.check_same(reference.labels, other_name, name)
        if source.n_columns != reference.n_columns:
            raise InputError(
                other_name,
                (
                    "must have as many columns as ",
                    Argument(name),
                    f"; got {source.n_columns}, expected {reference.n_columns}",
                ),
            )
    texts = next((source.labels.texts for source in sources if source.labels.texts), None)
    names = texts or numbered(reference.n_columns)
    return sources, names, Encoding.plain(names)


def is_lazy(data: Any) -> bool:
    """Whether rows are an array or a data frame of Dask."""
    cls = type(data)
    return hasattr(cls, "dask") and (hasattr(cls, "map_blocks") or hasattr(cls, "to_delayed"))


def parts_of_rows(data: Any) -> list[Any]:
    """Return delayed chunks or partitions of rows, with all columns."""
    if hasattr(data, "map_blocks"):
        return list(data.rechunk({1: -1}).to_delayed()[:, 0])
    return list(data.to_delayed())


def is_file(data: Any) -> bool:
    """Whether data are the path of files."""
    return isinstance(data, str | PathLike)


def check_in_memory(samples: Mapping[str, Any], estimator: str) -> None:
    """Raise InputError for paths of files if all rows are required at once."""
    for name, data in samples.items():
        if is_file(data):
            raise InputError(
                Option(name, str(data)),
                "is the path of a file, which is for estimator='incomplete' and 'block'",
                f"for {estimator!r} read the file before, as by pandas.read_parquet or read_csv",
            )


def _is_elsewhere(data: Any) -> bool:
    """Whether data are the path of files, or a collection of Dask."""
    return is_file(data) or is_lazy(data)


def _is_array(data: Any) -> bool:
    """Whether data are an array of numbers, perhaps memory-mapped."""
    return isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "fiu"


def _numbers(data: Any, name: str) -> RowStream:
    """Return a table of numbers as a stream."""
    if is_file(data):
        return _Parquet(data, name)
    if is_lazy(data):
        return _Partitions(data, name)
    if _is_array(data):
        return _Array(data, Labels(), name)
    (table,), encoding = read_samples({name: data}, None, "error")
    if not encoding.is_plain:
        raise InputTypeError(name, "must hold numbers, as what it is compared with")
    return _Array(table.rows, table.labels, name)


@contextmanager
def counted_from(start: int) -> Iterator[None]:
    """Add the number of the first row of a chunk to rows in its errors."""
    try:
        yield
    except InputError as error:
        if error.row is None:
            raise
        raise error.with_fields(row=start + error.row) from None


class JoinedStreams(RowStream):
    """The columns of a stream, followed by those of an array with the same number of rows."""

    def __init__(self, source: RowStream, columns: Float) -> None:
        super().__init__(source.n_rows, source.n_columns + columns.shape[1], source.labels)
        self._source, self._columns = source, columns

    def chunks(self) -> Iterator[Float]:
        """Yield chunks of rows in order."""
        start = 0
        for chunk in self._source.chunks():
            yield np.column_stack([chunk, self._columns[start : start + len(chunk)]])
            start += len(chunk)


class _Array(RowStream):
    """An array that is converted to float64 in chunks, so memory-mapped arrays stay on disk."""

    def __init__(self, rows: NDArray[Any], labels: Labels, name: str) -> None:
        super().__init__(len(rows), rows.shape[1], labels)
        self._rows, self._name = rows, name

    def chunks(self) -> Iterator[Float]:
        for start in range(0, self.n_rows, _CHUNK):
            with counted_from(start):
                chunk = as_rows(
                    self._rows[start : start + _CHUNK], self._name, names=self.labels.texts
                )
            yield chunk


class _Parquet(RowStream):
    """Parquet files of numbers."""

    def __init__(self, path: str | PathLike[str], name: str) -> None:
        self._files, self._name = ParquetFiles(path, name), name
        for file, schema in zip(self._files.files, self._files.schemas, strict=True):
            self._check_types(schema, file)
        names = self._files.names
        super().__init__(self._files.n_rows, len(names), Labels(names))
        for column in names:
            type_name = str(self._files.schemas[0].field(column).type)
            if re.match("u?int|bool", type_name):
                self.column_types[column] = bool if type_name == "bool" else int

    def _check_types(self, schema: Any, file: Path) -> None:
        is_number = re.compile("u?int|half|float|double|bool")
        fields = [field for field in schema if field.name in self._files.names]
        non_numeric = [field.name for field in fields if not is_number.match(str(field.type))]
        if non_numeric:
            raise InputTypeError(
                self._name,
                f"must hold numbers, which columns {shown(non_numeric)} of {str(file)!r} do not",
                ["leave them out", "write them as numbers"],
            )

    def chunks(self) -> Iterator[Float]:
        start = 0
        for batch in self._files.batches(_CHUNK, self._files.names):
            # Missing integers become NaN, which is an error.
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            table = np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
            with counted_from(start):
                rows = as_matrix(table, self._name, names=self.labels.texts)
            yield rows
            start += len(table)


class _Partitions(RowStream):
    """An array or a data frame of Dask, computed and read in partitions."""

    def __init__(self, data: Any, name: str) -> None:
        if not hasattr(data, "columns") and data.ndim != 2:
            raise InputError(name, f"must have two dimensions; got shape {data.shape}")
        self._parts, self._name = parts_of_rows(data), name
        lengths = import_module("dask").compute(*(part.shape[0] for part in self._parts))
        labels = Labels(tuple(data.columns)) if hasattr(data, "columns") else Labels()
        super().__init__(sum(lengths), data.shape[1], labels)

    def chunks(self) -> Iterator[Float]:
        start = 0
        for part in self._parts:
            table = part.compute()
            if len(table):
                yield self._numbers(table, start)
            start += len(table)

    def _numbers(self, table: Any, start: int) -> Float:
        try:
            with counted_from(start):
                return as_matrix(table, self._name, names=self.labels.texts)
        except InputTypeError as error:
            fix = f"give {self._name}.compute(), whose columns of text and dates are also compared"
            raise error.with_fields(fix=fix) from None
