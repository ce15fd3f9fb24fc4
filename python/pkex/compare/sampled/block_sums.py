"""Sums over the blocks of a design, in an order that does not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.compare.pairs.pair_sums import total
from pkex.compare.sampled.design import Design
from pkex.execution.backends import Threads, Workers
from pkex.typing import Float, Report

__all__ = ["BlockSums", "OfBlock", "PartEstimates", "Task", "estimates_of_parts", "tasks"]

# Blocks that a task holds, and tasks whose sums are held at a time for each thread or worker.
_OF_TASK, _OF_WAVE = 16, 8


@dataclass(frozen=True, eq=False)
class BlockSums:
    """What a block gives, or several of them together.

    Parameters
    ----------
    numbers : ndarray of shape (2P,)
        The values, then those of features alone.
    groups : ndarray
        Sums over pairs of slots, for tests; empty without.
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
        Of the whole part, of each sample.
    shifts : ndarray of int, shape (rows of a block,)
        By how many blocks the rows at each place move on.
    blocks : range
    """

    part: int
    rows: tuple[Float, ...]
    shifts: NDArray[np.int64]
    blocks: range

    def samples(self) -> list[tuple[Float, ...]]:
        """Return for each block the rows of each sample in it, shape (size, d)."""
        found, first = [], 0
        for rows in self.rows:
            n_blocks, size = rows.shape[:2]
            moved = np.array(self.blocks)[:, None] + self.shifts[first : first + size]
            found.append(rows[moved % n_blocks, np.arange(size)])
            first += size
        return list(zip(*found, strict=True))


# What the rows of a block, of each sample, give.
OfBlock: TypeAlias = Callable[..., BlockSums]


def _sums(of_block: OfBlock, blocks: list[tuple[Float, ...]]) -> BlockSums:
    """Return the sums over blocks, one after the other."""
    sums = of_block(*blocks[0])
    for samples in blocks[1:]:
        more = of_block(*samples)
        sums.numbers[:] += more.numbers
        sums.groups[:] += more.groups
    return sums


@dataclass(frozen=True, eq=False)
class PartEstimates:
    """What the parts of a design say.

    Parameters
    ----------
    of_parts : ndarray of shape (n_parts, 2P)
        The mean of the blocks' numbers in each part.
    groups : ndarray
        The mean of all blocks' sums over pairs of slots.
    """

    of_parts: Float
    groups: Float

    @property
    def numbers(self) -> Float:
        """The estimates, (2P,)."""
        mean: Float = total(self.of_parts) / len(self.of_parts)
        return mean

    @property
    def standard_errors(self) -> Float:
        """Those of the estimates: parts are independent, and distributed alike; (2P,)."""
        errors: Float = self.of_parts.std(axis=0, ddof=1) / np.sqrt(len(self.of_parts))
        return errors


def tasks(
    parts: Iterable[tuple[Float, ...]], shifts: Callable[[], NDArray[np.int64]]
) -> Iterator[Task]:
    """Yield the tasks of all parts, for each of which new shifts (n_rounds, ·) are drawn."""
    for number, rows in enumerate(parts):
        for of_round in shifts():
            n_blocks = len(rows[0])
            for start in range(0, n_blocks, _OF_TASK):
                blocks = range(start, min(start + _OF_TASK, n_blocks))
                yield Task(number, rows, of_round, blocks)


def estimates_of_parts(
    found: Iterator[Task],
    of_block: OfBlock,
    design: Design,
    run: Threads | Workers,
    report: Report | None,
) -> PartEstimates:
    """Return the means over all blocks of a design."""
    n_parts, of_part = design.n_parts, design.n_rounds * design.n_blocks
    numbers: list[list[Float]] = [[] for _ in range(n_parts)]
    groups: Float | None = None
    done = 0
    while wave := list(islice(found, _OF_WAVE * run.number)):
        blocks = (task.samples() for task in wave)
        for task, sums in zip(wave, run.map(partial(_sums, of_block), blocks), strict=True):
            numbers[task.part].append(sums.numbers)
            groups = sums.groups if groups is None else groups + sums.groups
            done += len(task.blocks)
        if report is not None:
            report(done, n_parts * of_part)
    of_parts = np.array([total(np.array(sums)) / of_part for sums in numbers])
    assert groups is not None, "a design has blocks"
    return PartEstimates(of_parts, groups / (n_parts * of_part))
