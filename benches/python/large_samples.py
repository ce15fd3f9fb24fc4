"""Accuracy and time of estimates of MMD² for samples of 50,000 rows: `python large_samples.py [n]`.

Prints for each estimator the seconds per call, the root mean square errors of the statistic and of
the values over seeds, and the estimated standard errors. The linear-time estimator, random features
and compress-then-test (if goodpoints is installed) estimate the statistic only.
"""

import sys
import time
from functools import partial
from importlib.util import find_spec

import numpy as np

import pkex

D, SEEDS = 20, 5


def samples(n):
    """Return 20 columns, correlated in pairs by 0.6; the fourth is shifted, the eighth wider."""
    x, y = np.random.default_rng(0).standard_normal((2, n, D))
    for rows in (x, y):
        rows[:, 1::2] = 0.6 * rows[:, ::2] + 0.8 * rows[:, 1::2]
    y[:, 3] += 0.1
    y[:, 7] *= 1.1
    return x, y


def linear_time(x, y, length_scales, seed):
    """Gretton et al. (2012), section 6: disjoint pairs of pairs."""
    rng = np.random.default_rng(seed)
    x, y = (rng.permutation(rows) / length_scales for rows in (x, y))
    (a, b), (c, d) = ((rows[::2], rows[1::2]) for rows in (x, y))

    def kernel(one, other):
        return np.exp(-0.5 * ((one - other) ** 2).sum(axis=1))

    return (kernel(a, b) + kernel(c, d) - kernel(a, d) - kernel(b, c)).mean()


def random_features(x, y, length_scales, seed, n_features=1000):
    """Rahimi and Recht (2007): the biased MMD² of cosines of random projections."""
    rng = np.random.default_rng(seed)
    frequencies = rng.standard_normal((D, n_features)) / length_scales[:, None]
    phases = rng.uniform(0.0, 2.0 * np.pi, n_features)
    means = []
    for rows in (x, y):
        chunks = np.array_split(rows, 50)
        sums = sum(np.cos(chunk @ frequencies + phases).sum(axis=0) for chunk in chunks)
        means.append(sums / len(rows))
    return 2.0 * ((means[0] - means[1]) ** 2).mean()


def compress_then_test(x, y, length_scales, seed, bin_size=4**6, g=4):
    """Domingo-Enrich, Dwivedi and Mackey (2023): kernel thinning in bins of rows, by goodpoints.

    It requires powers of 4 as sizes of bins. Remaining rows are left out.
    """
    from goodpoints import ctt

    rows = [own[: len(own) // bin_size * bin_size] / length_scales for own in (x, y)]
    n_bins = sum(map(len, rows)) // bin_size
    # Its kernel is exp(−‖x − y‖² / lam²).
    test = ctt.ctt(*rows, g, s=n_bins // 2, lam=2.0**0.5, statistic_seed=seed, null_seed=seed)
    # goodpoints 0.6 divides sums over the kept 2^g √bin_size rows by the size of the bin.
    left = min(bin_size, 2**g * bin_size**0.5)
    return test.statistic_values * (bin_size / left) ** 2


def measured(call):
    start = time.perf_counter(), time.process_time()
    result = call()
    return result, time.perf_counter() - start[0], time.process_time() - start[1]


def row(name, calls, exact):
    results, seconds, cores = zip(*map(measured, calls), strict=True)
    of_values = errors = ""
    statistics = results
    if hasattr(results[0], "values"):
        statistics = [r.statistic for r in results]
        differences = np.array([r.values for r in results]) - exact.values
        of_values = f"{np.sqrt((differences**2).mean()):.2g}"
        errors = f"{np.sqrt(np.mean([r.standard_errors**2 for r in results])):.2g}"
    of_statistic = np.sqrt(np.mean((np.array(statistics) - exact.statistic) ** 2))
    times = f"{np.median(seconds):.3g} | {np.median(cores):.3g}"
    print(f"| {name} | {times} | {of_statistic:.2g} | {of_values} | {errors} |", flush=True)


def main(n):
    x, y = samples(n)
    kernel = pkex.kernels.median_heuristic(x[:1000], y[:1000])
    scales = np.array(kernel.length_scale)
    print("| | seconds | of one core | error of MMD² | error of values | standard error |")
    print("|---|---|---|---|---|---|")
    exact, seconds, cores = measured(lambda: pkex.mmd(x, y, kernel=kernel))
    of_exact = f"{np.sqrt(np.mean(exact.standard_errors**2)):.2g}"
    times = f"{seconds:.3g} | {cores:.3g}"
    print(f"| exact, MMD² = {exact.statistic:.3g} | {times} | 0 | 0 | {of_exact} |", flush=True)
    for estimator, budget in (
        ("incomplete", 10**6),
        ("incomplete", 10**7),
        ("incomplete", 10**8),
        ("block", None),
        ("block", 10**8),
    ):
        name = f'"{estimator}", {"√n rows" if budget is None else f"{budget:.0e} pairs"}'
        ours = partial(pkex.mmd, x, y, kernel=kernel, estimator=estimator, budget=budget)
        row(name, [partial(ours, random_state=seed) for seed in range(SEEDS)], exact)
    others = [linear_time, random_features]
    others += [compress_then_test] if find_spec("goodpoints") else []
    for other in others:
        calls = [partial(other, x, y, scales, seed) for seed in range(SEEDS)]
        row(other.__name__.replace("_", " "), calls, exact)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
