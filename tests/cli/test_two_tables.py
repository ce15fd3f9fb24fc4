"""Two tables whose columns are the same, but written, or missing, in two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

HOW = ("--permutations", 0, "--format", "json")


@pytest.fixture
def tables(tmp_path):
    """Numbers beside which a column stands."""

    def write(name, **columns):
        path = tmp_path / name
        n_rows = len(next(iter(columns.values())))
        frame = pd.DataFrame({"x": np.arange(n_rows) % 7 * 1.0, **columns})
        frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
        return path

    return write


@pytest.mark.parametrize("dtype", ["Int64", "category"])
def test_integers_with_a_missing_one_are_the_labels_that_they_are(run, tables, dtype):
    codes = pd.Series([1, 2, 3] * 7, dtype="Int64")
    whole = tables("whole.parquet", code=codes.astype("int64"))
    codes[4] = pd.NA
    some = tables("some.parquet", code=codes.astype(dtype))
    record = run("drift", whole, some, "--categorical", "code", *HOW).record
    (code,) = [column for column in record["columns"] if column["name"] == "code"]
    assert code["levels"] == ["1", "2", "3", None]
    assert record["warnings"] == []


def test_labels_that_are_numbers_written_in_two_ways_are_warned_of(run, tables):
    one = tables("one.csv", code=["1", "2", "3"] * 7)
    two = tables("two.csv", code=["1.0", "2.0", "3.0"] * 7)
    record = run("drift", one, two, "--categorical", "code", *HOW).record
    (warning,) = record["warnings"]
    assert "different notations, such as '1' and '1.0'" in warning
    assert run("drift", one, one, "--categorical", "code", *HOW).record["warnings"] == []


@pytest.mark.parametrize(
    "known",
    [["l", "m", "n"] * 7, [True, False, True] * 7, ["2026-03-01", "2026-03-02", "2026-03-04"] * 7],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_column_that_is_all_missing_is_what_the_other_file_has(run, tables, known, kind):
    full = tables(f"full.{kind}", c=known)
    none = tables(f"none.{kind}", c=[None] * 21)
    for pair in ((full, none), (none, full)):
        done = run("drift", *pair, "--missing", "indicator", *HOW)
        assert done.status == 0, done.err
        assert {column["name"] for column in done.record["columns"]} == {"x", "c"}


@pytest.fixture
def indexed(tmp_path):
    """Tables of pandas whose index, of integers that grow, has a name."""
    paths = [tmp_path / "one.parquet", tmp_path / "two.arrow"]
    for place, path in enumerate(paths):
        x = np.random.default_rng(place).normal(size=30)
        numbers = pd.Index(np.arange(30) + 30 * place, name="id")
        frame = pd.DataFrame({"x": x, "z": -x}, index=numbers)
        if path.suffix == ".parquet":
            frame.to_parquet(path)
        else:
            table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
            pytest.importorskip("pyarrow.feather").write_feather(table, path, "uncompressed")
    return paths


def test_an_index_with_a_name_is_no_column_unless_it_is_named(run, indexed):
    record = run("drift", *indexed, *HOW).record
    assert {column["name"] for column in record["columns"]} == {"x", "z"}
    assert [warning.partition(", the index")[0] for warning in record["warnings"]] == [
        f"{path}: ['id']" for path in indexed
    ]
    record = run("drift", *indexed, "--columns", "id,x", *HOW).record
    assert {column["name"] for column in record["columns"]} == {"id", "x"}
    assert record["warnings"] == []
    record = run("hsic", indexed[0], "--target", "id", *HOW).record
    assert {line["feature"] for line in record["features"]} == {"x", "z"}
    record = run("hsic", indexed[0], "--target", "z", *HOW).record
    assert {line["feature"] for line in record["features"]} == {"x"}


def test_labels_of_an_index_may_be_compared(run, indexed):
    record = run("drift", *indexed, "--categorical", "id", *HOW).record
    compared = {column["name"]: column["compared"] for column in record["columns"]}
    assert compared == {"id": "labels", "x": "numbers", "z": "numbers"}
