"""Sums over pairs of rows, as the compiled engine gives them, with names for their parts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.compare.kernel.terms import KernelTerms
from pkex.compare.pairs.tiles_on_workers import sums_over_pairs
from pkex.execution.computation import Computation
from pkex.typing import Float

__all__ = ["PairSums", "pair_matrix", "pair_sums", "pair_triangle", "total"]


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
