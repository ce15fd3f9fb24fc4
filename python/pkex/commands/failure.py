"""What ends a command, in one line for a person."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

__all__ = ["Failure", "flush", "naming", "needing", "reason", "say", "warned"]


# Advice for who writes Python, by patterns, and what it is for who gives commands.
_ADVICE = {
    r"; give (\w+), such as \1=pkex\.kernels\.RBF\(1\.0\)": "; give rows that differ",
    r", or give \w+=pkex\.kernels\.RBF\(length_scales\)": "",
    ", or the labels as strings; if they are numbers, give them as floats": (
        "; if they are numbers, write them with a point, such as 1.0"
    ),
    "missing='indicator'": "--missing indicator",
    r"\bgive categorical=\['([^']+)'\]": r"give --categorical \1",
    r"\bdrop column '([^']+)'": r"leave it out: --exclude \1",
    r"\bestimator='(\w+)'": r"--estimator \1",
    r"\bbudget=(\d+)": r"--budget \1",
    r"\bbackground=(?:X_train|Z)\b": "--background FILE",
    r", or give (?:a kernel|value_function=pkex.Observational\(kernel\) with a kernel) "
    r"that is \.on\(the other columns\)": "",
    r"\bvalue_function=pkex\.Observational\((\w+=\w+)\)": r"\1",
    r"\bn_(landmarks|coalitions)=(\d+)": r"--\1 \2",
    r"\bn_(landmarks|coalitions)\b": r"--\1",
    r"\bleave_one_out=True": "--leave-one-out",
    r"\bregularization (must|than)\b": r"--regularization \1",
    r", or join columns by groups=\{\.\.\.\}": "",
    r"(?:pkex\.Explainer\(\.\.\.\)|explainer)\.estimate\([^)]*\)": "--coalitions 1000",
    r"(?:explainer\(X, )?\buncertainty=True\b\)?": "--uncertainty",
    r"\b(link|target)='([\w-]+)'": r"--\1 \2",
    r"\bvalue_function='(\w+)'": r"--value-function \1",
}


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
def naming(names: Mapping[str, str]) -> Iterator[None]:
    """Turn what pkex refuses into a failure, in which arguments have the names of files.

    Parameters
    ----------
    names : mapping of str to str
        By the argument that a message names: X, for one.
    """
    try:
        yield
    except ImportError as error:
        raise Failure(str(error)) from None
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise Failure(_renamed(str(error), names) or type(error).__name__) from None


@contextmanager
def warned(names: Mapping[str, str]) -> Iterator[list[str]]:
    """Collect what is warned of, each once, and say it in a line of standard error.

    Parameters
    ----------
    names : mapping of str to str
        As of `naming`.
    """
    told: list[str] = []

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        text = " ".join(_renamed(str(message), names).split())
        if text not in told:
            told.append(text)
            say(f"pkex: warning: {text}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield told


def _renamed(message: str, names: Mapping[str, str]) -> str:
    """Return a message with other names of arguments; within quotes are those of columns.

    Where a background is spoken of, with an article, it is no name.
    """
    for advice, own in _ADVICE.items():
        message = re.sub(advice, own, message)
    if not names:
        return message
    pattern = rf"(?<!\bthe )(?<!\ba )(?<!['\w.-])({'|'.join(map(re.escape, names))})(?!['\w])"
    return re.sub(pattern, lambda found: names[found[1]], message)
