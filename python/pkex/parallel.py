"""The number of threads: joblib's and scikit-learn's convention for `n_jobs`."""

from __future__ import annotations

import operator
import sys
from functools import cache

from pkex import _core

__all__ = ["check_n_jobs", "thread_count"]

# Results do not depend on the number of threads, so that more of them than this is only waste.
_MOST_THREADS = 64


def check_n_jobs(n_jobs: object) -> int:
    """Return `n_jobs` as an int, or say what it may be."""
    valid = "-1 (all cores), -2 (all but one) and so on, or a positive number of threads"
    if isinstance(n_jobs, bool):
        raise TypeError(f"n_jobs must be {valid}; got {n_jobs}")
    try:
        number = operator.index(n_jobs)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"n_jobs must be {valid}; got {n_jobs!r} ({type(n_jobs).__name__})"
        ) from None
    if number == 0:
        raise ValueError(f"n_jobs must be {valid}; got 0")
    return number


def thread_count(n_jobs: int) -> int:
    """Return the number of threads that `n_jobs` means here and now.

    Negative numbers count from the cores that this process may use, and mean one thread within a
    joblib worker, where the other cores have their own workers.
    """
    cores = _usable_cores()
    if n_jobs > 0:
        return min(n_jobs, max(cores, _MOST_THREADS))
    if _inside_joblib_worker():
        return 1
    return max(1, cores + 1 + n_jobs)


@cache
def _usable_cores() -> int:
    # Asked once: reading a container's quota takes longer than many a call.
    return _core.available_threads()


def _inside_joblib_worker() -> bool:
    # Without the module nothing of joblib's can be running here. The nesting level is 1 in its
    # worker processes and threads, 2 in theirs, and 0 outside, within parallel_config too.
    joblib_parallel = sys.modules.get("joblib.parallel")
    if joblib_parallel is None:
        return False
    backend, _ = joblib_parallel.get_active_backend()
    return bool(backend.nesting_level)
