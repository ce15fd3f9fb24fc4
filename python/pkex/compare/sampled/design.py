"""Which pairs of rows are compared: those of rows that share a block.

The rows of each sample are put into a random order. The first of them, the *reference*, are in no
pair: the kernel and the means of absent factors are found on them, so that the estimates are
unbiased for these, and their tests exact. The others are divided into *parts*, and a part into
*blocks* of so many rows of each sample, all pairs of which are compared.

``"block"``: every part is one block, as in Zaremba, Gretton and Blaschko (2013). ``"incomplete"``:
blocks are small, and a part is divided into blocks anew in several *rounds*, so that its rows meet
others: an incomplete U-statistic (Blom 1976), whose pairs are drawn at random such that each row is
in equally many, and read in runs. In a round, the row at place j of a block moves on by a random
number of blocks, the same for all blocks of the part.

Rows are in one part only, so that the parts' estimates are independent and distributed alike:
their spread tells the standard error of their mean, whatever the rounds have in common. The number
of pairs, not which of them share rows, determines what noise the pairs add to that of the rows.

A place in the blocks has one *slot* through all rounds. Exchanging whole slots is a permutation of
rows which leaves the distribution of rows and design what it is where the hypothesis holds, so that
tests by it are exact (as in `pkex.compare.permutation.permutations`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.compare.sampled.budget import pairs_among
from pkex.compare.statistic_options import StatisticOptions
from pkex.errors import InputError, Option, Text

__all__ = ["Design", "n_reference"]

# Rows of all samples together that kernel and means are found on, and the share of all that they
# may be.
_REFERENCE, _MOST_REFERENCE = 10_000, 0.125
# Parts that standard errors are found from, at least; a part's blocks, at most.
_PARTS, _BLOCKS = 32, 1024
# Rows whose pairs are compared in no time.
_FEW = 20_000
# Pairs that the incomplete estimator takes by itself, and for each row if that is more.
_PAIRS, _PAIRS_OF_ROW = 10**8, 100


@dataclass(frozen=True)
class Design:
    """A design of pairs; the first entry of a tuple is the first sample's.

    Parameters
    ----------
    n_reference : tuple of int
        The number of rows in no pair.
    sizes : tuple of int
        The number of rows in a block.
    n_parts : int
    n_blocks : int
        Of a part.
    n_rounds : int
    """

    n_reference: tuple[int, ...]
    sizes: tuple[int, ...]
    n_parts: int
    n_blocks: int
    n_rounds: int

    @classmethod
    def of(
        cls, estimator: str, n_rows: tuple[int, ...], unit: tuple[int, ...], budget: int | None
    ) -> Design:
        """Return the design with so many pairs at most.

        Parameters
        ----------
        estimator : {"block", "incomplete"}
        n_rows : tuple of int
        unit : tuple of int
            Rows of each sample of which blocks have multiples.
        budget : int, optional
        """
        if budget is not None:
            budget = max(budget, _least_pairs(unit))
        references = tuple(n_reference(n, sum(n_rows)) for n in n_rows)
        left = [n - reference for n, reference in zip(n_rows, references, strict=True)]
        if estimator == "block":
            return cls(references, *cls._of_one_round(left, unit, budget), 1, 1)
        budget = max(_PAIRS, _PAIRS_OF_ROW * sum(n_rows)) if budget is None else budget
        return cls(references, *cls._of_rounds(left, unit, budget))

    @staticmethod
    def check(options: StatisticOptions, n_rows: tuple[int, ...], unit: tuple[int, ...]) -> None:
        """Refuse too few rows, and too small a budget."""
        asked = Option("estimator", options.conventions.estimator)
        least = [math.ceil(_PARTS * u / (1.0 - _MOST_REFERENCE)) + 1 for u in unit]
        if any(n < some for n, some in zip(n_rows, least, strict=True)):
            raise InputError(
                asked,
                f"is for many rows, here at least {' and '.join(map(str, least))}; got "
                f"{' and '.join(map(str, n_rows))}",
                _instead(n_rows),
            )
        if isinstance(options.budget, int) and options.budget < _least_pairs(unit):
            pairs = f" takes at least {_least_pairs(unit)} pairs"
            blocks = f", those of {_PARTS} blocks of {sum(unit)} rows"
            budget = Option("budget", options.budget)
            raise InputError(budget, ("is too small: ", asked, pairs + blocks))

    @staticmethod
    def _of_one_round(
        left: list[int], unit: tuple[int, ...], budget: int | None
    ) -> tuple[tuple[int, ...], int]:
        """Return the size of large blocks, and how many there are: without a budget of √n rows.

        The number of pairs that a budget gives is, as a budget, the same design again.
        """
        units = min(n // u for n, u in zip(left, unit, strict=True))
        times = np.arange(1, max(1, units // _PARTS) + 1)
        n_pairs = (units // times) * (times * sum(unit) * (times * sum(unit) - 1) // 2)
        if budget is None:
            of_root = round(math.sqrt(min(left)) / min(unit))
            budget = int(n_pairs[min(max(1, of_root), len(times)) - 1])
        if budget < n_pairs.min():
            return unit, budget // pairs_among(sum(unit))
        best = int(times[np.where(n_pairs <= budget, n_pairs, 0).argmax()])
        return tuple(best * u for u in unit), units // best

    @staticmethod
    def _of_rounds(
        left: list[int], unit: tuple[int, ...], budget: int
    ) -> tuple[tuple[int, ...], int, int, int]:
        """Return sizes of small blocks, and how many parts, blocks and rounds there are."""
        most = min(n // u for n, u in zip(left, unit, strict=True)) // _PARTS
        of_two = _PARTS * pairs_among(2 * sum(unit))
        sizes = tuple(u * (2 if most >= 2 and budget >= of_two else 1) for u in unit)
        of_block = pairs_among(sum(sizes))
        total = min(budget // of_block, *(n // size for n, size in zip(left, sizes, strict=True)))
        n_blocks = max(1, min(_BLOCKS, total // _PARTS))
        n_parts = total // n_blocks
        # In more rounds than there are blocks many pairs would be in several.
        n_rounds = max(1, min(n_blocks, budget // (n_parts * n_blocks * of_block)))
        return sizes, n_parts, n_blocks, n_rounds

    @property
    def n_pairs(self) -> int:
        """The number of pairs of rows that are compared."""
        return self.n_parts * self.n_rounds * self.n_blocks * pairs_among(sum(self.sizes))

    def shifts(self, together: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw by how many blocks the rows at each place move on in each round of a part.

        Parameters
        ----------
        together : int
            The number of neighbours that move together.

        Returns
        -------
        ndarray of shape (n_rounds, rows of a block)
        """
        shape = self.n_rounds, sum(self.sizes) // together
        return np.repeat(generator.integers(self.n_blocks, size=shape), together, axis=1)


def n_reference(n: int, n_all: int) -> int:
    """Return how many of the n rows of a sample, of n_all in all samples, are in no pair."""
    return int(n * min(_MOST_REFERENCE, _REFERENCE / n_all))


def _instead(n_rows: tuple[int, ...]) -> Text:
    """Return what to do about too few rows."""
    exact = Option("estimator", "unbiased")
    if max(n_rows) <= _FEW:
        return exact, " compares all pairs of so few in no time"
    return (
        "give ",
        exact,
        " the smaller sample and a random part of the larger, of some ten times as many rows: more "
        "of them would change little",
    )


def _least_pairs(unit: tuple[int, ...]) -> int:
    """Return the number of pairs that a design has at least."""
    return _PARTS * pairs_among(sum(unit))
