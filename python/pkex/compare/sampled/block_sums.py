"""Sums over the blocks of a design, in an order that does not depend on the number of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.compare.pairs.pair_sums import total
from pkex.compare.sampled.design import Design
from pkex.execution.backends import Threads, Workers
from pkex.typing import Float, Report

# Number of blocks of a task, and of tasks after which progress is reported.
_BLOCKS_PER_TASK, _TASKS_PER_REPORT = 16, 8


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Sums of one or several blocks.

    Parameters
    ----------
    numbers : ndarray of shape (2P,)
        Shapley values, then univariate values.
    groups : ndarray
        Sums over pairs of slots; empty without a test.
    """

    numbers: Float
    groups: Float


@dataclass(frozen=True, eq=False)
class Task:
    """Some blocks of one round of a part.

    Parameters
    ----------
    part : int
    rows : tuple of ndarrays of shape (n_blocks, size, d)
        Rows of the whole part, for each sample.
    shifts : ndarray of int, shape (rows of a block,)
        Number of blocks by which the rows at each place are shifted.
    blocks : range
    """

    part: int
    rows: tuple[Float, ...]
    shifts: NDArray[np.int64]
    blocks: range

    def samples(self) -> list[tuple[Float, ...]]:
        """Return the rows of each block, shape (size, d) for each sample."""
        samples, first = [], 0
        for rows in self.rows:
            n_blocks, size = rows.shape[:2]
            block_numbers = np.array(self.blocks)[:, None] + self.shifts[first : first + size]
            samples.append(rows[block_numbers % n_blocks, np.arange(size)])
            first += size
        return list(zip(*samples, strict=True))


# Computes the sums of a block from its rows of each sample.
BlockStatistic: TypeAlias = Callable[..., BlockSums]


def _sums(statistic: BlockStatistic, blocks: list[tuple[Float, ...]]) -> BlockSums:
    """Return the sums over blocks, added in order."""
    sums = statistic(*blocks[0])
    for samples in blocks[1:]:
        sums_of_block = statistic(*samples)
        sums.numbers[:] += sums_of_block.numbers
        sums.groups[:] += sums_of_block.groups
    return sums


def tasks(
    parts: Iterable[tuple[Float, ...]], shifts: Callable[[], NDArray[np.int64]]
) -> Iterator[Task]:
    """Yield the tasks of all parts, with new random shifts (n_rounds, ·) for each part."""
    for number, rows in enumerate(parts):
        for round_shifts in shifts():
            n_blocks = len(rows[0])
            for start in range(0, n_blocks, _BLOCKS_PER_TASK):
                blocks = range(start, min(start + _BLOCKS_PER_TASK, n_blocks))
                yield Task(number, rows, round_shifts, blocks)


def means_of_parts(
    queue: Iterator[Task],
    statistic: BlockStatistic,
    design: Design,
    workers: Threads | Workers,
    report: Report | None,
) -> tuple[Float, Float]:
    """Return means over the blocks of a design.

    Returns
    -------
    numbers : ndarray of shape (n_parts, 2P)
        Mean over the blocks of each part.
    groups : ndarray
        Mean over all blocks of the sums over pairs of slots.
    """
    n_parts, n_blocks_of_part = design.n_parts, design.n_rounds * design.n_blocks
    numbers: list[list[Float]] = [[] for _ in range(n_parts)]
    groups: Float | None = None
    n_done, pending = 0, deque[tuple[int, int]]()

    # Tasks are read ahead of their results; by joblib in another thread.
    def blocks() -> Iterator[list[tuple[Float, ...]]]:
        for task in queue:
            pending.append((task.part, len(task.blocks)))
            yield task.samples()

    with closing(workers.map(partial(_sums, statistic), blocks())) as results:
        for number, sums in enumerate(results, start=1):
            part, n_blocks = pending.popleft()
            numbers[part].append(sums.numbers)
            groups = sums.groups if groups is None else groups + sums.groups
            n_done += n_blocks
            if report is not None and number % _TASKS_PER_REPORT == 0:
                report(n_done, n_parts * n_blocks_of_part)
    means = np.array([total(np.array(sums)) / n_blocks_of_part for sums in numbers])
    assert groups is not None, "a design has blocks"
    return means, groups / (n_parts * n_blocks_of_part)
