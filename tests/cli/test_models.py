"""``pkex explain`` and ``pkex sensitivity``: models from files, and what is found of them."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import skops.io as skops
from csv_tables import csv_table
from pyarrow import parquet
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.execution import progress
from pkex.explain import value_files


@pytest.fixture(scope="module")
def models(files, tmp_path_factory):
    """A folder with models of the columns a, b and c."""
    folder = tmp_path_factory.mktemp("models")
    frame = csv_table(files / "labelled.csv")
    X, y = frame[["a", "b", "c"]], frame["y"]
    svr = make_pipeline(StandardScaler(), SVR(C=10.0)).fit(X, y)
    skops.dump(svr, folder / "svr.skops")
    with (folder / "svr.pkl").open("wb") as file:
        pickle.dump(svr, file)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])]
    svc = SVC(decision_function_shape="ovo").fit(X, labels)
    skops.dump(svc, folder / "svc.skops")
    process = GaussianProcessRegressor(2.0 * RBF([1.0, 2.0, 3.0]), alpha=0.1, optimizer=None)
    skops.dump(process.fit(X, y), folder / "process.skops")
    return folder


def test_explain_gives_the_values_of_every_row(run, files, models):
    frame = csv_table(files / "labelled.csv")
    expected = pkex.Explainer(skops.load(models / "svr.skops"))(frame[["a", "b", "c"]])
    arguments = "explain", models / "svr.skops", files / "labelled.csv", "--format"
    record = run(*arguments, "json").record
    assert [row["values"] for row in record["rows"]] == expected.values.tolist()
    assert [row["base_value"] for row in record["rows"]] == expected.base_values.tolist()
    sizes = {line["feature"]: line["mean_abs"] for line in record["features"]}
    assert sizes == dict(zip("abc", expected.importance().tolist(), strict=True))
    lines = list(csv.DictReader(io.StringIO(run(*arguments, "csv").out)))
    assert [float(line["b"]) for line in lines] == expected.values[:, 1].tolist()
    assert [int(line["row"]) for line in lines] == list(range(1, 121))
    path = files / "values.parquet"
    assert run(*arguments[:-1], "--output", path).status == 0
    written = parquet.read_table(path)
    assert written.column_names == ["row", "base_value", "a", "b", "c"]
    assert written["b"].to_pylist() == expected.values[:, 1].tolist()
    table = run(*arguments, "table").out
    assert "the output is moved most by a (" in table
    assert "How much each feature moves the output" in table
    first_rows = table.partition("The first rows")[2].splitlines()[2:7]
    assert [line.split()[0] for line in first_rows] == ["1", "2", "3", "4", "5"]


def test_explain_writes_a_parquet_file_in_chunks(run, files, models, monkeypatch):
    monkeypatch.setattr(value_files, "_ROWS", 50)
    frame = csv_table(files / "labelled.csv")
    frame.set_index("y").to_parquet(files / "rows.parquet")
    path = files / "chunks.parquet"
    arguments = "explain", models / "svr.skops", files / "rows.parquet", "--output", path
    done = run(*arguments)
    assert (done.status, done.out) == (0, f"120 rows explained.\nwritten: {path}\n")
    expected = pkex.Explainer(skops.load(models / "svr.skops"))(frame[["a", "b", "c"]])
    written = parquet.read_table(path)
    assert written.column_names == ["row", "base_value", "a", "b", "c"]
    assert written["b"].to_pylist() == expected.values[:, 1].tolist()
    assert parquet.ParquetFile(path).num_row_groups == 3
    frame.loc[70, "b"] = np.nan
    frame.to_parquet(files / "rows.parquet")
    done = run(*arguments)
    assert done.status == 2
    assert "rows.parquet" in done.err
    assert "row 71, column 'b'" in done.err
    assert parquet.read_table(path) == written
    done = run(*arguments[:2], files / "rows.parquet", "--columns", "d", "--output", path)
    assert "has no column 'd'" in done.err


def test_explain_takes_a_background_and_outputs_of_several(run, files, models):
    frame = csv_table(files / "labelled.csv")[["a", "b", "c"]]
    model = skops.load(models / "svc.skops")
    explainer = pkex.Explainer(model, frame, outputs=["high vs low"])
    done = run(
        "explain",
        models / "svc.skops",
        files / "labelled.csv",
        "--background",
        files / "labelled.csv",
        "--outputs",
        "high vs low",
        "--format",
        "json",
    )
    rows = np.array([row["values"] for row in done.record["rows"]])
    np.testing.assert_array_equal(rows, explainer(frame).values[..., 0])
    assert done.record["value_function"] == "interventional"
    everything = run("explain", models / "svc.skops", files / "labelled.csv", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(everything.out)))
    assert [line["output"] for line in lines[:3]] == list(pkex.Explainer(model)(frame).output_names)
    assert len(lines) == 3 * 120


def test_a_forecast_is_said_in_words_of_the_command_and_no_part_of_the_answer(
    run, files, models, monkeypatch
):
    monkeypatch.setattr(progress, "_LONG_CALL_WITH_ADVICE", 0.0)
    monkeypatch.setattr(progress, "_MEASUREMENT_WITH_ADVICE", 0.0)
    rows = files / "labelled.csv"
    done = run("explain", models / "process.skops", rows, "--background", rows, "--uncertainty")
    assert "warning: this call is going to take about" in done.err
    assert "Faster: fewer rows" in done.err
    assert "progress" not in done.err
    assert "going to take" not in done.out


def test_explain_has_targets_and_value_functions(run, files, models):
    arguments = "explain", models / "process.skops", files / "labelled.csv", "--format", "json"
    path = models / "process.skops"
    model = skops.load(path, trusted=skops.get_untrusted_types(file=path))
    frame = csv_table(files / "labelled.csv")[["a", "b", "c"]]
    record = run(*arguments, "--target", "variance", "--value-function", "neutral").record
    expected = pkex.Explainer(model, target="variance", value_function="neutral")(frame)
    assert [row["values"] for row in record["rows"]] == expected.values.tolist()
    assert (record["target"], record["value_function"]) == ("variance", "neutral")


def test_code_in_pickles_runs_only_if_it_is_trusted(run, files, models):
    done = run("explain", models / "svr.pkl", files / "labelled.csv")
    assert (done.status, done.out) == (2, "")
    assert "executes code" in done.err
    assert "--trust-pickle" in done.err
    outputs = [
        run(
            "explain",
            models / "svr.pkl",
            files / "labelled.csv",
            "--trust-pickle",
            "--format",
            "csv",
        ),
        run("explain", models / "svr.skops", files / "labelled.csv", "--format", "csv"),
    ]
    assert [done.status for done in outputs] == [0, 0]
    assert outputs[0].out == outputs[1].out


def test_a_table_in_the_place_of_the_model_is_known_by_its_bytes_or_extension(
    run, files, models, tmp_path
):
    table = csv_table(files / "labelled.csv")
    path = tmp_path / "my rows"
    table.to_csv(tmp_path / "rows.csv.gz")
    (tmp_path / "model.csv.pkl").write_bytes((models / "svr.pkl").read_bytes())
    for name, message in (("rows.csv.gz", "is a table"), ("model.csv.pkl", "pass --trust-pickle")):
        assert message in run("explain", tmp_path / name, models / "svr.pkl").err
    table.to_parquet(path)
    for command in ("explain", "sensitivity"):
        done = run(command, path, models / "svr.pkl", "--trust-pickle")
        assert (done.status, done.out) == (2, "")
        assert done.err.endswith(f"pass: pkex {command} {models / 'svr.pkl'} '{path}'\n")


def test_types_that_are_not_known_to_be_safe_are_listed(run, files, tmp_path):
    frame = csv_table(files / "labelled.csv")
    step = FunctionTransformer(os.path.normcase)
    model = make_pipeline(FunctionTransformer(), SVR()).fit(frame[["a"]], frame["y"])
    model.steps[0] = ("step", step)
    skops.dump(model, tmp_path / "m.skops")
    done = run("explain", tmp_path / "m.skops", files / "labelled.csv")
    assert done.status == 2
    assert "posixpath.normcase" in done.err or "ntpath.normcase" in done.err
    assert "--trust " in done.err
    trusted = done.err.split("--trust ")[1].split()[0]
    again = run("explain", tmp_path / "m.skops", files / "labelled.csv", "--trust", trusted)
    assert "not known to be safe" not in again.err


def test_files_that_are_no_models_are_said_so_in_a_line(run, files, tmp_path):
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04nonsense")
    (tmp_path / "m.skops").write_bytes(b"PK\x03\x04nonsense")
    with (tmp_path / "list.pkl").open("wb") as file:
        pickle.dump([1.0], file)
    for name, said in {
        "m.pkl": "cannot be loaded",
        "m.skops": "cannot be loaded",
        "list.pkl": "not supported",
        "none.pkl": "no such file",
    }.items():
        done = run("explain", tmp_path / name, files / "labelled.csv", "--trust-pickle")
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
        assert said in done.err


def test_columns_that_a_model_needs_are_named(run, files, models, tmp_path):
    csv_table(files / "labelled.csv")[["a", "c"]].to_csv(tmp_path / "two.csv", index=False)
    done = run("explain", models / "svr.skops", tmp_path / "two.csv")
    assert done.status == 2
    expected = f"pkex explain: {tmp_path / 'two.csv'} has no column 'b'; it has ['a', 'c']\n"
    assert done.err == expected


@pytest.mark.parametrize("command", ["explain", "sensitivity", "background"])
@pytest.mark.parametrize(
    ("entry", "said"),
    [("", "a missing value (NaN)"), ("inf", "an infinite value (inf)"), ("x", "'x'")],
)
def test_entries_that_a_model_refuses_are_found(run, files, models, tmp_path, command, entry, said):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b,c\n1,2,3\n2,{entry},4\n3,5,5\n", encoding="utf-8")
    arguments = [command, models / "svr.skops", path]
    if command == "background":
        arguments = ["explain", models / "svr.skops", files / "labelled.csv", "--background", path]
    done = run(*arguments)
    assert (done.status, done.out) == (2, "")
    assert all(part in done.err for part in (str(path), "line 3, column 'b'", said))
    assert done.err.count("\n") == 1


DISTRIBUTIONS = {
    "a": {"distribution": "norm", "loc": 0.5},
    "b": {"distribution": "uniform", "loc": -1.0, "scale": 2.0},
    "c": [0.0, 1.0, 1.0],
}


def test_sensitivity_takes_rows_or_distributions(run, files, models, tmp_path):
    model = skops.load(models / "svr.skops")
    (tmp_path / "inputs.json").write_text(json.dumps(DISTRIBUTIONS), encoding="utf-8")
    inputs = {"a": stats.norm(0.5), "b": stats.uniform(-1.0, 2.0), "c": np.array([0.0, 1.0, 1.0])}
    rows = csv_table(files / "labelled.csv")[["a", "b", "c"]]
    for path, given in ((tmp_path / "inputs.json", inputs), (files / "labelled.csv", rows)):
        expected = pkex.sensitivity(model, given, order=2)
        done = run("sensitivity", models / "svr.skops", path, "--order", "2", "--format", "json")
        record = done.record
        assert (done.status, record["variance"]) == (0, expected.variance)
        found = {line["feature"]: line["shapley_effect"] for line in record["features"]}
        assert found == dict(zip("abc", expected.shapley_effects.tolist(), strict=True))
        assert record["second_order"][0] == [None, *expected.second_order[0, 1:].tolist()]
    table = run("sensitivity", models / "svr.skops", files / "labelled.csv").out
    assert "a carries" in table
    assert "independent of each other" in table


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ', "line 1, column 7"),
        ("[]", "must be a list of inputs, or an object"),
        ('{"a": {"distribution": "__import__"}}', "'__import__' is not a distribution"),
        ('{"a": {"distribution": "norm", "mean": 1}}', "norm has no parameter 'mean'; it has loc"),
        ('{"a": {"distribution": "norm", "loc": "x"}}', "loc must be a number; got 'x'"),
        ('{"a": {"distribution": "gamma"}}', "input 'a'"),
        ('{"a": [1, "x"]}', "values in a list must be numbers"),
        ('{"a": 3}', "must be an object such as"),
        ('{"a": {"distribution": "norm"}}', "missing ['b', 'c']"),
    ],
)
def test_distributions_that_are_none_are_said_so(run, models, tmp_path, text, said):
    (tmp_path / "inputs.json").write_text(text, encoding="utf-8")
    done = run("sensitivity", models / "svr.skops", tmp_path / "inputs.json")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert said in done.err
    assert "inputs.json" in done.err


def _piped(content):
    """Return the name of a pipe that has a content, which can be read once."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as pipe:
        pipe.write(content)
    return read, f"/dev/fd/{read}"


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="pipes have no names here")
def test_models_and_inputs_are_read_of_pipes(run, files, models):
    table = files / "labelled.csv"
    fitted, rows = models / "svr.skops", table.read_bytes()
    assert len(rows) > 4096
    for command in ("explain", "sensitivity"):
        expected = run(command, fitted, table, "--format", "csv")
        ends = _piped(rows), _piped(fitted.read_bytes())
        assert run(command, fitted, ends[0][1], "--format", "csv").out == expected.out
        assert run(command, ends[1][1], table, "--format", "csv").out == expected.out
        for end, _ in ends:
            os.close(end)


