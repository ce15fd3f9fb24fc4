"""The reference of a drift detector, with sums over its pairs of rows.

Under the hypothesis that a batch and the reference come from one distribution, their rows are
exchangeable. Rows of each are assigned to blocks at random, for the reference once for all batches.
Permutations move whole blocks, which is a subgroup of all permutations of rows. The sums over pairs
of blocks of the reference are stored, so a batch only needs its pairs with the reference and its
own pairs.

The test is exact for a kernel passed by the user. The length-scales and means of the default kernel
are computed from the reference, and not again for each permutation. Its p-values are correct if
adding a batch to the reference would not change the kernel.
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

# Rows of smaller pooled samples are permuted separately; otherwise a batch has a quarter of blocks.
_MAX_BLOCKS = 128
_MIN_BLOCKS = 32
# Smallest number of blocks of a reference, if it has as many rows.
_MIN_REFERENCE_BLOCKS = 16
# Largest number of stored sums over pairs of blocks: 32 MB.
_MAX_SUMS = 1 << 22


@dataclass(frozen=True)
class Plan:
    """The blocks of a reference and of a batch; remaining rows are fixed.

    Parameters
    ----------
    size : int
        The number of rows of a block, a power of two, so that few sizes serve all batches.
    n_reference, n_batch : int
        The numbers of movable blocks.
    """

    size: int
    n_reference: int
    n_batch: int

    @classmethod
    def of(cls, n: int, m: int, n_players: int) -> Plan:
        """Return the plan for a reference of n rows and a batch of m."""
        fits = math.isqrt(_MAX_SUMS // n_players)
        max_blocks = max(_MIN_BLOCKS, min(_MAX_BLOCKS, fits))
        if n + m <= max_blocks:
            return cls(1, n, m)
        min_size = 1 << max(0, math.ceil(math.log2(4.0 * m / max_blocks)))
        max_size = 1 << (max(1, n // _MIN_REFERENCE_BLOCKS).bit_length() - 1)
        size = min(min_size, max_size)
        return cls(size, min(n // size, 3 * max_blocks // 4), min(m // size, max_blocks // 4))

    def groups(self, n_rows: int, n_blocks: int) -> NDArray[np.int64]:
        """Return the block of each arranged row; remaining rows are in the last block."""
        places = np.arange(n_rows, dtype=np.int64)
        return np.minimum(places // self.size, n_blocks)

    def blocks(self, n: int, m: int) -> Blocks:
        """Return both samples in blocks, the batch first."""
        counts, order = (self.n_batch, self.n_reference), np.arange(n + m, dtype=np.int64)
        return Blocks.of((m, n), self.size, counts, order)


@dataclass(frozen=True, eq=False)
class Reference(ReadOnlyArrays):
    """The rows of a reference in random order, and sums over their pairs.

    Parameters
    ----------
    comparison : Comparison
        The comparison of the reference and batches.
    rows : ndarray of shape (n, d)
    engine_rows : ndarray of shape (n, ·)
        The rows in the engine's form.
    row_sums : ndarray of shape (n, P)
        γ of each row summed over all others.
    alone, squares : ndarray of shape (P,)
        Sums of univariate values and of γ² over unordered pairs.
    block_sums : dict of (int, int) to ndarray
        Sums over pairs of blocks, by their size and number; computed when needed.
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
        """Return a reference with the sums over its pairs."""
        are_own = comparison.bandwidth is not None
        engine_rows = comparison.kernel.engine_rows(rows, are_own=are_own)
        computation = comparison.conventions.computation(report)
        comparison, computation = comparison.with_means(engine_rows, computation, "X_reference")
        sums = pair_sums(engine_rows, len(rows), comparison.terms, computation=computation)
        row_sums = sums.rows[:, 0].copy()
        return cls(comparison, rows, engine_rows, row_sums, sums.alone[0], sums.squares[0])

    def with_batch(self, sums: PairSums, m: int) -> TwoSampleSums:
        """Return the sums of the reference and a batch; its m rows come first in `sums`."""
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
        """Return sums of γ and of univariate values over pairs of blocks; (G(G+1)/2, 2P).

        The sum over pairs of the remaining rows is the total minus all other sums.
        """
        key = plan.size, plan.n_reference
        if key not in self.block_sums:
            groups = plan.groups(len(self.rows), plan.n_reference)
            n_movable = plan.size * plan.n_reference
            sums = pair_sums(
                self.engine_rows,
                n_movable,
                self.comparison.terms,
                groups,
                skips_second=True,
                univariate_in_groups=True,
                computation=self.comparison.conventions.computation(),
            ).groups
            if n_movable < len(self.rows):
                totals = np.concatenate([total(self.row_sums) / 2.0, self.alone])
                sums[-1] = totals - total(sums[:-1])
            sums.setflags(write=False)
            # Concurrent threads compute the same sums.
            self.block_sums[key] = sums
        return self.block_sums[key]

    def threshold(self, test: DriftTest) -> float | None:
        """Return the critical value of the statistic; None without a batch size.

        Blocks of the reference are drawn as batches, and compared with the rest. Without a
        difference, MMD² of n and m rows is distributed as (1/n + 1/m) times a variable that depends
        on neither for large n and m (Gretton et al. 2012). The critical value is scaled by this
        factor from the drawn sizes to n and `batch_size`.
        """
        if test.batch_size is None:
            return None
        n, n_players = self.row_sums.shape
        plan = Plan.of(n, test.batch_size, n_players)
        sums, generator = self.sums_of_blocks(plan), test.generator()
        n_batch_blocks = max(1, min(test.batch_size // plan.size, plan.n_reference // 2))
        labels = np.tile(np.arange(triangle_size(sums)) < n_batch_blocks, (test.n_permutations, 1))
        movable = labels[:, : plan.n_reference]
        movable[:] = generator.permuted(movable, axis=1)
        m = n_batch_blocks * plan.size
        weights = PairWeights.of(self.comparison.conventions.estimator, m, n - m)
        diagonal = weights.self_pairs * self.comparison.terms.self_pair()[0]
        values = permuted_values(sums[:, :n_players], labels, weights, diagonal).numbers
        critical_value = np.sort(values.sum(axis=1))[-test.rank]
        scale = (1.0 / n + 1.0 / test.batch_size) / (1.0 / (n - m) + 1.0 / m)
        return self.comparison.unit * float(scale * critical_value)
