"""Estimates of a statistic over a design: values with standard errors, and sums for tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from pkex.compare.comparison import StatisticValues
from pkex.compare.pairs.pair_sums import total
from pkex.compare.sampled.block_sums import BlockStatistic, BlockSums, means_of_parts, tasks
from pkex.compare.sampled.budget import pairs_of_budget
from pkex.compare.sampled.design import Design
from pkex.compare.sampled.error_of_means import MeansSample, with_error_of_means
from pkex.compare.sampled.sample import Sample, parts
from pkex.compare.statistic_options import StatisticOptions
from pkex.execution.backends import Threads
from pkex.execution.computation import Computation
from pkex.typing import Float, Report


class Statistic(Protocol):
    """A statistic of the rows of a block, attributed to players."""

    def __call__(self, *rows: Float) -> BlockSums:
        """Return the sums of a block from its rows (size, d) of each sample."""

    def with_parts_of(self, reference: Float, n_threads: int) -> list[BlockStatistic]:
        """Return statistics with means from parts of the reference, without sums for tests.

        The list is empty if there are no means.
        """


@dataclass(frozen=True, eq=False)
class DesignEstimate:
    """Estimates from the blocks of a design.

    Parameters
    ----------
    design : Design
    values : StatisticValues
        Without significance.
    groups : ndarray
        Mean over all blocks of the sums over pairs of slots.
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
    computation: Computation,
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
        Rows that are not in any pair.
    unit : tuple of int
        Numbers of rows of each sample in the smallest block.
    options : StatisticOptions
    computation : Computation
    report : callable, optional
    together : int
        The number of neighboring rows that stay together in all rounds.
    """
    example_rows = reference.take(np.arange(sum(unit)), axis=0, mode="wrap")
    workers = computation.workers or Threads(computation.n_threads)
    compare = partial(statistic, *np.split(example_rows, np.cumsum(unit)[:-1]))
    budget = pairs_of_budget(options.budget, sum(unit), compare, workers.number)
    n_rows = tuple(sample.source.n_rows for sample in samples)
    design = Design.of(options.conventions.estimator, n_rows, unit, budget)
    means_sample = MeansSample(design, unit)
    shifts = partial(design.shifts, together, options.random_state)
    part_means, groups = means_of_parts(
        tasks(means_sample.collect(parts(samples, design)), shifts),
        statistic,
        design,
        workers,
        report,
    )
    statistics_of_parts = statistic.with_parts_of(reference, computation.n_threads)
    # Parts are independent and identically distributed.
    errors = part_means.std(axis=0, ddof=1) / np.sqrt(len(part_means))
    errors = with_error_of_means(errors, statistics_of_parts, means_sample, workers)
    values, alone = np.split(total(part_means) / len(part_means), 2)
    statistic_values = StatisticValues(values, alone, errors[: len(values)])
    return DesignEstimate(design, statistic_values, groups)
