"""Options that are words, names or keywords, checked with messages that list the valid ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Literal, ParamSpec, TypeVar, get_args

__all__ = [
    "ESTIMATORS",
    "METHODS",
    "SIDES",
    "STATISTICS_CONVENTIONS",
    "SUMMATIONS",
    "Estimator",
    "Side",
    "StatisticsConvention",
    "Summation",
    "as_names",
    "check_choice",
    "check_names",
    "counted",
    "shown",
    "with_known_keywords",
]

METHODS = ("quadrature", "recursion")
Summation = Literal["compensated", "plain"]
SUMMATIONS: tuple[str, ...] = get_args(Summation)

# Of MMD and HSIC: the average over pairs, what absent features are, whose columns are explained.
Estimator = Literal["unbiased", "biased"]
ESTIMATORS: tuple[str, ...] = get_args(Estimator)
StatisticsConvention = Literal["marginal", "neutral"]
STATISTICS_CONVENTIONS: tuple[str, ...] = get_args(StatisticsConvention)
Side = Literal["x", "y"]
SIDES: tuple[str, ...] = get_args(Side)

_P = ParamSpec("_P")
_R = TypeVar("_R")


def check_choice(name: str, value: object, valid: Sequence[str]) -> str:
    """Return an option's value if it is one of the valid words."""
    if isinstance(value, str) and value in valid:
        return value
    raise ValueError(f"{name} must be one of {', '.join(map(repr, valid))}; got {value!r}")


def as_names(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple if they are strings."""
    if isinstance(names, str):
        raise TypeError(f"{name} must be a sequence of names, not the string {names!r}")
    given = tuple(names)
    for place, item in enumerate(given):
        if not isinstance(item, str):
            raise TypeError(
                f"{name} must be strings; got {item!r} ({type(item).__name__}) as {name}[{place}]"
            )
    # A subclass of str, such as numpy's, would show in every message: np.str_('age').
    return tuple(map(str, given))


def check_names(name: str, names: Sequence[str], number: int) -> tuple[str, ...]:
    """Return names as a tuple if they are distinct strings of the right number."""
    checked = as_names(name, names)
    if len(checked) != number:
        raise ValueError(f"{name} must have {number} names, one for each; got {len(checked)}")
    if len(set(checked)) < number:
        repeated = next(item for item in checked if checked.count(item) > 1)
        raise ValueError(f"{name} must differ from each other; {repeated!r} occurs twice")
    return checked


def counted(number: int, thing: str) -> str:
    """Return "1 row", or "2 rows"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def shown(names: Sequence[object], most: int = 12) -> str:
    """List names for a message, the first of them if there are many."""
    listed = ", ".join(map(repr, names[:most]))
    return f"[{listed}]" if len(names) <= most else f"[{listed}, … {len(names) - most} more]"


def with_known_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function answer an unknown keyword argument with the list of known ones."""
    signature = inspect.signature(function)
    known = [name for name in signature.parameters if name != "self"]
    label = function.__qualname__.removesuffix(".__init__").removesuffix(".__call__")

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            unknown = [name for name in kwargs if name not in known]
            if unknown:
                raise TypeError(
                    f"{label}() has no argument {unknown[0]!r}; it takes {', '.join(known)}"
                ) from None
            raise

    # What inspect.signature looks for first; the type of functions does not declare it.
    call.__signature__ = _readable(signature)  # type: ignore[attr-defined]
    return call


class _Annotation(str):
    """An annotation as it is written, for `help`, which shows strings in quotes."""

    __slots__ = ()

    __repr__ = str.__str__


def _readable(signature: inspect.Signature) -> inspect.Signature:
    parameters = [
        parameter.replace(annotation=_Annotation(parameter.annotation))
        if isinstance(parameter.annotation, str)
        else parameter
        for parameter in signature.parameters.values()
    ]
    returned = signature.return_annotation
    return signature.replace(
        parameters=parameters,
        return_annotation=_Annotation(returned) if isinstance(returned, str) else returned,
    )
