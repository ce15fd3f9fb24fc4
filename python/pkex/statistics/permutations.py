"""Permutation tests: how rows are relabelled, and what the relabelled statistics say.

Relabelling rows only reweighs pairs, so one pass over the pairs serves every permutation. Small
samples are permuted row by row. Large ones are cut at random into blocks, whose sums over pairs of
blocks are all that is kept: permuting whole blocks is a subgroup of all permutations, and its tests
are valid too (Domingo-Enrich, Dwivedi and Mackey 2025, Cheap permutation testing).

A p-value is (b + 1) / (B + 1), b of the B relabelled statistics being at least the observed one:
under the hypothesis at most a share α of them is ≤ α, for every α.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.statistics.samples import warn

__all__ = [
    "Blocks",
    "Pairs",
    "QuadraticForm",
    "Significance",
    "as_generator",
    "block_form",
    "can_permute_rows",
    "check_n_permutations",
    "pair_form",
    "relabelled_targets",
    "significance",
    "two_sample_blocks",
    "warn_of_few_relabellings",
]

_Float = NDArray[np.float64]
_Int = NDArray[np.int64]

# Blocks that rows are arranged in; samples of no more rows are permuted row by row.
_MOST_BLOCKS = 128
# Blocks wanted of the smaller sample before blocks are made smaller for its sake.
_LEAST_BLOCKS = 16
# Numbers held at a time while relabelling.
_CHUNK = 1 << 20


def check_n_permutations(number: object) -> int:
    """Return the number of permutations, or say what it may be."""
    try:
        if isinstance(number, bool):
            raise TypeError
        checked = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"n_permutations must be an integer; got {number!r}") from None
    if checked < 0:
        raise ValueError(f"n_permutations must be 0 (no test) or positive; got {checked}")
    return checked


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a random number generator made from a seed, or the one that is given."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "random_state must be None, a non-negative integer or a numpy.random.Generator; "
            f"got {random_state!r}"
        ) from None


def can_permute_rows(n_rows: int, n_players: int) -> bool:
    """Whether a sample is small enough for its targets to be permuted row by row."""
    return n_rows <= _MOST_BLOCKS and n_rows**2 * n_players <= 1 << 23


def warn_of_few_relabellings(n_permutations: int, distinct: int, alike: int = 1) -> None:
    """Warn if there are fewer relabellings than permutations asked for.

    Parameters
    ----------
    n_permutations, distinct : int
    alike : int
        How many relabellings give the observed statistic whatever the data.
    """
    if n_permutations >= distinct:
        warn(
            f"n_permutations={n_permutations}, but there are only {distinct} distinct "
            f"relabellings of the rows: no p-value can be expected below "
            f"{alike / distinct:.3g}, however many permutations are drawn"
        )


# --- two samples ---


@dataclass(frozen=True, eq=False)
class Blocks:
    """Two samples arranged in blocks of equal size, some of which may change sides.

    Parameters
    ----------
    order : ndarray of int64, shape (n + m,)
        The rows of the first sample, then those of the second, each as arranged.
    groups : ndarray of int64, shape (n + m,)
        The block of each arranged row. Rows left over form a last, immovable block of each sample.
    movable : tuple of two ndarrays of int64
        The blocks of each sample that may change sides.
    in_first : ndarray of bool, shape (n_blocks,)
        Which blocks are the first sample's.
    """

    order: _Int
    groups: _Int
    movable: tuple[_Int, _Int]
    in_first: NDArray[np.bool_]

    def relabelled(self, number: int, generator: np.random.Generator) -> _Float:
        """Draw which blocks are the first sample's, 1 or 0; shape (number, n_blocks)."""
        labels = np.tile(self.in_first.astype(np.float64), (number, 1))
        movable = np.concatenate(self.movable)
        # Shuffled in each row, the observed labels are a uniformly drawn relabelling.
        labels[:, movable] = generator.permuted(labels[:, movable], axis=1)
        return labels

    @property
    def n_relabellings(self) -> int:
        """The number of distinct relabellings."""
        first, second = map(len, self.movable)
        return math.comb(first + second, first)


