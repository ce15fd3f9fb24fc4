"""Bad files: one line that names file, row and column; status 2; nothing half-written."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

GOOD = "a,b\n1,2\n3,4\n5,7\n"
# What a file holds, and what is said of it.
BAD = {
    "empty": (b"", "is empty"),
    "header alone": (b"a,b\n", "has no rows, only the names of 2 columns"),
    "short": (b"a,b\n1,2\n3\n", "line 3: 1 field instead of 2, with none for column 'b'"),
    "long": (b"a,b\n1,2,9\n3,4\n", "line 2: 3 fields instead of 2; beyond column 'b' is '9'"),
    "not utf-8": (b"a,b\n1,2\n3,\xe9\n", "line 3, column 'b': byte 0xe9 is not UTF-8"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "is UTF-16. Convert it"),
    "excel": (b"PK\x03\x04\x14\x00", "is a zip file, such as an Excel file"),
    "byte 0": (b"a,b\n1,\x002\n", "contains a byte 0"),
    "json": (b"[{}]\n", "has no rows, only the names of 1 column"),
    "open quote": (b'a,b\n1,"2\n3,4\n', "unexpected end of data"),
    "equal names": (b"a,a\n1,2\n", ": several columns are named ['a']"),
    "semicolons": (b"a;b\n1;2\n", "pass --delimiter ';'"),
    "one text": (b"a,b\n1,2\n3,x\n\n5,6\n", "line 3, column 'b': 'x' is not one of the numbers"),
    "no date": (
        b"a,b\n1,2026-01-31\n2,2026-02-31\n3,2026-03-31\n",
        "line 3, column 'b': '2026-02-31' is not one of the dates",
    ),
    "missing": (b"a,b\n\n1,2\n,4\n,6\n", "line 4, column 'a': the value is missing"),
    "infinite": (b"a,b\n1,2\n3,inf\n5,6\n", "line 3, column 'b': the number is infinite"),
    "other columns": (b"a,c\n1,2\n3,4\n", "has no column 'b', which"),
    "spaces in names": (
        b"a, b\n1,2\n3,4\n",
        "has. Did you mean ' b'? Rename it, or choose columns",
    ),
    "cut parquet": (b"PAR1abcdefgh", "cannot be read"),
    "cut arrow": (b"ARROW1\0\0abcdefgh", "cannot be read"),
    "cut gzip": (gzip.compress(GOOD.encode())[:-12], "cannot be unpacked"),
}


# Lines of white space: quoted ones are rows, and others are skipped.
BLANKS = {
    "quoted, last": ('a\n1\n2\n" "\n', 4),
    "quoted": ('a\n1\n\n" "\n2\n', 4),
    "a line break in quotes": ('a\n1\n"\n"\n2\n', 4),
    "an empty text": ('a\n1\n \t\n2\n""\n', 5),
    "another space": ("a\n1\n\u00a0\n2\n", 3),
}


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.csv"
    path.write_text(GOOD, encoding="utf-8")
    return path


def _check(done, *words):
    assert (done.status, done.out) == (2, "")
    assert done.err.count("\n") == 1, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert str(word) in done.err, done.err


@pytest.mark.parametrize("name", BLANKS)
def test_lines_of_white_space_are_counted_as_pandas_reads_them(run, tmp_path, name):
    content, line = BLANKS[name]
    reference, path = tmp_path / "reference.csv", tmp_path / "batch.csv"
    reference.write_text("a\n1\n2\n3\n", encoding="utf-8")
    path.write_text(content, encoding="utf-8")
    _check(run("drift", reference, path), f"{path}, line {line}, column 'a'")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_with_the_place_in_it(run, good, tmp_path, name):
    content, said = BAD[name]
    if "parquet" in name or "arrow" in name:
        pytest.importorskip("pyarrow")
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    output = tmp_path / "report.html"
    _check(run("drift", good, path, "--output", output), f"pkex drift: {path}", said)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "good.csv"]


def test_columns_that_are_divided_otherwise_than_said_are_no_column(run, good):
    _check(run("drift", good, good, "--delimiter", ";"), "pass --delimiter ','")


@pytest.mark.parametrize("metadata", [b"[1]", b'{"index_columns": [{}]}', b"{no json"])
def test_what_others_write_in_the_place_of_pandas_is_no_index(run, good, tmp_path, metadata):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "other.parquet"
    table = pa.table({"a": [1.0, 2.0, 4.0], "b": [2.0, 1.0, 0.0]})
    parquet.write_table(table.replace_schema_metadata({b"pandas": metadata}), path)
    done = run("drift", good, path, "--permutations", "0")
    if metadata == b"{no json":
        _check(done, f"{path} cannot be read")
    else:
        assert (done.status, done.err) == (0, "")


def test_a_row_of_parquet_is_named_by_its_number(run, good, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "bad.parquet"
    pd.DataFrame({"a": [1.0, None, 2.0], "b": [1.0, 2.0, 3.0]}).to_parquet(path)
    _check(run("drift", good, path), f"{path}, row 2, column 'a': the value is missing")


def test_a_file_that_is_not_there_or_no_file_is_said_so(run, good, tmp_path):
    _check(run("drift", good, tmp_path / "no.csv"), "no.csv: there is no such file")
    _check(run("drift", good, tmp_path), f"{tmp_path} cannot be read: ")


def test_columns_that_are_not_there_have_a_proposal(run, good):
    _check(run("drift", good, good, "--columns", "aa"), "no column 'aa'; did you mean 'a'?")
    _check(run("hsic", good, "--target", "zz"), "no column 'zz'; it has ['a', 'b']")
    _check(run("hsic", good, "--target", "a,b"), "has no columns except the target")


def test_numbers_in_one_file_and_labels_in_the_other_are_refused(run, good, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("a,b\n1,x\n2,y\n3,x\n", encoding="utf-8")
    _check(run("drift", good, path), "column 'b' contains numbers in", "--categorical b")


def test_a_column_without_a_name_is_left_out_with_a_warning(run, good, tmp_path):
    path = tmp_path / "with_index.csv"
    pd.read_csv(good).to_csv(path)
    done = run("drift", good, path, "--permutations", "0")
    assert done.status == 0
    assert done.err.startswith(f"pkex: warning: {path}: a column has no name and is left out")


def test_an_output_is_checked_before_anything_is_computed(run, good, tmp_path):
    _check(run("drift", good, good, "--output", tmp_path / "no" / "r.html"), "does not exist")
    _check(run("drift", good, good, "--output", tmp_path), "is a directory")
    _check(run("drift", good, good, "--output", good), "would replace the file that is read")
    _check(run("drift", "-", "-"), "only one file can be standard input")
    assert good.read_text(encoding="utf-8") == GOOD


def test_an_output_that_cannot_be_written_leaves_the_old_one(run, good, tmp_path, monkeypatch):
    output = tmp_path / "r.json"
    output.write_text("old", encoding="utf-8")
    monkeypatch.setattr("pathlib.Path.replace", _no_space)
    done = run("drift", good, good, "--permutations", "0", "--output", output)
    assert done.status == 2
    assert "No space left" in done.err
    assert output.read_text(encoding="utf-8") == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["good.csv", "r.json"]


def _no_space(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "option",
    [
        ("--alpha", "2"),
        ("--alpha", "x"),
        ("--sample", "1"),
        ("--sample", "-5"),
        ("--permutations", "-1"),
        ("--seed", "-1"),
        ("--delimiter", "ab"),
        ("--columns", ""),
        ("--format", "pdf"),
        ("--perm", "9"),
    ],
)
def test_wrong_options_are_named(run, good, option):
    done = run("drift", good, good, *option)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("pkex")
    assert done.err.count("\n") == 1
