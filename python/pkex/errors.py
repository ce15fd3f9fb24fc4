"""The package's exceptions and warnings.

The fields of an error describe the bad input. Its text is composed from them when it is shown, in
the words of Python (`Vocabulary`) or of the command line (`pkex.cli.vocabulary`).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

# The text before warnings, such as the name of a batch.
_SUBJECT: ContextVar[str] = ContextVar("subject", default="")


@dataclass(frozen=True)
class Argument:
    """An argument that a message names, such as X; on the command line it is a file."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Option:
    """An option with its value, as a message advises it: a keyword argument, or ``--option value``.

    Parameters
    ----------
    name : str
        Of the keyword argument.
    value : object, optional
    python : str, optional
        The words for Python; name=value by default.
    verb : str, optional
        The word before the option of a command, if those for Python begin with a verb.
    """

    name: str
    value: object = None
    python: str = ""
    verb: str = ""

    def __str__(self) -> str:
        return self.python or f"{self.name}={self.value!r}"


@dataclass(frozen=True)
class Place:
    """Where a reason has " in row 3, column 'age'", if not at its end."""


HERE = Place()
Part: TypeAlias = str | Argument | Option | Place
Text: TypeAlias = Part | tuple[Part, ...]


class Vocabulary:
    """The words for arguments, options and places, by default in Python."""

    def argument(self, name: str) -> str:
        """Return the name of an argument."""
        return name

    def option(self, option: Option) -> str | None:
        """Return an option with its value; None if the option does not exist."""
        return str(option)

    def place(self, argument: str | None, row: int, column: int | str | None) -> str:
        """Return a row, which counts from 0, and a column by its name or number."""
        return f"row {row}" + ("" if column is None else f", column {column!r}")


_PYTHON = Vocabulary()


def joined(*texts: Text) -> Text:
    """Return texts as one."""
    return tuple(part for text in texts for part in _parts(text))


def _parts(text: Text) -> tuple[Part, ...]:
    return text if isinstance(text, tuple) else (text,)


def words(text: Text, vocabulary: Vocabulary = _PYTHON) -> str | None:
    """Return a text in the words of a vocabulary; None if it lacks an option of the text."""
    parts = []
    for part in _parts(text):
        if isinstance(part, Option):
            option = vocabulary.option(part)
            if option is None:
                return None
            parts.append(option)
        elif not isinstance(part, Place):
            parts.append(vocabulary.argument(part.name) if isinstance(part, Argument) else part)
    return "".join(parts)


