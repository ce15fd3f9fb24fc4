"""Bytes of files and of standard input, which can be read several times."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pkex.cli.errors import CommandError, reason

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class FileBytes:
    """Bytes of a file, or of standard input.

    Parameters
    ----------
    path : str
    content : bytes, optional
        The bytes of a pipe, which can be read only once.
    """

    path: str
    content: bytes | None = None

    @classmethod
    def of(cls, path: str) -> FileBytes:
        """Return the bytes at a path; standard input is "-".

        Raises
        ------
        CommandError
            If there is no such file, or it cannot be read.
        """
        if path == STANDARD_INPUT:
            if sys.stdin is None:
                raise CommandError("standard input is closed")
            return cls(path, sys.stdin.buffer.read())
        try:
            with Path(path).open("rb") as file:
                return cls(path, None if file.seekable() else file.read())
        except FileNotFoundError:
            raise CommandError(f"{path}: there is no such file") from None
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {reason(error)}") from None

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file at its start."""
        if self.content is not None:
            yield io.BytesIO(self.content)
        else:
            with Path(self.path).open("rb") as file:
                yield file
