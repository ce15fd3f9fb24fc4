"""Time per factor, by value function and instruction set: `python factors.py [OTHER ...]`.

A factor is one feature of one evaluation of the kernel: a row × point × feature, for the
interventional value function times background rows, and for MMD and HSIC a pair of rows × feature.
OTHER are directories of other builds of the package, which alternate with the installed one in
separate processes. Prints medians in nanoseconds: processor time for one thread, wall time for all.
For the installed build and the widest instruction set it also prints the share of the core's
multiply-adds that 8 nodes × 5 instructions take (`PEAK`, in 10⁹ per second, as measured by
`cargo bench`).
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

FEATURES = 10, 20, 50, 100, 500
LEVELS = "avx512", "avx2", "portable"
TURNS = 5
PEAK = float(os.environ.get("PEAK", "29.6"))
POINTS, BACKGROUND, SAMPLE = 1000, 10, 1500


def tasks(n_jobs):
    """Return the name, call and number of factors of each task."""
    import pkex

    rng = np.random.default_rng(0)
    for d in FEATURES:
        n_rows = max(8, 4000 // d)
        points, x, z = (rng.normal(size=(n, d)) for n in (POINTS, n_rows, BACKGROUND))
        model = pkex.KernelExpansion(
            points, rng.normal(size=POINTS), pkex.kernels.RBF(np.sqrt(d / 2))
        )
        few = x[: max(2, n_rows // 5)]
        for name, rows, n, explainer in (
            ("neutral", x, 1, pkex.Explainer(model, value_function="neutral", n_jobs=n_jobs)),
            ("marginal", x, 1, pkex.Explainer(model, n_jobs=n_jobs)),
            ("interventional", few, BACKGROUND, pkex.Explainer(model, z, n_jobs=n_jobs)),
        ):
            explainer.shap_values(rows[:1])
            factors = len(rows) * n * POINTS * d
            yield f"{name}, d = {d}", lambda e=explainer, rows=rows: e.shap_values(rows), factors
    x, y = rng.normal(size=(2, SAMPLE, 20))
    kernel = pkex.kernels.RBF(4.0)
    pairs = SAMPLE * (2 * SAMPLE - 1)
    yield "MMD, d = 20", lambda: pkex.mmd(x, y, kernel=kernel, n_jobs=n_jobs), 20 * pairs
    z = np.concatenate([x, y])
    yield "HSIC, d = 20", lambda: pkex.hsic(z, z[:, 0], kernel=kernel, n_jobs=n_jobs), 20 * pairs


def measure(n_jobs):
    """Print nanoseconds per factor by name as JSON, the best of three calls."""
    clock = time.process_time if n_jobs == 1 else time.perf_counter
    found = {}
    for name, call, factors in tasks(n_jobs):
        best = np.inf
        for _ in range(3):
            start = clock()
            call()
            best = min(best, clock() - start)
        found[name] = 1e9 * best / factors
    print(json.dumps(found))


def turn(directory, level, n_jobs):
    """Measure one build in a separate process."""
    environment = os.environ | {"PKEX_SIMD": level}
    if directory is not None:
        environment["PYTHONPATH"] = directory
    command = [sys.executable, __file__, "measure", str(n_jobs)]
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)


def main(others):
    """Print a table: a row for each task, a column for each level, number of threads and build."""
    builds = [*(str(Path(other).resolve()) for other in others), None]
    columns = [(level, n_jobs) for level in LEVELS for n_jobs in (1, -1)]
    medians = {}
    for level, n_jobs in columns:
        turns = [[turn(build, level, n_jobs) for build in builds] for _ in range(TURNS)]
        for number in range(len(builds)):
            for name in turns[0][0]:
                ns = np.median([measured[number][name] for measured in turns])
                medians[name, level, n_jobs, number] = ns
    heads = [f"{level}, {'one' if n_jobs == 1 else 'all'}" for level, n_jobs in columns]
    print("| ns a factor |", " | ".join(heads), "| share |")
    print("|---|" + "--:|" * (len(columns) + 1))
    for name in dict.fromkeys(name for name, *_ in medians):
        cells = [
            " → ".join(f"{medians[name, *column, build]:.2f}" for build in range(len(builds)))
            for column in columns
        ]
        share = 40 / PEAK / medians[name, *columns[0], len(builds) - 1]
        print(f"| {name} |", " | ".join(cells), f"| {share:.0%} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]))
    else:
        main(sys.argv[1:])
