"""HSIC attributed to all features, compared with MMD and with the statistic in NumPy."""

import numpy as np
import pytest
from comparison import Task, slowdown
from statistics_problems import dependent, hsic_by_matrices, mmd, pairs, two_samples

import pkex


def hsic(X, y, **options):
    return np.array([pkex.hsic(X, y, **options).statistic])


@pytest.mark.parametrize("rows", [4000, 10_000])
def test_hsic_and_mmd(turns, add_comparison, rows):
    samples, data = two_samples(rows // 2), dependent(rows)
    tasks = [
        Task(lambda: mmd(*samples), pairs(rows)),
        Task(lambda: hsic(*data), pairs(rows)),
    ]
    what = f"HSIC of {rows} rows, d = 20: a pair, MMD with as many pairs"
    add_comparison(what, *turns(tasks), goal="≤ 1.5× the time", show=slowdown)


def test_numpy(compare):
    X, y = dependent(4000)
    # One length-scale, as in scikit-learn's kernel.
    kernels = [pkex.kernels.median_heuristic(side, standardize=False) for side in (X, y)]
    theirs = Task(lambda: hsic_by_matrices(X, y, *kernels))
    ours = Task(lambda: hsic(X, y, kernel=kernels[0], target_kernel=kernels[1]))
    what = "HSIC of 4000 rows, d = 20: NumPy with n × n matrices, the statistic alone"
    compare(what, theirs, ours, show=slowdown)
