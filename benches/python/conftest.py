"""Fixtures that compare computations, and a table of all comparisons at the end."""

import os
import platform
import sys
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path

import cpuinfo
import numpy as np
import pytest

import pkex
from pkex import _core

# Benchmarks import shared modules by name.
sys.path.insert(0, str(Path(__file__).parent))

from comparison import assert_agree, duration, ratio, take_turns

TABLE = pytest.StashKey[list[str]]()
ROOT = Path(__file__).parents[2]
LIBRARIES = ("numpy", "scipy", "scikit-learn", "shap", "shapiq")


@pytest.fixture
def add_row(request):
    """Add a row to the table: description, peer, pkex, ratio, goal."""
    table = request.config.stash.setdefault(TABLE, [])
    return lambda *cells: table.append(f"| {' | '.join(cells)} |")


@pytest.fixture
def turns(benchmark):
    """Time tasks in turn; see `take_turns`."""
    return partial(take_turns, benchmark)


@pytest.fixture
def add_comparison(add_row):
    """Add a row with the times of a peer and of pkex, from alternating rounds."""

    def add(what, peer, ours, *, goal="", show=ratio):
        medians = [duration(np.median(seconds)) for seconds in (peer, ours)]
        add_row(what, *medians, show(peer, ours), goal)

    return add


@pytest.fixture
def compare(turns, add_comparison):
    """Time a peer and pkex in turn, and add the row."""

    def run(what, peer, ours, *, goal="", show=ratio, seconds=5.0):
        found = turns([peer, ours], seconds=seconds, check=assert_agree)
        add_comparison(what, *found, goal=goal, show=show)

    return run


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash.get(TABLE, [])
    if not rows:
        return
    terminalreporter.section("comparisons within this run")
    lines = [
        machine(),
        "Medians of rounds in which the computations took turns; of ratios with the extremes.",
        "",
        "| what | other | pkex | ratio | goal |",
        "|---|--:|--:|--:|--:|",
        *rows,
        *engine_rows(),
    ]
    for line in lines:
        terminalreporter.write_line(line)


def machine():
    cpu = cpuinfo.get_cpu_info().get("brand_raw", platform.processor())
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{cpu}, {os.cpu_count()} cores, {_core.simd_level()}, load {os.getloadavg()[2]:.1f} over "
        f"the last 15 minutes; pkex {pkex.__version__}, Python {platform.python_version()}, "
        f"{versions}."
    )


def engine_rows():
    """Return rows about the engine that `cargo bench -p pkex-bench` wrote within the last hour."""
    path = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "tmp" / "engine.md"
    if not path.exists() or time.time() - path.stat().st_mtime > 3600:
        return ["", "The engine's own figures: run `cargo bench -p pkex-bench` first."]
    return path.read_text(encoding="utf-8").splitlines()
