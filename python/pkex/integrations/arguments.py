"""Arguments of other libraries' explainers, checked together: one error names all problems.

A check of an argument takes its name and its value, and raises what is wrong with it.
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

__all__ = [
    "PROBLEMS",
    "Check",
    "LibraryVocabulary",
    "check_flag",
    "check_integer",
    "check_random_state",
    "count",
    "noted",
    "one_of",
    "raise_together",
    "with_checked_arguments",
]

Check = Callable[[str, Any], object]

_P = ParamSpec("_P")
_R = TypeVar("_R")

# What may be in the way of a call; UnsupportedModelError is the first two.
PROBLEMS = (TypeError, ValueError, NotImplementedError, OverflowError)
_BULLET = "\n- "


def with_checked_arguments(
    checks: Mapping[str, Check], *, finds_more: Callable[..., object]
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Make a function name all that is wrong with its arguments, in one error.

    These are unknown keyword arguments, and values that fail the checks of their names.

    Parameters
    ----------
    checks : dict of str to callable
        Checks by the names of their arguments, of those that are given.
    finds_more : callable
        Called with the arguments that are not bad, once there is a problem, to raise what else is
        wrong.
    """

    def decorated(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)
        run = with_known_keywords(function)

        @wraps(run)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            known = {name: value for name, value in kwargs.items() if name in signature.parameters}
            try:
                given = signature.bind_partial(*args, **known).arguments
            except TypeError:
                return run(*args, **kwargs)  # which says what does not fit
            unknown = unknown_keywords(function, kwargs) if len(known) < len(kwargs) else None
            problems: list[Exception] = [] if unknown is None else [unknown]
            good = dict(given)
            for name in given:
                with noted(problems):
                    if name in checks:
                        value = good.pop(name)
                        checks[name](name, value)
                        good[name] = value
            if problems:
                with noted(problems):
                    signature.bind(*args, **known)  # is a required argument missing?
                    finds_more(**good)
            raise_together(problems)
            return run(*args, **kwargs)

        return call

    return decorated


class LibraryVocabulary(Vocabulary):
    """The words of another library, which has other names for some arguments.

    Parameters
    ----------
    names : dict of str to str
        By those of `pkex.Explainer`.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def argument(self, name: str) -> str:
        """Return the name of an argument in that library."""
        return self._names.get(name, name)

    def option(self, option: Option) -> str | None:
        """Return an option with its value by the name in that library."""
        return f"{self.argument(option.name)}{str(option).removeprefix(option.name)}"


@contextmanager
def noted(problems: list[Exception], vocabulary: Vocabulary | None = None) -> Iterator[None]:
    """Add what is in the way to a list instead of raising it; in the words of another library."""
    try:
        yield
    except PROBLEMS as error:
        if vocabulary is not None:
            reword(error, vocabulary)
        problems.append(error)


def raise_together(problems: Sequence[Exception]) -> None:
    """Raise the only problem; or, of several, an error of the first one's type that names all."""
    if len(problems) == 1:
        raise problems[0]
    if problems:
        # A problem may be several itself.
        parts = [part for problem in problems for part in getattr(problem, "parts", (problem,))]
        text = _BULLET.join([f"{len(parts)} problems:", *map(str, parts)])
        kind = type(problems[0])
        error = kind(None, text) if issubclass(kind, Message) else kind(text)
        vars(error)["parts"] = tuple(parts)
        raise error


# --- checks ---


def one_of(*words: str) -> Check:
    """Return the check of an option that is one of these words."""
    return lambda name, value: check_choice(name, value, words)


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(name, f"must be True or False; got {value!r}")


def check_integer(name: str, value: Any, least: int, why: str = "") -> None:
    """Refuse what is no integer, or less than `least`."""
    number = whole(value)
    if number is None or number < least:
        raise InputError(name, f"{why}must be an integer, at least {least}; got {value!r}")


def count(*words: str | None, least: int = 1) -> Check:
    """Return the check of a number that has no effect, or one of `words` in its place."""

    def check(name: str, value: Any) -> None:
        is_word = value is None or isinstance(value, str)
        if is_word and value in words:
            return
        check_integer(name, value, least, "has no effect, since nothing is sampled, but ")

    return check


def check_random_state(name: str, value: Any) -> None:
    """Refuse what is no seed, and no generator of random numbers; nothing is drawn from it."""
    if not isinstance(value, np.random.RandomState | np.random.Generator):
        count(None, least=0)(name, value)
