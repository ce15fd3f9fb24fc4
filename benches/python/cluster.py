"""MMD on workers of a local Dask cluster or threads of one process: `python cluster.py [n]`.

Prints seconds for one and two workers and threads, for all pairs of two samples of n rows and for a
budget. Checks that all results have equal bits. Needs dask[distributed].
"""

import sys
import time
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import joblib
import numpy as np
from dask.distributed import Client, LocalCluster

import pkex
from pkex.inputs.wording import counted

D, BUDGET = 20, 10**8


@contextmanager
def workers(number):
    """Let pkex compute on processes of one thread each that have loaded the library."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=number, **options) as cluster, Client(cluster) as client:
        client.run(import_module, "pkex")
        with joblib.parallel_config(backend="dask"):
            yield


def measured(call):
    start = time.perf_counter()
    result = call()
    found = result.values, result.standard_errors, result.alone
    return time.perf_counter() - start, [array.tobytes() for array in found]


def main(n):
    x, y = np.random.default_rng(0).standard_normal((2, n, D))
    y[:, 3] += 0.1
    estimates = {"estimator": "incomplete", "budget": BUDGET, "random_state": 0}
    calls = [partial(pkex.mmd, x, y), partial(pkex.mmd, x, y, **estimates)]
    bits = None
    print(f"| n = m = {n}, d = {D} | all pairs | {BUDGET:.0e} pairs |\n|---|--:|--:|")

    def row(name, some):
        nonlocal bits
        seconds, found = zip(*map(measured, some), strict=True)
        bits = bits or found
        assert found == bits, "the bits differ"
        print(f"| {name} | {' | '.join(f'{of:.1f} s' for of in seconds)} |", flush=True)

    for number in (1, 2):
        row(counted(number, "thread"), [partial(call, n_jobs=number) for call in calls])
    for number in (1, 2):
        with workers(number):
            row(counted(number, "worker"), calls)
    print("equal bits")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12_000)
