"""The command line as a process: its entry points, pipes, Ctrl-C, and what it loads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from pkex.cli.main import main

MODULE = [sys.executable, "-m", "pkex"]


def _environment():
    return os.environ | {"PYTHONUTF8": "1", "PYTHONWARNINGS": "default"}


def test_the_script_pkex_is_what_the_module_runs():
    project = Path(__file__).parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["scripts"]
    module, _, name = scripts["pkex"].partition(":")
    assert getattr(import_module(module), name) is main


def test_standard_input_and_a_status_are_those_of_a_shell(files):
    done = subprocess.run(
        [*MODULE, "drift", str(files / "reference.csv"), "-", "--fail-on-drift"],
        input=(files / "current.csv").read_bytes(), capture_output=True, env=_environment(),
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert b"reference.csv and standard input differ" in done.stdout
    # No terminal, no progress.
    assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes")
def test_a_pipe_that_nobody_reads_is_quiet(files):
    process = subprocess.Popen(
        [*MODULE, "drift", str(files / "reference.csv"), str(files / "current.csv")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(),
    )  # fmt: skip
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(120) == 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has other signals")
def test_ctrl_c_ends_a_command_without_a_traceback(files, tmp_path):
    output = tmp_path / "r.html"
    process = subprocess.Popen(
        [*MODULE, "drift", str(files / "reference.csv"), "-", "--output", str(output)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(),
    )  # fmt: skip
    # It waits for the rest of the table.
    process.stdin.write(b"a,b,c\n")
    process.stdin.flush()
    _wait_until_read(process.stdin)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert not list(tmp_path.iterdir())


def _wait_until_read(pipe):
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    for _ in range(6000):
        waiting = fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4)
        if waiting == b"\0" * 4:
            # By then it waits for more.
            time.sleep(0.2)
            return
        time.sleep(0.01)
    pytest.fail("nothing was read")


def test_the_commands_load_no_library_before_they_are_needed():
    code = (
        "import sys, pkex.cli.main\n"
        "known = {'pandas', 'pyarrow', 'sklearn', 'scipy', 'skops', 'matplotlib', 'joblib'}\n"
        "print(known & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(("library", "needs"), [("pandas", "CSV"), ("pyarrow", "Parquet")])
def test_a_library_that_is_missing_is_named(library, needs, run, files, tmp_path, monkeypatch):
    path = files / "current.csv"
    if needs == "Parquet":
        path = tmp_path / "t.parquet"
        path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, library, None)
    done = run("drift", path, files / "reference.csv")
    assert done.status == 2
    assert f"reading {needs}" in done.err
    assert "pip install 'pkex[cli]'" in done.err
    assert "Traceback" not in done.err


def test_every_command_has_help(run):
    for command in ("drift", "hsic", "explain", "sensitivity", "demo"):
        done = run(command, "--help")
        assert done.status == 0
        assert done.out.startswith(f"usage: pkex {command}")
        assert command in run("--help").out


def test_progress_is_shown_on_a_terminal_alone(monkeypatch, capsys):
    from pkex.cli.options import Progress

    assert Progress.for_terminal() is False
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("time.monotonic", iter([0.0, *[1.0] * 9]).__next__)
    progress = Progress.for_terminal()
    for done in (1, 2, 2, 4):
        progress(done, 4)
    shown = capsys.readouterr().err
    assert shown == f"\rpkex:  25 %\rpkex:  50 %\r{' ' * 11}\r"


def test_progress_of_rows_has_their_rate_and_the_remaining_time(monkeypatch, capsys):
    from pkex.cli.options import Progress

    monkeypatch.setattr("time.monotonic", iter([0.0, 10.0, 40.0, 50.0]).__next__)
    progress = Progress("rows")
    for done in (20_000, 80_000, 100_000):
        progress(done, 100_000)
    first = "pkex:  20 % of 100,000 rows, 2,000 rows/s, 40 seconds left"
    second = "pkex:  80 % of 100,000 rows, 2,000 rows/s, 10 seconds left"
    assert capsys.readouterr().err == f"\r{first}\r{second}\r{' ' * len(first)}\r"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("--fail-on-drft", "--fail-on-drift"),
        ("any-column", "--fail-on-drift=any-column"),
        ("--threshold", None),
    ],
)
def test_an_unknown_argument_is_answered_with_the_option_that_was_meant(run, word, meant):
    done = run("drift", "a.csv", "b.csv", word)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"the argument {word!r} is not known" in done.err
    assert done.err.endswith(" (see pkex drift --help)\n")
    assert (f", did you mean {meant}?" if meant else "known (see") in done.err
