"""Large computations, each for a process of its own: `python large.py mmd 20000`.

Prints the seconds it took and the peak memory of the process in megabytes, as JSON. That is
VmHWM: what resource.getrusage calls the peak, a child inherits from its parent.
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


def peak_memory():
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    name, size = sys.argv[1:]
    call = {"mmd": mmd, "interventional": interventional}[name](int(size))
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": peak_memory()}))
