"""Calls that release the interpreter lock, on parallel threads.

Matrices are multiplied and factored by BLAS, which has threads of its own and rounds otherwise by
their number. Here each piece has one, so that results have equal bits for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TypeVar

from pkex.execution.backends import Threads

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def side_by_side(
    function: Callable[[_Item], _Result], items: Iterable[_Item], n_threads: int
) -> Generator[_Result, None, None]:
    """Yield the results of a function for all items, in order; close the iterator to stop early.

    Without threadpoolctl, which limits the threads of BLAS, items are computed one by one.
    """
    with _BLAS_LIMIT.limit() as is_limited:
        if not is_limited or n_threads == 1:
            yield from map(function, items)
        else:
            yield from Threads(n_threads).map(function, items)


class _BlasLimit:
    """Limits BLAS to one thread while any thread of the process requires that.

    The first sets the limit, the last removes it.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset the state: in a forked process, which has no other threads."""
        self._lock, self._number, self._limits = Lock(), 0, ExitStack()

    @contextmanager
    def limit(self) -> Iterator[bool]:
        """Limit BLAS to one thread; yield False if this is not possible."""
        try:
            from threadpoolctl import threadpool_limits
        except ImportError:
            yield False
            return
        with self._lock:
            if not self._number:
                self._limits.enter_context(threadpool_limits(1, user_api="blas"))
            self._number += 1
        try:
            yield True
        finally:
            with self._lock:
                self._number -= 1
                if not self._number:
                    self._limits.close()


_BLAS_LIMIT = _BlasLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_BLAS_LIMIT.reset)
