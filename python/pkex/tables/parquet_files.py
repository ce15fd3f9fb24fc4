"""Parquet files, which are read in batches of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pkex.errors import Argument, InputError
from pkex.inputs.optional import missing_library
from pkex.tables.labels import check_column_names, index_columns, unnamed_columns


class ParquetFiles:
    """A Parquet file, or all Parquet files of a directory in the order of their names.

    Files with names that start with "." or "_" are not read: other programs write them for
    themselves.

    Parameters
    ----------
    path : path
    name : str
        The name of the argument in messages.

    Attributes
    ----------
    files : list of Path
    schemas : list of pyarrow.Schema
        The schema of each file.
    names : tuple of str
        The columns, without the index of a pandas table.
    n_rows : int

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file cannot be read, here or in `batches`, or the files have different columns.
    ImportError
        If pyarrow is not installed.
    """

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise missing_library(f"{name} in Parquet files", "pyarrow", "parquet") from error
        place = Path(path)
        self._open, self._name = pq.ParquetFile, name
        files = sorted(place.rglob("*.parquet")) if place.is_dir() else [place]
        self.files = [file for file in files if file == place or file.name[0] not in "._"]
        if not self.files or not self.files[0].is_file():
            raise FileNotFoundError(f"{name}: there is no Parquet file at {os.fspath(path)!r}")
        self.schemas: list[Any] = []
        self.names: tuple[str, ...] = ()
        self.n_rows = 0
        for file in self.files:
            with self._open_file(file) as parquet_file:
                schema, n_rows = parquet_file.schema_arrow, parquet_file.metadata.num_rows
            names = _columns_of(schema)
            self.names = self.names or names
            check_column_names(
                names, self.names, f"{name} in {file.name!r}", repr(self.files[0].name)
            )
            self.schemas.append(schema)
            self.n_rows += n_rows

    def batches(self, max_rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield batches of at most `max_rows` rows, as pyarrow.RecordBatch with these columns."""
        for file in self.files:
            with self._open_file(file) as parquet_file, self._errors_in(file):
                for batch in parquet_file.iter_batches(max_rows, columns=list(columns)):
                    # pyarrow reads columns in the order of the file.
                    yield batch.select(list(columns))

    def _open_file(self, file: Path) -> Any:
        with self._errors_in(file):
            # Reading ahead would keep whole files in memory.
            return self._open(file, pre_buffer=False)

    @contextmanager
    def _errors_in(self, file: Path) -> Iterator[None]:
        """Raise errors of pyarrow, with the file if there are several."""
        try:
            yield
        except (ValueError, OSError) as error:
            place = "" if len(self.files) == 1 else f" in {file.name!r}"
            reason = f"{place} cannot be read as Parquet: {str(error).splitlines()[0]}"
            raise InputError(None, (Argument(self._name), reason)) from None


def _columns_of(schema: Any) -> tuple[str, ...]:
    """Return the columns of a file without the index of a pandas table."""
    index = {*index_columns(schema), *unnamed_columns(schema.names)}
    return tuple(name for name in schema.names if name not in index)
