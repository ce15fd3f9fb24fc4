"""Numbers that are read as texts, and those that are too large."""

from __future__ import annotations

import pandas as pd
import pytest

HOW = ("--permutations", 0, "--format", "json")


def _written(path, entries, delimiter=";"):
    lines = [f"{n % 5 + 0.5}{delimiter}{entry}" for n, entry in enumerate(entries)]
    path.write_text("\n".join([f"a{delimiter}x", *lines, " ", ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{},5", "--decimal ,"),
        ("{}.234,5", "such as 1234.5"),
        ("{:02}.01.2026", "such as 2026-03-01"),
        ("{}/1/2026", "such as 2026-03-01"),
    ],
)
def test_texts_that_look_like_numbers_or_dates_are_warned_of(entry, said, run, tmp_path):
    path = _written(tmp_path / "t.csv", [entry.format(n % 9 + 1) for n in range(20)])
    options = path, path, "--delimiter", ";"
    (warning,) = run("drift", *options, *HOW).record["warnings"]
    assert warning.startswith("column 'x' of ")
    assert said in warning
    assert warning.endswith("--categorical x")
    assert run("drift", *options, "--categorical", "x", *HOW).record["warnings"] == []


def test_decimal_commas_are_read(run, tmp_path):
    # The other column has points, which are no numbers then.
    path = _written(tmp_path / "t.csv", [f"{n},12345678901234567" for n in range(20)])
    points = tmp_path / "p.csv"
    points.write_text(path.read_text(encoding="utf-8").replace(",", "."), encoding="utf-8")
    options = "--columns", "x", "--delimiter", ";", *HOW
    commas = run("drift", path, path, "--decimal", ",", *options).record
    assert commas["columns"][0]["compared"] == "numbers"
    assert commas["features"] == run("drift", points, points, *options).record["features"]
    done = run("drift", path, path, "--decimal", ",", *HOW)
    assert done.status == 2
    assert "--delimiter" in done.err
    path.write_text(path.read_text(encoding="utf-8").replace("7,1", "seven"), encoding="utf-8")
    done = run("drift", path, path, "--decimal", ",", *options)
    assert done.status == 2
    assert "line 9, column 'x'" in done.err


def test_integers_that_are_too_large_to_differ_are_refused(run, tmp_path):
    path = tmp_path / "big.parquet"
    pd.DataFrame({"x": [2**60 + n for n in range(20)], "y": range(20)}).to_parquet(path)
    done = run("drift", path, path, *HOW)
    assert done.status == 2
    assert "big.parquet, row 2, column 'x': integers beyond 2^53, which are equal" in done.err
    assert run("drift", path, path, "--categorical", "x", *HOW).status == 0
    path = _written(tmp_path / "t.csv", [2**60 + n for n in range(20)], ",")
    done = run("drift", path, path, *HOW)
    assert done.status == 2
    assert "line 3, column 'x': integers beyond 2^53" in done.err


def test_decimal_commas_stand_between_tabs_without_a_word_about_these(run, tmp_path):
    path = tmp_path / "t.tsv"
    lines = [f"{n % 7},5\t{n % 5},25" for n in range(20)]
    path.write_text("\n".join(["a\tx", *lines]), encoding="utf-8")
    record = run("drift", path, path, "--decimal", ",", *HOW).record
    assert [column["compared"] for column in record["columns"]] == ["numbers", "numbers"]
    assert record["warnings"] == []
    comma = tmp_path / "t.csv"
    comma.write_text("a,x\n1,2\n", encoding="utf-8")
    done = run("drift", path, comma, "--decimal", ",", *HOW)
    assert done.status == 2
    assert f"{comma}: --decimal ',' requires another --delimiter, such as ';'" in done.err


def test_numbers_that_begin_with_a_nought_are_warned_of(run, tmp_path):
    path = _written(tmp_path / "t.csv", [f"010{n % 9:02}" for n in range(20)], ",")
    (warning,) = run("drift", path, path, "--columns", "x", *HOW).record["warnings"]
    assert "'01000', which are read as numbers" in warning
    assert warning.endswith("--categorical x")
    assert run("drift", path, path, "--categorical", "x", *HOW).record["warnings"] == []
    path = _written(tmp_path / "d.csv", [f"0{n % 9}.5" for n in range(20)], ",")
    assert run("drift", path, path, *HOW).record["warnings"] == []


def test_columns_that_count_the_rows_are_warned_of_unless_they_are_named(run, tmp_path):
    path = _written(tmp_path / "t.csv", range(7, 27), ",")
    (warning,) = run("drift", path, path, *HOW).record["warnings"]
    assert "column 'x' of " in warning
    assert warning.endswith("If it numbers the rows, pass --exclude x")
    record = run("drift", path, path, "--exclude", "x", *HOW).record
    assert record["warnings"] == []
    assert [column["name"] for column in record["columns"]] == ["a"]
    assert run("drift", path, path, "--columns", "a,x", *HOW).record["warnings"] == []
    assert run("hsic", path, "--target", "x", *HOW).record["warnings"] == []
    (warning,) = run("hsic", path, "--target", "a", *HOW).record["warnings"]
    assert warning.endswith("If it numbers the rows, pass --exclude x")
    path = _written(tmp_path / "few.csv", range(9), ",")
    assert run("drift", path, path, *HOW).record["warnings"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--exclude", "z"), "has no column 'z'"),
        (("--exclude", "x,a"), "--exclude leaves no column"),
        (("--exclude", "x", "--columns", "x"), "'x' is a column to read"),
    ],
)
def test_columns_that_cannot_be_left_out_are_said(options, said, run, tmp_path):
    path = _written(tmp_path / "t.csv", range(20), ",")
    done = run("drift", path, path, *options, *HOW)
    assert done.status == 2
    assert said in done.err
