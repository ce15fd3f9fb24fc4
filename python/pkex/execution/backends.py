"""Workers of joblib backends that a user has activated: processes and clusters.

Inside an explicit ``joblib.parallel_config(backend=...)`` with a backend of processes or of a
cluster ("loky", "multiprocessing", "dask", "ray", "spark"), calls hand pieces of work to its
workers, each of which computes with one thread. Pieces are put together in their order, and have
the bits that they would have here.
"""

from __future__ import annotations

import pickle
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from importlib import import_module
from threading import Event, local
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkex.errors import warn
from pkex.execution.threads import is_dask_task

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Size of a task, as a share of the remaining work of a worker; smallest share of its whole work.
_TASK_SHARE, _MIN_TASK_SHARE = 1 / 4, 1 / 32
# Tasks per thread or Dask worker that are submitted at a time, including those that ended early.
_TASKS_AHEAD = 4
# Seconds without a result after which a Dask cluster is asked for its workers.
_PATIENCE = 30.0
# `is_over`, in a thread of `Threads`: set when no one waits for results anymore.
_OF_THREAD = local()


class Threads:
    """Threads of this process, for calls that release the interpreter lock."""

    def __init__(self, number: int) -> None:
        self.number = number

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Generator[_Result, None, None]:
        """Yield the results of a function for all items, in order.

        If that ends early, as by Ctrl-C, items that have begun are awaited. Functions that take
        long end at their next call of `check_awaited`.
        """
        is_over = Event()
        prepare = partial(setattr, _OF_THREAD, "is_over", is_over)
        pool = ThreadPoolExecutor(self.number, initializer=prepare)
        futures = (pool.submit(function, item) for item in items)
        try:
            for future in _look_ahead(futures, _TASKS_AHEAD * self.number):
                yield future.result()
        finally:
            is_over.set()
            pool.shutdown(cancel_futures=True)


def check_awaited() -> None:
    """Raise CancelledError in a thread of `Threads` if no one waits for its results anymore."""
    is_over = getattr(_OF_THREAD, "is_over", None)
    if is_over is not None and is_over.is_set():
        raise CancelledError


