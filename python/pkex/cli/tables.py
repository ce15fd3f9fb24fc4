"""Tables from files: CSV, Parquet and Arrow, recognized by their first bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkex.cli.column_types import (
    as_dates,
    counts_rows,
    is_lost_by_rounding,
    texts_among_most,
    texts_like_numbers,
    type_of,
)
from pkex.cli.csv_files import CSVFile
from pkex.cli.errors import CommandError, missing_libraries
from pkex.cli.file_bytes import FileBytes
from pkex.errors import warn
from pkex.inputs.wording import counted, shown
from pkex.tables.labels import index_columns, unnamed_columns

if TYPE_CHECKING:
    import pandas as pd

# The first bytes of files.
PARQUET, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_ARROW = (PARQUET, _ARROW_FILE, _ARROW_STREAM)
# Extensions of tables, which .gz may follow.
_EXTENSIONS = {".csv", ".tsv", ".parquet", ".arrow", ".feather"}


@dataclass(frozen=True)
class TableOptions:
    """Options of reading tables.

    Parameters
    ----------
    columns : tuple of str
        The columns to read; by default all except row numbers and the index of a pandas table.
    categorical : tuple of str
        Columns whose values are categories.
    delimiter : str, optional
        The delimiter of CSV; by default a comma, or a tab for files with the extension .tsv.
    decimal : str
        The decimal separator of CSV.
    needed_columns : tuple of str
        Columns that are always read.
    excluded_columns : tuple of str
        Columns that are not read.
    ignored_columns : tuple of str
        Columns that are not read, if there are any.
    """

    columns: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str = "."
    needed_columns: tuple[str, ...] = ()
    excluded_columns: tuple[str, ...] = ()
    ignored_columns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table from a file, with the place of each row in the file.

    Parameters
    ----------
    frame : DataFrame
        Its index has the numbers of rows in the file, from 0.
    name : str
        The name of the file in messages.
    n_rows : int
        The number of rows in the file.
    source : CSVFile, optional
    """

    frame: pd.DataFrame
    name: str
    n_rows: int
    source: CSVFile | None = None

    def line(self, row: int) -> str:
        """Return the line of a row in a CSV file, or its number; the row counts from 0."""
        return f"row {row + 1}" if self.source is None else f"line {self.source.line_of(row)}"

    def place(self, row: int, column: int | str | None) -> str:
        """Return the line of a row of the frame, and the name of a column, for messages."""
        line = self.line(int(self.frame.index[row]))
        name = self.frame.columns[column] if isinstance(column, int) else column
        return line if name is None else f"{line}, column {name!r}"

    def sample(self, max_rows: int, generator: np.random.Generator) -> FileTable:
        """Return at most `max_rows` rows, drawn at random, in their order."""
        n_rows = len(self.frame)
        if n_rows <= max_rows:
            return self
        places = np.sort(generator.choice(n_rows, max_rows, replace=False))
        return replace(self, frame=self.frame.iloc[places])

    def description(self) -> str:
        """Return the number of rows, and of how many they were drawn."""
        n_rows = len(self.frame)
        if n_rows == self.n_rows:
            return counted(n_rows, "row")
        return f"{n_rows} of {self.n_rows} rows, drawn at random"

    def check_numbers(self, fix_of_missing: str | None) -> None:
        """Raise CommandError for infinite numbers, and missing numbers or dates if there is a fix.

        Parameters
        ----------
        fix_of_missing : str, optional
            The fix for missing values; None if they are allowed.
        """
        types = {name: type_of(self.frame[name]) for name in self.frame}
        for name in (name for name, column_type in types.items() if column_type == "numbers"):
            values = self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
            self._check(name, ~np.isinf(values), "the number is infinite. Replace it")
            self._check(
                name,
                ~is_lost_by_rounding(self.frame[name]),
                "integers beyond 2^53, which are equal as float64. Subtract a common number, or "
                f"pass --categorical {name} if they are categories",
            )
        if fix_of_missing is not None:
            numeric = [name for name, column_type in types.items() if column_type != "categories"]
            self.check_complete(numeric, fix_of_missing)

    def check_complete(self, columns: Iterable[str], fix: str) -> None:
        """Raise CommandError for missing values, with their line."""
        for name in columns:
            is_known = self.frame[name].notna().to_numpy()
            self._check(name, is_known, f"the value is missing. {fix}")

    def check_texts(self, column: str) -> None:
        """Raise CommandError for texts in a column that otherwise has numbers or dates."""
        decimal = "." if self.source is None else self.source.decimal
        mismatch = texts_among_most(self.frame[column], decimal)
        if mismatch is not None:
            column_type, is_wrong = mismatch
            value = self.frame[column][is_wrong].iloc[0]
            problem = (
                f"{value!r} is not one of the {column_type} that most values are. If these are "
            )
            self._check(column, ~is_wrong, f"{problem}categories, pass --categorical {column}")

    def warn_of_texts(self, column: str) -> None:
        """Warn of texts that are read as categories but look like numbers or dates."""
        example = texts_like_numbers(self.frame[column])
        if example is not None:
            value, hint = example
            warn(
                f"column {column!r} of {self.name} has texts such as {value!r}, which are read as "
                f"categories. {hint}. If they are categories, pass --categorical {column}"
            )

    def warn_of_codes(self, column: str, value: str) -> None:
        """Warn of numbers with leading zeros, which may be codes."""
        warn(
            f"column {column!r} of {self.name} has values such as {value!r}, which are read as "
            f"numbers. If they are categories, pass --categorical {column}"
        )

    def warn_of_row_numbers(self, user_names: Collection[str]) -> None:
        """Warn of columns that count the rows, unless the user has named them."""
        for column in self.frame:
            if column not in user_names and counts_rows(self.frame[column]):
                warn(
                    f"column {column!r} of {self.name} increases by 1 from row to row. If it "
                    f"numbers the rows, pass --exclude {column}"
                )

    def _check(self, name: str, is_valid: Any, problem: str) -> None:
        """Raise CommandError with the line of the first value that is not valid."""
        if is_valid.all():
            return
        row = int(self.frame.index[int(np.argmin(is_valid))])
        number = int((~is_valid).sum())
        more = f" ({number} such values in the column)" if number > 1 else ""
        raise CommandError(f"{self.name}, {self.line(row)}, column {name!r}: {problem}{more}")


