"""Tests of batches against a reference whose own pairs are summed once.

Under the hypothesis that a batch and the reference are draws of one distribution, their rows are
exchangeable. Rows of each are put in blocks at random, those of the reference once for all batches,
and whole blocks change sides: a subgroup of all permutations of the rows. The sums over pairs of
blocks of the reference are kept, so that a batch costs its pairs with the reference and its own.

That is an exact test for a kernel that is given. The default kernel has its length-scales and means
from the reference, which no relabelling finds anew: its p-values are right as far as one batch more
in the reference would not change them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.execution.computation import Computation
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.statistics.block_significance import relabelled
from pkex.statistics.pair_sums import KernelTerms, pair_sums, total
from pkex.statistics.pair_weights import PairWeights
from pkex.statistics.permutations import Blocks, check_n_permutations
from pkex.statistics.significance import Significance
from pkex.typing import Float

__all__ = ["DriftTest", "Plan", "Reference", "checked_alpha"]

# Pooled samples of no more rows are permuted row by row; else a batch has a quarter of the blocks.
_MOST_BLOCKS = 128
_LEAST_BLOCKS = 32
# Blocks of a reference at least, where it has as many rows.
_LEAST_OF_REFERENCE = 16
# Sums over pairs of blocks that are held, 32 MB.
_MOST_SUMS = 1 << 22


def checked_alpha(alpha: object) -> float:
    """Return the level of a test, or say what it may be."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0.0 < float(alpha) < 1.0:
        raise ValueError(f"alpha must be a number between 0 and 1; got {alpha!r}")
    return float(alpha)


@dataclass(frozen=True)
class DriftTest:
    """How batches are tested; checked.

    Parameters
    ----------
    alpha : float
    n_permutations : int
    batch_size : int or None
    seed : tuple of int
    """

    alpha: float
    n_permutations: int
    batch_size: int | None
    seed: tuple[int, ...]

    @classmethod
    def of(
        cls, alpha: float, n_permutations: int, batch_size: int | None, random_state: Any, n: int
    ) -> DriftTest:
        """Check the options of a detector with n reference rows, and draw its seed."""
        seed = as_generator(random_state).integers(1 << 62, size=4)
        return cls.checked(alpha, n_permutations, batch_size, tuple(seed.tolist()), n)

    @classmethod
    def checked(
        cls,
        alpha: float,
        n_permutations: int,
        batch_size: int | None,
        seed: tuple[int, ...],
        n: int,
    ) -> DriftTest:
        """Check the options of a detector with n reference rows."""
        number = check_n_permutations(n_permutations)
        chosen = cls(checked_alpha(alpha), number, None, seed)
        if number and chosen.rank < 1:
            raise ValueError(
                f"n_permutations={number} is too small for alpha={alpha}: no p-value is below "
                f"1/{number + 1}; take at least {math.ceil(1.0 / alpha) - 1}"
            )
        if batch_size is None:
            return chosen
        size = as_integer("batch_size", batch_size, "an integer, at least 2", least=2)
        if not number:
            raise ValueError(
                "batch_size needs n_permutations, the number of batches that are drawn out of the "
                "reference for the threshold, such as n_permutations=999"
            )
        if 2 * size > n:
            raise ValueError(
                f"batch_size={size} must be at most half of the {n} rows of X_reference, out of "
                "which batches are drawn for the threshold"
            )
        return replace(chosen, batch_size=size)

    def generator(self) -> np.random.Generator:
        """Return a generator of random numbers, every time the same."""
        return np.random.default_rng(self.seed)

    def arranged(self, rows: Float) -> Float:
        """Return a copy of the reference, in a random order if there is a test."""
        order = self.generator().permutation(len(rows)) if self.n_permutations else slice(None)
        return rows[order].copy()

    @property
    def rank(self) -> int:
        """Which of the largest relabelled statistics has to be exceeded for p ≤ α."""
        return math.floor(self.alpha * (self.n_permutations + 1) + 1e-9)

    def threshold(self, significance: Significance | None) -> float | None:
        """Return that statistic."""
        if significance is None:
            return None
        return float(np.sort(significance.permuted_values.sum(axis=1))[-self.rank])

    def __str__(self) -> str:
        if not self.n_permutations:
            return "no test"
        return f"alpha {self.alpha:g}, {self.n_permutations} permutations"


