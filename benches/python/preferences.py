"""Fits of preference models to many pairs: time of the CPU and peak memory, in separate processes.

    python benches/python/preferences.py                40,000 and 95,000 pairs, 5 min
    python benches/python/preferences.py minibatches    Newton's method and minibatches, 2 min

Pairs are those of Hu et al. (2022), section 4: 1,000 items in three clusters, and the feature that
decides depends on the clusters. Contexts are 5,000 rows of two columns.
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
from large import memory

from pkex.kernels import median_heuristic
from pkex.models import PreferenceLogistic, PreferenceRidge

DECIDING = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
MODELS = {"ridge": PreferenceRidge, "logistic": PreferenceLogistic}
# The model, the number of pairs, centers, and whether there are contexts.
CASES = [
    ("ridge", 2500, None, False),
    ("logistic", 2500, None, False),
    ("ridge", 2500, "auto", False),
    ("logistic", 2500, "auto", False),
    ("ridge", 40_000, "auto", False),
    ("logistic", 40_000, "auto", False),
    ("ridge", 95_000, "auto", False),
    ("logistic", 95_000, "auto", False),
    ("ridge", 95_000, "auto", True),
    ("logistic", 95_000, "auto", True),
]


def pairs(n, rng):
    """Return left and right items, 1 if left wins and −1 otherwise, and contexts."""
    items = np.hstack([rng.normal(size=(1000, 4)), np.eye(3)[rng.integers(3, size=1000)]])
    first = rng.integers(1000, size=n)
    left, right = items[first], items[(first + rng.integers(1, 1000, size=n)) % 1000]
    deciding = DECIDING[left[:, 4:].argmax(axis=1), right[:, 4:].argmax(axis=1)]
    context = rng.normal(size=(5000, 2))[rng.integers(5000, size=n)]
    return left, right, np.sign((left - right)[np.arange(n), deciding]), context


def fit(name, n, n_centers, has_contexts):
    """Print what a fit took, and its accuracy, as JSON."""
    left, right, y, context = pairs(n + 3000, np.random.default_rng(0))
    told = [context] if has_contexts else []
    model = MODELS[name](alpha=0.1, n_centers=n_centers, random_state=0)
    before, start = memory("VmHWM"), time.process_time()
    model.fit(left[:n], right[:n], y[:n], *(table[:n] for table in told))
    found = {"seconds": time.process_time() - start, "megabytes": memory("VmHWM") - before}
    output = getattr(model, "decision_function", model.predict)
    odds = output(left[n:], right[n:], *(table[n:] for table in told))
    found |= {"n_centers": model.n_centers_, "n_iter": model.n_iter_}
    print(json.dumps(found | {"accuracy": float(np.mean(np.sign(odds) == y[n:]))}))


def minibatches():
    """Print objectives by Newton's method and by preconditioned minibatches, above the minimum."""
    from pkex.models.preferences.inducing_pairs import InducingPairs
    from pkex.models.preferences.preferential import Preferential

    n, alpha = 40_000, 0.1
    left, right, y, _ = pairs(n, np.random.default_rng(0))
    f = Preferential(left, right, np.zeros(n), median_heuristic(left, right))
    inducing = InducingPairs.draw(f, np.ones(n), alpha, 1000, np.random.default_rng(0))

    def objective(g):
        return np.logaddexp(0.0, -y * inducing._values(g)).sum() + alpha * g @ g

    start = time.process_time()
    newton = inducing.least_logistic(y > 0.0, 1e-12, 100)
    print(f"Newton's method: {time.process_time() - start:.1f} s, {newton.n_steps} steps")
    least = objective(newton.coordinates)
    for size in (256, 2048):
        for rate in (0.3, 0.1, 0.03):
            start = time.process_time()
            g = averaged(inducing, y, alpha, size, rate)
            above = objective(g) / least - 1.0
            print(f"{size} pairs, rate {rate}: {time.process_time() - start:.1f} s, {above:.1e}")


def averaged(inducing, y, alpha, size, rate, n_passes=30):
    """Return the mean of the second half of minibatch steps, preconditioned as at g = 0."""
    n, rng = len(y), np.random.default_rng(0)
    preconditioned = inducing._preconditioner(np.full(n, 0.25), 2.0 * alpha)
    g, mean, step = np.zeros(inducing.rank), np.zeros(inducing.rank), 0
    for number in range(n_passes):
        order = rng.permutation(n)
        for start in range(0, n, size):
            sample, downhill = np.sort(order[start : start + size]), -2.0 * alpha * g
            for own, block in inducing.kernel.blocks(sample):
                rows = inducing.features.of(block.T)
                wrong = y[own] / (1.0 + np.exp(y[own] * (g @ rows)))
                downhill += rows @ wrong * (n / len(sample))
            step += 1
            g = g + rate / (1.0 + step * size / n) ** 0.5 * preconditioned(downhill)
        if number >= n_passes // 2:
            mean += (g - mean) / (number - n_passes // 2 + 1)
    return mean


def main():
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    print("| model | pairs | centers | contexts | iterations | CPU | memory | accuracy |")
    print("|---|--:|--:|---|--:|--:|--:|--:|")
    for case in CASES:
        command = [sys.executable, __file__, json.dumps(case)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        found = json.loads(done.stdout)
        iterations = "–" if found["n_iter"] is None else found["n_iter"]
        print(
            f"| {case[0]} | {case[1]:,} | {found['n_centers']:,} | {'5,000' if case[3] else '–'} "
            f"| {iterations} | {found['seconds']:.1f} s | {found['megabytes']:.0f} MB "
            f"| {found['accuracy']:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["minibatches"]:
        minibatches()
    elif sys.argv[1:]:
        fit(*json.loads(sys.argv[1]))
    else:
        main()
