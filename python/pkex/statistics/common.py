"""What MMD, HSIC and the drift detector do alike before they sum over pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.inputs.choices import (
    ESTIMATORS,
    STATISTICS_CONVENTIONS,
    SUMMATIONS,
    Estimator,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.scales import Constants
from pkex.statistics.kernel_choice import check_kernel, chosen_kernel, without_rounding
from pkex.statistics.pair_sums import KernelTerms
from pkex.statistics.samples import warn_of_constant_columns
from pkex.typing import Float, Report

__all__ = ["Conventions", "exact_domain", "has_series", "in_units", "with_kernel"]


@dataclass(frozen=True)
class Conventions:
    """Which statistic it is, and how it is summed; the words are checked.

    Parameters
    ----------
    estimator : {"unbiased", "biased"}
    value_function : {"marginal", "neutral"}
    summation : {"compensated", "plain"}
    n_jobs : int or None
    """

    estimator: Estimator
    value_function: StatisticsConvention
    summation: Summation
    n_jobs: int | None

    def __post_init__(self) -> None:
        check_choice("estimator", self.estimator, ESTIMATORS)
        check_choice("value_function", self.value_function, STATISTICS_CONVENTIONS)
        check_choice("summation", self.summation, SUMMATIONS)
        object.__setattr__(self, "n_jobs", check_n_jobs(self.n_jobs))

    def computation(self, progress: Report | None = None) -> Computation:
        """Return how sums are computed, with the threads that there are here and now."""
        n_threads = thread_count(self.n_jobs)
        return Computation(summation=self.summation, n_threads=n_threads, progress=progress)

    def with_means(
        self, terms: KernelTerms, rows: Float, report: Report | None
    ) -> tuple[KernelTerms, Computation]:
        """Return terms with what absent features are, and how what is left is computed."""
        how = self.computation(report)
        if self.value_function == "neutral":
            return terms, how
        # The means take a third of the time, or next to none of Gaussian kernels.
        of_means, report = parts_of(report, 1.0, 2.0)
        return terms.with_means(rows, how.n_threads, of_means), how.reporting(report)


def with_kernel(
    rows: Float,
    names: Sequence[str],
    what: str,
    kernel: Kernel | None,
    labels: Sequence[int] = (),
) -> tuple[Float, Kernel, str | None]:
    """Return rows, their kernel, and how its length-scales were found if it was not given.

    Columns that are constant are warned of; without a kernel, those that are so but for rounding
    are made so.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    names : sequence of str
        Of the columns.
    what : str
        What messages call the rows.
    kernel : Kernel, optional
    labels : sequence of int
        The columns that hold labels, as `chosen_kernel` has them.
    """
    table = rows[:, : len(names)]
    if not has_series(kernel, len(names)):
        warn_of_constant_columns(table, names, what)
    if kernel is None:
        rows = without_rounding(rows, names, what, Constants.of(table))
    return rows, *chosen_kernel(kernel, rows, names, what, labels=labels)


def has_series(kernel: Kernel | None, n_columns: int) -> bool:
    """Whether a kernel is a power series, to which a constant column may contribute."""
    if kernel is None:
        return False
    terms = check_kernel(kernel, "kernel", n_columns).terms(n_columns)
    return any(term.series is not None for term in terms)


def exact_domain(rows: Float) -> Domain:
    """Return the domain of pairs of rows, with the smallest error: what is summed cancels."""
    return Domain.of(rows, ERRORS[-1])


def in_units(terms: KernelTerms) -> tuple[KernelTerms, float]:
    """Divide a kernel by the power of two next to its amplitude, and return that too.

    Squares of what is left neither overflow nor vanish.
    """
    exponent = math.frexp(math.fsum(coefficient for coefficient, *_ in terms.terms))[1] - 1
    scaled = [
        (math.ldexp(coefficient, -exponent), factors, series)
        for coefficient, factors, series in terms.terms
    ]
    return replace(terms, terms=scaled), math.ldexp(1.0, exponent)
