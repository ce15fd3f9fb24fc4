"""What ends a command, in one line for a person."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TypeAlias

from pkex.errors import InputWarning, Vocabulary, text_of

__all__ = ["Failure", "IsMeant", "failures", "flush", "needing", "reason", "say", "warning_lines"]

IsMeant: TypeAlias = Callable[[InputWarning], bool]


class Failure(Exception):
    """A command cannot do what it was asked to: a bad file, option, model, or a missing library."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def reason(error: BaseException) -> str:
    """Return in a line why something could not be done."""
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def say(text: str) -> None:
    """Write to standard error, which may be closed, or full."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def flush(text: str = "") -> None:
    """Write a text to standard output, if it is open, and what is left of it.

    Raises
    ------
    BrokenPipeError
        If nobody reads it any more.
    Failure
        If it cannot be written.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)
        raise
    except OSError as error:
        _silence(sys.stdout)
        raise Failure(f"standard output cannot be written: {reason(error)}") from None


def _silence(stream: IO[str]) -> None:
    """Write nowhere what is left of a stream, and what Python flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def needing(what: str, library: str) -> Iterator[None]:
    """Turn the error that a library is missing, or cannot be used, into what to install."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "pkex":
            raise
        raise Failure(
            f"{what} needs {library} ({error}): pip install {library} (or pip install 'pkex[cli]')"
        ) from None


@contextmanager
def failures(vocabulary: Vocabulary) -> Iterator[None]:
    """Turn errors of pkex into failures, in the words of a command."""
    try:
        yield
    except ImportError as error:
        raise Failure(str(error)) from None
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise Failure(text_of(error, vocabulary) or type(error).__name__) from None


@contextmanager
def warning_lines(
    vocabulary: Vocabulary, is_meant: IsMeant = lambda _: False
) -> Iterator[list[str]]:
    """Collect the texts of warnings, each once, and write each as a line of standard error.

    Parameters
    ----------
    vocabulary : Vocabulary
    is_meant : callable
        Says of a warning whether the user already knows, so that it is left out.
    """
    lines: list[str] = []

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if isinstance(message, InputWarning) and is_meant(message):
            return
        text = " ".join(text_of(message, vocabulary).split())
        if text not in lines:
            lines.append(text)
            say(f"pkex: warning: {text}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield lines
