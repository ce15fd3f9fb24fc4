"""Pieces of work on threads side by side, while BLAS has one thread each."""

from threading import Barrier, get_ident

import pytest

from pkex.execution.side_by_side import side_by_side

threadpoolctl = pytest.importorskip("threadpoolctl")


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
