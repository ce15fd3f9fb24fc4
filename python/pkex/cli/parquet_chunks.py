"""Parquet files that are read in chunks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from pkex.cli.errors import CommandError, missing_libraries
from pkex.cli.file_bytes import FileBytes
from pkex.cli.tables import (
    PARQUET,
    TableOptions,
    arrow_errors,
    arrow_frame,
    labels_of,
    select_columns,
)
from pkex.tables.labels import index_columns
from pkex.tables.parquet_files import ParquetFiles

if TYPE_CHECKING:
    import pandas as pd


def is_parquet(path: str) -> bool:
    """Whether a path is a Parquet file that can be read in chunks: not standard input or a pipe.

    Raises
    ------
    CommandError
        If there is no such file, or it cannot be read.
    """
    source = FileBytes.of(path)
    with source.open() as stream:
        return source.content is None and stream.read(len(PARQUET)) == PARQUET


@dataclass(frozen=True)
class ParquetChunks:
    """The rows of a Parquet file in chunks.

    Parameters
    ----------
    files : ParquetFiles
    options : TableOptions
    columns : tuple of str
        The columns to read.
    label : str, optional
        Another column, of labels of the rows.
    """

    files: ParquetFiles
    options: TableOptions
    columns: tuple[str, ...]
    label: str | None = None

    @classmethod
    def of(cls, path: str, options: TableOptions, label: str | None = None) -> ParquetChunks:
        """Return the chunks of a file.

        Raises
        ------
        CommandError, ValueError
            If it cannot be read, or lacks a column.
        """
        with missing_libraries("reading Parquet and Arrow files", "pandas and pyarrow"):
            import_module("pandas")
            import_module("pyarrow.parquet")
        files = ParquetFiles(path, "X")
        if not files.n_rows:
            raise CommandError(f"{path} has no rows")
        (schema,) = files.schemas
        columns = select_columns(schema.names, path, options, index_columns(schema))
        return cls(files, options, tuple(name for name in columns if name != label), label)

    @property
    def n_rows(self) -> int:
        """The number of rows of the file."""
        return self.files.n_rows

    def place(self, row: int, column: int | str | None) -> str:
        """Return the number of a row from 1, and the name of a column, for messages."""
        name = self.columns[column] if isinstance(column, int) else column
        return f"row {row + 1}" if name is None else f"row {row + 1}, column {name!r}"

    def frames(self, max_rows: int) -> Iterator[pd.DataFrame]:
        """Yield DataFrames of at most `max_rows` rows, with their labels as the index."""
        import pyarrow as pa

        columns = self.columns if self.label is None else (*self.columns, self.label)
        for batch in self.files.batches(max_rows, columns):
            with arrow_errors(str(self.files.files[0])):
                frame = arrow_frame(pa.Table.from_batches([batch]), self.options)
            if self.label is not None:
                frame = frame.set_axis(labels_of(frame, self.label)).drop(columns=self.label)
            yield frame
