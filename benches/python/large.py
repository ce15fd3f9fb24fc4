"""Large computations, each in a separate process: `python large.py mmd 20000`.

Prints the seconds it took and the peak memory of the process in megabytes, as JSON. This is
VmHWM, because a child inherits the peak of resource.getrusage from its parent.
"""

import json
import re
import sys
import time
from pathlib import Path

import numpy as np

import pkex


def mmd(n):
    """Attribute the difference of two samples of n rows to 20 features."""
    x, y = np.random.default_rng(0).standard_normal((2, n, 20))
    y[:, :10] += 0.1
    return lambda: pkex.mmd(x, y)


def interventional(n):
    """Explain n rows by 1000 points against 100 background rows, d = 20."""
    rng = np.random.default_rng(0)
    points, coefficients = rng.standard_normal((1000, 20)), rng.standard_normal(1000)
    background, rows = rng.standard_normal((100, 20)), rng.standard_normal((n, 20))
    expansion = pkex.KernelExpansion(points, coefficients, pkex.kernels.RBF(20**0.5))
    return lambda: pkex.Explainer(expansion, background).shap_values(rows)


def gaussian_process(n, **options):
    """Explain rows by a Gaussian process of 500 rows against 50 background rows, d = 10."""
    # Imported here, because scikit-learn takes more memory than the other computations.
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    rng = np.random.default_rng(0)
    X, background, rows = (rng.standard_normal((size, 10)) for size in (500, 50, n))
    kernel = RBF(10**0.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, np.sin(X).sum(axis=1))
    return lambda **how: pkex.Explainer(model, background, **options)(rows, **how)


def variance(n):
    return gaussian_process(n, target="variance")


def uncertainty(n):
    explain = gaussian_process(n)
    return lambda: explain(uncertainty=True)


def peak_memory():
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    name, size = sys.argv[1:]
    tasks = (mmd, interventional, variance, uncertainty)
    call = {task.__name__: task for task in tasks}[name](int(size))
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": peak_memory()}))
