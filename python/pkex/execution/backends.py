"""Workers of joblib backends that a user has activated: processes and clusters.

Inside an explicit ``joblib.parallel_config(backend=...)`` with a backend of processes or of a
cluster ("loky", "multiprocessing", "dask", "ray", "spark"), calls hand pieces of work to its
workers, each of which computes with one thread. Pieces are put together in their order, and have
the bits that they would have here.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Size of a task, as a share of the remaining work of a worker; smallest share of its whole work.
_OF_REST, _OF_ALL = 1 / 4, 1 / 32
# Tasks per worker that a Dask cluster holds at a time, including those that have ended early.
_AHEAD = 4


class Threads:
    """Threads of this process, for calls that release the interpreter lock."""

    def __init__(self, number: int) -> None:
        self.number = number

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return the results of a function for all items, in order."""
        with ThreadPoolExecutor(self.number) as pool:
            return list(pool.map(function, items))


class JoblibWorkers:
    """The workers of an active joblib backend.

    Parameters
    ----------
    n_jobs : int
    backend : joblib.parallel.ParallelBackendBase
    """

    def __init__(self, n_jobs: int, backend: Any) -> None:
        from joblib import Parallel

        # Joblib before 1.3 and some backends return lists only.
        is_lazy = getattr(backend, "supports_return_generator", False)
        self._parallel = Parallel(n_jobs, **({"return_as": "generator"} if is_lazy else {}))

    @property
    def number(self) -> int:
        """The number of workers."""
        return int(self._parallel._effective_n_jobs())

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Generator[_Result, None, None]:
        """Yield the results of a function, which can be pickled, for all items, in order."""
        from joblib import delayed

        call, piece = delayed(_of_item), InOnePiece(function)
        yield from self._parallel(call(piece, _pickled(item)) for item in items)


class DaskWorkers:
    """The workers of the Dask cluster of an active joblib backend.

    Joblib's own tasks contain the function, and remain in the cluster after Ctrl-C. Here the
    function is sent once, as a task, so that Dask makes it again if its workers are lost.

    Parameters
    ----------
    backend : joblib._dask.DaskDistributedBackend
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    @property
    def number(self) -> int:
        """The number of threads of all workers."""
        return int(self._backend.effective_n_jobs(-1))

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Generator[_Result, None, None]:
        """Yield the results of a function, which can be pickled, for all items, in order.

        If the iterator is closed early, tasks that have not begun are canceled.
        """
        client, most = self._backend.client, _AHEAD * self.number
        submit = partial(client.submit, **{**self._backend.submit_kwargs, "pure": False})
        with import_module("dask").config.set(
            {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
        ):
            loaded = submit(_in_one_piece, _pickled(function))
        tasks: deque[Any] = deque()
        try:
            client.replicate([loaded])
            for item in items:
                tasks.append(submit(_of_item, loaded, _pickled(item)))
                if len(tasks) == most:
                    yield tasks.popleft().result()
            while tasks:
                yield tasks.popleft().result()
        finally:
            client.cancel([*tasks, loaded])


Workers: TypeAlias = JoblibWorkers | DaskWorkers


class InOnePiece:
    """A function that is pickled as one array of bytes, which is made once.

    Arrays that a cluster sends separately from a pickle may be unaligned, which the engine does not
    support; bytes always are. The scheduler of a cluster unpickles functions before it sends them.
    Joblib stores a large array in a file that processes share.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        """Return the result of the function."""
        return self._function(*arguments)

    @cached_property
    def _piece(self) -> NDArray[np.uint8]:
        return np.frombuffer(_pickled(self._function), dtype=np.uint8)

    def __reduce__(self) -> tuple[Callable[[NDArray[np.uint8]], Any], tuple[NDArray[np.uint8]]]:
        return _in_one_piece, (self._piece,)


def ranges_of_tasks(number: int, n_workers: int, most: int | None = None) -> list[tuple[int, int]]:
    """Split numbers 0, 1, … into ranges of decreasing length, so that workers end together.

    Parameters
    ----------
    number : int
    n_workers : int
    most : int, optional
        The largest length.
    """
    ranges, start = [], 0
    while start < number:
        length = max(
            1, int((number - start) / n_workers * _OF_REST), int(number / n_workers * _OF_ALL)
        )
        stop = min(start + min(length, most or number), number)
        ranges.append((start, stop))
        start = stop
    return ranges


def _pickled(item: Any) -> bytes:
    pickled: bytes = _cloudpickle().dumps(item)
    return pickled


def _unpickled(pickled: Any) -> Any:
    return pickle.loads(pickled)


def _in_one_piece(pickled: Any) -> InOnePiece:
    return InOnePiece(_unpickled(pickled))


def _of_item(function: Callable[[Any], _Result], item: bytes) -> _Result:
    return function(_unpickled(item))


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
    if n_jobs == 1:
        return None
    distributed = sys.modules.get("distributed")
    if distributed and isinstance(getattr(backend, "client", None), distributed.Client):
        return DaskWorkers(backend)
    return JoblibWorkers(n_jobs, backend)


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
