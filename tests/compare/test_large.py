"""Many rows: what cancels still cancels, and memory stays with the data."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pkex
from pkex.kernels import RBF


@pytest.mark.slow
def test_ten_digits_remain_where_ten_thousand_rows_cancel(rng):
    n = 10_000
    x = rng.normal(size=(n, 3))
    x[: n // 2] += 100.0  # half of the pairs have nothing in common
    same = x[rng.permutation(n)]
    biased = pkex.mmd(x, same, kernel=RBF(3.0), estimator="biased")
    unbiased = pkex.mmd(x, same, kernel=RBF(3.0), value_function="neutral")
    # With S the mean of γ within a sample: S + S − 2 S, and twice n/(n−1) S less 2 S.
    mean = pkex.KernelExpansion(x, np.full(n, 1.0 / n), RBF(3.0))
    scale = pkex.Explainer(mean, value_function="neutral").shap_values(x).mean(axis=0)
    np.testing.assert_allclose(biased.values, 0.0, rtol=0, atol=1e-10 * np.abs(scale).min())
    np.testing.assert_allclose(
        unbiased.values, 2.0 * scale / (n - 1.0), rtol=0, atol=1e-10 * np.abs(scale).min()
    )


# The peak of this process alone: what resource.getrusage tells begins with the parent's.
PROGRAM = """
import json, re
import numpy as np
import pkex

def peak():
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1024

rng = np.random.default_rng(0)
x, y = rng.normal(size=(2, {rows}, {columns}))
pkex.mmd(x[:2], y[:2])
before = peak()
results = [{calls}]
print(json.dumps({{"before": before, "after": peak()}}))
"""


def peaks(rows, columns, *calls):
    """The peak of memory in MB before and after some calls, in a process of their own."""
    program = PROGRAM.format(rows=rows, columns=columns, calls=", ".join(calls))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    memory = json.loads(done.stdout)
    return memory["before"], memory["after"]


slow = partial(pytest.param, marks=pytest.mark.slow)
needs_linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")


@pytest.mark.slow
@needs_linux
def test_ten_thousand_rows_need_no_matrix_of_pairs():
    before, after = peaks(
        10_000,
        2,
        "pkex.mmd(x, y, n_permutations=100, random_state=0)",
        "pkex.hsic(x, y[:, 0], n_permutations=100, random_state=0)",
    )
    # A matrix of the pairs of both samples has 3,200 MB, the data 0.3 MB.
    assert after < 200
    assert after - before < 100


@needs_linux
@pytest.mark.parametrize(
    ("call", "most"),
    [
        ("pkex.mmd(x, y)", 150),
        # The peak of both calls.
        slow(
            'pkex.mmd(x, y, weights=(np.ones(len(x)), None), value_function="marginal"), '
            "pkex.hsic(x, y[:, 0])",
            150,
        ),
        # On one thread: with two, the peak depends on when the other allocates.
        slow("pkex.hsic(x, y[:, 0], n_permutations=20, random_state=0, n_jobs=1)", 350),
    ],
)
def test_thousands_of_columns_need_little_more_than_the_data_and_the_results(call, most):
    # The data have 6 MB; sums for every tile of pairs would have gigabytes.
    before, after = peaks(130, 3000, call)
    assert after - before < most
