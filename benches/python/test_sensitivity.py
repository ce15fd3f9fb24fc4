"""Sensitivity of a surrogate: exact indices, compared with SALib's estimates."""

import time

import numpy as np
import pytest
from comparison import Task, duration, significant
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import pkex

# Rows of Saltelli's design are 2^k times the number of inputs plus 2.
SIZES = (2**10, 2**13)


def surrogate(n, d):
    """Return a Gaussian process fitted to runs of a function with few relevant inputs."""
    runs = stats.qmc.Sobol(d, seed=0).random(n)
    effects = 1.0 / (1.0 + np.arange(d))
    y = np.sin(2.0 * np.pi * runs) @ effects + 4.0 * np.prod(runs[:, :2] - 0.5, axis=1)
    kernel = ConstantKernel(1.0) * RBF(np.linspace(0.5, 2.0, d))
    model = GaussianProcessRegressor(kernel, alpha=1e-4, optimizer=None, normalize_y=True)
    return model.fit(runs, y)


def sampled(model, d, size):
    """Estimate first-order and total indices from size · (d + 2) predictions."""
    analyze = pytest.importorskip("SALib.analyze.sobol").analyze
    sample = pytest.importorskip("SALib.sample.sobol").sample
    problem = {"num_vars": d, "names": [f"x{j}" for j in range(d)], "bounds": [[0.0, 1.0]] * d}
    rows = sample(problem, size, calc_second_order=False, seed=0)
    outputs = np.concatenate([model.predict(some) for some in np.array_split(rows, 64)])
    found = analyze(problem, outputs, calc_second_order=False, seed=0)
    return np.stack([found["S1"], found["ST"]])


def exact(model, d):
    result = pkex.sensitivity(model, [stats.uniform(0.0, 1.0)] * d)
    return np.stack([result.first_order, result.total])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("n", "d"), [(256, 6), (1024, 20)])
def test_sampling(turns, add_row, n, d, size):
    model = surrogate(n, d)
    errors = []

    def compare(estimated, ours):
        errors.append(np.abs(estimated - ours).max())

    tasks = [Task(lambda: sampled(model, d, size)), Task(lambda: exact(model, d))]
    theirs, ours = turns(tasks, check=compare)
    add_row(
        f"sensitivity, {n} points, d = {d}: SALib, {size * (d + 2):,} predictions",
        f"{duration(np.median(theirs))}, {errors[0]:.0e} off",
        duration(np.median(ours)),
        f"{significant(float(np.median(theirs / ours)))}×",
        "",
    )


@pytest.mark.parametrize(
    ("n", "d", "kernel"),
    [
        (2000, 20, pkex.kernels.RBF(4.0)),
        (10_000, 20, pkex.kernels.RBF(4.0)),
        (300, 5, pkex.kernels.Matern(1.0, nu=2.5)),
    ],
)
def test_many_points(benchmark, add_row, n, d, kernel):
    rng = np.random.default_rng(0)
    model = pkex.KernelExpansion(rng.normal(size=(n, d)), rng.normal(size=n), kernel)

    def run():
        start = time.perf_counter()
        pkex.sensitivity(model, [stats.norm()] * d)
        return time.perf_counter() - start

    seconds = benchmark.pedantic(run, rounds=1)
    name = f"sensitivity, {n:,} points, d = {d}, {type(kernel).__name__}"
    add_row(name, "", duration(seconds), "", "")
