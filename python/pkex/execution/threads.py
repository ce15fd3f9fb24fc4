"""The number of threads: joblib's and scikit-learn's convention for `n_jobs`."""

from __future__ import annotations

import sys
from functools import cache

from pkex import _core
from pkex.inputs.integers import as_integer

# Results do not depend on the number of threads, and more threads are not faster.
_MAX_THREADS = 64


def check_n_jobs(n_jobs: object) -> int | None:
    """Return `n_jobs` as an int or None; raise an error if it is invalid."""
    if n_jobs is None:
        return None
    valid = "-1 (all cores), -2 (all but one) and so on, a positive number of threads, or None"
    number = as_integer("n_jobs", n_jobs, valid)
    if number == 0:
        raise ValueError(f"n_jobs must be {valid}; got 0")
    return number


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs` in the current process.

    Negative numbers count from the cores that this process may use; within a joblib worker or a
    task of Dask they stand for one thread, because other cores have their own workers. None stands
    for one thread, or the number of ``joblib.parallel_config(n_jobs=...)``.
    """
    cores = _usable_cores()
    is_nested, default_n_jobs = _joblib_context()
    if n_jobs is None:
        n_jobs = default_n_jobs
    if n_jobs > 0:
        return min(n_jobs, max(cores, _MAX_THREADS))
    return 1 if is_nested or is_dask_task() else max(1, cores + 1 + n_jobs)


@cache
def _usable_cores() -> int:
    # Cached, because reading the quota of a container is slow.
    return _core.available_threads()


def _joblib_context() -> tuple[bool, int]:
    """Return whether this is a joblib worker, and the number of jobs in its configuration.

    If joblib is not imported, this is not a worker. The nesting level is 1 in worker processes and
    threads, 2 in nested ones, and 0 otherwise, also within parallel_config.
    """
    joblib_parallel = sys.modules.get("joblib.parallel")
    if joblib_parallel is None:
        return False, 1
    backend, n_jobs = joblib_parallel.get_active_backend()
    return bool(backend.nesting_level), 1 if n_jobs is None else n_jobs


def is_dask_task() -> bool:
    """Whether this is a task of Dask, whose backend of joblib does not report nesting."""
    worker = sys.modules.get("distributed.worker")
    if worker is None:
        return False
    try:
        worker.get_worker()
    except ValueError:
        return False
    return True
