"""Threads, processes and a local Dask cluster with one and two workers: `python cluster.py [n]`.

Prints three tables: the Shapley values of 2n predictions, MMD of all pairs of two samples of n
rows, and MMD of some pairs. Columns are the shortest seconds of three rounds, the speed compared
with one thread, and the processor seconds of all processes and of the main one. The ways alternate
within a round. All results must have equal bits. Plain processes compute half of the rows or pairs
each, and return nothing: their speed is the most that the machine allows. Needs dask[distributed].
"""

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import get_context

import joblib
import numpy as np
import psutil
from dask.distributed import Client, LocalCluster

import pkex

D, POINTS, BUDGET, ROUNDS = 20, 1000, 10**8, 3


def values(n, n_jobs=-1):
    """Return the values of 2n predictions."""
    rng = np.random.default_rng(0)
    points, weights = rng.standard_normal((POINTS, D)), rng.standard_normal(POINTS)
    expansion = pkex.KernelExpansion(points, weights, pkex.kernels.RBF(3.0))
    rows = rng.standard_normal((2 * n, D))
    return [pkex.Explainer(expansion, n_jobs=n_jobs).shap_values(rows)]


def mmd(n, n_jobs=-1, **options):
    """Return the numbers of a comparison of two samples of n rows."""
    x, y = np.random.default_rng(0).standard_normal((2, n, D))
    y[:, 3] += 0.1
    result = pkex.mmd(x, y, n_jobs=n_jobs, **options)
    return [result.values, result.standard_errors, result.alone]


@dataclass
class Problem:
    """A call for n rows, and the number of rows that takes half of its time."""

    name: str
    call: Callable
    n: int
    half: int | None


@dataclass
class Way:
    """A way to run a call."""

    name: str
    run: Callable
    context: Callable = nullcontext
    is_whole: bool = True


def here(n_jobs, problem):
    return problem.call(problem.n, n_jobs)


def by_workers(problem):
    return problem.call(problem.n)


def in_halves(pool, problem):
    list(pool.map(partial(problem.call, n_jobs=1), [problem.half] * 2))


@contextmanager
def ways():
    """Yield all ways to run a call, with processes that have loaded the library."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(2, mp_context=get_context("spawn")))
        found = [Way(f"{n} thread{'s' * (n > 1)}", partial(here, n)) for n in (1, 2)]
        found.append(Way("2 plain processes", partial(in_halves, pool), is_whole=False))
        loky = partial(joblib.parallel_config, backend="loky", n_jobs=2)
        found.append(Way("2 processes of joblib", by_workers, loky))
        for n in (1, 2):
            cluster = stack.enter_context(LocalCluster(n_workers=n, **options))
            client = stack.enter_context(Client(cluster, set_as_default=False))
            client.run(import_module, "pkex")
            dask = partial(joblib.parallel_config, backend="dask", client=client)
            found.append(Way(f"{n} worker{'s' * (n > 1)} of Dask", by_workers, dask))
        yield found


def processor_seconds():
    """Return the user and system time of each process."""
    me = psutil.Process()
    times = {process.pid: process.cpu_times() for process in (me, *me.children(recursive=True))}
    return {pid: of.user + of.system for pid, of in times.items()}


def measured(way, problem):
    """Return seconds, processor seconds of all processes and of this one, and the bits."""
    with way.context():
        before, start = processor_seconds(), time.perf_counter()
        result = way.run(problem)
        seconds, after = time.perf_counter() - start, processor_seconds()
    spent = {pid: total - before.get(pid, 0.0) for pid, total in after.items()}
    bits = [array.tobytes() for array in result] if way.is_whole else None
    return seconds, sum(spent.values()), spent[os.getpid()], bits


def compare(problem, found):
    """Print the table of a problem."""
    found = [way for way in found if way.is_whole or problem.half is not None]
    best, expected = {}, measured(found[0], problem)[-1]
    for way in found:
        measured(way, Problem(problem.name, problem.call, 2000, 2000))
    for _ in range(ROUNDS):
        for way in found:
            *times, bits = measured(way, problem)
            assert bits in (None, expected), f"{way.name}: the bits differ"
            best[way.name] = np.minimum(best.get(way.name, np.inf), times)
    print(f"\n| {problem.name} | seconds | speed | processor seconds | of the main process |")
    print("|---|--:|--:|--:|--:|")
    for name, (seconds, processor, main) in best.items():
        speed = best[found[0].name][0] / seconds
        print(
            f"| {name} | {seconds:.2f} | {speed:.2f} | {processor:.2f} | {main:.2f} |", flush=True
        )


def main(n):
    some = partial(mmd, estimator="incomplete", budget=BUDGET, random_state=0)
    problems = [
        Problem(f"{2 * n} predictions", values, n, n // 2),
        Problem(f"MMD, n = {n}", mmd, n, round(n / np.sqrt(2))),
        Problem(f"MMD, n = {n}, {BUDGET:.0e} pairs", some, n, None),
    ]
    with ways() as found:
        for problem in problems:
            compare(problem, found)
    print("\nequal bits")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12_000)
