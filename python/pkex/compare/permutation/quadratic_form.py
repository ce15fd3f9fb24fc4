"""Relabelled statistics: quadratic forms in the labels of blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.compare.permutation.significance import Relabelled
from pkex.typing import Float

__all__ = ["QuadraticForm", "block_form", "triangle_size"]

# Numbers held at a time.
_CHUNK = 1 << 20
# Blocks whose labels make one number, which sums over pairs of such blocks are looked up by.
_BITS = 4


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """For each player, constant + Σ_{i≤j} quadratic_ij s_i s_j of labels s that are 0 or 1.

    Parameters
    ----------
    constant : ndarray of shape (P,)
    quadratic : ndarray of shape (G(G+1)/2, P)
        Row by row of the triangle; what is linear in s is on its diagonal, for s_i² = s_i.
    """

    constant: Float
    quadratic: Float

    def at(self, labels: NDArray[np.bool_]) -> Float:
        """Evaluate at labels (B, G); the values have shape (B, P).

        Four blocks at a time have 16 possible labels. For each two such fours the sums for all 256
        are tabulated, and looked up for every permutation: a sixteenth of the additions, in an
        order that depends on nothing but the shapes.
        """
        n_permutations, n_groups = labels.shape
        n_fours = -(-n_groups // _BITS)
        bits = np.zeros((_BITS * n_fours, n_permutations), dtype=np.uint8)
        bits[:n_groups] = labels.T
        bits <<= np.arange(len(bits), dtype=np.uint8)[:, None] % _BITS
        codes = np.bitwise_or.reduce(bits.reshape(n_fours, _BITS, n_permutations), axis=1)
        values = np.tile(self.constant, (n_permutations, 1))
        width = max(1, _CHUNK // (n_fours << 2 * _BITS))
        for start in range(0, len(self.constant), width):
            players = slice(start, start + width)
            for four in range(n_fours):
                _add_looked_up(
                    values[:, players], self._table(four, n_fours, players), codes[four:]
                )
        return values

    def _table(self, four: int, n_fours: int, players: slice) -> Float:
        """Return the sums over pairs of a block in one four and one in it or a later one.

        Returns
        -------
        ndarray of shape (later fours, 16, 16, players)
            By the label of the other four and that of this one.
        """
        n_groups = triangle_size(self.quadratic)
        first = _BITS * four
        strip = np.zeros((_BITS * n_fours - first, _BITS, len(self.constant[players])))
        for row, place in enumerate(range(first, min(first + _BITS, n_groups))):
            start = place * n_groups - place * (place - 1) // 2
            entries = self.quadratic[start : start + n_groups - place, players]
            strip[row : row + len(entries), row] = entries
        by_this = _subset_sums(strip.transpose(1, 0, 2))
        others = by_this.reshape(1 << _BITS, n_fours - four, _BITS, -1)
        return _subset_sums(others.transpose(2, 1, 0, 3)).transpose(1, 0, 2, 3)

    def relabelled(self, labels: NDArray[np.bool_], constant: Float | float = 0.0) -> Relabelled:
        """Evaluate at labels, those observed first, and add what no relabelling changes."""
        values = self.at(labels)
        values += constant
        return Relabelled(values, self.scale)

    @property
    def scale(self) -> Float:
        """The size of what the values are sums of, and so of their rounding errors; shape (P,)."""
        size: Float = np.abs(self.constant) + np.abs(self.quadratic).sum(axis=0)
        return size


def _subset_sums(items: Float) -> Float:
    """Return the sums of all subsets of items (k, ...), by the subset's bits; shape (2^k, ...)."""
    sums = np.zeros((1 << len(items), *items.shape[1:]))
    for place, item in enumerate(items):
        sums[1 << place : 2 << place] = sums[: 1 << place] + item
    return sums


def _add_looked_up(values: Float, table: Float, codes: NDArray[np.uint8]) -> None:
    """Add to values (B, P) the entries of a table (F, 16, 16, P) at codes (F, B), of 0 and each."""
    size = table.shape[1] * table.shape[2]
    flat = np.ascontiguousarray(table).reshape(len(codes), size, -1)
    chunk = max(1, (_CHUNK >> 5) // flat.shape[2])
    for start in range(0, len(values), chunk):
        these = codes[:, start : start + chunk].astype(np.intp)
        some = values[start : start + chunk]
        for entries, code in zip(flat, these, strict=True):
            some += entries[(code << _BITS) + these[0]]


def block_form(group_sums: Float, within: tuple[float, float], between: float) -> QuadraticForm:
    """Return the attributed MMD² as a function of which blocks are the first sample's.

    With s the indicator of the first sample, Γ the symmetric matrix of sums over blocks and r its
    row sums, w₁ sᵀΓs + w₂ (1−s)ᵀΓ(1−s) − 2w₁₂ sᵀΓ(1−s)
    = (w₁+w₂+2w₁₂) sᵀΓs − 2(w₂+w₁₂) sᵀr + w₂ 1ᵀr.

    Parameters
    ----------
    group_sums : ndarray of shape (G(G+1)/2, P)
        Sums over unordered pairs of rows; those of a block with itself are half of Γ's.
    within, between : float
        The weights w₁, w₂ and w₁₂ of ordered pairs.
    """
    n_groups = triangle_size(group_sums)
    first, second = within
    quadratic = 2.0 * (first + second + 2.0 * between) * group_sums
    sums = np.zeros((n_groups, group_sums.shape[1]))
    for i, row in enumerate(_rows_of_triangle(n_groups)):
        sums[i] += group_sums[row].sum(axis=0)
        sums[i:] += group_sums[row]
    quadratic[_diagonal(n_groups)] -= 2.0 * (second + between) * sums
    return QuadraticForm(second * sums.sum(axis=0), quadratic)


def _rows_of_triangle(n: int) -> Iterator[slice]:
    """Yield where the rows of an upper triangle, diagonal first, stand in a list of its entries."""
    start = 0
    for length in range(n, 0, -1):
        yield slice(start, start + length)
        start += length


def triangle_size(group_sums: Float) -> int:
    """Return the number of rows of an upper triangle, diagonal included, with so many entries."""
    return (math.isqrt(8 * len(group_sums) + 1) - 1) // 2


def _diagonal(n: int) -> list[int]:
    """Return where the diagonal of an upper triangle stands in a list of its entries."""
    return [row.start for row in _rows_of_triangle(n)]
