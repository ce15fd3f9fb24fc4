"""A statistic estimated over a design: values with standard errors, and sums for tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from pkex.compare.comparison import StatisticValues
from pkex.compare.sampled.block_sums import BlockSums, OfBlock, estimates_of_parts, tasks
from pkex.compare.sampled.budget import pairs_of_budget
from pkex.compare.sampled.design import Design
from pkex.compare.sampled.error_of_means import Pieces, with_error_of_means
from pkex.compare.sampled.sample import Sample, parts
from pkex.compare.statistic_options import StatisticOptions
from pkex.execution.backends import Threads
from pkex.execution.computation import Computation
from pkex.typing import Float, Report

__all__ = ["DesignEstimate", "Statistic", "estimate_over_design"]


class Statistic(Protocol):
    """A statistic of the rows of a block, divided among players."""

    def __call__(self, *rows: Float) -> BlockSums:
        """Return what a block gives, by its rows (size, d) of each sample."""

    def with_parts_of(self, reference: Float, n_threads: int) -> list[OfBlock]:
        """Return the same with the means of each of some parts of the reference; no sums for tests.

        None where there are no means.
        """


@dataclass(frozen=True, eq=False)
class DesignEstimate:
    """What a design says.

    Parameters
    ----------
    design : Design
    values : StatisticValues
        Without a test.
    groups : ndarray
        The mean of all blocks' sums over pairs of slots.
    """

    design: Design
    values: StatisticValues
    groups: Float


def estimate_over_design(
    statistic: Statistic,
    samples: tuple[Sample, ...],
    reference: Float,
    unit: tuple[int, ...],
    options: StatisticOptions,
    how: Computation,
    report: Report | None,
    *,
    together: int = 1,
) -> DesignEstimate:
    """Estimate a statistic from the pairs of a design.

    Parameters
    ----------
    statistic : Statistic
    samples : tuple of Sample
    reference : ndarray of shape (k, d)
        Rows that are in no pair.
    unit : tuple of int
        Rows of each sample in the smallest block.
    options : StatisticOptions
    how : Computation
    report : callable, optional
    together : int
        The number of neighbours that move together from one round to the next.
    """
    some = reference.take(np.arange(sum(unit)), axis=0, mode="wrap")
    run = how.workers or Threads(how.n_threads)
    of_some = partial(statistic, *np.split(some, np.cumsum(unit)[:-1]))
    budget = pairs_of_budget(options.budget, sum(unit), of_some, run.number)
    n_rows = tuple(sample.source.n_rows for sample in samples)
    design = Design.of(options.conventions.estimator, n_rows, unit, budget)
    pieces = Pieces(design, unit)
    shifts = partial(design.shifts, together, options.random_state)
    found = estimates_of_parts(
        tasks(pieces.of(parts(samples, design)), shifts), statistic, design, run, report
    )
    with_others = statistic.with_parts_of(reference, how.n_threads)
    errors = with_error_of_means(found.standard_errors, with_others, pieces, run)
    values, alone = np.split(found.numbers, 2)
    of_all = StatisticValues(values, alone, errors[: len(values)])
    return DesignEstimate(design, of_all, found.groups)
