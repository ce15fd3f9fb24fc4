"""CSV files: read by pandas, and checked line by line meanwhile, so that an error has its line."""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, cast

from pkex.cli.errors import Failure
from pkex.cli.file_bytes import FileBytes
from pkex.inputs.wording import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CSVFile"]

# What is no CSV in UTF-8, by how it begins, and what to do about it.
_OTHERS = {
    b"PK\x03\x04": "is a zip file, as those of Excel are; unpack it, or save the table as CSV",
    b"\xff\xfe": "is UTF-16; convert it, for instance by: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "is UTF-16; convert it, for instance by: iconv -f UTF-16 -t UTF-8",
}
# Lines that are looked at.
_MOST = 1000


@dataclass(frozen=True)
class CSVFile:
    """A table in CSV, with a line of names.

    Parameters
    ----------
    source : FileBytes
    delimiter : str
    decimal : str
        What the fraction of a number begins with.
    """

    source: FileBytes
    delimiter: str
    decimal: str = "."

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.source.name

    @contextmanager
    def opened(self) -> Iterator[CheckedLines]:
        """Open the file after the line of names, of which there is one, and a row.

        Raises
        ------
        Failure
            If the file is empty, ragged, or not UTF-8; of later lines when they are read.
        """
        self._check_start()
        with self._text() as text:
            yield CheckedLines(self, text)

    def line_of(self, row: int) -> int:
        """Return the number of the line on which a row ends; the first row is 0."""
        with self._text() as text:
            reader = csv.reader(text, delimiter=self.delimiter, strict=True)
            lines = (reader.line_num for line in reader if not _is_blank(line))
            for _ in range(row + 1):
                next(lines)
            return next(lines)

    @contextmanager
    def _bytes(self) -> Iterator[IO[bytes]]:
        """Open the file at its start, unpacked if it is packed by gzip."""
        with self.source.opened() as stream:
            packed = stream.read(2) == b"\x1f\x8b"
            stream.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=stream)) if packed else stream

    @contextmanager
    def _text(self) -> Iterator[IO[str]]:
        """Open the text; a mark of the byte order is none of it."""
        with self._bytes() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            try:
                yield text
            finally:
                text.detach()

    def _check_start(self) -> None:
        """Refuse what is no text, as far as the first kilobytes say."""
        try:
            with self._bytes() as stream:
                start = stream.read(4096)
        except (EOFError, OSError, zlib.error) as error:
            raise Failure(f"{self.name} cannot be unpacked: {error}") from None
        for signature, what in _OTHERS.items():
            if start.startswith(signature):
                raise Failure(f"{self.name} {what}")
        if b"\0" in start:
            raise Failure(f"{self.name} holds a byte 0, which no text has: is it a table in CSV?")

    def check_delimiter(self, header: list[str]) -> None:
        """Refuse a single column that has another delimiter in it."""
        for other in ",;\t|":
            if len(header) == 1 and other in header[0] and other != self.delimiter:
                how = "tab" if other == "\t" else f"'{other}'"
                raise Failure(
                    f"{self.name}, line 1: there is a single column, {header[0]!r}; if columns are "
                    f"divided by {other!r}, say so: --delimiter {how}"
                )

    def ragged(self, number: int, line: list[str], header: list[str]) -> str:
        """Return which line has another number of fields than there are columns."""
        where = (
            f"{self.name}, line {number}: {counted(len(line), 'field')} instead of {len(header)}"
        )
        if len(line) < len(header):
            return f"{where}, with none for column {header[len(line)]!r}"
        return f"{where}; beyond column {header[-1]!r} is {line[len(header)]!r}"

    def undecodable(self) -> str:
        """Return where the first byte is that is not UTF-8."""
        header: list[str] = []
        with self._bytes() as stream:
            for number, line in enumerate(stream, 1):
                try:
                    text = line.decode()
                except UnicodeDecodeError as error:
                    place = line[: error.start].count(self.delimiter.encode())
                    of_column = f", column {header[place]!r}" if place < len(header) else ""
                    return (
                        f"{self.name}, line {number}{of_column}: byte 0x{line[error.start]:02x} "
                        "is not UTF-8; convert the file, for instance by: "
                        "iconv -f WINDOWS-1252 -t UTF-8"
                    )
                if number == 1:
                    header = next(csv.reader([text], delimiter=self.delimiter), [])
        return f"{self.name} is not UTF-8"


