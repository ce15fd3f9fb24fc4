"""Equal bits of statistics, for any number of threads, instruction set and way to run them."""

import json
import multiprocessing
import os
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
from joblib import Parallel, delayed
from simd_levels import only_native

import pkex

# Row by row and in blocks, over enough rows and permutations for BLAS to share its work out.
PROGRAM = """
import hashlib, json
import numpy as np
import pkex

rng = np.random.default_rng(0)
x, y = rng.normal(size=(700, 6)), rng.normal(size=(500, 6)) + 0.1
few = rng.normal(size=(100, 6))
options = {"n_permutations": 2000, "random_state": 0}
results = {
    "MMD": pkex.mmd(x, y, **options),
    "MMD marginal": pkex.mmd(x, y, value_function="marginal", **options),
    "MMD weighted": pkex.mmd(x, y, weights=(rng.uniform(size=700), None)),
    "MMD of a batch": pkex.MMDDrift(x).predict(y),
    "HSIC": pkex.hsic(x, x[:, 0], **options),
    "HSIC row by row": pkex.hsic(few, few[:, 0], **options),
}
arrays = ("values", "alone", "standard_errors", "permuted_values", "feature_pvalues",
          "familywise_pvalues")
print(json.dumps({
    f"{what}: {name}": hashlib.sha256(np.ascontiguousarray(getattr(result, name))).hexdigest()
    for what, result in results.items()
    for name in arrays
    if getattr(result, name) is not None
}))
"""


def digests(**variables):
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def expected():
    return digests(OPENBLAS_NUM_THREADS=1, RAYON_NUM_THREADS=1)


@pytest.mark.slow
def test_bits_do_not_depend_on_the_threads_of_blas(expected):
    assert digests(OPENBLAS_NUM_THREADS=2, OMP_NUM_THREADS=2) == expected
    assert digests(OPENBLAS_NUM_THREADS=7, OMP_NUM_THREADS=7) == expected


@pytest.mark.skipif("x86" not in sysconfig.get_platform(), reason="levels of x86-64")
@pytest.mark.skipif(only_native(), reason="the extension is a quick build")
def test_bits_are_equal_with_and_without_avx512(expected):
    assert digests(PKEX_SIMD="avx2") == expected


# --- how they are run ---

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 3)), RNG.normal(size=(180, 3))


def found():
    options = {"n_permutations": 9, "random_state": 0}
    return [
        pkex.mmd(X, Y, **options).permuted_values,
        pkex.hsic(X, X[:, 0], **options).permuted_values,
        pkex.MMDDrift(X).predict(Y).values,
    ]


def assert_equal_bits(results):
    here = found()
    for there in results:
        for one, other in zip(here, there, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_get_equal_bits():
    found()  # threads have been started before
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert_equal_bits([pool.apply_async(found).get(timeout=60) for _ in range(2)])


def test_threads_of_joblib_get_equal_bits():
    assert_equal_bits(Parallel(n_jobs=2, prefer="threads")(delayed(found)() for _ in range(2)))
