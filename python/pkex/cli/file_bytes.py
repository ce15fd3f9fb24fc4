"""Files, and standard input, that can be read more than once."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pkex.cli.errors import Failure, reason

__all__ = ["STANDARD_INPUT", "FileBytes"]

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class FileBytes:
    """Bytes of a file, or of standard input.

    Parameters
    ----------
    path : str
    content : bytes, optional
        What was read of a pipe, of which there is no going back to the start.
    """

    path: str
    content: bytes | None = None

    @classmethod
    def of(cls, path: str) -> FileBytes:
        """Find a file; standard input is "-".

        Raises
        ------
        Failure
            If there is none, or it cannot be read.
        """
        if path == STANDARD_INPUT:
            if sys.stdin is None:
                raise Failure("standard input is closed")
            return cls(path, sys.stdin.buffer.read())
        try:
            with Path(path).open("rb") as file:
                return cls(path, None if file.seekable() else file.read())
        except FileNotFoundError:
            raise Failure(f"{path}: there is no such file") from None
        except OSError as error:
            raise Failure(f"{path} cannot be read: {reason(error)}") from None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open it at its start."""
        if self.content is not None:
            yield io.BytesIO(self.content)
        else:
            with Path(self.path).open("rb") as file:
                yield file
