"""The options that MMD and HSIC share, checked before any data are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkex.execution.progress import Progress
from pkex.games.players import Players, as_players
from pkex.inputs.choices import (
    ESTIMATORS,
    SAMPLED_ESTIMATORS,
    Estimator,
    SampledEstimator,
    StatisticsConvention,
    Summation,
)
from pkex.inputs.randomness import as_generator
from pkex.statistics.conventions import Conventions
from pkex.statistics.permutations import check_fits, check_n_permutations
from pkex.statistics.sampled.budget import Budget, check_budget
from pkex.tables.encode import Missing

__all__ = ["StatisticOptions"]


@dataclass(frozen=True, eq=False)
class StatisticOptions:
    """How samples are read, and how a statistic of them is computed and tested.

    Parameters
    ----------
    conventions : Conventions
    n_permutations : int
    budget : int, timedelta or None
    generator : numpy.random.Generator
    progress : bool or callable
    groups, categorical, missing
        As users give them.
    """

    conventions: Conventions
    n_permutations: int
    budget: Budget
    generator: np.random.Generator
    progress: Progress
    groups: Mapping[str, int | str | Iterable[int | str]] | None
    categorical: Iterable[int | str] | None
    missing: Missing

    @classmethod
    def checked(
        cls,
        *,
        estimator: Estimator | SampledEstimator,
        value_function: StatisticsConvention,
        summation: Summation,
        n_jobs: int | None,
        n_permutations: int,
        budget: Budget,
        random_state: Any,
        progress: Progress,
        groups: Mapping[str, int | str | Iterable[int | str]] | None,
        categorical: Iterable[int | str] | None,
        missing: Missing,
    ) -> StatisticOptions:
        """Check what needs no data."""
        estimators = (*ESTIMATORS, *SAMPLED_ESTIMATORS)
        return cls(
            Conventions.checked(estimator, value_function, summation, n_jobs, estimators),
            check_n_permutations(n_permutations),
            check_budget(budget, estimator),
            as_generator(random_state),
            progress,
            groups,
            categorical,
            missing,
        )

    @property
    def is_sampled(self) -> bool:
        """Whether some pairs of rows are compared, not all."""
        return self.conventions.estimator in SAMPLED_ESTIMATORS

    def players(self, names: tuple[str, ...]) -> Players:
        """Return the players among columns; their relabelled values must fit into memory."""
        players = as_players(self.groups, names)
        check_fits(self.n_permutations, len(players))
        return players
