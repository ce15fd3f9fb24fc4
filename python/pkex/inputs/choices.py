"""Options that are words or names, checked with messages that list the valid ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeVar, get_args

__all__ = [
    "ESTIMATORS",
    "METHODS",
    "SIDES",
    "STATISTICS_CONVENTIONS",
    "SUMMATIONS",
    "Estimator",
    "Method",
    "Side",
    "StatisticsConvention",
    "Summation",
    "as_names",
    "check_choice",
    "check_names",
]


# The words of an option, for type checkers; and as they are checked.
Method: TypeAlias = Literal["quadrature", "recursion"]


Summation: TypeAlias = Literal["compensated", "plain"]


METHODS: tuple[Method, ...] = get_args(Method)


SUMMATIONS: tuple[Summation, ...] = get_args(Summation)


# Of MMD and HSIC: the average over pairs, what absent features are, whose columns are explained.
Estimator: TypeAlias = Literal["unbiased", "biased"]


StatisticsConvention: TypeAlias = Literal["marginal", "neutral"]


Side: TypeAlias = Literal["x", "y"]


ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)


STATISTICS_CONVENTIONS: tuple[StatisticsConvention, ...] = get_args(StatisticsConvention)


SIDES: tuple[Side, ...] = get_args(Side)


_Word = TypeVar("_Word", bound=str)


def check_choice(name: str, value: object, valid: Sequence[_Word]) -> _Word:
    """Return an option's value if it is one of the valid words."""
    for word in valid:
        if isinstance(value, str) and value == word:
            return word
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
