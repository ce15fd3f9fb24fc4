"""Rows that exchange their targets in octets: permutations that few sums over pairs serve.

Rows are put in octets at random. The rows of an octet are numbered by three bits, and exchange
p ∈ {0, …, 7} gives row i the target of row i ⊕ p. Octets are tied into groups that exchange alike.
That is a subgroup of all permutations, whose tests are valid too, and all that is needed of the
pairs of rows are the sums T^{pq}_{IJ} over pairs of groups I, J with the exchanges p, q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["MOST_GROUPS", "OCTET", "Octets", "exchanged_sums", "rounding_scale"]

_Int = NDArray[np.int64]

# Rows that exchange targets among each other.
OCTET = 8

# Groups of octets, where their sums take no more than 32 MB, and however many features there are.
MOST_GROUPS = 32
_LEAST_GROUPS = 6
_MOST_SUMS = 1 << 22
# Numbers held at a time while relabelling.
_CHUNK = 1 << 17


@dataclass(frozen=True, eq=False)
class Octets:
    """Rows arranged in groups of octets; what is left over is a last group that stays as it is.

    Parameters
    ----------
    order : ndarray of int64, shape (n,)
    groups : ndarray of int64, shape (n,)
        The group of each arranged row.
    n_movable : int
        The number of groups that exchange targets, which come first.
    """

    order: _Int
    groups: _Int
    n_movable: int

    @classmethod
    def drawn(cls, n: int, n_values: int, generator: np.random.Generator) -> Octets:
        """Arrange n rows at random, for so many sums of each pair of groups and exchanges."""
        n_octets = n // OCTET
        # Of n_groups² / 2 pairs.
        affordable = math.isqrt(2 * _MOST_SUMS // (OCTET**2 * n_values))
        n_movable = min(max(_LEAST_GROUPS, min(MOST_GROUPS, affordable)), n_octets)
        octets = np.arange(n, dtype=np.int64) // OCTET
        return cls(
            generator.permutation(n).astype(np.int64),
            np.minimum(octets * n_movable // max(n_octets, 1), n_movable),
            n_movable,
        )

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups[-1]) + 1

    def relabelled(self, number: int, generator: np.random.Generator) -> NDArray[np.uint8]:
        """Draw the exchange of each group, 0 of one that stays; shape (number, n_groups)."""
        exchanges = np.zeros((number, self.n_groups), dtype=np.uint8)
        drawn = generator.integers(0, OCTET, size=(number, self.n_movable), dtype=np.uint8)
        exchanges[:, : self.n_movable] = drawn
        return exchanges

    def sources(self, exchanges: NDArray[np.uint8]) -> _Int:
        """Return for each arranged row the one whose target it gets, by its group's exchange."""
        places: _Int = np.arange(len(self.groups), dtype=np.int64)
        return places ^ exchanges[self.groups].astype(np.int64)

    def share_of_same(self, *sides: Float) -> Fraction:
        """Return the share of relabellings that change nothing, as those who exchange are alike.

        Parameters
        ----------
        sides : ndarrays of shape (n, ·)
            Data and targets, as arranged.
        """
        unchanged = np.zeros(self.n_movable, dtype=np.int64)
        for exchange in range(OCTET):
            # Exchanges are of two rows each. They change something if both sides differ.
            sources = self.sources(np.where(np.arange(self.n_groups) < self.n_movable, exchange, 0))
            differ = [(side != side[sources]).any(axis=1) for side in sides]
            changed = np.unique(self.groups[np.logical_and.reduce(differ)])
            unchanged += 1
            unchanged[changed] -= 1
        same = math.prod(unchanged.tolist())
        return Fraction(same, OCTET**self.n_movable)


def exchanged_sums(
    group_sums: Float,
    exchanges: NDArray[np.uint8],
    progress: Callable[[int, int], None] | None = None,
) -> Float:
    """Return Σ T^{pq}_{IJ} over groups I ≤ J, p and q being their exchanges.

    Parameters
    ----------
    group_sums : ndarray of shape (G(G+1)/2, 64, P)
        T^{pq} at 8p + q: what unordered pairs of rows add if those of I exchange targets by p, and
        those of J by q.
    exchanges : ndarray of uint8, shape (B, G)

    Returns
    -------
    ndarray of shape (B, P)
    """
    n_permutations, n_groups = exchanges.shape
    sums = np.zeros((n_permutations, group_sums.shape[2]))
    chunk = max(1, _CHUNK // group_sums.shape[2])
    for start in range(0, n_permutations, chunk):
        some = sums[start : start + chunk]
        codes = exchanges[start : start + chunk].T.astype(np.intp)
        pairs = zip(*np.triu_indices(n_groups), strict=True)
        for of_pair, (first, second) in zip(group_sums, pairs, strict=True):
            some += of_pair[OCTET * codes[first] + codes[second]]
        if progress is not None:
            progress(start + len(some), n_permutations)
    return sums


def rounding_scale(group_sums: Float) -> Float:
    """Return the size of what relabelled sums, and so their rounding errors, are made of; (P,)."""
    scale: Float = np.abs(group_sums).max(axis=1).sum(axis=0)
    return scale