def test_distributions_come_from_standard_input(run, models, monkeypatch, tmp_path):
    given = json.dumps({name: {"distribution": "norm"} for name in "abc"}).encode()
    (tmp_path / "d.json").write_bytes(given)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b" " + given)))
    done = run("sensitivity", models / "svr.skops", "-", "--format", "csv")
    assert (
        done.out
        == run("sensitivity", models / "svr.skops", tmp_path / "d.json", "--format", "csv").out
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "d.json is nested too deeply"),
        ('{"a": {"distribution": "gamma"}}', "d.json, input 'a': gamma requires a"),
        ('{"a": {"distribution": "norm", "loc": 1' + "0" * 400 + "}}", "input 'a': loc: a num"),
        ('{"a": [1' + "0" * 400 + "]}", "d.json, input 'a': a number is too large"),
    ],
)
def test_distributions_that_cannot_be_read_are_named(text, said, run, models, tmp_path):
    path = tmp_path / "d.json"
    path.write_text(text, encoding="utf-8")
    done = run("sensitivity", models / "svr.skops", path)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_pairs_are_lines_of_csv(run, files, models):
    arguments = "sensitivity", models / "svr.skops", files / "labelled.csv", "--order", 2
    record = run(*arguments, "--format", "json").record
    lines = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").out)))
    assert [line["feature"] for line in lines[:3]] == [e["feature"] for e in record["features"]]
    pairs = {(line["feature"], line["with"]): float(line["second_order"]) for line in lines[3:]}
    second = record["second_order"]
    assert pairs == {("a", "b"): second[0][1], ("a", "c"): second[0][2], ("b", "c"): second[1][2]}


