"""The choice of compared pairs of rows: rows in the same block.

The rows of each sample are put into a random order. The first rows, the *reference*, are not in any
pair. The kernel and the mean factors of absent features are computed from them, so the estimates
are unbiased for this kernel, and tests are exact. The other rows are divided into *parts*, and each
part into *blocks* with a fixed number of rows of each sample. All pairs in a block are compared.

``"block"``: every part is one block, as in Zaremba, Gretton and Blaschko (2013). ``"incomplete"``:
blocks are small, and each part is divided into new blocks in several *rounds*. This is an
incomplete U-statistic (Blom 1976) with random pairs, in which all rows are in equally many pairs.
In a round, the rows at place j of all blocks of a part are shifted by the same random number of
blocks.

Each row is in one part only, so the estimates of the parts are independent and identically
distributed. Their standard deviation gives the standard error of their mean. The noise of pairs,
compared with the noise of rows, depends on the number of pairs only.

A place in the blocks belongs to one *slot* in all rounds. Under the hypothesis, exchanges of whole
slots do not change the joint distribution of rows and design, so permutation tests that exchange
slots are exact (as in `pkex.compare.permutation.blocks`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.compare.sampled.budget import pairs_among
from pkex.compare.statistic_options import StatisticOptions
from pkex.errors import InputError, Option, Text

# Number of reference rows of all samples, and their largest share of all rows.
_REFERENCE, _MAX_REFERENCE = 10_000, 0.125
# Smallest number of parts, for standard errors; largest number of blocks of a part.
_PARTS, _BLOCKS = 32, 1024
# All pairs of this number of rows are compared quickly.
_FEW_ROWS = 20_000
# Default number of pairs of the incomplete estimator, and per row if this is more.
_PAIRS, _PAIRS_OF_ROW = 10**8, 100


@dataclass(frozen=True)
class Design:
    """A design of pairs; the first value of a tuple is for the first sample.

    Parameters
    ----------
    n_reference : tuple of int
        The number of rows of the reference.
    sizes : tuple of int
        The number of rows in a block.
    n_parts : int
    n_blocks : int
        The number of blocks of a part.
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
        """Return the design with the largest number of pairs within a budget.

        Parameters
        ----------
        estimator : {"block", "incomplete"}
        n_rows : tuple of int
        unit : tuple of int
            Numbers of rows of each sample; blocks have multiples of them.
        budget : int, optional
        """
        if budget is not None:
            budget = max(budget, _min_pairs(unit))
        references = tuple(n_reference(n, sum(n_rows)) for n in n_rows)
        n_remaining = [n - reference for n, reference in zip(n_rows, references, strict=True)]
        if estimator == "block":
            return cls(references, *cls._choose_large_blocks(n_remaining, unit, budget), 1, 1)
        budget = max(_PAIRS, _PAIRS_OF_ROW * sum(n_rows)) if budget is None else budget
        return cls(references, *cls._choose_small_blocks(n_remaining, unit, budget))

    @staticmethod
    def check(options: StatisticOptions, n_rows: tuple[int, ...], unit: tuple[int, ...]) -> None:
        """Raise an error for too few rows, or too small a budget."""
        option = Option("estimator", options.conventions.estimator)
        min_rows = [math.ceil(_PARTS * u / (1.0 - _MAX_REFERENCE)) + 1 for u in unit]
        if any(n < minimum for n, minimum in zip(n_rows, min_rows, strict=True)):
            raise InputError(
                option,
                f"requires at least {' and '.join(map(str, min_rows))} rows; got "
                f"{' and '.join(map(str, n_rows))}",
                _alternative(n_rows),
            )
        if isinstance(options.budget, int) and options.budget < _min_pairs(unit):
            pairs = f" compares at least {_min_pairs(unit)} pairs"
            blocks = f", in {_PARTS} blocks of {sum(unit)} rows"
            budget = Option("budget", options.budget)
            raise InputError(budget, ("is too small: ", option, pairs + blocks))

    @staticmethod
    def _choose_large_blocks(
        n_remaining: list[int], unit: tuple[int, ...], budget: int | None
    ) -> tuple[tuple[int, ...], int]:
        """Return the size and the number of large blocks; without a budget, of √n rows.

        The number of pairs of the design, as a budget, gives the same design.
        """
        units = min(n // u for n, u in zip(n_remaining, unit, strict=True))
        times = np.arange(1, max(1, units // _PARTS) + 1)
        n_pairs = (units // times) * (times * sum(unit) * (times * sum(unit) - 1) // 2)
        if budget is None:
            n_units = round(math.sqrt(min(n_remaining)) / min(unit))
            budget = int(n_pairs[min(max(1, n_units), len(times)) - 1])
        if budget < n_pairs.min():
            return unit, budget // pairs_among(sum(unit))
        best = int(times[np.where(n_pairs <= budget, n_pairs, 0).argmax()])
        return tuple(best * u for u in unit), units // best

    @staticmethod
    def _choose_small_blocks(
        n_remaining: list[int], unit: tuple[int, ...], budget: int
    ) -> tuple[tuple[int, ...], int, int, int]:
        """Return sizes of small blocks, and the numbers of parts, blocks and rounds."""
        max_units = min(n // u for n, u in zip(n_remaining, unit, strict=True)) // _PARTS
        two_unit_pairs = _PARTS * pairs_among(2 * sum(unit))
        sizes = tuple(u * (2 if max_units >= 2 and budget >= two_unit_pairs else 1) for u in unit)
        block_pairs = pairs_among(sum(sizes))
        total = min(
            budget // block_pairs, *(n // size for n, size in zip(n_remaining, sizes, strict=True))
        )
        n_blocks = max(1, min(_BLOCKS, total // _PARTS))
        n_parts = total // n_blocks
        # With more rounds than blocks, many pairs would occur in several rounds.
        n_rounds = max(1, min(n_blocks, budget // (n_parts * n_blocks * block_pairs)))
        return sizes, n_parts, n_blocks, n_rounds

    @property
    def n_pairs(self) -> int:
        """The number of pairs of rows that are compared."""
        return self.n_parts * self.n_rounds * self.n_blocks * pairs_among(sum(self.sizes))

    def shifts(self, together: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw the shifts of the rows at each place, in blocks, for each round of a part.

        Parameters
        ----------
        together : int
            The number of neighboring rows that stay together.

        Returns
        -------
        ndarray of shape (n_rounds, rows of a block)
        """
        shape = self.n_rounds, sum(self.sizes) // together
        return np.repeat(generator.integers(self.n_blocks, size=shape), together, axis=1)


def n_reference(n: int, n_all: int) -> int:
    """Return the number of reference rows of a sample of n rows, with n_all in all samples."""
    return int(n * min(_MAX_REFERENCE, _REFERENCE / n_all))


def _alternative(n_rows: tuple[int, ...]) -> Text:
    """Return advice about too few rows."""
    exact = Option("estimator", "unbiased")
    if max(n_rows) <= _FEW_ROWS:
        return "pass ", exact, ", which is fast for so few rows"
    return (
        "pass ",
        exact,
        ", with the smaller sample and a random subset of the larger one of about ten times as "
        "many rows: more rows would change little",
    )


def _min_pairs(unit: tuple[int, ...]) -> int:
    """Return the smallest number of pairs of a design."""
    return _PARTS * pairs_among(sum(unit))
