"""Arguments of other libraries' explainers, checked together: one error names all problems.

A check is called with the name and the value of an argument, and raises an error if it is invalid.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pkex.errors import InputError, Message, Option, Vocabulary, reword
from pkex.inputs.choices import check_choice
from pkex.inputs.integers import whole
from pkex.inputs.keywords import unknown_keywords, with_known_keywords

Check = Callable[[str, Any], object]

_P = ParamSpec("_P")
_R = TypeVar("_R")

# Errors of arguments; UnsupportedModelError is a TypeError and a ValueError.
PROBLEMS = (TypeError, ValueError, NotImplementedError, OverflowError)
_BULLET = "\n- "


def with_checked_arguments(
    checks: Mapping[str, Check], *, finds_more: Callable[..., object]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function raise one error that names all invalid arguments.

    Invalid are unknown keyword arguments, and values that fail the checks of their names.

    Parameters
    ----------
    checks : dict of str to callable
        Checks by the names of arguments.
    finds_more : callable
        If an argument is invalid, called with the others, to raise further errors.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)
        run = with_known_keywords(function)

        @wraps(run)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            known_kwargs = {
                name: value for name, value in kwargs.items() if name in signature.parameters
            }
            try:
                arguments = signature.bind_partial(*args, **known_kwargs).arguments
            except TypeError:
                return run(*args, **kwargs)  # raises an error with the known arguments
            unknown = (
                unknown_keywords(function, kwargs) if len(known_kwargs) < len(kwargs) else None
            )
            problems: list[Exception] = [] if unknown is None else [unknown]
            valid_arguments = dict(arguments)
            for name in arguments:
                with collect_errors(problems):
                    if name in checks:
                        value = valid_arguments.pop(name)
                        checks[name](name, value)
                        valid_arguments[name] = value
            if problems:
                with collect_errors(problems):
                    signature.bind(*args, **known_kwargs)  # is a required argument missing?
                    finds_more(**valid_arguments)
            raise_together(problems)
            return run(*args, **kwargs)

        return call

    return decorate


class LibraryVocabulary(Vocabulary):
    """The words of another library, which names some arguments differently.

    Parameters
    ----------
    names : dict of str to str
        Names of arguments in the library by their names in `pkex.Explainer`.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def argument(self, name: str) -> str:
        """Return the name of an argument in the library."""
        return self._names.get(name, name)

    def option(self, option: Option) -> str | None:
        """Return an option with its value, by its name in the library."""
        return f"{self.argument(option.name)}{str(option).removeprefix(option.name)}"


@contextmanager
def collect_errors(
    problems: list[Exception], vocabulary: Vocabulary | None = None
) -> Iterator[None]:
    """Add an error to a list instead of raising it, in the words of a vocabulary."""
    try:
        yield
    except PROBLEMS as error:
        if vocabulary is not None:
            reword(error, vocabulary)
        problems.append(error)


def raise_together(problems: Sequence[Exception]) -> None:
    """Raise a single error; for several, an error of the type of the first that names all."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        # An error may already contain several.
        parts = [part for problem in problems for part in getattr(problem, "parts", (problem,))]
        text = _BULLET.join([f"{len(parts)} problems:", *map(str, parts)])
        kind = type(problems[0])
        error = kind(None, text) if issubclass(kind, Message) else kind(text)
        vars(error)["parts"] = tuple(parts)
        raise error


# --- checks ---


def one_of(*words: str) -> Check:
    """Return a check that an option is one of the given words."""
    return lambda name, value: check_choice(name, value, words)


def check_flag(name: str, value: Any) -> None:
    """Raise InputError unless a value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(name, f"must be True or False; got {value!r}")


def check_integer(name: str, value: Any, least: int, prefix: str = "") -> None:
    """Raise InputError unless a value is an integer of at least `least`."""
    number = whole(value)
    if number is None or number < least:
        raise InputError(name, f"{prefix}must be an integer, at least {least}; got {value!r}")


def count(*words: str | None, least: int = 1) -> Check:
    """Return a check of an integer without effect, or one of `words` instead."""

    def check(name: str, value: Any) -> None:
        is_word = value is None or isinstance(value, str)
        if is_word and value in words:
            return
        check_integer(name, value, least, "has no effect, because nothing is sampled, but ")

    return check


def check_random_state(name: str, value: Any) -> None:
    """Raise InputError unless a value is a seed or a random number generator."""
    if not isinstance(value, np.random.RandomState | np.random.Generator):
        count(None, least=0)(name, value)