def split_labels(table: FileTable, label: str | None) -> tuple[FileTable, pd.Index | None]:
    """Return a table without a column of labels, and the labels; None if there is none."""
    if label is None:
        return table, None
    return replace(table, frame=table.frame.drop(columns=label)), labels_of(table.frame, label)


def labels_of(frame: pd.DataFrame, label: str) -> pd.Index:
    """Return the labels of rows as an index with the name of their column."""
    import pandas as pd

    return pd.Index(frame[label].to_numpy(dtype=object, na_value=None), dtype=object, name=label)


def is_table(source: FileBytes) -> bool:
    """Return whether a file is a table by its first bytes or its extension."""
    with source.open() as stream:
        start = stream.read(6)
    path = Path(source.path.lower().removesuffix(".gz"))
    return start.startswith(_ARROW) or path.suffix in _EXTENSIONS


def read_table(path: str | FileBytes, options: TableOptions) -> FileTable:
    """Read a table from a file, or from standard input if the path is "-".

    Raises
    ------
    CommandError
        If there is no such file, it is not a table, or lacks a column.
    """
    source = path if isinstance(path, FileBytes) else FileBytes.of(path)
    with source.open() as stream:
        start = stream.read(6)
    if start.startswith(_ARROW):
        with missing_libraries("reading Parquet and Arrow files", "pandas and pyarrow"):
            return _read_arrow(source, start, options)
    with missing_libraries("reading CSV files", "pandas"):
        return _read_csv(source, options)