class Workers(ABC):
    """Workers of a joblib backend."""

    @property
    @abstractmethod
    def number(self) -> int:
        """The number of workers."""

    @abstractmethod
    def sending(
        self, function: Callable[[_Item], _Result]
    ) -> AbstractContextManager[Callable[[Iterable[_Item]], Generator[_Result, None, None]]]:
        """Return a context that sends a function, which can be pickled, with its first items.

        It yields a function that maps items to an iterator of their results, in order.
        """

    def map(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Generator[_Result, None, None]:
        """Yield the results of a function, which can be pickled, for all items, in order."""
        with self.sending(function) as results:
            yield from results(items)


class JoblibWorkers(Workers):
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
        options = {"return_as": "generator"} if is_lazy else {}
        # Batches of several tasks would end at different times.
        self._parallel = Parallel(n_jobs, batch_size=1, **options)

    @property
    def number(self) -> int:
        """The number of workers."""
        return int(self._parallel._effective_n_jobs())

    @contextmanager
    def sending(
        self, function: Callable[[_Item], _Result]
    ) -> Iterator[Callable[[Iterable[_Item]], Generator[_Result, None, None]]]:
        """Yield a function that maps items to an iterator of their results, in order."""
        from joblib import delayed

        call, piece = delayed(_call), SerializedFunction(function)

        def results(items: Iterable[_Item]) -> Generator[_Result, None, None]:
            yield from self._parallel(call(piece, _pickle(item)) for item in items)

        yield results


class DaskWorkers(Workers):
    """The workers of the Dask cluster of an active joblib backend.

    Joblib's own tasks contain the function, and remain in the cluster after Ctrl-C. Here the
    function is sent once, as a task, so that Dask makes it again if its workers are lost.

    Parameters
    ----------
    backend : joblib._dask.DaskDistributedBackend
    """

    def __init__(self, backend: Any) -> None:
        self._backend, self._client = backend, backend.client
        if self._client.status == "closed":
            raise ValueError(
                "the Dask client of joblib.parallel_config is closed. Connect a new client, and "
                "call pkex while it is open"
            )

    @property
    def number(self) -> int:
        """The number of threads of all workers; 1 if none has started yet."""
        return max(1, int(self._backend.effective_n_jobs(-1)))

    @contextmanager
    def sending(
        self, function: Callable[[_Item], _Result]
    ) -> Iterator[Callable[[Iterable[_Item]], Generator[_Result, None, None]]]:
        """Yield a function that maps items to an iterator of their results, in order.

        At the end, tasks that have not begun are canceled.
        """
        function_tasks: list[Any] = []

        def results(items: Iterable[_Item]) -> Generator[_Result, None, None]:
            if not function_tasks:
                function_tasks.append(self._submit(_unpickle_function, _pickle(function)))
                self._wait(*function_tasks)
                self._client.replicate(function_tasks)
            tasks = (self._submit(_call, *function_tasks, _pickle(item)) for item in items)
            for task in _look_ahead(tasks, _TASKS_AHEAD * self.number):
                self._wait(task)
                yield task.result()

        try:
            yield results
        finally:
            # Dask also cancels the tasks that depend on it.
            self._client.cancel(function_tasks)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        # Dask advises sending arguments over ten megabytes once, as these are.
        with import_module("dask").config.set(
            {"distributed.admin.large-graph-warning-threshold": sys.maxsize}
        ):
            kwargs = {**self._backend.submit_kwargs, "pure": False}
            return self._client.submit(function, *arguments, **kwargs)

    def _wait(self, task: Any) -> None:
        """Wait for the end of a task; warn if the cluster has no workers."""
        has_warned = False
        while not task.done():
            try:
                task.exception(timeout=_PATIENCE)
            except TimeoutError:
                if not has_warned and not self._client.ncores():
                    has_warned = True
                    warn(
                        "the Dask cluster has no workers, and this call waits for them. Start "
                        "workers, or interrupt the call"
                    )


class SerializedFunction:
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
    def _data(self) -> NDArray[np.uint8]:
        return np.frombuffer(_pickle(self._function), dtype=np.uint8)

    def __reduce__(self) -> tuple[Callable[[NDArray[np.uint8]], Any], tuple[NDArray[np.uint8]]]:
        return _unpickle_function, (self._data,)


def ranges_of_tasks(
    number: int, n_workers: int, max_length: int | None = None
) -> list[tuple[int, int]]:
    """Split numbers 0, 1, … into ranges of decreasing length, so that workers end together.

    Parameters
    ----------
    number : int
    n_workers : int
    max_length : int, optional
        The largest length.
    """
    ranges, start = [], 0
    while start < number:
        length = max(
            1,
            int((number - start) / n_workers * _TASK_SHARE),
            int(number / n_workers * _MIN_TASK_SHARE),
        )
        stop = min(start + min(length, max_length or number), number)
        ranges.append((start, stop))
        start = stop
    return ranges


def _look_ahead(futures: Iterator[_Item], number: int) -> Iterator[_Item]:
    """Yield futures in order; at most `number` of them are submitted and not yielded."""
    queue: deque[_Item] = deque()
    for future in futures:
        queue.append(future)
        if len(queue) == number:
            yield queue.popleft()
    yield from queue


def _pickle(item: Any) -> bytes:
    data: bytes = _cloudpickle().dumps(item)
    return data


def _unpickle(data: Any) -> Any:
    return pickle.loads(data)


def _unpickle_function(data: Any) -> SerializedFunction:
    return SerializedFunction(_unpickle(data))


def _call(function: Callable[[Any], _Result], item: bytes) -> _Result:
    return function(_unpickle(item))


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
    backend, default_n_jobs = joblib_parallel.get_active_backend(prefer="threads")
    if getattr(backend, "uses_threads", False) or backend.nesting_level or is_dask_task():
        return None
    if n_jobs is None or n_jobs == -1:
        n_jobs = -1 if default_n_jobs is None else default_n_jobs
    if n_jobs == 1:
        return None
    distributed = sys.modules.get("distributed")
    if distributed and isinstance(getattr(backend, "client", None), distributed.Client):
        return DaskWorkers(backend)
    return JoblibWorkers(n_jobs, backend)
