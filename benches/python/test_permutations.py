"""Time that permutations add to an attribution."""

import subprocess
import sys
from contextlib import contextmanager, nullcontext

import pytest
from comparison import Task, slowdown
from statistics_problems import dependent, two_samples
from threadpoolctl import threadpool_limits

import pkex

PERMUTATIONS = [99, 999, 9999]


@pytest.fixture(params=["MMD, n = m = 2000, d = 20", "HSIC of 4000 rows, d = 20"])
def problem(request):
    """Return a description, and a function of the number of permutations."""
    if request.param.startswith("MMD"):
        data, statistic = two_samples(2000), pkex.mmd
    else:
        data, statistic = dependent(4000), pkex.hsic
    return request.param, lambda number: statistic(*data, n_permutations=number, random_state=0)


@pytest.mark.parametrize("n", [128, 512])
def test_permutations_row_by_row(turns, add_comparison, n):
    data = dependent(n)
    tasks = [
        Task(lambda number=number: pkex.hsic(*data, n_permutations=number, random_state=0))
        for number in (0, 999)
    ]
    what = f"HSIC of {n} rows, d = 20: 999 permutations against none"
    add_comparison(what, *turns(tasks), goal="seconds", show=slowdown)


@contextmanager
def a_busy_core():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


MACHINES = {
    "": nullcontext,
    ", NumPy on one thread": lambda: threadpool_limits(1),
    ", a process more on one core": a_busy_core,
}


@pytest.mark.parametrize("machine", MACHINES, ids=["free", "numpy_on_one_thread", "busy"])
def test_permutations(turns, add_comparison, problem, machine):
    name, attribute = problem
    tasks = [Task(lambda number=number: attribute(number)) for number in [0, *PERMUTATIONS]]
    with MACHINES[machine]():
        none, *found = turns(tasks, seconds=20.0)
    for number, seconds in zip(PERMUTATIONS, found, strict=True):
        what = f"{name}{machine}: {number} permutations against none"
        add_comparison(what, none, seconds, goal="≤ 2× the time", show=slowdown)
