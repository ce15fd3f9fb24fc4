"""MMD² as a quadratic form in the assignment of blocks of rows to two samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.typing import Float

# Numbers held at a time.
_CHUNK = 1 << 20
# Number of blocks whose labels form one code, by which sums over pairs are looked up.
_BITS = 4


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """For each column, constant + Σ_{i≤j} quadratic_ij s_i s_j with labels s that are 0 or 1.

    Parameters
    ----------
    constant : ndarray of shape (P,)
    quadratic : ndarray of shape (G(G+1)/2, P)
        Row by row of the triangle. Linear terms are on its diagonal, because s_i² = s_i.
    """

    constant: Float
    quadratic: Float

    @classmethod
    def of_mmd(
        cls, group_sums: Float, within: tuple[float, float], between: float
    ) -> QuadraticForm:
        """Return the attributed MMD² as a function of which blocks belong to the first sample.

        With s the indicator of the first sample, Γ the symmetric matrix of sums over blocks and r
        its row sums, w₁ sᵀΓs + w₂ (1−s)ᵀΓ(1−s) − 2w₁₂ sᵀΓ(1−s)
        = (w₁+w₂+2w₁₂) sᵀΓs − 2(w₂+w₁₂) sᵀr + w₂ 1ᵀr.

        Parameters
        ----------
        group_sums : ndarray of shape (G(G+1)/2, P)
            Sums over unordered pairs of rows; sums within a block are half of Γ's.
        within, between : float
            The weights w₁, w₂ and w₁₂ of ordered pairs.
        """
        n_groups = triangle_size(group_sums)
        weight_first, weight_second = within
        quadratic = 2.0 * (weight_first + weight_second + 2.0 * between) * group_sums
        sums = np.zeros((n_groups, group_sums.shape[1]))
        # Where the rows of the triangle start in the list of its entries.
        ends = np.cumsum(np.arange(n_groups, 0, -1))
        starts = ends - np.arange(n_groups, 0, -1)
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            sums[i] += group_sums[start:end].sum(axis=0)
            sums[i:] += group_sums[start:end]
        quadratic[starts] -= 2.0 * (weight_second + between) * sums
        return cls(weight_second * sums.sum(axis=0), quadratic)

    def evaluate(self, labels: NDArray[np.bool_]) -> Float:
        """Evaluate the form at labels (B, G); returns shape (B, P).

        Four blocks have 16 possible labels. For each two groups of four blocks, the sums for all
        256 combinations are tabulated, and looked up for every permutation. This takes a sixteenth
        of the additions, in an order that depends on the shapes only.
        """
        n_permutations, n_groups = labels.shape
        n_fours = -(-n_groups // _BITS)
        bits = np.zeros((_BITS * n_fours, n_permutations), dtype=np.uint8)
        bits[:n_groups] = labels.T
        bits <<= np.arange(len(bits), dtype=np.uint8)[:, None] % _BITS
        codes = np.bitwise_or.reduce(bits.reshape(n_fours, _BITS, n_permutations), axis=1)
        values = np.tile(self.constant, (n_permutations, 1))
        for players in blocks_of(len(self.constant), _CHUNK // (n_fours << 2 * _BITS)):
            for four in range(n_fours):
                _add_table_values(
                    values[:, players], self._table(four, n_fours, players), codes[four:]
                )
        return values

    def _table(self, four: int, n_fours: int, players: slice) -> Float:
        """Return the sums over pairs of a block in one group of four and one in it or a later one.

        Returns
        -------
        ndarray of shape (later groups, 16, 16, players)
            By the labels of the other group and of this one.
        """
        n_groups = triangle_size(self.quadratic)
        first = _BITS * four
        strip = np.zeros((_BITS * n_fours - first, _BITS, len(self.constant[players])))
        for row, place in enumerate(range(first, min(first + _BITS, n_groups))):
            start = place * n_groups - place * (place - 1) // 2
            entries = self.quadratic[start : start + n_groups - place, players]
            strip[row : row + len(entries), row] = entries
        subset_sums = _subset_sums(strip.transpose(1, 0, 2))
        groups_of_four = subset_sums.reshape(1 << _BITS, n_fours - four, _BITS, -1)
        return _subset_sums(groups_of_four.transpose(2, 1, 0, 3)).transpose(1, 0, 2, 3)

    @property
    def scale(self) -> Float:
        """Sum of the absolute terms, the scale of rounding errors; shape (P,)."""
        size: Float = np.abs(self.constant) + np.abs(self.quadratic).sum(axis=0)
        return size


def _subset_sums(items: Float) -> Float:
    """Return the sums of all subsets of items (k, ...), by the subset's bits; shape (2^k, ...)."""
    sums = np.zeros((1 << len(items), *items.shape[1:]))
    for place, item in enumerate(items):
        sums[1 << place : 2 << place] = sums[: 1 << place] + item
    return sums


def _add_table_values(values: Float, table: Float, codes: NDArray[np.uint8]) -> None:
    """Add to values (B, P) the entries of a table (F, 16, 16, P) at codes (F, B)."""
    size = table.shape[1] * table.shape[2]
    flat = np.ascontiguousarray(table).reshape(len(codes), size, -1)
    for chunk in blocks_of(len(values), (_CHUNK >> 5) // flat.shape[2]):
        chunk_codes = codes[:, chunk].astype(np.intp)
        chunk_values = values[chunk]
        for entries, code in zip(flat, chunk_codes, strict=True):
            chunk_values += entries[(code << _BITS) + chunk_codes[0]]


def triangle_size(group_sums: Float) -> int:
    """Return the number of rows of an upper triangle, diagonal included, from its entries."""
    return (math.isqrt(8 * len(group_sums) + 1) - 1) // 2