def two_sample_blocks(n: int, m: int, n_players: int, generator: np.random.Generator) -> Blocks:
    """Arrange two samples of n and m rows at random."""
    most = _most_blocks(n_players)
    smaller = min(n, m)
    size = 1
    if n + m > _MOST_BLOCKS:
        size = max(1, min(math.ceil((n + m) / most), smaller // _LEAST_BLOCKS))
    counts = [n // size, m // size]
    if sum(counts) > most:
        # Where one sample is much the larger, most of its rows stay where they are.
        least = min(min(counts), most // 2)
        counts = [min(count, most - least) for count in counts]
    order, groups, movable = [], [], []
    in_first: list[bool] = []
    for rows, count, offset in ((n, counts[0], 0), (m, counts[1], n)):
        order.append(offset + generator.permutation(rows))
        blocks = np.minimum(np.arange(rows) // size, count) + len(in_first)
        groups.append(blocks)
        movable.append(np.arange(count) + len(in_first))
        in_first += [offset == 0] * (count + (rows > count * size))
    return Blocks(
        np.concatenate(order).astype(np.int64),
        np.concatenate(groups).astype(np.int64),
        (movable[0].astype(np.int64), movable[1].astype(np.int64)),
        np.array(in_first),
    )


# --- pairs of rows that exchange their targets ---


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows arranged in groups of pairs that exchange their targets, or not, group by group.

    Parameters
    ----------
    order : ndarray of int64, shape (n,)
    groups : ndarray of int64, shape (n,)
        The group of each arranged row.
    partners : ndarray of int64, shape (n,)
        For each arranged row the one, of the same group, that it makes a pair with; of an odd
        number of rows the last is its own.
    """

    order: _Int
    groups: _Int
    partners: _Int

    @classmethod
    def drawn(cls, n: int, n_players: int, generator: np.random.Generator) -> Pairs:
        """Arrange n rows at random."""
        n_pairs = n // 2
        n_groups = min(_most_blocks(4 * n_players), n_pairs)
        rows = np.arange(n)
        pairs = np.minimum(rows // 2, n_pairs - 1)
        partners = np.where(rows < 2 * n_pairs, rows ^ 1, rows)
        return cls(
            generator.permutation(n).astype(np.int64),
            (pairs * n_groups // n_pairs).astype(np.int64),
            partners.astype(np.int64),
        )

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.groups[-1]) + 1

    def relabelled(self, number: int, generator: np.random.Generator) -> _Float:
        """Draw which groups exchange, 1 or 0; shape (number, n_groups)."""
        return generator.integers(0, 2, size=(number, self.n_groups)).astype(np.float64)


def relabelled_targets(
    weights: _Float, number: int, generator: np.random.Generator
) -> Iterator[_Float]:
    """Permute the rows and columns of a matrix of weights alike; matrices come as rows, in chunks.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
    number : int
        The number of permutations.
    """
    n = len(weights)
    chunk = max(1, _CHUNK // n**2)
    for start in range(0, number, chunk):
        height = min(chunk, number - start)
        orders = generator.permuted(np.tile(np.arange(n), (height, 1)), axis=1)
        yield weights[orders[:, :, None], orders[:, None, :]].reshape(height, n * n)


# --- relabelled statistics ---


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """For each player, constant + Σ_i linear_i s_i + Σ_{i≤j} quadratic_ij s_i s_j of labels s.

    Parameters
    ----------
    constant : ndarray of shape (P,)
    linear : ndarray of shape (G, P)
    quadratic : ndarray of shape (G(G+1)/2, P)
        Row by row of the triangle.
    """

    constant: _Float
    linear: _Float
    quadratic: _Float

    def at(self, labels: _Float) -> _Float:
        """Evaluate at labels (B, G); the values have shape (B, P)."""
        values = self.constant + labels @ self.linear
        n_groups = len(self.linear)
        chunk = max(1, _CHUNK // len(self.quadratic))
        products = np.empty((min(chunk, len(labels)), len(self.quadratic)))
        for start in range(0, len(labels), chunk):
            s = labels[start : start + chunk]
            for i, row in enumerate(_rows_of_triangle(n_groups)):
                np.multiply(s[:, i, None], s[:, i:], out=products[: len(s), row])
            values[start : start + chunk] += products[: len(s)] @ self.quadratic
        return values

    @property
    def scale(self) -> _Float:
        """The size of what the values are sums of, and so of their rounding errors; shape (P,)."""
        size: _Float = (
            np.abs(self.constant)
            + np.abs(self.linear).sum(axis=0)
            + np.abs(self.quadratic).sum(axis=0)
        )
        return size


def block_form(group_sums: _Float, within: tuple[float, float], between: float) -> QuadraticForm:
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
    n_groups = _n_groups(group_sums)
    sums = np.zeros((n_groups, group_sums.shape[1]))
    for i, row in enumerate(_rows_of_triangle(n_groups)):
        sums[i] += group_sums[row].sum(axis=0)
        sums[i:] += group_sums[row]
    first, second = within
    return QuadraticForm(
        second * sums.sum(axis=0),
        -2.0 * (second + between) * sums,
        2.0 * (first + second + 2.0 * between) * group_sums,
    )


def pair_form(group_sums: _Float, weight: float) -> QuadraticForm:
    """Return the attributed HSIC as a function of which groups exchange their targets.

    Parameters
    ----------
    group_sums : ndarray of shape (G(G+1)/2, 4, P)
        T^{pq} for groups I ≤ J, at 2p + q: what unordered pairs of rows add if the targets of I are
        exchanged (p) and those of J (q).
    weight : float
        The weight of ordered pairs.
    """
    n_groups = _n_groups(group_sums)
    neither = 2.0 * weight * group_sums[:, 0]
    # What changes if the second group exchanges its targets, the first, and both.
    second, first, both = (2.0 * weight * group_sums[:, k] - neither for k in (1, 2, 3))
    linear = np.zeros((n_groups, group_sums.shape[2]))
    quadratic = both
    for i, row in enumerate(_rows_of_triangle(n_groups)):
        # A group with itself, at the row's start, exchanges both or neither: s_i² = s_i.
        others = slice(row.start + 1, row.stop)
        linear[i] += first[others].sum(axis=0)
        linear[i + 1 :] += second[others]
        quadratic[others] -= first[others] + second[others]
    return QuadraticForm(neither.sum(axis=0), linear, quadratic)


def _rows_of_triangle(n: int) -> Iterator[slice]:
    """Yield where the rows of an upper triangle, diagonal first, stand in a list of its entries."""
    start = 0
    for length in range(n, 0, -1):
        yield slice(start, start + length)
        start += length


def _n_groups(group_sums: _Float) -> int:
    return (math.isqrt(8 * len(group_sums) + 1) - 1) // 2


def _most_blocks(n_players: int) -> int:
    """Return the number of blocks whose sums stay below 16 MB."""
    return max(2 * _LEAST_BLOCKS, min(_MOST_BLOCKS, math.isqrt((1 << 22) // n_players)))


# --- p-values ---


@dataclass(frozen=True, eq=False)
class Significance:
    """What a permutation test says.

    Parameters
    ----------
    pvalue : float
        Of the statistic.
    feature_pvalues : ndarray of shape (P,)
        Of each value by itself.
    familywise_pvalues : ndarray of shape (P,)
        Of each value, corrected for there being P of them.
    permuted_values : ndarray of shape (B, P)
        The values after each relabelling.
    """

    pvalue: float
    feature_pvalues: _Float
    familywise_pvalues: _Float
    permuted_values: _Float


def significance(observed: _Float, permuted: Iterable[_Float], scale: _Float) -> Significance:
    """Compare observed values with relabelled ones.

    Parameters
    ----------
    observed : ndarray of shape (P,)
    permuted : iterable of ndarrays of shape (chunk, P)
    scale : ndarray of shape (P,)
        What rounding errors are measured on: values that differ by less than 1e-12 of it are tied.

    Notes
    -----
    Corrected are p-values by the distribution of the largest of the values, each standardised by
    its mean and standard deviation over all relabellings, the observed one among them (Westfall
    and Young 1993): the chance that any of them is ≤ α is at most α.
    """
    values = np.concatenate(list(permuted))
    tolerance = 1e-12 * scale
    most = math.fsum(observed) - tolerance.sum()
    everything = np.concatenate([observed[None], values])
    spread = everything.std(axis=0)
    varies = spread > tolerance
    standardised = (everything - everything.mean(axis=0))[:, varies] / spread[varies]
    corrected = np.ones(len(observed))
    if varies.any():
        largest = standardised[1:].max(axis=1)
        corrected[varies] = _shares(largest[:, None] >= standardised[0] - 1e-9)
    return Significance(
        float(_shares((values.sum(axis=1) >= most)[:, None])[0]),
        _shares(values >= observed - tolerance),
        corrected,
        values,
    )


def _shares(at_least: NDArray[np.bool_]) -> _Float:
    """Return (b + 1) / (B + 1) for each column."""
    b: _Float = at_least.sum(axis=0).astype(np.float64)
    return (b + 1.0) / (len(at_least) + 1.0)
