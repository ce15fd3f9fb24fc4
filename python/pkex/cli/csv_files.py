"""CSV files: every line is checked, so that errors name lines, and then pandas reads the file."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, cast

from pkex.cli.errors import CommandError
from pkex.cli.file_bytes import FileBytes
from pkex.inputs.wording import counted

if TYPE_CHECKING:
    import pandas as pd

# First bytes of files that are not CSV in UTF-8, and what to do.
_OTHER_FILES = {
    b"PK\x03\x04": "is a zip file, such as an Excel file. Unpack it, or save the table as CSV",
    b"\xff\xfe": "is UTF-16. Convert it, for instance by: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "is UTF-16. Convert it, for instance by: iconv -f UTF-16 -t UTF-8",
}
# The number of rows that are searched for integers with leading zeros.
_MAX_ROWS = 1000


@dataclass(frozen=True)
class CSVFile:
    """A table in CSV whose first line has the names of columns.

    Parameters
    ----------
    source : FileBytes
    delimiter : str
    decimal : str
        The decimal separator of numbers.
    """

    source: FileBytes
    delimiter: str
    decimal: str = "."

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return self.source.name

    def header(self) -> list[str]:
        """Return the names of the columns.

        Raises
        ------
        CommandError
            If the file is empty, not UTF-8, or has another delimiter.
        """
        self._check_start()
        _, header = next(self._lines(), (0, None))
        if header is None:
            raise CommandError(f"{self.name} is empty")
        for delimiter in ",;\t|":
            if len(header) == 1 and delimiter in header[0] and delimiter != self.delimiter:
                option = "tab" if delimiter == "\t" else f"'{delimiter}'"
                raise CommandError(
                    f"{self.name}, line 1: there is a single column, {header[0]!r}. If columns are "
                    f"separated by {delimiter!r}, pass --delimiter {option}"
                )
        return header

    def read(
        self, header: list[str], columns: list[str], texts: set[str]
    ) -> tuple[pd.DataFrame, dict[str, str]]:
        """Return columns of the table, and a value of each column that has leading zeros.

        Parameters
        ----------
        header : list of str
            All names of columns.
        columns : list of str
            The columns to read.
        texts : set of str
            Columns whose values are read as texts.

        Raises
        ------
        CommandError
            If there are no rows, or a line is not UTF-8 or has another number of fields.
        """
        padded_values = self._check_rows(header)
        import pandas as pd

        # Later versions of pandas always round correctly.
        is_old = int(pd.__version__.partition(".")[0]) < 3
        float_options = {"float_precision": "round_trip"} if is_old else {}
        with self._text() as text:
            next(self._records(text))
            # Columns are numbered, because pandas reads the name "a.1" as a second column "a".
            frame = pd.read_csv(
                text,
                sep=self.delimiter,
                decimal=self.decimal,
                header=None,
                names=range(len(header)),
                usecols=[header.index(name) for name in columns],
                dtype={header.index(name): str for name in texts if name in columns},
                index_col=False,
                low_memory=False,
                **float_options,
            )
        frame.columns = [header[place] for place in frame.columns]
        return frame[columns], padded_values

    def line_of(self, row: int) -> int:
        """Return the number of the line on which a row ends; the first row is 0."""
        number, _ = next(islice(self._lines(), row + 1, None))
        return number

    def _check_rows(self, header: list[str]) -> dict[str, str]:
        """Check all rows, and return a value of each column of integers with leading zeros."""
        padded_values: dict[str, str] = {}
        n_rows = 0
        for n_rows, (number, line) in enumerate(islice(self._lines(), 1, None), 1):
            if len(line) != len(header):
                raise CommandError(self._field_error(number, line, header))
            if n_rows <= _MAX_ROWS:
                for column, value in zip(header, line, strict=True):
                    if value[:1] == "0" and value[1:].isdecimal():
                        padded_values.setdefault(column, value)
        if not n_rows:
            names = counted(len(header), "column")
            raise CommandError(f"{self.name} has no rows, only the names of {names}")
        return padded_values

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the fields of each line that is not blank, from the header on."""
        with self._text() as text:
            try:
                yield from self._records(text)
            except UnicodeDecodeError:
                raise CommandError(self._encoding_error()) from None
            except (EOFError, OSError, zlib.error) as error:
                raise CommandError(f"{self.name} cannot be unpacked: {error}") from None

    def _records(self, text: IO[str]) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the fields of each line of a text that pandas does not skip.

        pandas skips lines of spaces and tabs without quotes, except tabs that separate fields.
        """
        last_line = ""

        def lines() -> Iterator[str]:
            nonlocal last_line
            for line in text:
                last_line = line
                yield line

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        try:
            for fields in reader:
                if len(fields) > 1 or last_line.strip(" \t\r\n"):
                    yield reader.line_num, fields
        except csv.Error as error:
            raise CommandError(f"{self.name}, line {reader.line_num}: {error}") from None

    @contextmanager
    def _bytes(self) -> Iterator[IO[bytes]]:
        """Open the file at its start, decompressed if it is compressed by gzip."""
        with self.source.open() as stream:
            is_compressed = stream.read(2) == b"\x1f\x8b"
            stream.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if is_compressed else stream

    @contextmanager
    def _text(self) -> Iterator[IO[str]]:
        """Open the text, without a byte order mark."""
        with self._bytes() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            try:
                yield text
            finally:
                text.detach()

    def _check_start(self) -> None:
        """Raise CommandError if the first kilobytes are not text."""
        try:
            with self._bytes() as stream:
                start = stream.read(4096)
        except (EOFError, OSError, zlib.error) as error:
            raise CommandError(f"{self.name} cannot be unpacked: {error}") from None
        for signature, problem in _OTHER_FILES.items():
            if start.startswith(signature):
                raise CommandError(f"{self.name} {problem}")
        if b"\0" in start:
            raise CommandError(f"{self.name} contains a byte 0, so it is not a table in CSV")

    def _field_error(self, number: int, line: list[str], header: list[str]) -> str:
        """Return the error of a line with too few or too many fields."""
        where = (
            f"{self.name}, line {number}: {counted(len(line), 'field')} instead of {len(header)}"
        )
        if len(line) < len(header):
            return f"{where}, with none for column {header[len(line)]!r}"
        return f"{where}; beyond column {header[-1]!r} is {line[len(header)]!r}"

    def _encoding_error(self) -> str:
        """Return the error of the first byte that is not UTF-8."""
        header: list[str] = []
        with self._bytes() as stream:
            for number, line in enumerate(stream, 1):
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    place = line[: error.start].count(self.delimiter.encode())
                    column = f", column {header[place]!r}" if place < len(header) else ""
                    return (
                        f"{self.name}, line {number}{column}: byte 0x{line[error.start]:02x} "
                        "is not UTF-8. Convert the file, for instance by: "
                        "iconv -f WINDOWS-1252 -t UTF-8"
                    )
                if number == 1:
                    header = next(csv.reader([text], delimiter=self.delimiter), [])
        return f"{self.name} is not UTF-8"
