"""Time and memory of large computations, each in a separate process.

Computations of minutes are measured if PKEX_BENCH_LONG is set: `PKEX_BENCH_LONG=1 make bench`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from comparison import duration

LARGE = Path(__file__).with_name("large.py")

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
long = pytest.mark.skipif(not os.environ.get("PKEX_BENCH_LONG"), reason="needs PKEX_BENCH_LONG=1")


def measured(benchmark, name, size):
    """Return the seconds and megabytes of one run."""
    command = [sys.executable, str(LARGE), name, str(size)]
    done = benchmark.pedantic(
        lambda: subprocess.run(command, capture_output=True, text=True, check=True)
    )
    found = json.loads(done.stdout)
    return found["seconds"], found["megabytes"]


@pytest.mark.parametrize("n", [20_000, pytest.param(50_000, marks=long)])
def test_mmd(benchmark, add_row, n):
    seconds, megabytes = measured(benchmark, "mmd", n)
    rate = f"{n * (2 * n - 1) / seconds / 1e6:.3g} M pairs/s"
    what = f"MMD of all features, n = m = {n:,}, d = 20: time and peak memory"
    add_row(what, "", f"{duration(seconds)}, {megabytes:.0f} MB", rate, "minutes, < 200 MB")


@pytest.mark.parametrize("n", [100_000, pytest.param(10_000_000, marks=long)])
@pytest.mark.parametrize("name", ["estimated_mmd", "estimated_mmd_of_files"])
def test_estimated_mmd(benchmark, add_row, name, n):
    seconds, megabytes = measured(benchmark, name, n)
    what = f"{name}, n = m = {n:,}, d = 20, 199 permutations: time and peak memory"
    add_row(what, "", f"{duration(seconds)}, {megabytes:.0f} MB", "", "minutes")


@pytest.mark.parametrize("rows", [50_000, pytest.param(1_000_000, marks=long)])
def test_explained_file(benchmark, add_row, rows):
    seconds, megabytes = measured(benchmark, "explained_file", rows)
    what = f"{rows:,} rows of a Parquet file, 500 points, d = 20: time and peak memory"
    add_row(what, "", f"{duration(seconds)}, {megabytes:.0f} MB", "", "memory does not grow")
    assert megabytes < 500


@pytest.mark.parametrize("rows", [1000, pytest.param(10_000, marks=long)])
def test_interventional(benchmark, add_row, rows):
    seconds, megabytes = measured(benchmark, "interventional", rows)
    rate = f"{rows * 1000 * 100 / seconds / 1e6:.3g} M games/s"
    what = f"{rows:,} rows × 1000 points × 100 background rows, d = 20: time and peak memory"
    add_row(what, "", f"{duration(seconds)}, {megabytes:.0f} MB", rate, "")


@pytest.mark.parametrize("rows", [1, 20])
@pytest.mark.parametrize("name", ["variance", "uncertainty"])
def test_gaussian_process(benchmark, add_row, name, rows):
    seconds, megabytes = measured(benchmark, name, rows)
    what = f"{name}, rows: {rows}, n = 500, 50 background rows, d = 10: time and peak memory"
    add_row(what, "", f"{duration(seconds)}, {megabytes:.0f} MB", "", "memory does not grow")
