"""Fits of DeconditionalRegressor to many bags: time of the CPU and peak memory.

    python benches/python/downscaling.py                all sizes, 3 min
    python benches/python/downscaling.py 5000 200       5,000 bags, 200 inducing points

Bags are means over four rows, whose first two columns scatter around the mediator.
"""

import subprocess
import sys
import time

import numpy as np
from large import memory

from pkex.models import DeconditionalRegressor

# The number of bags, and of inducing points; 0 for all rows.
CASES = [(500, 0), (1000, 0), (1000, 200), (5000, 200), (10_000, 200)]
ROWS = 4


def fit(n_bags, n_inducing):
    """Print what a fit took, and its error at single rows."""
    rng = np.random.default_rng(0)
    of_bags = rng.uniform(-3.0, 3.0, (n_bags, 2))
    mediator = np.repeat(of_bags, ROWS, axis=0)
    near = mediator + 0.5 * rng.standard_normal(mediator.shape)
    x = np.column_stack([near, rng.standard_normal(len(near))])
    f = np.sin(x[:, 0]) + 0.5 * x[:, 1] * np.cos(x[:, 2])
    y = f.reshape(n_bags, ROWS).mean(axis=1) + 0.05 * rng.standard_normal(n_bags)
    before, start = memory("VmHWM"), time.process_time()
    model = DeconditionalRegressor(n_inducing=n_inducing or None, random_state=0)
    model.fit(x, mediator, y, of_bags)
    seconds, megabytes = time.process_time() - start, memory("VmHWM") - before
    error = np.sqrt(np.mean((model.predict(x[:2000]) - f[:2000]) ** 2)) / f.std()
    points = n_inducing or "all rows"
    print(f"{n_bags:6} bags, {points}: {seconds:.0f} s, {megabytes:.0f} MB, error {error:.3f} sd")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fit(*map(int, sys.argv[1:]))
    else:
        for case in CASES:
            subprocess.run([sys.executable, __file__, *map(str, case)], check=True)