@dataclass(frozen=True)
class Plan:
    """How rows of a reference and of a batch are cut into blocks; what is left over stays.

    Parameters
    ----------
    size : int
        The rows of a block, a power of two: few sizes serve batches of all lengths.
    of_reference, of_batch : int
        The numbers of blocks that may change sides.
    """

    size: int
    of_reference: int
    of_batch: int

    @classmethod
    def of(cls, n: int, m: int, n_players: int) -> Plan:
        """Return the plan for a reference of n rows and a batch of m."""
        fits = math.isqrt(_MOST_SUMS // n_players)
        most = max(_LEAST_BLOCKS, min(_MOST_BLOCKS, fits))
        if n + m <= most:
            return cls(1, n, m)
        least = 1 << max(0, math.ceil(math.log2(4.0 * m / most)))
        largest = 1 << (max(1, n // _LEAST_OF_REFERENCE).bit_length() - 1)
        size = min(least, largest)
        return cls(size, min(n // size, 3 * most // 4), min(m // size, most // 4))

    def groups(self, n_rows: int, n_blocks: int) -> NDArray[np.int64]:
        """Return the block of each arranged row, the last one of those left over."""
        places = np.arange(n_rows, dtype=np.int64)
        return np.minimum(places // self.size, n_blocks)

    def blocks(self, n: int, m: int) -> Blocks:
        """Return both samples in blocks, arranged as they are, the batch first."""
        of_batch, of_reference = self.groups(m, self.of_batch), self.groups(n, self.of_reference)
        n_first = int(of_batch[-1]) + 1
        in_first = np.arange(n_first + int(of_reference[-1]) + 1) < n_first
        return Blocks(
            np.arange(n + m, dtype=np.int64),
            np.concatenate([of_batch, n_first + of_reference]),
            (
                np.arange(self.of_batch, dtype=np.int64),
                np.arange(n_first, n_first + self.of_reference, dtype=np.int64),
            ),
            in_first,
        )


@dataclass(frozen=True, eq=False)
class Reference:
    """The rows of a reference, arranged at random, and what is kept of their pairs.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    engine_rows : ndarray of shape (n, ·)
        The same, as the engine compares them.
    terms : KernelTerms
    row_sums : ndarray of shape (n, P)
        γ of each row summed over all others.
    alone, squares : ndarray of shape (P,)
        What players are worth alone and γ², summed over unordered pairs.
    block_sums : dict of (int, int) to ndarray
        Sums over pairs of blocks, by their size and number, as far as they were asked for.
    """

    rows: Float
    engine_rows: Float
    terms: KernelTerms
    row_sums: Float
    alone: Float
    squares: Float
    block_sums: dict[tuple[int, int], Float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows.setflags(write=False)

    def sums_of_blocks(self, plan: Plan, how: Computation) -> Float:
        """Return sums over pairs of blocks (G(G+1)/2, 2P), of values and of players alone.

        Those of the rows left over among each other are what the others lack of the whole.
        """
        key = plan.size, plan.of_reference
        if key not in self.block_sums:
            groups = plan.groups(len(self.rows), plan.of_reference)
            n_movable = plan.size * plan.of_reference
            sums = pair_sums(
                self.engine_rows,
                n_movable,
                self.terms,
                groups,
                skips_second=True,
                alone_in_groups=True,
                how=how,
            ).groups
            if n_movable < len(self.rows):
                whole = np.concatenate([total(self.row_sums) / 2.0, self.alone])
                sums[-1] = whole - total(sums[:-1])
            sums.setflags(write=False)
            # Threads that ask at once find the same.
            self.block_sums[key] = sums
        return self.block_sums[key]

    def threshold(
        self,
        plan: Plan,
        n_rows: int,
        estimator: str,
        rank: int,
        n_drawn: int,
        generator: np.random.Generator,
        how: Computation,
    ) -> float:
        """Return the statistic that few batches out of the reference itself exceed.

        Without a difference MMD² of n and m rows is distributed as (1/n + 1/m) times something that
        depends on neither, if these are large (Gretton et al. 2012): by this it is scaled from the
        sizes that a batch and the rest have, when blocks of the reference are taken for a batch.

        Parameters
        ----------
        plan : Plan
        n_rows : int
            Of a batch.
        estimator : str
        rank : int
            Which of the largest statistics it is.
        n_drawn : int
            The number of batches.
        """
        sums = self.sums_of_blocks(plan, how)
        n_players = self.row_sums.shape[1]
        n_groups = (math.isqrt(8 * len(sums) + 1) - 1) // 2
        n_taken = max(1, min(n_rows // plan.size, plan.of_reference // 2))
        labels = np.tile(np.arange(n_groups) < n_taken, (n_drawn, 1))
        movable = labels[:, : plan.of_reference]
        movable[:] = generator.permuted(movable, axis=1)
        n, m = len(self.rows), n_taken * plan.size
        weights = PairWeights.of(estimator, m, n - m)
        diagonal = weights.self_pairs * self.terms.self_pair()
        values = relabelled(sums[:, :n_players], labels, weights, diagonal).numbers
        largest = np.sort(values.sum(axis=1))[-rank]
        scale = (1.0 / n + 1.0 / n_rows) / (1.0 / (n - m) + 1.0 / m)
        return float(scale * largest)
