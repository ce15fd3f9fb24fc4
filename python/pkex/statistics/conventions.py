"""Which statistic of rows is computed, by which convention and sums."""

from __future__ import annotations

from dataclasses import dataclass

from pkex.execution.backends import active_workers
from pkex.execution.computation import Computation
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.inputs.choices import (
    ESTIMATORS,
    STATISTICS_CONVENTIONS,
    SUMMATIONS,
    Estimator,
    SampledEstimator,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.typing import Report

__all__ = ["Conventions"]


@dataclass(frozen=True)
class Conventions:
    """Which statistic it is, and how it is summed.

    Parameters
    ----------
    estimator : {"unbiased", "biased", "incomplete", "block"}
    value_function : {"marginal", "neutral"}
    summation : {"compensated", "plain"}
    n_jobs : int or None
    """

    estimator: Estimator | SampledEstimator
    value_function: StatisticsConvention
    summation: Summation
    n_jobs: int | None

    @classmethod
    def checked(
        cls,
        estimator: Estimator | SampledEstimator,
        value_function: StatisticsConvention,
        summation: Summation,
        n_jobs: int | None,
        estimators: tuple[Estimator | SampledEstimator, ...] = ESTIMATORS,
    ) -> Conventions:
        """Check the words, the first to be one of some estimators."""
        check_choice("estimator", estimator, estimators)
        check_choice("value_function", value_function, STATISTICS_CONVENTIONS)
        check_choice("summation", summation, SUMMATIONS)
        return cls(estimator, value_function, summation, check_n_jobs(n_jobs))

    @property
    def is_biased(self) -> bool:
        """Whether pairs of a row with itself count."""
        return self.estimator == "biased"

    def computation(self, progress: Report | None = None) -> Computation:
        """Return how sums are computed, with the threads that there are here and now."""
        return Computation(
            summation=self.summation,
            n_threads=thread_count(self.n_jobs),
            progress=progress,
            workers=active_workers(self.n_jobs),
        )
