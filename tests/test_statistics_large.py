"""Many rows: what cancels still cancels, and memory stays with the data."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pkex
from pkex.kernels import RBF


def test_ten_digits_remain_where_twenty_thousand_rows_cancel(rng):
    n = 10_000
    x = rng.normal(size=(n, 3))
    x[: n // 2] += 100.0  # half of the pairs have nothing in common
    same = x[rng.permutation(n)]
    biased = pkex.mmd(x, same, kernel=RBF(3.0), estimator="biased")
    unbiased = pkex.mmd(x, same, kernel=RBF(3.0))
    # With S the mean of γ within a sample: S + S − 2 S, and twice n/(n−1) S less 2 S.
    mean = pkex.KernelExpansion(x, np.full(n, 1.0 / n), RBF(3.0))
    scale = pkex.Explainer(mean).shap_values(x).mean(axis=0)
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
x, y = rng.normal(size=(2, 10_000, 2))
before = peak()
results = [
    pkex.mmd(x, y, n_permutations=100, random_state=0),
    pkex.hsic(np.concatenate([x, y]), rng.normal(size=20_000), n_permutations=100, random_state=0),
]
print(json.dumps({"before": before, "after": peak()}))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
def test_twenty_thousand_rows_need_no_matrix_of_pairs():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    memory = json.loads(done.stdout)
    # A matrix of pairs has 3200 MB, the data 0.3 MB.
    assert memory["after"] < 200
    assert memory["after"] - memory["before"] < 100
