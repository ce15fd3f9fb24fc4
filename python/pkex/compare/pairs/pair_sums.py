"""Sums over pairs of rows, computed by the engine in threads or by joblib's workers.

Workers receive all rows once, and return the sums of rectangles of tiles, whose rows are some
thousands. The sums are added here in the same order as for threads, so that the bits are equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.compare.kernel.terms import KernelTerms
from pkex.execution.backends import Workers, ranges_of_tasks
from pkex.execution.computation import Computation
from pkex.typing import Float

# Smallest number of rows for workers: their pairs take many seconds of one core.
_MANY_ROWS = 20_000
# Largest number of rectangles times players of a task, whose results are some twenty megabytes.
_TASK_SIZE = 640

# Rows, terms, players, absent factors and groups; weights of pairs: see `_core.rectangle_sums`.
_Sample: TypeAlias = tuple[Float, list[Any], NDArray[np.int64], Float | None, NDArray[np.int64]]
_Weighting: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of γ over the unordered pairs of rows of two classes.

    Parameters
    ----------
    rows : ndarray of shape (N, 2, P)
        For each row, the sums over all other rows of the first class and of the second.
    groups : ndarray of shape (G(G+1)/2, P), or 2P
        Sums over pairs of groups I ≤ J, row by row of the triangle; optionally followed by the sums
        of univariate values.
    alone : ndarray of shape (3, P)
        Sums of univariate values v({j}) over pairs within the first class, between the classes and
        within the second.
    squares : ndarray of shape (3, P)
        Σγ² over the same pairs.
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
    univariate_in_groups: bool = False,
    computation: Computation,
) -> PairSums:
    """Sum over all pairs of rows; the first `n_first` rows are the first class.

    Parameters
    ----------
    rows : ndarray of shape (N, d)
    groups : ndarray of int64, shape (N,), optional
        The group of each row; by default the two classes.
    weights : ndarray of shape (N,), optional
        A pair is weighted by the product of its rows' weights, except in the squares.
    skips_second : bool
        Whether pairs within the second class are omitted.
    univariate_in_groups : bool
        Whether sums of groups include those of univariate values.
    computation : Computation
    """
    if groups is None:
        groups = np.zeros(len(rows), dtype=np.int64)
        groups[n_first:] = int(n_first > 0)
    sample = (rows, terms.terms, terms.players, terms.absent, groups)
    weighting = (n_first, weights, skips_second, terms.takes_halves)
    row_sums, group_sums, *further_sums = sums_over_pairs(
        sample, weighting, computation, univariate_in_groups=univariate_in_groups
    )
    return PairSums(row_sums, group_sums[:, 0], *further_sums)


def total(rows: Float) -> Float:
    """Return the exactly rounded sum of rows (n, P); shape (P,)."""
    return np.array([math.fsum(column.tolist()) for column in rows.T])


def pair_triangle(
    rows: Float, terms: KernelTerms, computation: Computation, *, with_alone: bool = False
) -> Float:
    """Return γ of the pairs a ≤ b of a few rows, row by row; shape (n(n+1)/2, P).

    It is 0 for a row with itself. With univariate values, the shape is (n(n+1)/2, 2P).
    """
    n = len(rows)
    groups = np.arange(n, dtype=np.int64)
    sums = pair_sums(
        rows, n, terms, groups, univariate_in_groups=with_alone, computation=computation
    )
    return sums.groups


def pair_matrix(rows: Float, terms: KernelTerms, computation: Computation) -> Float:
    """Return γ of all pairs of a few rows; shape (n, n, P), 0 for a row with itself."""
    triangle = pair_triangle(rows, terms, computation)
    matrix = np.zeros((len(rows), len(rows), triangle.shape[1]))
    matrix[np.triu_indices(len(rows))] = triangle
    return matrix + matrix.transpose(1, 0, 2)


def sums_over_pairs(
    sample: _Sample, weighting: _Weighting, computation: Computation, *, univariate_in_groups: bool
) -> tuple[Float, Float, Float, Float]:
    """Return sums over pairs: of rows, of groups (·, weights, ·), alone and squares."""
    rows = sample[0]
    if computation.workers is None or len(rows) < _MANY_ROWS:
        return _core.pair_sums(
            sample,
            weighting,
            univariate_in_groups=univariate_in_groups,
            summation=computation.summation,
            n_threads=computation.n_threads,
            progress=computation.progress,
        )
    settings: dict[str, Any] = {
        "univariate_in_groups": univariate_in_groups,
        "summation": computation.summation,
    }
    work = partial(_rectangle_sums, sample, weighting, settings)
    return _core.sums_of_parts(
        sample,
        weighting,
        partial(_parts, computation.workers, work, computation),
        **settings,
    )


def _rectangle_sums(
    sample: _Sample, weighting: _Weighting, settings: dict[str, Any], rectangles: tuple[int, int]
) -> Float:
    return _core.rectangle_sums(sample, weighting, **settings, rectangles=rectangles)


def _parts(
    workers: Workers, work: partial[Float], computation: Computation, n_rectangles: int
) -> Iterator[Float]:
    """Yield the sums of all rectangles, task by task."""
    players = work.args[0][2]
    tasks = ranges_of_tasks(n_rectangles, workers.number, max(1, _TASK_SIZE // (players.max() + 1)))
    with closing(workers.map(work, tasks)) as parts:
        for (_, stop), part in zip(tasks, parts, strict=True):
            # Arrays received over a network may be misaligned.
            yield np.require(part, requirements=("C_CONTIGUOUS", "ALIGNED"))
            computation.report(stop, n_rectangles)
