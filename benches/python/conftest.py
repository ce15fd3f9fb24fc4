"""The fixture that compares computations, and one table of all comparisons at the end."""

import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import cpuinfo
import pytest

import pkex
from pkex import _core

# Benchmarks import what they share by name.
sys.path.insert(0, str(Path(__file__).parent))

from comparison import assert_agree, duration, ratio

TABLE = pytest.StashKey[list[str]]()
ROOT = Path(__file__).parents[2]


@pytest.fixture
def compare(benchmark, request):
    """Time a peer and pkex in turn and add a row to the table.

    Of both the fastest run counts: other work on the machine only ever adds time, and taking turns
    gives both the same chances. pkex runs twice in its turn, as a peer leaves caches and threads
    cold.
    """

    def compare(what, peer, ours, *, goal="", show=ratio, seconds=5.0):
        assert_agree(peer.call(), ours.call())
        peer_seconds, our_seconds = [], []
        run_peer, run_ours = peer.timed(peer_seconds), ours.timed(our_seconds)

        def setup():
            run_peer()
            run_ours()

        start = time.perf_counter()
        setup()
        rounds = seconds / (time.perf_counter() - start)
        benchmark.pedantic(run_ours, setup=setup, rounds=max(5, int(rounds)))
        slow, fast = min(peer_seconds), min(our_seconds)
        cells = [what, duration(slow), duration(fast), show(slow, fast), goal]
        table = request.config.stash.setdefault(TABLE, [])
        table.append(f"| {' | '.join(cells)} |")

    return compare


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    rows = config.stash.get(TABLE, [])
    if not rows:
        return
    terminalreporter.section("comparisons within this run")
    lines = [
        machine(),
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
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "shapiq"))
    return (
        f"{cpu}, {os.cpu_count()} cores, {_core.simd_level()}; pkex {pkex.__version__}, "
        f"Python {platform.python_version()}, {versions}."
    )


def engine_rows():
    """Rows about the engine alone, which `cargo bench -p pkex-bench` left within the last hour."""
    path = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "tmp" / "engine.md"
    if not path.exists() or time.time() - path.stat().st_mtime > 3600:
        return ["", "The engine's own figures: run `cargo bench -p pkex-bench` first."]
    return path.read_text(encoding="utf-8").splitlines()
