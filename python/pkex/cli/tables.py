"""Tables from files: CSV, Parquet and Arrow, told apart by how they begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkex.cli.column_types import (
    as_dates,
    counts_rows,
    hidden_by_rounding,
    kind_of,
    like_numbers,
    not_like_most,
)
from pkex.cli.csv_files import CSVFile
from pkex.cli.errors import Failure, needing
from pkex.cli.file_bytes import FileBytes
from pkex.errors import warn
from pkex.inputs.wording import counted, shown
from pkex.tables.labels import index_columns, unnamed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Sheet", "TableOptions", "read_table"]

# How files begin.
_PARQUET, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"


@dataclass(frozen=True)
class TableOptions:
    """How tables are read.

    Parameters
    ----------
    columns : tuple of str
        Those to read; all if there are none, but row numbers and the index of a table of pandas.
    categorical : tuple of str
        Those whose entries are labels.
    delimiter : str, optional
        Of CSV; by default a comma, or a tab in a file called .tsv.
    decimal : str
        What the fraction of a number begins with in CSV.
    needed : tuple of str
        Columns to read in any case.
    excluded : tuple of str
        Columns to leave out.
    """

    columns: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str = "."
    needed: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table that was read, and where its rows are in the file.

    Parameters
    ----------
    frame : DataFrame
        Its index holds the numbers of rows in the file, from 0.
    name : str
        What messages call it.
    n_rows : int
        In the file.
    source : CSVFile, optional
    """

    frame: pd.DataFrame
    name: str
    n_rows: int
    source: CSVFile | None = None

    def line(self, row: int) -> str:
        """Return where a row is, by its number from 0: the line of a CSV file, else its number."""
        return f"row {row + 1}" if self.source is None else f"line {self.source.line_of(row)}"

    def sampled(self, most: int, generator: np.random.Generator) -> Sheet:
        """Return at most so many rows, drawn at random, in their order."""
        n_rows = len(self.frame)
        if n_rows <= most:
            return self
        chosen = np.sort(generator.choice(n_rows, most, replace=False))
        return replace(self, frame=self.frame.iloc[chosen])

    def in_words(self) -> str:
        """Return what the rows are: all of the file, or some."""
        n_rows = len(self.frame)
        if n_rows == self.n_rows:
            return counted(n_rows, "row")
        return f"{n_rows} of {self.n_rows} rows, drawn at random"

    def check_numbers(self, remedy: str | None) -> None:
        """Refuse infinite numbers, and missing ones and dates if there is a remedy to name."""
        numeric = [name for name in self.frame if kind_of(self.frame[name]) != "labels"]
        for name in numeric:
            if kind_of(self.frame[name]) == "numbers":
                values = self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
                self._refuse(name, np.isinf(values), "the number is infinite; replace it")
                self._refuse(
                    name,
                    hidden_by_rounding(self.frame[name]),
                    "integers beyond 2^53, which are too large to differ as numbers; subtract "
                    "what they have in common, or, if they are labels, say so: "
                    f"--categorical {name}",
                )
        if remedy is not None:
            self.check_complete(numeric, remedy)

    def check_complete(self, columns: Iterable[str], remedy: str) -> None:
        """Refuse missing entries, saying where they are."""
        for name in columns:
            is_missing = self.frame[name].isna().to_numpy()
            self._refuse(name, is_missing, f"the entry is missing; {remedy}")

    def check_alike(self, column: str) -> None:
        """Refuse texts in a column that otherwise holds numbers or dates."""
        odd = not_like_most(self.frame[column], self.decimal)
        if odd is not None:
            kind, is_wrong = odd
            entry = self.frame[column][is_wrong].iloc[0]
            what = f"{entry!r} is none of the {kind} that most entries are; if these are labels, "
            self._refuse(column, is_wrong, f"{what}say so: --categorical {column}")

    def warn_of_labels(self, column: str) -> None:
        """Warn of texts that are compared as labels, but look like numbers or dates."""
        found = like_numbers(self.frame[column])
        if found is not None:
            entry, what = found
            warn(
                f"column {column!r} of {self.name} holds texts such as {entry!r}, which are taken "
                f"for labels; {what}; if they are labels, say so: --categorical {column}"
            )

    def warn_of_padded(self, column: str, entry: str) -> None:
        """Warn of numbers that are written like codes."""
        warn(
            f"column {column!r} of {self.name} holds entries such as {entry!r}, which are taken "
            f"for numbers; if they are labels, say so: --categorical {column}"
        )

    def warn_of_row_numbers(self, named: Collection[str]) -> None:
        """Warn of columns that count the rows, numbers of orders say, unless they were named."""
        for column in self.frame:
            if column not in named and counts_rows(self.frame[column]):
                warn(
                    f"column {column!r} of {self.name} goes up by 1 from row to row; if these are "
                    f"numbers of rows, and not measured, leave it out: --exclude {column}"
                )

    @property
    def decimal(self) -> str:
        """What the fraction of a number begins with."""
        return "." if self.source is None else self.source.decimal

    def _refuse(self, name: str, is_wrong: Any, what: str) -> None:
        if not is_wrong.any():
            return
        row = int(self.frame.index[int(np.argmax(is_wrong))])
        number = int(is_wrong.sum())
        more = f" ({number} such entries in the column)" if number > 1 else ""
        raise Failure(f"{self.name}, {self.line(row)}, column {name!r}: {what}{more}")


