"""Sums over pairs of rows, as the compiled engine gives them, with names for their parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.compare.kernel.terms import KernelTerms
from pkex.execution.backends import Workers
from pkex.execution.computation import Computation
from pkex.typing import Float

__all__ = ["PairSums", "pair_matrix", "pair_sums", "pair_triangle", "sums_over_pairs", "total"]

# Rows of which there are enough pairs to be worth the way, many seconds of one core.
_MANY_ROWS = 20_000
# Tiles of a piece of work, and pieces that each worker has before the next ones are handed out.
_OF_PIECE, _OF_WORKER = 256, 4

# Rows, terms, players, absent factors and groups; and what pairs weigh: see `_core.tile_sums`.
_Sample: TypeAlias = tuple[Float, list[Any], NDArray[np.int64], Float | None, NDArray[np.int64]]
_Weighting: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of γ over the unordered pairs of two classes of rows.

    Parameters
    ----------
    rows : ndarray of shape (N, 2, P)
        For each row, over all other rows of the first class and of the second.
    groups : ndarray of shape (G(G+1)/2, P), or 2P
        Over pairs of groups I ≤ J, row by row of the triangle; where asked for, followed by what
        players are worth alone.
    alone : ndarray of shape (3, P)
        What each player is worth alone, v({j}): over pairs within the first class, between, within
        the second.
    squares : ndarray of shape (3, P)
        Σγ² over these.
    """

    rows: Float
    groups: Float
    alone: Float
    squares: Float


def pair_sums(
    rows: Float,
    n_first: int,
    terms: KernelTerms,
    groups: NDArray[np.int64] | None = None,
    *,
    weights: Float | None = None,
    skips_second: bool = False,
    alone_in_groups: bool = False,
    how: Computation,
) -> PairSums:
    """Sum over all pairs of rows, of which the first `n_first` are one class.

    Parameters
    ----------
    rows : ndarray of shape (N, d)
    groups : ndarray of int64, shape (N,), optional
        The group of each row; the two classes if not given.
    weights : ndarray of shape (N,), optional
        A pair is weighted by the product of its rows' weights, but for the squares.
    skips_second : bool
        Whether pairs within the second class are left out.
    alone_in_groups : bool
        Whether groups' sums are those of what players are worth alone, too.
    how : Computation
    """
    if groups is None:
        groups = np.zeros(len(rows), dtype=np.int64)
        groups[n_first:] = int(n_first > 0)
    sample = (rows, terms.terms, terms.players, terms.absent, groups)
    weighting = (n_first, weights, skips_second, terms.takes_halves)
    of_rows, of_groups, *others = sums_over_pairs(
        sample, weighting, how, alone_in_groups=alone_in_groups
    )
    return PairSums(of_rows, of_groups[:, 0], *others)


def total(rows: Float) -> Float:
    """Return the exactly rounded sum of rows (n, P); shape (P,)."""
    return np.array([math.fsum(column.tolist()) for column in rows.T])


def pair_triangle(
    rows: Float, terms: KernelTerms, how: Computation, *, with_alone: bool = False
) -> Float:
    """Return γ of the pairs a ≤ b of a few rows, row by row; shape (n(n+1)/2, P).

    It is 0 for a row with itself. With what players are worth alone behind it, the shape is
    (n(n+1)/2, 2P).
    """
    n = len(rows)
    each = np.arange(n, dtype=np.int64)
    sums = pair_sums(rows, n, terms, each, alone_in_groups=with_alone, how=how)
    return sums.groups


def pair_matrix(rows: Float, terms: KernelTerms, how: Computation) -> Float:
    """Return γ of all pairs of a few rows, 0 for a row with itself; shape (n, n, P)."""
    triangle = pair_triangle(rows, terms, how)
    matrix = np.zeros((len(rows), len(rows), triangle.shape[1]))
    matrix[np.triu_indices(len(rows))] = triangle
    return matrix + matrix.transpose(1, 0, 2)


def sums_over_pairs(
    sample: _Sample, weighting: _Weighting, how: Computation, *, alone_in_groups: bool
) -> tuple[Float, Float, Float, Float]:
    """Return sums over pairs: of rows, of groups (·, weights, ·), alone and squares."""
    rows = sample[0]
    if how.workers is None or len(rows) < _MANY_ROWS:
        return _core.pair_sums(
            sample,
            weighting,
            alone_in_groups=alone_in_groups,
            summation=how.summation,
            n_threads=how.n_threads,
            progress=how.progress,
        )
    work = partial(_tile_sums, sample, weighting, alone_in_groups)
    return _core.sums_of_parts(
        sample,
        weighting,
        partial(_parts, how.workers, work, how),
        alone_in_groups=alone_in_groups,
        summation=how.summation,
    )


def _tile_sums(
    sample: _Sample, weighting: _Weighting, alone_in_groups: bool, tiles: tuple[int, int]
) -> Float:
    return _core.tile_sums(sample, weighting, alone_in_groups=alone_in_groups, tiles=tiles)


def _parts(
    workers: Workers, work: partial[Float], how: Computation, n_tiles: int
) -> Iterator[Float]:
    """Yield the sums of all tiles, piece after piece."""
    pieces = [(start, min(start + _OF_PIECE, n_tiles)) for start in range(0, n_tiles, _OF_PIECE)]
    at_once = _OF_WORKER * workers.number
    for first in range(0, len(pieces), at_once):
        some = pieces[first : first + at_once]
        for part in workers.map(work, some):
            # What comes over a network may lie at an odd address.
            yield np.require(part, requirements=("C_CONTIGUOUS", "ALIGNED"))
        if how.progress is not None:
            how.progress(some[-1][1], n_tiles)
