"""A result too large for memory is a MemoryError that says how much and what to do: no abort."""

import re
import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="no limits of memory on this system")

# A call that may take so many megabytes more than what was there before it.
CALL = """
import resource
import numpy as np
import pkex
from pkex.kernels import RBF

def expansion(points, columns, outputs):
    return pkex.KernelExpansion(
        np.zeros((points, columns)), np.ones((points, outputs)), RBF(columns**0.5)
    )

{prepare}
with open("/proc/self/statm") as pages:
    used = int(pages.read().split()[0]) * resource.getpagesize()
limit = used + {megabytes} * 1_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    {call}
except MemoryError as error:
    print(error)
"""


def refusal(call, prepare="", megabytes=1500):
    """What the MemoryError of a call says, in a process of its own."""
    code = CALL.format(prepare=prepare, call=call, megabytes=megabytes)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


RESULT = "for the result; pass fewer rows or outputs at a time"
SUMS = "for intermediate sums; pass fewer outputs at a time, or use fewer threads"
RECURSION = "for the rows of the recursion; use the quadrature, or fewer threads"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


@pytest.mark.slow
@pytest.mark.parametrize("call", ["explainer.shap_values(rows)", "explainer(rows)"])
def test_values_of_many_rows_columns_and_outputs(call):
    prepare = """
explainer = pkex.Explainer(expansion(20, 784, 45), value_function="neutral")
rows = np.zeros((100_000, 784))
"""
    assert refusal(call, prepare, 2500) == f"not enough memory: 28.2 GB {RESULT}"


def test_interactions_of_many_columns():
    prepare = 'explainer = pkex.Explainer(expansion(20, 784, 45), value_function="neutral")'
    found = refusal("explainer.interactions(np.zeros((15, 784)))", prepare)
    assert found == f"not enough memory: 1.7 GB {RESULT}"


@pytest.mark.parametrize("value_function", ["neutral", "interventional", "marginal"])
def test_one_row_of_many_columns_and_outputs(value_function):
    # 0.1 GB of values, and 32 times as much of sums in each thread: of one, because the error also
    # counts what another has just asked for.
    background = "None" if value_function == "neutral" else "np.zeros((2, 3000))"
    prepare = f"""
explainer = pkex.Explainer(
    expansion(2, 3000, 4000), {background}, value_function={value_function!r}, n_jobs=1
)
"""
    found = refusal("explainer.shap_values(np.zeros((1, 3000)))", prepare)
    assert found == f"not enough memory: 3.1 GB {SUMS}"


def test_predictions_of_many_rows_and_outputs():
    prepare = "f, rows = expansion(20, 4, 3000), np.zeros((100_000, 4))"
    assert refusal("f.predict(rows)", prepare) == f"not enough memory: 2.4 GB {RESULT}"


def test_games_of_many_players_and_outputs():
    call = "pkex.product_game(np.ones((1, 10**6)), weights=np.ones((1, 10**6)))"
    assert refusal(call) == f"not enough memory: 8000.0 GB {RESULT}"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_recursion_of_many_players(n_jobs):
    call = f"pkex.product_game(np.ones((40, 200_000)), method='recursion', n_jobs={n_jobs})"
    found = refusal(call)
    if n_jobs > 1:  # the other thread may have asked before
        found = found.partition(" (the call has ")[0]
    assert found == f"not enough memory: 4.0 GB {RECURSION}"


@pytest.mark.parametrize("megabytes", [30, 60, 90])
def test_an_expansion_point_of_many_columns(megabytes):
    # 2.4 MB, and sixteen times as much in lanes, of which one is used, in two places.
    found = refusal("expansion(1, 300_000, 1).predict(np.zeros((1, 300_000)))", "", megabytes)
    assert re.match(r"not enough memory: \d+\.\d MB for |Unable to allocate", found), found


@pytest.mark.slow
def test_an_expansion_point_of_many_columns_that_fits():
    call = "print(expansion(1, 300_000, 1).predict(np.zeros((1, 300_000)))[0, 0])"
    assert refusal(call) == "1.0"


@pytest.mark.slow
@pytest.mark.parametrize("call", ["mmd(rows, rows + 0.1)", "hsic(rows, rows[:, 0])"])
def test_sums_over_pairs_of_many_rows_and_columns(call):
    prepare = "rows = np.random.default_rng(0).normal(size=(50, 20_000))"
    found = refusal(f"pkex.{call}", prepare, 150)
    assert re.match(r"not enough memory: .* for (the sums over|a copy)|Unable to allocate", found)


@pytest.mark.parametrize("kernel", ["Cauchy(3.0)", "Laplacian(3.0)", "Chi2(0.1)"])
@pytest.mark.parametrize(
    "megabytes", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (200, 220))]
)
def test_kernels_of_many_columns(kernel, megabytes):
    prepare = "from pkex.kernels import Cauchy, Chi2, Laplacian; points = np.zeros((1, 1_000_000))"
    found = refusal(f"pkex.KernelExpansion(points, [1.0], {kernel})", prepare, megabytes)
    assert re.match(r"not enough memory: |Unable to allocate", found), found