def read_table(path: str | FileBytes, options: TableOptions) -> Sheet:
    """Read a table from a file, or from standard input if the path is "-".

    Raises
    ------
    Failure
        If there is no such file, it is no table, or lacks a column.
    """
    source = path if isinstance(path, FileBytes) else FileBytes.of(path)
    with source.opened() as stream:
        start = stream.read(6)
    if start.startswith((_PARQUET, _ARROW_FILE, _ARROW_STREAM)):
        with needing("reading Parquet and Arrow files", "pandas and pyarrow"):
            return _read_arrow(source, start, options)
    with needing("reading CSV files", "pandas"):
        return _read_csv(source, options)


def _read_csv(source: FileBytes, options: TableOptions) -> Sheet:
    delimiter = options.delimiter or ("\t" if ".tsv" in Path(source.path).suffixes else ",")
    if options.decimal == delimiter:
        raise Failure(f"{source.name}: --decimal ',' needs another --delimiter, such as ';'")
    file = CSVFile(source, delimiter, options.decimal)
    with file.opened() as lines:
        columns = _chosen(lines.header, file.name, options)
        frame, padded = lines.frame(columns, set(options.categorical)), lines.padded
    sheet = Sheet(frame, file.name, len(frame), file)
    for column in columns:
        if kind_of(frame[column]) == "labels" and column not in options.categorical:
            sheet.check_alike(column)
            frame[column] = as_dates(frame[column])
            if kind_of(frame[column]) == "labels":
                sheet.warn_of_labels(column)
        elif column in padded and column not in options.categorical:
            sheet.warn_of_padded(column, padded[column])
    return sheet


def _read_arrow(source: FileBytes, start: bytes, options: TableOptions) -> Sheet:
    import pyarrow as pa
    from pyarrow import parquet

    name = source.name
    try:
        with source.opened() as stream:
            if start.startswith(_PARQUET):
                table = parquet.read_table(stream)
            elif start.startswith(_ARROW_FILE):
                table = pa.ipc.open_file(stream).read_all()
            else:
                table = pa.ipc.open_stream(stream).read_all()
        for place, column in enumerate(table.column_names):
            if column in options.categorical:
                table = table.set_column(place, column, _as_labels(table.column(place)))
        frame = table.to_pandas(date_as_object=False, ignore_metadata=True)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise Failure(f"{name} cannot be read: {str(error).splitlines()[0]}") from None
    if not len(frame):
        raise Failure(f"{name} has no rows")
    frame = frame[_chosen(list(frame.columns), name, options, index_columns(table.schema))]
    for column in frame.columns:
        if column in options.categorical:
            frame[column] = frame[column].astype("string")
        elif hasattr(frame[column].dtype, "tz"):
            frame[column] = frame[column].dt.tz_convert(None)
    return Sheet(frame, name, len(frame))


def _as_labels(column: Any) -> Any:
    """Return integers as texts; with a missing one they would become floats, such as 1.0."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else column


def _chosen(
    header: list[str], name: str, options: TableOptions, index: Iterable[str] = ()
) -> list[str]:
    """Return the names of the columns to read; of those of an index the ones that are named."""
    asked = (*options.columns, *options.needed)
    for column in (*asked, *options.categorical, *options.excluded):
        if column not in header:
            raise Failure(f"{name} has no column {column!r}; {_near(column, header)}")
    both = [column for column in options.excluded if column in asked]
    if both:
        raise Failure(f"{both[0]!r} is to be read and to be left out: take it from --exclude")
    repeated = [column for column, number in Counter(header).items() if column and number > 1]
    if repeated:
        raise Failure(f"{name}: several columns are called {shown(repeated)}")
    if options.columns:
        return list(dict.fromkeys(asked))
    header = [column for column in header if column not in options.excluded]
    if not header:
        raise Failure(f"{name}: --exclude leaves no column")
    named = {*asked, *options.categorical}
    without_name = set(unnamed(header)) - named
    if without_name:
        warn(f"{name}: a column has no name and is left out: are these the numbers of rows?")
    of_rows = [column for column in index if column in header and column not in named]
    if of_rows:
        warn(
            f"{name}: {shown(of_rows)}, the index of the table in pandas, is what rows are called "
            "and left out; if it is to be compared, name it in --columns"
        )
    return [column for column in header if column not in {*without_name, *of_rows}]


def _near(column: str, header: list[str]) -> str:
    """Return which column may have been meant, or which there are."""
    close = get_close_matches(column, header, 1)
    return f"did you mean {close[0]!r}?" if close else f"it has {shown(header)}"
