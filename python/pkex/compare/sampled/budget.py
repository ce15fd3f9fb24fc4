"""The number of pairs of rows that an estimator compares, from a number or a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import numpy as np

from pkex.compare.kernel.terms import KernelTerms
from pkex.compare.pairs.pair_sums import pair_sums
from pkex.errors import InputError, InputWarning, Option, warn
from pkex.execution.computation import Computation
from pkex.execution.progress import duration
from pkex.inputs.choices import SAMPLED_ESTIMATORS
from pkex.inputs.integers import as_integer
from pkex.kernels.heuristic import evenly_random
from pkex.typing import Float

Budget = int | timedelta | None

# Calls with fewer pairs of rows take less than ten minutes.
_FEW_PAIRS = 1e9
# Calls that take more seconds raise a warning; number of rows for the measurement.
_LONG_CALL, _SAMPLE_ROWS = 600.0, 128
# The share of a time limit for the pairs; the rest is for reading and preparation.
_PAIRS_SHARE = 0.7


def check_budget(budget: object, estimator: str) -> Budget:
    """Return the budget of an estimator, or raise an error."""
    if budget is None:
        return None
    if estimator not in SAMPLED_ESTIMATORS:
        raise InputError(
            Option("estimator", estimator),
            "compares all pairs of rows, and does not support a budget",
            ["omit the budget", ("pass ", Option("estimator", "incomplete"))],
        )
    if isinstance(budget, timedelta):
        if budget <= timedelta(0):
            raise InputError("budget", f"must be a positive time; got {budget!r}")
        return budget
    valid = "a positive number of pairs of rows, a datetime.timedelta, or None"
    return as_integer("budget", budget, valid, least=1)


def pairs_of_budget(
    budget: Budget, n_rows: int, compare: Callable[[], object], n_workers: int
) -> int | None:
    """Return a budget as a number of pairs.

    Parameters
    ----------
    budget : int, timedelta or None
    n_rows : int
    compare : callable
        Compares all pairs of `n_rows` rows; its time is measured.
    n_workers : int
        The number of threads or workers.
    """
    if not isinstance(budget, timedelta):
        return budget
    seconds = _PAIRS_SHARE * budget.total_seconds() * n_workers
    return int(pairs_among(n_rows) * seconds / _seconds(compare))


def warn_of_all_pairs(rows: Float, terms: KernelTerms, computation: Computation) -> None:
    """Warn if all pairs of rows (n, d) will take long, from the measured time of some pairs."""
    n_pairs = float(pairs_among(len(rows)))
    if n_pairs < _FEW_PAIRS:
        return
    sample = np.ascontiguousarray(rows[evenly_random(len(rows), _SAMPLE_ROWS)])
    compare = partial(pair_sums, sample, len(sample), terms, computation=computation.alone())
    seconds = _seconds(compare) * n_pairs / (pairs_among(len(sample)) * computation.n_threads)
    if seconds > _LONG_CALL:
        warn(
            InputWarning(
                None,
                f"all {n_pairs:.2g} pairs of rows will take about {duration(seconds)}",
                (
                    Option("estimator", "incomplete"),
                    " compares a number of pairs given by its budget, with standard errors and "
                    "p-values",
                ),
            )
        )


def pairs_among(n: int) -> int:
    """Return the number of pairs among n rows."""
    return n * (n - 1) // 2


def _seconds(compare: Callable[[], object]) -> float:
    """Return the shortest of five measured times."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        compare()
        times.append(time.perf_counter() - start)
    return max(min(times), 1e-9)
