"""Workers of joblib backends that a user has activated: processes and clusters.

Inside an explicit ``joblib.parallel_config(backend=...)`` with a backend of processes or of a
cluster ("loky", "multiprocessing", "dask", "ray", "spark"), calls hand pieces of work to its
workers, each of which computes with one thread. Pieces are put together in their order, and have
the bits that they would have here.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

__all__ = ["InOnePiece", "Threads", "Workers", "active_workers"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Threads:
    """Threads of this process, for calls that release the interpreter lock."""

    def __init__(self, number: int) -> None:
        self.number = number

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results of a function for all items, in order."""
        with ThreadPoolExecutor(self.number) as pool:
            return list(pool.map(function, items))


class Workers:
    """The workers of an active joblib backend."""

    def __init__(self, parallel: Any) -> None:
        self._parallel = parallel

    @property
    def number(self) -> int:
        """The number of workers."""
        return int(self._parallel._effective_n_jobs())

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results of a function, which can be pickled, for all items, in order."""
        from joblib import delayed

        calls = (delayed(InOnePiece(partial(function, item)))() for item in items)
        found: list[_Result] = self._parallel(calls)
        return found


class InOnePiece:
    """A function that is pickled as bytes, also repeatedly.

    Arrays that a cluster sends separately from a pickle may be unaligned, which the engine does not
    support. The scheduler of a cluster unpickles functions before it sends them.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        """Return the result of the function."""
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return _unpickled, (_cloudpickle().dumps(self._function),)


def _unpickled(piece: bytes) -> InOnePiece:
    return InOnePiece(pickle.loads(piece))


def _cloudpickle() -> Any:
    """Return cloudpickle, which joblib requires or contains."""
    try:
        return import_module("cloudpickle")
    except ImportError:
        return import_module("joblib.externals.cloudpickle")


def active_workers(n_jobs: int | None) -> Workers | None:
    """Return the workers that a user has activated; None if there are none, or within a worker.

    Parameters
    ----------
    n_jobs : int or None
        1 stands for this process; -1 and None for the number of workers of the backend.
    """
    if n_jobs == 1 or (joblib_parallel := sys.modules.get("joblib.parallel")) is None:
        return None
    # Without an active backend, joblib returns threads here.
    backend, configured = joblib_parallel.get_active_backend(prefer="threads")
    if getattr(backend, "uses_threads", False) or backend.nesting_level or _is_dask_worker():
        return None
    if n_jobs is None or n_jobs == -1:
        n_jobs = -1 if configured is None else configured
    return Workers(joblib_parallel.Parallel(n_jobs=n_jobs)) if n_jobs != 1 else None


def _is_dask_worker() -> bool:
    """Whether this is a task of Dask, whose backend does not report nesting."""
    worker = sys.modules.get("distributed.worker")
    if worker is None:
        return False
    try:
        worker.get_worker()
    except ValueError:
        return False
    return True
