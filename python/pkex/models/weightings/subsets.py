"""Random sets of columns for the terms of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal, TypeAlias

import numpy as np

from pkex.inputs.integers import as_integer

_Sizes: TypeAlias = int | Sequence[int]
# Values of the parameter `star` of estimators.
Star: TypeAlias = _Sizes | Literal["sequence"] | tuple[Literal["sequence"], _Sizes] | None

# The default largest length of runs (Dubé and Marchand 2025, section 5.4).
_LONGEST_RUN = 5
_WHAT = (
    'None (all columns), a number of columns, a list of such numbers, "sequence", or '
    '("sequence", numbers)'
)


@dataclass(frozen=True)
class Subsets:
    """A distribution of sets of columns: a uniform size, then a uniform set of that size.

    Parameters
    ----------
    n_columns : int
    sizes : tuple of int
    are_runs : bool
        Whether sets have adjacent columns.
    """

    n_columns: int
    sizes: tuple[int, ...]
    are_runs: bool = False

    @classmethod
    def of(cls, star: Star, n_columns: int) -> Subsets:
        """Return the distribution for the parameter `star`.

        Raises
        ------
        ValueError, TypeError
            If it is invalid, or exceeds the number of columns.
        """
        if star is None:
            return cls(n_columns, (n_columns,))
        are_runs, choice = _split_star(star)
        if choice is None:
            choice = range(1, 1 + min(_LONGEST_RUN, n_columns))
        choices = choice if isinstance(choice, list | tuple | range | np.ndarray) else [choice]
        sizes = tuple(_size(size, n_columns) for size in choices)
        if not sizes or len(set(sizes)) < len(sizes):
            raise ValueError(f"star must be distinct numbers of columns; got {star!r}")
        return cls(n_columns, sizes, are_runs)

    def probability(self, size: int) -> float:
        """Return the probability of each set of a size."""
        number = self.n_columns - size + 1 if self.are_runs else comb(self.n_columns, size)
        return 1.0 / (len(self.sizes) * number)

    @property
    def mean_probability(self) -> float:
        """The mean probability of a random set."""
        return sum(map(self.probability, self.sizes)) / len(self.sizes)

    def draw(self, count: int, random: np.random.Generator) -> dict[tuple[int, ...], int]:
        """Draw sets, and return the count of each, sorted."""
        counts: dict[tuple[int, ...], int] = {}
        for size in random.choice(self.sizes, size=count).tolist():
            if self.are_runs or size == self.n_columns:
                start = int(random.integers(self.n_columns - size + 1))
                columns = tuple(range(start, start + size))
            else:
                places = random.choice(self.n_columns, size=size, replace=False, shuffle=False)
                columns = tuple(sorted(places.tolist()))
            counts[columns] = counts.get(columns, 0) + 1
        return dict(sorted(counts.items()))


def _split_star(star: Any) -> tuple[bool, Any]:
    """Return whether sets are runs, and their sizes; None for the default sizes."""
    if isinstance(star, str) and star == "sequence":
        return True, None
    is_pair = isinstance(star, list | tuple) and len(star) > 0 and isinstance(star[0], str)
    if isinstance(star, str) or (is_pair and (star[0] != "sequence" or len(star) != 2)):
        raise ValueError(f"star must be {_WHAT}; got {star!r}")
    return (True, star[1]) if is_pair else (False, star)


def _size(size: object, n_columns: int) -> int:
    number = as_integer("star", size, _WHAT, least=1)
    if number > n_columns:
        raise ValueError(f"star={number} exceeds the {n_columns} columns of X")
    return number
