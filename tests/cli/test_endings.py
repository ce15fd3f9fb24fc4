"""Commands that cannot be done end in one line, with status 2, whatever goes wrong."""

from __future__ import annotations

import json
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other files")


def _drift(files, *more):
    return ("drift", files / "reference.csv", files / "same.csv", "--permutations", 0, *more)


def _is_one_line(done, *parts):
    assert (done.status, done.err.count("\n")) == (2, 1)
    for part in parts:
        assert part in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk is full here")
@pytest.mark.parametrize("kind", ["csv", "html"])
def test_a_disk_that_is_full_is_told(kind, run, files, monkeypatch):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stdout", full)
        done = run(*_drift(files, "--format", kind))
        monkeypatch.undo()
    _is_one_line(done, "pkex drift: standard output cannot be written: No space left")


def test_streams_that_are_closed_are_told(run, files, monkeypatch, tmp_path):
    output = tmp_path / "d.csv"
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", None)
        _is_one_line(run(*_drift(files)), "standard output is closed")
        assert run(*_drift(files, "--output", output)).status == 0
        assert output.exists()
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", None)
        _is_one_line(run("drift", files / "same.csv", "-"), "standard input is closed")
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr", None)
        assert run("drift", files / "same.csv", "nothing.csv").status == 2


def test_errors_that_nobody_expected_have_a_line_too(run, files, monkeypatch):
    for error in (OSError(5, "Input/output error", "read.csv"), RecursionError("too deep")):
        monkeypatch.setattr("pkex.cli.drift.read_table", _raising(error))
        _is_one_line(run(*_drift(files)), "pkex drift: ", str(error.args[-1]))


def _raising(error):
    def read(*_):
        raise error

    return read


@pytest.mark.parametrize("kind", ["table", "json", "html"])
def test_names_that_are_not_utf8_are_escaped(kind, run, files, tmp_path):
    odd = tmp_path / "b\udcff.csv"
    try:
        odd.write_bytes((files / "same.csv").read_bytes())
    except (OSError, UnicodeError):
        pytest.skip("file names are UTF-8 here")
    output = tmp_path / "out"
    computation = ("--permutations", 0, "--format", kind, "--output", output)
    done = run("drift", files / "reference.csv", odd, *computation)
    assert done.status == 0
    text = output.read_text(encoding="utf-8")
    assert "b\\udcff.csv" in text
    if kind == "json":
        assert json.loads(text)["current"]["file"] == str(odd)


def test_the_demo_says_where_it_cannot_write(run, files):
    _is_one_line(run("demo", "--output", files / "same.csv"), "pkex demo", "same.csv")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--columns", '"city'), "--columns"),
        (("--permutations", "abc"), "--permutations: must be a non-negative integer"),
        (("--permutations", "19.5"), "--permutations: must be a non-negative integer"),
        (("--seed", "-1"), "--seed"),
        (("--seed", "9" * 5000), "--seed"),
        (("--alpha", "x"), "--alpha: must be between 0 and 1"),
        (("--alpha", "nan"), "--alpha: must be between 0 and 1"),
    ],
)
def test_wrong_options_are_named_with_what_is_expected(option, said, run, files):
    done = run(*_drift(files), *option)
    _is_one_line(done, said, "pkex drift --help")
    assert "_level" not in done.err
    assert "_count" not in done.err


def test_formats_that_cannot_be_written_are_errors_before_the_computation(
    run, files, tmp_path, monkeypatch
):
    monkeypatch.setattr("pkex.cli.drift.read_table", _raising(AssertionError("too late")))
    done = run(*_drift(files, "--output", tmp_path / "z.xlsx"))
    _is_one_line(done, "z.xlsx has the unknown extension '.xlsx'", ".parquet", "--format")
    done = run(*_drift(files, "--format", "parquet"))
    _is_one_line(done, "--format parquet requires a file, such as --output")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    done = run(*_drift(files, "--output", tmp_path / "z.parquet"))
    _is_one_line(done, "writing Parquet files requires pyarrow", "pip install pyarrow")
    assert not list(tmp_path.iterdir())


@posix
def test_an_output_that_is_a_link_or_has_permissions_keeps_them(run, files, tmp_path):
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target.name)
    assert run(*_drift(files, "--output", link)).status == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("# Drift")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert {path.name for path in tmp_path.iterdir()} == {"target.md", "link.md"}


@posix
def test_an_output_that_is_no_regular_file_is_written_into(run, files, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert run(*_drift(files, "--output", pipe)).status == 0
    reader.join(10)
    assert read[0].startswith("feature,")
    assert pipe.is_fifo()
