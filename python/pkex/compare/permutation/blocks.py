"""Rows of two samples in blocks, which a permutation test moves between the samples.

A permutation only changes the weights of pairs of rows, so one pass over the pairs serves all
permutations. Rows of small samples are permuted separately. Rows of large samples are divided at
random into blocks, and only the sums over pairs of blocks are stored. Permutations of whole blocks
are a subgroup of all permutations, so the test is valid as well (Domingo-Enrich, Dwivedi and Mackey
2025, Cheap permutation testing).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.typing import Float

_Int = NDArray[np.int64]

# Largest number of blocks; rows of samples with no more rows are permuted separately.
_MAX_BLOCKS = 128
# Smallest number of blocks, for any number of features and permutations.
_MIN_BLOCKS = 32
# Numbers held at a time while permuting.
_CHUNK = 1 << 20
# This many blocks² · permutations take about as long as rows² (measured on two cores).
_BLOCKS_FOR_A_ROW = 6.0


@dataclass(frozen=True, eq=False)
class Blocks:
    """Two samples in blocks of equal size, some of which can move between the samples.

    Parameters
    ----------
    order : ndarray of int64, shape (n + m,)
        The arranged rows: those of the first sample, then those of the second.
    groups : ndarray of int64, shape (n + m,)
        The block of each arranged row. Remaining rows form a last, fixed block of each sample.
    movable : tuple of two ndarrays of int64
        The blocks of each sample that can move.
    in_first : ndarray of bool, shape (n_blocks,)
        Which blocks belong to the first sample.
    """

    order: _Int
    groups: _Int
    movable: tuple[_Int, _Int]
    in_first: NDArray[np.bool_]

    @classmethod
    def of(cls, n_rows: tuple[int, int], size: int, counts: tuple[int, int], order: _Int) -> Blocks:
        """Divide two arranged samples into blocks.

        Parameters
        ----------
        n_rows, counts : tuple of int
            Numbers of rows and of movable blocks of each sample.
        size : int
            Number of rows of a block.
        order : ndarray of int64, shape (n + m,)
        """
        groups, movable = [], []
        in_first: list[bool] = []
        for number, (rows, count) in enumerate(zip(n_rows, counts, strict=True)):
            start = len(in_first)
            groups.append(np.minimum(np.arange(rows, dtype=np.int64) // size, count) + start)
            movable.append(np.arange(start, start + count, dtype=np.int64))
            in_first += [number == 0] * (count + (rows > count * size))
        return cls(order, np.concatenate(groups), (movable[0], movable[1]), np.array(in_first))

    def draw_labels(self, number: int, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Draw which blocks belong to the first sample; shape (number, n_blocks)."""
        labels = np.tile(self.in_first, (number, 1))
        movable = np.concatenate(self.movable)
        # Shuffling each row draws uniformly among the assignments with the same sizes.
        for chunk in blocks_of(number, _CHUNK // len(movable)):
            rows = labels[chunk]
            rows[:, movable] = generator.permuted(rows[:, movable], axis=1)
        return labels

    def unchanged_share(self, rows: Float) -> Fraction:
        """Return the share of permutations that leave the two samples unchanged, or swap them.

        Parameters
        ----------
        rows : ndarray of shape (n + m, d)
            The arranged rows. Equal rows in different blocks count as different.
        """
        n_movable_first, n_movable_second = map(len, self.movable)
        n = int(self.in_first[self.groups].sum())
        n_unchanged = 1
        if n_movable_first + n_movable_second == len(rows):
            _, kind = np.unique(rows, axis=0, return_inverse=True)
            counts_first, counts = (np.bincount(k, minlength=len(rows)) for k in (kind[:n], kind))
            n_unchanged = math.prod(map(math.comb, counts.tolist(), counts_first.tolist()))
            # If both samples have the same rows, the same permutations swap them.
            can_swap = 2 * n == len(rows) and bool((2 * counts_first != counts).any())
        else:
            can_swap = 2 * n == len(rows) and n_movable_first + n_movable_second == len(
                self.in_first
            )
        return Fraction(
            n_unchanged * (1 + can_swap),
            math.comb(n_movable_first + n_movable_second, n_movable_first),
        )


def two_sample_blocks(
    n: int, m: int, n_players: int, n_permutations: int, generator: np.random.Generator
) -> Blocks:
    """Arrange two samples of n and m rows at random, in blocks."""
    max_blocks = _max_blocks(n_players, n + m, n_permutations)
    # If one sample is much larger, blocks are smaller so that the other has enough of them, and
    # most rows of the larger sample are fixed.
    size = max(1, min(math.ceil((n + m) / max_blocks), min(n, m) // min(16, max_blocks // 4)))
    counts = n // size, m // size
    if sum(counts) > max_blocks:
        smaller_count = min(*counts, max_blocks // 2)
        counts = (
            min(counts[0], max_blocks - smaller_count),
            min(counts[1], max_blocks - smaller_count),
        )
    order = np.concatenate([generator.permutation(n), n + generator.permutation(m)])
    return Blocks.of((n, m), size, counts, order.astype(np.int64))


def _max_blocks(n_players: int, n_rows: int, n_permutations: int) -> int:
    """Return the number of blocks that need at most 32 MB, and no more time than the pairs.

    The time is compared with the pairs of at least 4,000 rows; fewer rows take little time.
    """
    fits = math.isqrt((1 << 22) // n_players)
    affordable = _MAX_BLOCKS
    if n_rows > _MAX_BLOCKS:
        affordable = int(max(n_rows, 4000) * math.sqrt(_BLOCKS_FOR_A_ROW / (n_permutations + 1)))
    return max(_MIN_BLOCKS, min(_MAX_BLOCKS, fits, affordable))
