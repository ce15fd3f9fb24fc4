"""Options of the statistics, checked before data are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pkex.compare.permutation.permutations import check_fits, check_n_permutations
from pkex.compare.sampled.budget import Budget, check_budget
from pkex.execution.backends import active_workers
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.games.players import Players, as_players
from pkex.inputs.choices import (
    ESTIMATORS,
    SAMPLED_ESTIMATORS,
    STATISTICS_CONVENTIONS,
    SUMMATIONS,
    Estimator,
    SampledEstimator,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.inputs.randomness import as_generator
from pkex.tables.encode import Missing
from pkex.typing import Report


@dataclass(frozen=True)
class Conventions:
    """Definition and computation of a statistic; checked, except for the estimator.

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

    def __post_init__(self) -> None:
        check_choice("value_function", self.value_function, STATISTICS_CONVENTIONS)
        check_choice("summation", self.summation, SUMMATIONS)
        object.__setattr__(self, "n_jobs", check_n_jobs(self.n_jobs))

    @property
    def is_biased(self) -> bool:
        """Whether pairs of a row with itself are included."""
        return self.estimator == "biased"

    def computation(self, progress: Report | None = None) -> Computation:
        """Return the settings of sums, with the currently available threads and workers."""
        return Computation(
            summation=self.summation,
            n_threads=thread_count(self.n_jobs),
            progress=progress,
            workers=active_workers(self.n_jobs),
        )


@dataclass(frozen=True, eq=False)
class StatisticOptions:
    """The options that `mmd` and `hsic` share.

    Parameters
    ----------
    conventions : Conventions
    n_permutations : int
    budget : int, timedelta or None
    random_state : numpy.random.Generator
    progress : bool or callable
    groups, categorical, missing
        As passed by users.
    """

    conventions: Conventions
    n_permutations: int
    budget: Budget
    random_state: Any
    progress: Progress
    groups: Mapping[str, int | str | Iterable[int | str]] | None
    categorical: Iterable[int | str] | None
    missing: Missing

    def __post_init__(self) -> None:
        estimator = self.conventions.estimator
        check_choice("estimator", estimator, (*ESTIMATORS, *SAMPLED_ESTIMATORS))
        options = {
            "n_permutations": check_n_permutations(self.n_permutations),
            "budget": check_budget(self.budget, estimator),
            "random_state": as_generator(self.random_state),
        }
        self.__dict__.update(options)

    @property
    def is_sampled(self) -> bool:
        """Whether only some of the pairs of rows are compared."""
        return self.conventions.estimator in SAMPLED_ESTIMATORS

    def players(self, names: tuple[str, ...]) -> Players:
        """Return the players; raise an error if their permuted values need too much memory."""
        players = as_players(self.groups, names)
        check_fits(self.n_permutations, len(players.names))
        return players
