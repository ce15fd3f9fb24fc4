"""Errors and warnings of commands, each written as one line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TypeAlias

from pkex.errors import InputWarning, Vocabulary, text_of

IsKnown: TypeAlias = Callable[[InputWarning], bool]


class CommandError(Exception):
    """A command cannot be executed: a bad file, option or model, or a missing library."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def reason(error: BaseException) -> str:
    """Return the reason of an error on one line."""
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__


def say(text: str) -> None:
    """Write a text to standard error; do nothing if it is closed or full."""
    try:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)


def flush(text: str = "") -> None:
    """Write a text to standard output if it is open, and flush its buffer.

    Raises
    ------
    BrokenPipeError
        If the reader has closed the pipe.
    CommandError
        If standard output cannot be written.
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
        raise CommandError(f"standard output cannot be written: {reason(error)}") from None


def _silence(stream: IO[str]) -> None:
    """Redirect a stream to the null device, so that Python can flush it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def missing_libraries(task: str, library: str) -> Iterator[None]:
    """Raise a CommandError with the library to install if an import fails."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "pkex":
            raise
        raise CommandError(
            f"{task} requires {library} ({error}). Install it by: pip install {library} "
            "(or pip install 'pkex[cli]')"
        ) from None


@contextmanager
def command_errors(
    vocabulary: Vocabulary, is_known: IsKnown = lambda _: False
) -> Iterator[list[str]]:
    """Raise errors of pkex in the words of a command, and collect the texts of warnings.

    Each warning is also written to standard error, once, on one line. Forecasts of times are not
    collected.

    Parameters
    ----------
    vocabulary : Vocabulary
    is_known : callable
        Returns whether the user already knows what a warning says, so that it is omitted.
    """
    lines: list[str] = []
    texts: set[str] = set()

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if isinstance(message, InputWarning) and is_known(message):
            return
        text = " ".join(text_of(message, vocabulary).split())
        if text not in texts:
            texts.add(text)
            say(f"pkex: warning: {text}\n")
            # Times are not the same in the next run, and answers are.
            if not (isinstance(message, InputWarning) and message.kind == "forecast"):
                lines.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        try:
            yield lines
        except ImportError as error:
            raise CommandError(str(error)) from None
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            raise CommandError(text_of(error, vocabulary) or type(error).__name__) from None