def test_what_is_left_out_is_counted(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 7))
    model = GaussianProcessRegressor(RBF(3.0), alpha=0.1, optimizer=None)
    skops.dump(model.fit(X, X @ rng.normal(size=(7, 8))), tmp_path / "many.skops")
    np.savetxt(tmp_path / "X.csv", X, delimiter=",", header="a,b,c,d,e,f,g", comments="")
    arguments = tmp_path / "many.skops", tmp_path / "X.csv"
    said = " ".join(run("sensitivity", *arguments, "--order", 2).out.split())
    assert "the 15 largest of 21 pairs" in said
    assert "(5 more outputs.)" in said
    assert "note: 2 more outputs not shown" in said
    said = " ".join(run("explain", *arguments).out.split())
    assert "; 5 more outputs." in said
    assert "note: 2 more outputs not shown" in said


def test_messages_name_options_of_commands(run, files, models):
    arguments = "explain", models / "svr.skops", files / "labelled.csv"
    for options, message in (
        (("--outputs", 0), "--outputs 0 was given, but the model has a single output"),
        (("--coalitions", 100), "for any number of features without --coalitions\n"),
        (("--categorical", "b"), "column 'b'. Pass numbers without --categorical\n"),
    ):
        done = run(*arguments, *options)
        assert done.status == 2
        assert message in done.err
        assert not any(word in done.err for word in ("=", "explainer(X)", "NumPy"))
        assert options[0] in done.err
        assert "--value-function" not in done.err
