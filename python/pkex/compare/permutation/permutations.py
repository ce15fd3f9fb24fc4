"""Permutation tests: how rows are relabelled, and what the relabelled statistics say.

Relabelling rows only reweighs pairs, so one pass over the pairs serves every permutation. Small
samples are permuted row by row. Large ones are cut at random into blocks, whose sums over pairs of
blocks are all that is kept: permuting whole blocks is a subgroup of all permutations, and its tests
are valid too (Domingo-Enrich, Dwivedi and Mackey 2025, Cheap permutation testing).

What they say is found out in `pkex.compare.permutation.significance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.errors import warn
from pkex.inputs.integers import as_integer
from pkex.typing import Float

__all__ = [
    "Blocks",
    "can_permute_rows",
    "check_fits",
    "check_n_permutations",
    "permuted_sums",
    "share_of_same_orders",
    "two_sample_blocks",
    "warn_of_few_relabellings",
]

_Int = NDArray[np.int64]

# Blocks that rows are arranged in; samples of no more rows are permuted row by row.
_MOST_BLOCKS = 128
# However many features and permutations there are, so many are affordable.
_LEAST_BLOCKS = 32
# Numbers held at a time while relabelling.
_CHUNK = 1 << 20
# So many blocks² · permutations take about as long as a row² (measured on two cores).
_BLOCKS_FOR_A_ROW = 6.0
# Rows that are permuted one by one if their pairs' values take no more than 64 MB, of which
# there are three copies for a while, and their products some three seconds of one core; those that
# are however long that takes, as exchanges in octets lose power; and those that always are.
_MOST_ROWS = 512
_MOST_PAIR_VALUES = 1 << 23
_MOST_PRODUCTS = 1 << 34
_FEW_ROWS = 128
_VERY_FEW_ROWS = 64
# Relabelled values that a result may hold, 800 MB; the test holds as many again of features alone.
_MOST_VALUES = 10**8


def check_n_permutations(number: object) -> int:
    """Return the number of permutations, or say what it may be."""
    return as_integer("n_permutations", number, "an integer, 0 (no test) or positive", least=0)


def check_fits(n_permutations: int, n_players: int) -> None:
    """Refuse more permutations than there is memory for."""
    if n_permutations * n_players > _MOST_VALUES:
        raise ValueError(
            f"n_permutations={n_permutations} is too large: the result holds the relabelled values "
            f"of {n_players} features; take at most {_MOST_VALUES // n_players}, or fewer groups"
        )


def warn_of_few_relabellings(n_permutations: int, same: Fraction) -> None:
    """Warn if p-values cannot become as small as permutations would have them.

    Parameters
    ----------
    n_permutations : int
    same : Fraction
        The share of all relabellings that give the observed statistic whatever the kernel, or a
        smaller number.
    """
    if same * (n_permutations + 1) > 1:
        warn(
            f"n_permutations={n_permutations}, but so few relabellings of the rows differ that no "
            f"p-value can be expected below {float(same):.3g} at best, however many are drawn"
        )


def _most_blocks(n_players: int, n_rows: int, n_permutations: int) -> int:
    """Return the number of blocks that take no more memory than 32 MB, nor time than the pairs.

    The pairs of at least 4000 rows, that is: those of fewer take no time to speak of.
    """
    fits = math.isqrt((1 << 22) // n_players)
    affordable = _MOST_BLOCKS
    if n_rows > _MOST_BLOCKS:
        affordable = int(max(n_rows, 4000) * math.sqrt(_BLOCKS_FOR_A_ROW / (n_permutations + 1)))
    return max(_LEAST_BLOCKS, min(_MOST_BLOCKS, fits, affordable))


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

    @classmethod
    def of(cls, n_rows: tuple[int, int], size: int, counts: tuple[int, int], order: _Int) -> Blocks:
        """Cut two samples of so many rows, in an order, into so many blocks of each."""
        groups, movable = [], []
        in_first: list[bool] = []
        for number, (rows, count) in enumerate(zip(n_rows, counts, strict=True)):
            first = len(in_first)
            groups.append(np.minimum(np.arange(rows, dtype=np.int64) // size, count) + first)
            movable.append(np.arange(first, first + count, dtype=np.int64))
            in_first += [number == 0] * (count + (rows > count * size))
        return cls(order, np.concatenate(groups), (movable[0], movable[1]), np.array(in_first))

    def relabelled(self, number: int, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Draw which blocks are the first sample's; shape (number, n_blocks)."""
        labels = np.tile(self.in_first, (number, 1))
        movable = np.concatenate(self.movable)
        # Shuffled in each row, the observed labels are a uniformly drawn relabelling.
        chunk = max(1, _CHUNK // len(movable))
        for start in range(0, number, chunk):
            rows = labels[start : start + chunk]
            rows[:, movable] = generator.permuted(rows[:, movable], axis=1)
        return labels

    def share_of_same(self, rows: Float) -> Fraction:
        """Return the share of relabellings that leave the samples what they are, or exchange them.

        Parameters
        ----------
        rows : ndarray of shape (n + m, d)
            As arranged. Equal rows are told apart if they are in blocks.
        """
        first, second = map(len, self.movable)
        n = int(self.in_first[self.groups].sum())
        same = 1
        if first + second == len(rows):
            _, kind = np.unique(rows, axis=0, return_inverse=True)
            of_first, of_all = (np.bincount(k, minlength=len(rows)) for k in (kind[:n], kind))
            same = math.prod(map(math.comb, of_all.tolist(), of_first.tolist()))
            # Samples of the same rows are exchanged by what leaves them what they are.
            can_exchange = 2 * n == len(rows) and bool((2 * of_first != of_all).any())
        else:
            can_exchange = 2 * n == len(rows) and first + second == len(self.in_first)
        return Fraction(same * (1 + can_exchange), math.comb(first + second, first))


def two_sample_blocks(
    n: int, m: int, n_players: int, n_permutations: int, generator: np.random.Generator
) -> Blocks:
    """Arrange two samples of n and m rows at random."""
    most = _most_blocks(n_players, n + m, n_permutations)
    # Where one sample is much the larger, blocks are made smaller so that the other has a share of
    # them, and most rows of the larger stay where they are.
    size = max(1, min(math.ceil((n + m) / most), min(n, m) // min(16, most // 4)))
    counts = n // size, m // size
    if sum(counts) > most:
        least = min(*counts, most // 2)
        counts = min(counts[0], most - least), min(counts[1], most - least)
    order = np.concatenate([generator.permutation(n), n + generator.permutation(m)])
    return Blocks.of((n, m), size, counts, order.astype(np.int64))


# --- targets of one sample ---


def can_permute_rows(n_rows: int, n_players: int, n_permutations: int) -> bool:
    """Whether a sample is small enough for its targets to be permuted row by row.

    The values of all pairs are held, n² P of them, and multiplied for each permutation. Up to 64
    rows that is always done, up to 128 if they fit into memory, and up to 512 if it takes no more
    than some seconds, too.
    """
    values = n_rows**2 * n_players
    if n_rows <= _VERY_FEW_ROWS:
        return True
    is_quick = n_rows <= _FEW_ROWS or values * n_permutations <= _MOST_PRODUCTS
    return n_rows <= _MOST_ROWS and values <= _MOST_PAIR_VALUES and is_quick


def share_of_same_orders(rows: Float, are_labels: bool) -> Fraction:
    """Return the share of the orders of rows in which pairs of places compare as they did.

    Parameters
    ----------
    rows : ndarray of shape (n, ·)
    are_labels : bool
        Whether rows compare as equal or not and no more, so that the names of classes of equal size
        may be exchanged.
    """
    _, counts = np.unique(rows, axis=0, return_counts=True)
    same = math.prod(map(math.factorial, counts.tolist()))
    if are_labels or len(counts) == 2:
        alike = np.bincount(counts)
        same *= math.prod(map(math.factorial, alike.tolist()))
    return Fraction(same, math.factorial(len(rows)))


def permuted_sums(
    weights: Float,
    values: Float,
    number: int,
    generator: np.random.Generator,
    n_threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Float:
    """Return Σ_{a<b} w_ab γ_ab as it is, and with the weights' rows and columns permuted alike.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Symmetric.
    values : ndarray of shape (n(n+1)/2, P)
        γ of the pairs a ≤ b, row by row of the triangle; those of a row with itself do not count.
    number : int
        The number of permutations.

    Returns
    -------
    ndarray of shape (1 + number, P)
    """
    n = len(weights)
    sums = np.empty((1 + number, values.shape[1]))
    chunk = max(1, _CHUNK // n)
    for start in range(0, 1 + number, chunk):
        orders = np.tile(np.arange(n, dtype=np.int64), (min(chunk, 1 + number - start), 1))
        moved = orders[1:] if start == 0 else orders
        moved[:] = generator.permuted(moved, axis=1)
        some = _core.permuted_sums(weights, values, orders, n_threads=n_threads)
        sums[start : start + len(orders)] = some
        if progress is not None:
            progress(start + len(orders), len(sums))
    return sums
