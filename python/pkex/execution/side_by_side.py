"""Calls that release the interpreter lock, on parallel threads.

Matrices are multiplied and factored by BLAS, which has threads of its own and rounds otherwise by
their number. Here each piece has one, so that results have equal bits for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TypeVar

__all__ = ["side_by_side"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def side_by_side(
    function: Callable[[_Item], _Result], items: Iterable[_Item], n_threads: int
) -> Iterator[_Result]:
    """Yield what a function gives for each item, in their order; to be closed if left early.

    Without threadpoolctl, which says how many threads BLAS has, they are computed one by one with
    as many as it takes.
    """
    with _ONE_THREAD.held() as is_held:
        if not is_held or n_threads == 1:
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(n_threads)
        try:
            yield from pool.map(function, items)
        finally:
            pool.shutdown(cancel_futures=True)


class _OneThread:
    """Limits BLAS to one thread while any thread of the process requires that.

    The first sets the limit, the last removes it.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: in a process that was forked, whose other threads are gone."""
        self._lock, self._number, self._limits = Lock(), 0, ExitStack()

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Within it BLAS has one thread; False if that cannot be had."""
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


_ONE_THREAD = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_THREAD.forget)
