"""Exchanges of targets within blocks of eight rows, a subgroup of all permutations.

Rows are assigned to blocks of eight (octets) at random. The rows of a block are numbered by three
bits, and exchange p ∈ {0, …, 7} gives row i the target of row i ⊕ p. All blocks of a group use the
same exchange. The test is valid because the exchanges are a subgroup of all permutations. It only
needs the sums T^{pq}_{IJ} over pairs of groups I, J with the exchanges p, q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.typing import Float

_Int = NDArray[np.int64]

# Number of rows that exchange targets with each other.
BLOCK_SIZE = 8

# Largest number of groups, if their sums need at most 32 MB; smallest, for any number of features.
MAX_GROUPS = 32
_MIN_GROUPS = 6
_MAX_SUMS = 1 << 22
# Numbers held at a time while permuting.
_CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class TargetBlocks:
    """Rows in groups of blocks of eight; the remaining rows form a last, fixed group.

    Parameters
    ----------
    order : ndarray of int64, shape (n,)
    groups : ndarray of int64, shape (n,)
        The group of each arranged row.
    n_movable : int
        The number of groups that exchange targets; they come first.
    """

    order: _Int
    groups: _Int
    n_movable: int

    @classmethod
    def draw(cls, n: int, n_values: int, generator: np.random.Generator) -> TargetBlocks:
        """Arrange n rows at random, for `n_values` sums per pair of groups and exchanges."""
        n_blocks = n // BLOCK_SIZE
        # There are n_groups² / 2 pairs of groups.
        affordable = math.isqrt(2 * _MAX_SUMS // (BLOCK_SIZE**2 * n_values))
        n_movable = min(max(_MIN_GROUPS, min(MAX_GROUPS, affordable)), n_blocks)
        blocks = np.arange(n, dtype=np.int64) // BLOCK_SIZE
        return cls(
            generator.permutation(n).astype(np.int64),
            np.minimum(blocks * n_movable // max(n_blocks, 1), n_movable),
            n_movable,
        )

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups[-1]) + 1

    def draw_exchanges(self, number: int, generator: np.random.Generator) -> NDArray[np.uint8]:
        """Draw the exchange of each group, 0 for a fixed one; shape (number, n_groups)."""
        exchanges = np.zeros((number, self.n_groups), dtype=np.uint8)
        exchanges[:, : self.n_movable] = generator.integers(
            0, BLOCK_SIZE, size=(number, self.n_movable), dtype=np.uint8
        )
        return exchanges

    def sources(self, exchanges: NDArray[np.uint8]) -> _Int:
        """Return for each arranged row the row whose target it gets, by its group's exchange."""
        places: _Int = np.arange(len(self.groups), dtype=np.int64)
        return places ^ exchanges[self.groups].astype(np.int64)

    def unchanged_share(self, *sides: Float) -> Fraction:
        """Return the share of exchanges that change nothing, because the rows are equal.

        Parameters
        ----------
        sides : ndarrays of shape (n, ·)
            Arranged data and targets.
        """
        n_unchanged = np.zeros(self.n_movable, dtype=np.int64)
        for exchange in range(BLOCK_SIZE):
            # An exchange of two rows changes something if both sides differ.
            sources = self.sources(np.where(np.arange(self.n_groups) < self.n_movable, exchange, 0))
            differ = [(side != side[sources]).any(axis=1) for side in sides]
            changed_groups = np.unique(self.groups[np.logical_and.reduce(differ)])
            n_unchanged += 1
            n_unchanged[changed_groups] -= 1
        product = math.prod(n_unchanged.tolist())
        return Fraction(product, BLOCK_SIZE**self.n_movable)


def exchanged_sums(
    group_sums: Float,
    exchanges: NDArray[np.uint8],
    progress: Callable[[int, int], None] | None = None,
) -> Float:
    """Return Σ T^{pq}_{IJ} over groups I ≤ J, where p and q are their exchanges.

    Parameters
    ----------
    group_sums : ndarray of shape (G(G+1)/2, 64, P)
        T^{pq} at 8p + q: the sum over unordered pairs of rows, if rows of I exchange targets by p
        and rows of J by q.
    exchanges : ndarray of uint8, shape (B, G)

    Returns
    -------
    ndarray of shape (B, P)
    """
    n_permutations, n_groups = exchanges.shape
    sums = np.zeros((n_permutations, group_sums.shape[2]))
    for chunk in blocks_of(n_permutations, _CHUNK // group_sums.shape[2]):
        chunk_sums = sums[chunk]
        codes = exchanges[chunk].T.astype(np.intp)
        pairs = zip(*np.triu_indices(n_groups), strict=True)
        for pair_sums, (first, second) in zip(group_sums, pairs, strict=True):
            chunk_sums += pair_sums[BLOCK_SIZE * codes[first] + codes[second]]
        if progress is not None:
            progress(chunk.stop, n_permutations)
    return sums


def rounding_scale(group_sums: Float) -> Float:
    """Return the scale of exchanged sums and of their rounding errors; shape (P,)."""
    scale: Float = np.abs(group_sums).max(axis=1).sum(axis=0)
    return scale
