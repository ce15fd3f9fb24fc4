"""``pkex hsic``: what it finds is what `pkex.hsic` finds."""

from __future__ import annotations

from csv_tables import csv_table

import pkex


def test_json_holds_what_the_library_finds(run, files):
    frame = csv_table(files / "labelled.csv")
    expected = pkex.hsic(frame[["a", "b", "c"]], frame["y"], n_permutations=199, random_state=0)
    done = run(
        "hsic", files / "labelled.csv", "--target", "y", "--permutations", "199", "--format", "json"
    )
    record = done.record
    assert (done.status, done.err, record["is_dependent"]) == (0, "", True)
    assert (record["statistic"], record["r2"]) == (expected.statistic, expected.r2)
    assert record["pvalue"] == expected.pvalue
    assert record["features"][0]["feature"] == "a"
    assert record["features"][0]["value"] == expected.values[0]
    assert record["target"] == ["y"]


def test_columns_are_those_that_may_matter(run, files):
    done = run("hsic", files / "labelled.csv", "--target", "y", "--columns", "b,c")
    assert done.status == 0
    assert done.out.startswith("Dependence of y on the features\n\nNo dependence of y on the")


def test_a_target_of_labels_and_one_of_several_columns(run, files, tmp_path):
    frame = csv_table(files / "labelled.csv").assign(z=lambda f: (f["b"] > 0).map(int))
    frame.to_csv(tmp_path / "t.csv", index=False)
    done = run(
        "hsic",
        tmp_path / "t.csv",
        "--target",
        "z",
        "--categorical",
        "z",
        "--columns",
        "a,b,c",
        "--format",
        "json",
    )
    assert done.record["target_bandwidth"] == "labels: 1 if equal, else 0"
    assert done.record["features"][0]["feature"] == "b"
    done = run("hsic", tmp_path / "t.csv", "--target", "y,z", "--format", "json")
    assert done.record["target"] == ["y", "z"]
    assert {line["feature"] for line in done.record["features"]} == {"a", "b", "c"}


def test_warnings_name_the_file_and_the_option(run, files, tmp_path):
    frame = csv_table(files / "labelled.csv").assign(y=lambda f: f["y"].clip(-1, 1).round() + 1)
    frame.astype({"y": int}).assign(c=1.0).to_csv(tmp_path / "t.csv", index=False)
    done = run("hsic", tmp_path / "t.csv", "--target", "y", "--format", "json")
    first, second = done.err.splitlines()
    assert "the target holds integers of only 3 different values" in first
    assert "If they are class labels, pass --categorical y" in first
    assert (
        second == f"pkex: warning: column 'c' of {tmp_path / 't.csv'} is constant and "
        "contributes nothing"
    )
    assert done.record["warnings"] == [
        line.removeprefix("pkex: warning: ") for line in (first, second)
    ]


def test_a_target_is_needed(run, files):
    done = run("hsic", files / "labelled.csv")
    assert done.status == 2
    assert "--target" in done.err


def test_advice_is_what_commands_can_follow(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"1,{n % 4}\n" for n in range(20)), encoding="utf-8")
    done = run("hsic", path, "--target", "y", "--permutations", 0)
    assert "--categorical y; if they are numbers, write them with a decimal point" in done.err
    assert "are equal: there is no distance to take as the length-scale. Give rows that" in done.err
    assert "pkex.kernels" not in done.err
    assert "floats" not in done.err