class Rewordable:
    """Base class of errors and warnings whose text is composed when it is shown."""

    # The vocabulary of `str`: Python's, or that of shap or shapiq for their explainers.
    _vocabulary = _PYTHON

    def _text(self, vocabulary: Vocabulary) -> str:
        """Return the text in the words of a vocabulary."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self._text(self._vocabulary)


def text_of(message: BaseException | str, vocabulary: Vocabulary) -> str:
    """Return the text of an error or a warning, of pkex or others, in the words of a vocabulary."""
    return message._text(vocabulary) if isinstance(message, Rewordable) else str(message)


def reword(message: BaseException, vocabulary: Vocabulary) -> None:
    """Let an error of pkex show its text in the words of a vocabulary."""
    if isinstance(message, Rewordable):
        message._vocabulary = vocabulary


class Message(Rewordable):
    """The fields of an error or a warning about input, which compose its text.

    Parameters
    ----------
    argument : str, Argument, Option or None
        The subject of the text: an argument, an option with its value, or nothing.
    reason : str or tuple
        The predicate: the problem, and the expected value. A tuple has parts; the vocabulary
        words options, names of arguments and the place `HERE`.
    fix : str, tuple or list of these
        The advice; a list has alternatives. An alternative with an option that a vocabulary lacks
        is left out.
    row : int, optional
    column : int or str, optional
        The name if no other column has it, otherwise the number. Without a row it belongs to the
        subject.
    kind : str, optional
        The kind of value, for code that handles the error: "missing", "infinite", "date" or
        "text" …; "forecast" for a warning about the time of a call.
    """

    args: tuple[Any, ...]
    # The text before the message, such as the name of a batch.
    before = ""

    def __init__(
        self,
        argument: str | Argument | Option | None,
        reason: Text,
        fix: Text | list[Text] = "",
        row: int | None = None,
        column: int | str | None = None,
        kind: str | None = None,
    ) -> None:
        # Pickles and copies use `args`, which each subclass sets as an exception; type checkers
        # see `object` here.
        super().__init__(argument, reason, fix, row, column, kind)  # type: ignore[call-arg]
        self._subject, self.reason, self.fix = argument, reason, fix
        self.row, self.column, self.kind = row, column, kind

    @property
    def argument(self) -> str | None:
        """The name of the first argument or option in the message."""
        if isinstance(self._subject, str):
            return self._subject
        parts = (self._subject, *_parts(self.reason))
        return next((part.name for part in parts if isinstance(part, Argument | Option)), None)

    def with_fields(self, **fields: Any) -> Self:
        """Return a copy with other fields."""
        names = ("argument", "reason", "fix", "row", "column", "kind")
        copy = type(self)(**{**dict(zip(names, self.args, strict=True)), **fields})
        copy.before, copy._vocabulary = self.before, self._vocabulary
        return copy

    def within(self, before: str) -> Self:
        """Return a copy with a text before it, such as the name of a batch."""
        copy = self.with_fields()
        copy.before = before + self.before
        return copy

    def _text(self, vocabulary: Vocabulary) -> str:
        """Return the text in the words of a vocabulary."""
        place, parts = "", _parts(self.reason)
        if self.row is not None:
            place = f" in {vocabulary.place(self.argument, self.row, self.column)}"
        if HERE not in parts:
            parts = (*parts, HERE)
        text = _certain(tuple(place if part == HERE else part for part in parts), vocabulary)
        if self._subject is not None:
            subject = self._subject
            if isinstance(subject, str):
                subject = Argument(subject)
            name = _certain(subject, vocabulary)
            if self.column is not None and self.row is None:
                name = f"column {self.column!r} of {name}"
            text = f"{name} {text}"
        fixes = self.fix if isinstance(self.fix, list) else [self.fix]
        alternatives = [advice for fix in fixes if (advice := words(fix, vocabulary))]
        if not alternatives:
            return self.before + text
        advice = ", or ".join(alternatives)
        word = advice.split()[0].removesuffix(",")
        if word.isalpha() and len(word) > 1:
            advice = f"{advice[0].upper()}{advice[1:]}"
        return f"{self.before}{text}{'' if text.endswith('?') else '.'} {advice}"


def _certain(text: Text, vocabulary: Vocabulary) -> str:
    """Return a text, with Python's words for options that the vocabulary lacks."""
    certain = words(text, vocabulary)
    return str(words(text)) if certain is None else certain


class InputError(Message, ValueError):
    """An argument that cannot be used: see `Message` for its fields.

    Examples
    --------
    >>> import pkex
    >>> from pkex.errors import InputError
    >>> try:
    ...     pkex.mmd([[0.0, 1.0], [2.0, float("nan")]], [[0.0, 1.0], [2.0, 3.0]])
    ... except InputError as error:
    ...     print(error.argument, error.row, error.column, error.kind)
    X 1 1 missing
    """


class InputTypeError(InputError, TypeError):
    """An argument of a wrong type: also a TypeError."""


class InputOverflowError(Message, OverflowError):
    """An argument with numbers that are too large."""


class InputWarning(Message, UserWarning):
    """A warning about an argument, with the same fields."""


class UnsupportedModelError(Rewordable, TypeError, ValueError):
    """A model, kernel or function that cannot be explained exactly.

    It is both a TypeError, as shapiq has it, and a ValueError.

    The message names the part that is not supported and says what is. It is raised when an
    `Explainer` is made, and also when a model's own output contradicts what its fitted attributes
    say; later only where a calibrated probability steps within rounding error of a decision value.
    A wrong explanation is never returned in silence.

    Parameters
    ----------
    message : str or tuple
        Text; a tuple has parts, as in `Message`.

    Examples
    --------
    >>> import pkex
    >>> from sklearn.svm import SVR
    >>> model = SVR(kernel="sigmoid").fit([[0.0], [1.0]], [0.0, 1.0])
    >>> pkex.Explainer(model)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    pkex.UnsupportedModelError: SVR with kernel 'sigmoid' is not supported...
    """

    # Where users import it from, which tracebacks show.
    __module__ = "pkex"

    def _text(self, vocabulary: Vocabulary) -> str:
        """Return the text in the words of a vocabulary."""
        return _certain(self.args[0], vocabulary)


@contextmanager
def subject(words: str) -> Iterator[None]:
    """Let warnings begin with a text, such as the name of a batch."""
    token = _SUBJECT.set(words)
    try:
        yield
    finally:
        _SUBJECT.reset(token)


def warn(message: str | InputWarning) -> None:
    """Warn, pointing at the line outside pkex that led here."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pkex."):
        frame = frame.f_back
        level += 1
    if isinstance(message, str):
        message = InputWarning(None, message)
    message.before = _SUBJECT.get()
    warnings.warn(message, stacklevel=level)