class CheckedLines:
    """The rows of a table in CSV as a file for pandas, checked while pandas reads them.

    Parameters
    ----------
    file : CSVFile
    text : file of str
        At its start.
    """

    def __init__(self, file: CSVFile, text: IO[str]) -> None:
        self._file, self._text = file, text
        self._raw: list[str] = []
        self._length = self._n_rows = 0
        self._reader = csv.reader(self._recorded(), delimiter=file.delimiter, strict=True)
        self._failure: Failure | None = None
        # Columns with integers that begin with 0, and one of each: codes, perhaps.
        self.padded: dict[str, str] = {}
        with self._failing():
            header = next((line for line in self._reader if not _is_blank(line)), None)
            if header is None:
                raise Failure(f"{file.name} is empty")
            file.check_delimiter(header)
            self.header, self._raw, self._length = header, [], 0
            self._check_until(1)
            if not self._n_rows:
                names = counted(len(header), "column")
                raise Failure(f"{file.name} has no rows, only the names of {names}")

    def frame(self, columns: list[str], texts: set[str]) -> pd.DataFrame:
        """Return columns; those in `texts` as texts."""
        import pandas as pd

        # Of later versions that is the only way, which need not be asked for.
        is_old = int(pd.__version__.partition(".")[0]) < 3
        exact = {"float_precision": "round_trip"} if is_old else {}
        try:
            # By numbers: names such as "a.1" are pandas' own for the second of equal ones.
            frame = pd.read_csv(
                cast(IO[str], self),
                sep=self._file.delimiter,
                decimal=self._file.decimal,
                header=None,
                names=range(len(self.header)),
                usecols=[self.header.index(name) for name in columns],
                dtype={self.header.index(name): str for name in texts if name in columns},
                index_col=False,
                low_memory=False,
                **exact,
            )
        except Exception:
            # Pandas may have one of its own in its place.
            if self._failure is not None:
                raise self._failure from None
            raise
        frame.columns = [self.header[place] for place in frame.columns]
        return frame[columns]

    def read(self, size: int = -1) -> str:
        """Return lines, of so many characters or a few more; none at the end."""
        with self._failing():
            self._check_until(size if size >= 0 else sys.maxsize)
        lines, self._raw, self._length = "".join(self._raw), [], 0
        return lines

    def __iter__(self) -> Iterator[str]:
        return iter(self.read, "")

    def _recorded(self) -> Iterator[str]:
        for line in self._text:
            self._raw.append(line)
            self._length += len(line)
            yield line

    def _check_until(self, size: int) -> None:
        """Check lines until there are so many characters of them."""
        if self._length >= size:
            return
        n_columns = len(self.header)
        for line in self._reader:
            if len(line) != n_columns or n_columns == 1:
                if _is_blank(line):
                    continue
                if len(line) != n_columns:
                    raise Failure(self._file.ragged(self._reader.line_num, line, self.header))
            if self._n_rows < _MOST:
                self._n_rows += 1
                for column, entry in zip(self.header, line, strict=True):
                    if entry[:1] == "0" and entry[1:].isdecimal():
                        self.padded.setdefault(column, entry)
            if self._length >= size:
                return

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Say of an error of reading where it is, and keep it."""
        try:
            try:
                yield
            except UnicodeDecodeError:
                raise Failure(self._file.undecodable()) from None
            except csv.Error as error:
                place = f"{self._file.name}, line {self._reader.line_num}"
                raise Failure(f"{place}: {error}") from None
            except (EOFError, OSError, zlib.error) as error:
                raise Failure(f"{self._file.name} cannot be unpacked: {error}") from None
        except Failure as failure:
            self._failure = failure
            raise


def _is_blank(line: list[str]) -> bool:
    """Whether a line is empty, or white space: such are skipped."""
    return not line or (len(line) == 1 and line[0].isspace())
