"""Rows that are read chunk by chunk: arrays, memory-mapped ones too, tables and Parquet files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.columns import Labels, check_column_names
from pkex.inputs.optional import missing_library
from pkex.inputs.wording import shown
from pkex.statistics.samples import as_rows, as_sample
from pkex.typing import Float

__all__ = ["Beside", "Source", "as_source"]

# Rows of a chunk.
_CHUNK = 1 << 16


class Source:
    """Rows of numbers that may be read again and again, in the same order.

    Parameters
    ----------
    n_rows, n_columns : int
    labels : Labels
        Of the columns.
    """

    def __init__(self, n_rows: int, n_columns: int, labels: Labels) -> None:
        self.n_rows, self.n_columns, self.labels = n_rows, n_columns, labels

    def chunks(self) -> Iterator[Float]:
        """Yield all rows in order, some at a time, shape (·, n_columns): checked, as float64."""
        raise NotImplementedError


def as_source(data: Any, name: str) -> Source:
    """Return rows as a source: the path of Parquet files, or anything that is a sample.

    Raises
    ------
    ValueError, TypeError
        If it is no table of numbers; of its entries only when they are read.
    FileNotFoundError
        If there is no such file.
    ImportError
        If pyarrow is not installed, which reads Parquet.
    """
    if isinstance(data, str | PathLike):
        return _Parquet(Path(data), name)
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "fiub":
        return _Array(data, Labels(), name)
    table = as_sample(data, name)
    return _Array(table.rows, table.labels, name)


def _from(start: int, name: str) -> str:
    """Return what messages call the rows of a chunk, whose own numbers begin with 0."""
    return f"{name}[{start}:]" if start else name


class Beside(Source):
    """The columns of a source, and behind them those of an array of as many rows."""

    def __init__(self, source: Source, others: Float) -> None:
        super().__init__(source.n_rows, source.n_columns + others.shape[1], source.labels)
        self._source, self._others = source, others

    def chunks(self) -> Iterator[Float]:
        """Yield all rows in order, some at a time."""
        start = 0
        for chunk in self._source.chunks():
            yield np.column_stack([chunk, self._others[start : start + len(chunk)]])
            start += len(chunk)


class _Array(Source):
    """An array, of which a chunk at a time becomes float64: a memory-mapped one stays on disk."""

    def __init__(self, rows: NDArray[Any], labels: Labels, name: str) -> None:
        super().__init__(len(rows), rows.shape[1], labels)
        self._rows, self._name = rows, name

    def chunks(self) -> Iterator[Float]:
        for start in range(0, self.n_rows, _CHUNK):
            chunk = self._rows[start : start + _CHUNK]
            yield as_rows(chunk, _from(start, self._name), names=self.labels.texts)


class _Parquet(Source):
    """A Parquet file, or those of a directory in the order of their names."""

    def __init__(self, path: Path, name: str) -> None:
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise missing_library(f"{name} in Parquet files", "pyarrow", "parquet") from error
        self._open, self._name = pq.ParquetFile, name
        self._files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not self._files or not self._files[0].is_file():
            raise FileNotFoundError(f"{name}: there is no Parquet file at {str(path)!r}")
        n_rows = 0
        names: tuple[str, ...] = ()
        for file in self._files:
            with self._opened(file) as opened:
                self._check_types(opened.schema_arrow, file)
                own = tuple(opened.schema_arrow.names)
                n_rows += opened.metadata.num_rows
            names = names or own
            check_column_names(own, names, f"{name} in {file.name!r}", repr(self._files[0].name))
        super().__init__(n_rows, len(names), Labels(names))

    def _opened(self, file: Path) -> Any:
        try:
            # Without reading ahead, which would hold whole files.
            return self._open(file, pre_buffer=False)
        except ValueError as error:  # of pyarrow, too
            raise ValueError(f"{self._name}: {str(file)!r} is no Parquet file: {error}") from None

    def _check_types(self, schema: Any, file: Path) -> None:
        is_number = re.compile("u?int|half|float|double|bool")
        wrong = [field.name for field in schema if not is_number.match(str(field.type))]
        if wrong:
            raise TypeError(
                f"{self._name} must hold numbers, which columns {shown(wrong)} of {str(file)!r} do "
                "not: leave them out, or write them as numbers"
            )

    def chunks(self) -> Iterator[Float]:
        start = 0
        for file in self._files:
            with self._opened(file) as opened:
                for batch in opened.iter_batches(_CHUNK):
                    # Missing integers make a column of floats with NaN, which is refused.
                    columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                    table = np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])
                    yield as_rows(table, _from(start, self._name), names=self.labels.texts)
                    start += len(table)
