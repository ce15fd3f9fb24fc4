"""The reference of a drift detector, whose own pairs are summed once.

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
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pkex.compare.comparison import Comparison
from pkex.compare.drift.test import DriftTest
from pkex.compare.pairs.pair_sums import PairSums, pair_sums, total
from pkex.compare.pairs.two_sample_sums import PairWeights, TwoSampleSums
from pkex.compare.permutation.blocks import Blocks
from pkex.compare.permutation.quadratic_form import triangle_size
from pkex.compare.permutation.two_sample_test import permuted_values
from pkex.inputs.arrays import ReadOnlyArrays
from pkex.typing import Float, Report

__all__ = ["Plan", "Reference"]

# Pooled samples of no more rows are permuted row by row; else a batch has a quarter of the blocks.
_MOST_BLOCKS = 128
_LEAST_BLOCKS = 32
# Blocks of a reference at least, where it has as many rows.
_LEAST_OF_REFERENCE = 16
# Sums over pairs of blocks that are held, 32 MB.
_MOST_SUMS = 1 << 22


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
        counts, order = (self.of_batch, self.of_reference), np.arange(n + m, dtype=np.int64)
        return Blocks.of((m, n), self.size, counts, order)


@dataclass(frozen=True, eq=False)
class Reference(ReadOnlyArrays):
    """The rows of a reference, arranged at random, and what is kept of their pairs.

    Parameters
    ----------
    comparison : Comparison
        Of the reference and batches.
    rows : ndarray of shape (n, d)
    engine_rows : ndarray of shape (n, ·)
        The same, as the engine compares them.
    row_sums : ndarray of shape (n, P)
        γ of each row summed over all others.
    alone, squares : ndarray of shape (P,)
        What players are worth alone and γ², summed over unordered pairs.
    block_sums : dict of (int, int) to ndarray
        Sums over pairs of blocks, by their size and number, as far as they were asked for.
    """

    comparison: Comparison
    rows: Float
    engine_rows: Float
    row_sums: Float
    alone: Float
    squares: Float
    block_sums: dict[tuple[int, int], Float] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Float, comparison: Comparison, report: Report | None) -> Reference:
        """Sum over the pairs of a reference; absent players have its means."""
        is_own = comparison.bandwidth is not None
        compared = comparison.kernel.engine_rows(rows, are_own=is_own)
        comparison, how = comparison.with_means(compared, report)
        sums = pair_sums(compared, len(rows), comparison.terms, how=how)
        row_sums = sums.rows[:, 0].copy()
        return cls(comparison, rows, compared, row_sums, sums.alone[0], sums.squares[0])

    def beside(self, sums: PairSums, m: int) -> TwoSampleSums:
        """Return the sums of the reference and a batch, whose m rows come first in `sums`."""
        within, between = sums.rows[:m, 0], sums.rows[:m, 1]
        values = np.array([total(self.row_sums) / 2.0, total(between), total(within) / 2.0])
        return TwoSampleSums(
            (self.row_sums, sums.rows[m:, 0]),
            (within, between),
            values,
            np.array([self.alone, sums.alone[1], sums.alone[0]]),
            np.array([self.squares, sums.squares[1], sums.squares[0]]),
        )

    def sums_of_blocks(self, plan: Plan) -> Float:
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
                self.comparison.terms,
                groups,
                skips_second=True,
                alone_in_groups=True,
                how=self.comparison.conventions.computation(),
            ).groups
            if n_movable < len(self.rows):
                whole = np.concatenate([total(self.row_sums) / 2.0, self.alone])
                sums[-1] = whole - total(sums[:-1])
            sums.setflags(write=False)
            # Threads that ask at once find the same.
            self.block_sums[key] = sums
        return self.block_sums[key]

    def threshold(self, test: DriftTest) -> float | None:
        """Return the statistic that few batches out of the reference itself exceed.

        None if the size of batches was not given.

        Without a difference MMD² of n and m rows is distributed as (1/n + 1/m) times something that
        depends on neither, if these are large (Gretton et al. 2012): by this it is scaled from the
        sizes that a batch and the rest have, when blocks of the reference are taken for a batch.
        """
        if test.batch_size is None:
            return None
        n, n_players = self.row_sums.shape
        plan = Plan.of(n, test.batch_size, n_players)
        sums, generator = self.sums_of_blocks(plan), test.generator()
        n_taken = max(1, min(test.batch_size // plan.size, plan.of_reference // 2))
        labels = np.tile(np.arange(triangle_size(sums)) < n_taken, (test.n_permutations, 1))
        movable = labels[:, : plan.of_reference]
        movable[:] = generator.permuted(movable, axis=1)
        m = n_taken * plan.size
        weights = PairWeights.of(self.comparison.conventions.estimator, m, n - m)
        own = weights.self_pairs * self.comparison.terms.self_pair()[0]
        values = permuted_values(sums[:, :n_players], labels, weights, own).numbers
        largest = np.sort(values.sum(axis=1))[-test.rank]
        scale = (1.0 / n + 1.0 / test.batch_size) / (1.0 / (n - m) + 1.0 / m)
        return self.comparison.unit * float(scale * largest)
