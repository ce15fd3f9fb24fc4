"""Options that are words or names, checked with messages that list the valid ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar, get_args

from pkex.inputs.integers import whole

# The values of options, as types and as tuples.
Method: TypeAlias = Literal["quadrature", "recursion"]
Summation: TypeAlias = Literal["compensated", "plain"]
METHODS: tuple[Method, ...] = get_args(Method)
SUMMATIONS: tuple[Summation, ...] = get_args(Summation)

# Options of MMD and HSIC: estimator, absent features, and the sample whose columns are explained.
Estimator: TypeAlias = Literal["unbiased", "biased"]
SampledEstimator: TypeAlias = Literal["incomplete", "block"]
StatisticsConvention: TypeAlias = Literal["marginal", "neutral"]
Side: TypeAlias = Literal["x", "y"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)
SAMPLED_ESTIMATORS: tuple[SampledEstimator, ...] = get_args(SampledEstimator)
STATISTICS_CONVENTIONS: tuple[StatisticsConvention, ...] = get_args(StatisticsConvention)
SIDES: tuple[Side, ...] = get_args(Side)

_Word = TypeVar("_Word", bound=str)


def check_choice(
    name: str,
    value: object,
    valid: Sequence[_Word],
    synonyms: Mapping[str, str] = MappingProxyType({}),
    meaning: str = "",
) -> _Word:
    """Return an option's value if it is one of the valid words.

    Parameters
    ----------
    name : str
    value : object
    valid : sequence of str
    synonyms : mapping of str to str
        Words of other libraries in lower case, and the valid words to suggest.
    meaning : str, optional
        A sentence about the valid words, for messages without a suggestion.
    """
    for word in valid:
        if isinstance(value, str) and value == word:
            return word
    lower = value.lower() if isinstance(value, str) else ""
    words = {word.lower(): word for word in valid}
    matches = get_close_matches(lower, words, 1, 0.75)
    if not matches and lower:
        completions = [word for word in words if word.startswith(lower)]
        matches = completions if len(completions) == 1 else []
    suggestion = synonyms.get(lower) or (words[matches[0]] if matches else None)
    raise ValueError(
        f"{name} must be one of {', '.join(map(repr, valid))}; got {value!r}"
        + (f". Did you mean {suggestion!r}?" if suggestion else meaning and f". {meaning}")
    )


def places_of(
    key: object, names: Sequence[str], size: int | None = None, *, from_end: bool = False
) -> list[int] | None:
    """Return the places of a number or a name: one place, none, or several for equal names.

    Parameters
    ----------
    key : int or str
    names : sequence of str
    size : int, optional
        The number of places; by default the number of names.
    from_end : bool, default False
        Whether negative numbers count from the end.

    Returns
    -------
    list of int, or None if `key` is neither a number nor a name
    """
    if isinstance(key, str):
        return [place for place, name in enumerate(names) if name == key]
    number = whole(key)
    if number is None:
        return None
    size = len(names) if size is None else size
    place = number + size if from_end and number < 0 else number
    return [place] if 0 <= place < size else []


def as_names(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return names as a tuple if they are strings."""
    if isinstance(names, str):
        raise TypeError(f"{name} must be a sequence of names, not the string {names!r}")
    result = tuple(names)
    for place, item in enumerate(result):
        if not isinstance(item, str):
            raise TypeError(
                f"{name} must be strings; got {item!r} ({type(item).__name__}) as {name}[{place}]"
            )
    # A subclass of str, such as numpy's, would show in every message: np.str_('age').
    return tuple(map(str, result))


def check_names(name: str, names: Sequence[str], number: int) -> tuple[str, ...]:
    """Return names as a tuple if they are distinct strings of the right number."""
    result = as_names(name, names)
    if len(result) != number:
        raise ValueError(f"{name} must have {number} names, one for each; got {len(result)}")
    if len(set(result)) < number:
        duplicate = next(item for item in result if result.count(item) > 1)
        raise ValueError(f"{name} must differ from each other; {duplicate!r} occurs twice")
    return result
