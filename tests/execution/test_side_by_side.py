"""Pieces of work on threads side by side, while BLAS has one thread each."""

import os
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from contextlib import closing
from textwrap import dedent
from threading import Barrier, Event, get_ident

import numpy as np
import pytest
from sklearn.svm import SVR

import pkex
from pkex.execution.backends import check_awaited
from pkex.execution.side_by_side import side_by_side

threadpoolctl = pytest.importorskip("threadpoolctl")

X = np.random.default_rng(0).normal(size=(30, 3))


def blas_threads():
    libraries = threadpoolctl.threadpool_info()
    return [each["num_threads"] for each in libraries if each["user_api"] == "blas"]


def test_results_are_in_order_and_from_several_threads():
    barrier = Barrier(2, timeout=30.0)

    def piece(number):
        barrier.wait()
        return number, get_ident()

    found = list(side_by_side(piece, range(4), 2))
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert len({thread for _, thread in found}) == 2


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blas_has_one_thread_meanwhile_and_its_own_number_afterwards(n_threads):
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        outer = side_by_side(lambda _: blas_threads(), range(2), n_threads)
        first = next(outer)
        # Those who ask later, and are done before.
        inner = list(side_by_side(lambda _: blas_threads(), range(2), n_threads))
        assert [first, *outer, *inner] == [[1] * len(before)] * 4
        assert blas_threads() == before


def test_whoever_leaves_early_gives_threads_back():
    model = SVR(gamma=0.5).fit(X, X[:, 0])
    explainer = pkex.Explainer(model, X, value_function="observational", n_jobs=2)

    def left(done, total):
        raise RuntimeError("left")

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(RuntimeError, match="left") as kept:
            explainer(X[:2] + 0.1, progress=left)
        # While its traceback is kept.
        assert blas_threads() == before
        assert kept is not None


FORKING = """
    import os
    from threadpoolctl import threadpool_info, threadpool_limits
    from pkex.execution.side_by_side import side_by_side

    def blas_threads(_=None):
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    threadpool_limits(2, user_api="blas")
    outer = side_by_side(blas_threads, range(2), 2)
    assert next(outer) == {1}
    child = os.fork()
    if not child:
        threadpool_limits(2, user_api="blas")
        os._exit(0 if list(side_by_side(blas_threads, range(2), 2)) == [{1}, {1}] else 1)
    assert os.waitpid(child, 0)[1] == 0
    outer.close()
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no fork")
def test_a_forked_process_begins_anew():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", dedent(FORKING)], timeout=120, check=False
    )
    assert done.returncode == 0


def test_an_error_ends_it_and_gives_threads_back():
    def piece(number):
        if number == 1:
            raise ValueError("one")
        return number

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="one"):
            list(side_by_side(piece, range(100), 2))
        assert blas_threads() == before


def test_items_that_no_one_waits_for_anymore_end():
    begun, ends = Event(), []

    def piece(number):
        if number == 0:
            begun.wait(timeout=60)
            return
        begun.set()
        for _ in range(10_000):
            time.sleep(0.001)
            try:
                check_awaited()
            except CancelledError:
                ends.append(number)
                raise

    check_awaited()
    with closing(side_by_side(piece, range(2), 2)) as results:
        assert next(results) is None
        assert not ends
    assert ends == [1]
    check_awaited()
