"""Times of mmd and hsic with the default kernel and with one Gaussian over all columns.

python benches/python/default_kernel.py [columns ...]
"""

import sys
import time

import numpy as np

import pkex

ROWS, ROUNDS = 1500, 14


def shortest(calls):
    """Return the shortest time of each call in seconds; the calls alternate."""
    times = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def main(columns):
    rng = np.random.default_rng(0)
    for d in columns:
        x, y = rng.normal(size=(2, ROWS, d))
        of_both, of_one = pkex.kernels.median_heuristic(x, y), pkex.kernels.median_heuristic(x)
        times = shortest(
            {
                "mmd, Gaussian": lambda x=x, y=y, k=of_both: pkex.mmd(x, y, kernel=k, n_jobs=1),
                "mmd, default": lambda x=x, y=y: pkex.mmd(x, y, n_jobs=1),
                "hsic, Gaussian": lambda x=x, k=of_one: pkex.hsic(x, x[:, 0], kernel=k, n_jobs=1),
                "hsic, default": lambda x=x: pkex.hsic(x, x[:, 0], n_jobs=1),
            }
        )
        print(f"{d} columns:", *(f"{name} {1e3 * t:.0f} ms;" for name, t in times.items()))


if __name__ == "__main__":
    main([int(d) for d in sys.argv[1:]] or [5, 20, 50])
