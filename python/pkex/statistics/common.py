"""What MMD, HSIC and the drift detector do alike before they sum over pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pkex.errors import InputError
from pkex.execution.backends import active_workers
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.inputs.choices import (
    ESTIMATORS,
    SAMPLED_ESTIMATORS,
    STATISTICS_CONVENTIONS,
    SUMMATIONS,
    Estimator,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.factors import has_mixtures
from pkex.kernels.scales import Constants
from pkex.statistics.kernel_choice import check_kernel, chosen_kernel, without_rounding
from pkex.statistics.pair_sums import KernelTerms
from pkex.tables.samples import warn_of_constant_columns
from pkex.typing import Float, Report

__all__ = [
    "Conventions",
    "check_distances",
    "exact_domain",
    "has_series",
    "in_units",
    "with_kernel",
]


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
        estimator: str = self.estimator
        if estimator in SAMPLED_ESTIMATORS:
            raise ValueError(
                f"estimator={estimator!r} is for pkex.mmd and pkex.hsic alone, which choose pairs "
                "of rows anew in each call; here take 'unbiased' or 'biased', of a random part of "
                "the rows if there are too many"
            )
        check_choice("estimator", self.estimator, ESTIMATORS)
        check_choice("value_function", self.value_function, STATISTICS_CONVENTIONS)
        check_choice("summation", self.summation, SUMMATIONS)
        object.__setattr__(self, "n_jobs", check_n_jobs(self.n_jobs))

    def computation(self, progress: Report | None = None) -> Computation:
        """Return how sums are computed, with the threads that there are here and now."""
        n_threads = thread_count(self.n_jobs)
        return Computation(
            summation=self.summation,
            n_threads=n_threads,
            progress=progress,
            workers=active_workers(self.n_jobs),
        )

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


def largest_spans(kernel: Kernel, domain: Domain, labels: Sequence[int]) -> Float | None:
    """Return how wide samples may be where a kernel has mixtures, which are made for a domain.

    None if it has none; labels may be as far apart as they like.
    """
    if not has_mixtures(kernel.terms(len(domain.spans))):
        return None
    spans = domain.spans.copy()
    spans[list(labels)] = np.inf
    return spans


def check_distances(batch: Float, reference: Float, largest: Float, names: Sequence[str]) -> None:
    """Refuse rows between which and a reference the kernel's mixtures are not exact.

    Parameters
    ----------
    batch, reference : ndarray of shape (m, d) and (n, d)
    largest : ndarray of shape (d,)
        How wide both may be together.
    names : sequence of str
        Of the columns.
    """
    both = np.concatenate([batch, reference])
    with np.errstate(over="ignore"):
        spans = both.max(axis=0) - both.min(axis=0)
    if (spans > largest).any():
        name = names[int(np.argmax(spans / largest))]
        raise InputError(
            "X",
            "has values thousands of times as far from X_reference as that is wide, and there the "
            "sum of products for the kernel is not exact; are they codes of missing values?",
            ["replace them", "compare with pkex.mmd"],
            column=name,
        )