def _read_csv(source: FileBytes, options: TableOptions) -> FileTable:
    delimiter = options.delimiter or ("\t" if ".tsv" in Path(source.path).suffixes else ",")
    if options.decimal == delimiter:
        raise CommandError(
            f"{source.name}: --decimal ',' requires another --delimiter, such as ';'"
        )
    file = CSVFile(source, delimiter, options.decimal)
    header = file.header()
    columns = select_columns(header, file.name, options)
    frame, padded_values = file.read(header, columns, set(options.categorical))
    table = FileTable(frame, file.name, len(frame), file)
    for column in columns:
        if column in options.categorical:
            continue
        if type_of(frame[column]) == "categories":
            table.check_texts(column)
            frame[column] = as_dates(frame[column])
            if type_of(frame[column]) == "categories":
                table.warn_of_texts(column)
        elif column in padded_values:
            table.warn_of_codes(column, padded_values[column])
    return table


def _read_arrow(source: FileBytes, start: bytes, options: TableOptions) -> FileTable:
    import pyarrow as pa
    from pyarrow import parquet

    name = source.name
    with arrow_errors(name), source.open() as stream:
        if start.startswith(PARQUET):
            table = parquet.read_table(stream)
        elif start.startswith(_ARROW_FILE):
            table = pa.ipc.open_file(stream).read_all()
        else:
            table = pa.ipc.open_stream(stream).read_all()
        frame = arrow_frame(table, options)
    if not len(frame):
        raise CommandError(f"{name} has no rows")
    return FileTable(
        frame[select_columns(list(frame.columns), name, options, index_columns(table.schema))],
        name,
        len(frame),
    )


@contextmanager
def arrow_errors(name: str) -> Iterator[None]:
    """Raise errors of pyarrow about a file as CommandError."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        raise CommandError(f"{name} cannot be read: {str(error).splitlines()[0]}") from None


def arrow_frame(table: Any, options: TableOptions) -> pd.DataFrame:
    """Return a pyarrow.Table as a DataFrame with times in UTC, and categories as texts."""
    for place, column in enumerate(table.column_names):
        if column in options.categorical:
            table = table.set_column(place, column, _as_categories(table.column(place)))
    frame: pd.DataFrame = table.to_pandas(date_as_object=False, ignore_metadata=True)
    for column in frame.columns:
        if column in options.categorical:
            frame[column] = frame[column].astype("string")
        elif hasattr(frame[column].dtype, "tz"):
            frame[column] = frame[column].dt.tz_convert(None)
    return frame


def _as_categories(column: Any) -> Any:
    """Return integers as texts; next to missing values they would become floats, such as 1.0."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else column


def select_columns(
    header: list[str], name: str, options: TableOptions, index: Iterable[str] = ()
) -> list[str]:
    """Return the names of the columns to read, without an index that the user has not named."""
    required_columns = (*options.columns, *options.needed_columns)
    for column in (*required_columns, *options.categorical, *options.excluded_columns):
        if column not in header:
            close = get_close_matches(column, header, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it has {shown(header)}"
            raise CommandError(f"{name} has no column {column!r}; {hint}")
    conflicts = [column for column in options.excluded_columns if column in required_columns]
    if conflicts:
        raise CommandError(f"{conflicts[0]!r} is a column to read. Remove it from --exclude")
    duplicates = [column for column, number in Counter(header).items() if column and number > 1]
    if duplicates:
        raise CommandError(f"{name}: several columns are named {shown(duplicates)}")
    if options.columns:
        return list(dict.fromkeys(required_columns))
    header = [
        column
        for column in header
        if column not in options.excluded_columns + options.ignored_columns
    ]
    if not header:
        raise CommandError(f"{name}: --exclude leaves no column")
    user_names = {*required_columns, *options.categorical}
    unnamed = set(unnamed_columns(header)) - user_names
    if unnamed:
        warn(f"{name}: a column has no name and is left out; it may contain row numbers")
    index_names = [column for column in index if column in header and column not in user_names]
    if index_names:
        warn(
            f"{name}: {shown(index_names)}, the index of the table in pandas, is left out. To "
            "compare it, name it in --columns"
        )
    return [column for column in header if column not in {*unnamed, *index_names}]
