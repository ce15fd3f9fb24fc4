"""``pkex explain --label``: a column whose values name the rows in the output."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
import skops.io as skops
from csv_tables import csv_table
from pyarrow import parquet
from sklearn.svm import SVC, SVR

from pkex.explain import value_files

# Numbers with leading zeros, texts and a missing value.
LABELS = [f"{number:03d}" if number % 3 else f"mol-{number}" for number in range(119)] + [None]


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    """Rows with a column `id`, and models with and without names of columns."""
    folder = tmp_path_factory.mktemp("labels")
    frame = csv_table(files / "labelled.csv")
    X, y = frame[["a", "b", "c"]], frame["y"]
    skops.dump(SVR().fit(X, y), folder / "svr.skops")
    skops.dump(SVR().fit(X.to_numpy(), y), folder / "unnamed.skops")
    skops.dump(SVC(decision_function_shape="ovo").fit(X, y.round()), folder / "svc.skops")
    frame = frame.assign(id=pd.Series(LABELS, dtype=object))[["id", "a", "b", "c", "y"]]
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    frame[:20].drop(columns="y").to_csv(folder / "background.csv", index=False)
    return folder


def lines(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("file", ["rows.csv", "rows.parquet"])
def test_labels_are_a_column_next_to_the_same_values(run, folder, file):
    arguments = "explain", folder / "svr.skops", folder / file, "--format", "csv"
    labelled, plain = lines(run(*arguments, "--label", "id").out), lines(run(*arguments).out)
    assert [line.pop("id") for line in labelled] == [label or "" for label in LABELS]
    assert labelled == plain
    rows = run(*arguments[:-1], "json", "--label", "id").record["rows"]
    assert [(row["row"], row["label"]) for row in rows] == list(enumerate(LABELS, 1))
    table = run(*arguments[:-1], "table", "--label", "id").out
    first_rows = table.partition("The first rows")[2].splitlines()[2:7]
    assert [line.split()[0] for line in first_rows] == LABELS[:5]


def test_labels_are_not_explained_by_a_model_without_names(run, folder):
    arguments = "explain", folder / "unnamed.skops", folder / "rows.csv", "--format", "csv"
    # The target is no column of the model.
    done = run(*arguments, "--label", "id", "--exclude", "y", "--background", folder / "rows.csv")
    assert list(lines(done.out)[0]) == ["row", "id", "base_value", "a", "b", "c"]


def test_labels_repeat_for_each_output(run, folder):
    arguments = "explain", folder / "svc.skops", folder / "rows.csv", "--format", "csv"
    written = lines(run(*arguments, "--label", "id").out)
    n_outputs = len(written) // len(LABELS)
    assert n_outputs > 1
    assert [line["id"] for line in written[::n_outputs]] == [label or "" for label in LABELS]
    assert {line["id"] for line in written[:n_outputs]} == {LABELS[0]}


def test_labels_are_written_in_chunks(run, folder, monkeypatch):
    monkeypatch.setattr(value_files, "_ROWS", 50)
    path = folder / "values.parquet"
    arguments = "explain", folder / "svr.skops", folder / "rows.parquet", "--output", path
    assert run(*arguments, "--label", "id").status == 0
    written = parquet.read_table(path)
    assert written.column_names == ["row", "id", "base_value", "a", "b", "c"]
    assert written["id"].to_pylist() == LABELS
    assert parquet.ParquetFile(path).num_row_groups == 3


def test_a_column_of_the_model_is_no_label(run, folder):
    done = run("explain", folder / "svr.skops", folder / "rows.csv", "--label", "b")
    assert (done.status, done.out) == (2, "")
    assert "--label b: the model has this column. Pass one that is not explained" in done.err
    done = run("explain", folder / "svr.skops", folder / "rows.csv", "--label", "idx")
    assert "has no column 'idx'; did you mean 'id'?" in done.err
