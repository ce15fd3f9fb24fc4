"""``pkex drift``: what it finds is what `pkex.mmd` finds, in every format."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from csv_tables import csv_table

import pkex


@pytest.fixture(scope="module")
def expected(files):
    reference, current = (csv_table(files / f"{n}.csv") for n in ("reference", "current"))
    return pkex.mmd(reference, current[["a", "b", "c"]], n_permutations=999, random_state=0)


def test_json_holds_what_the_library_finds(run, files, expected):
    done = run("drift", files / "reference.csv", files / "current.csv", "--format", "json")
    record = done.record
    assert (done.status, done.err, record["is_drift"]) == (0, "", True)
    assert record["statistic"] == expected.statistic
    assert record["pvalue"] == expected.pvalue == 0.001
    assert record["features"][0]["feature"] == "b"
    for line in record["features"]:
        place = expected.feature_names.index(line["feature"])
        assert line["value"] == expected.values[place]
        assert line["standard_error"] == expected.standard_errors[place]
        assert line["alone_familywise_pvalue"] == expected.alone_familywise_pvalues[place]
        np.testing.assert_allclose(line["share"], expected.values[place] / expected.statistic)
    assert record["reference"] == {"file": str(files / "reference.csv"), "rows": 120, "of": 120}
    assert (record["seed"], record["alpha"], record["n_permutations"]) == (0, 0.05, 999)


def test_csv_has_a_line_for_each_feature_to_the_last_digit(run, files, expected):
    done = run("drift", files / "reference.csv", files / "current.csv", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(done.out)))
    assert [line["feature"] for line in lines] == list(expected.to_frame().index)
    assert [float(line["value"]) for line in lines] == expected.to_frame()["value"].tolist()


def test_the_table_says_verdict_numbers_and_settings(run, files):
    done = run("drift", files / "reference.csv", files / "current.csv")
    assert done.out.startswith("Drift from reference.csv to current.csv\n\nreference.csv and")
    said = " ".join(done.out.split())
    assert "After correction for the number of features, b (" in said
    assert "differs individually." in said
    assert "Column changes, observed and not tested:" in done.out
    lines = [line.split() for line in done.out.partition("first:\n")[2].splitlines()]
    assert [line[0] for line in lines if line[:1] and line[2:3] == ["%"]] == ["b", "a", "c"]
    assert ["Seed:", "0"] in lines


def test_markdown_is_a_table_of_as_many_cells_in_each_line(run, files):
    done = run("drift", files / "reference.csv", files / "current.csv", "--format", "markdown")
    lines = [line for line in done.out.splitlines() if line.startswith("|")]
    # The features, and the column that leaves its range.
    assert [line.count("|") for line in lines] == [*[10] * 5, *[4] * 3]
    assert done.out.startswith("# Drift from reference.csv to current.csv\n")


@pytest.mark.parametrize(("current", "status"), [("current", 3), ("same", 0)])
def test_drift_fails_only_if_it_is_there_and_asked_for(run, files, current, status):
    paths = files / "reference.csv", files / f"{current}.csv"
    assert run("drift", *paths, "--permutations", "199").status == 0
    done = run("drift", *paths, "--permutations", "199", "--fail-on-drift")
    assert done.status == status
    assert ("No difference" in done.out) is (status == 0)


def test_drift_fails_on_any_column_only_where_one_differs_individually(run, files, tmp_path):
    any_column = ("--permutations", "199", "--fail-on-drift=any-column")
    reference = files / "reference.csv"
    assert run("drift", reference, files / "current.csv", *any_column).status == 3
    assert run("drift", reference, files / "same.csv", *any_column).status == 0
    # Two columns whose dependence alone differs.
    paths = tmp_path / "x.csv", tmp_path / "y.csv"
    for path, slope in zip(paths, (0.0, 0.95), strict=True):
        x, y = np.random.default_rng(len(path.name)).normal(size=(2, 300))
        y = slope * x + np.sqrt(1.0 - slope**2) * y
        np.savetxt(path, np.stack([x, y], 1), delimiter=",", header="x,y", comments="")
    done = run("drift", *paths, *any_column, "--format", "json")
    assert (done.status, done.record["is_drift"]) == (0, True)
    assert (done.record["changed_columns"], done.record["changed_pairs"]) == ([], [["x", "y"]])
    assert run("drift", *paths, *any_column[:2], "--fail-on-drift=overall").status == 3
    done = run("drift", *paths, "--fail-on-drift=all")
    assert (done.status, done.out) == (2, "")


def test_equal_seeds_give_equal_output_and_a_sample_says_so(run, files):
    arguments = "drift", files / "reference.csv", files / "current.csv", "--sample", "60"
    outputs = [run(*arguments, "--format", "json", "--seed", seed) for seed in (1, 1, 2)]
    assert outputs[0].out == outputs[1].out != outputs[2].out
    assert outputs[0].record["current"] == {
        "file": str(files / "current.csv"),
        "rows": 60,
        "of": 100,
    }
    assert "60 of 100 rows, drawn at random" in run(*arguments).out
    assert "100 rows" in run(*arguments[:3], "--sample", "all").out


def test_levels_of_large_tables_are_those_of_all_rows(run, tmp_path):
    paths = tmp_path / "reference.csv", tmp_path / "current.csv"
    paths[0].write_text("c,x\n" + "".join(f"{'ab'[i == 7]},{i % 9}\n" for i in range(200)))
    paths[1].write_text("c,x\n" + "".join(f"{'ab'[i % 2]},{i % 9}\n" for i in range(200)))
    record = run("drift", *paths, "--sample", "40", "--format", "json").record
    assert record["current"]["rows"] == 40
    # A sample of 40 rows hardly ever has the one row of the reference with b.
    assert record["column_changes"] == []


def test_without_permutations_nothing_is_tested(run, files):
    paths = files / "reference.csv", files / "current.csv"
    done = run("drift", *paths, "--permutations", "0", "--format", "json")
    assert (done.record["is_drift"], done.record["pvalue"]) == (None, None)
    assert "nothing was tested" in done.record["conclusion"]
    page = run("drift", *paths, "--permutations", "0", "--format", "html").out
    assert "none: --permutations is 0" in page
    done = run("drift", *paths, "--permutations", "0", "--fail-on-drift")
    assert done.status == 2
    done = run("drift", *paths, "--permutations", "9")
    assert (done.status, done.out) == (2, "")
    assert "at least 19 are needed, or 0 for no test" in done.err
    assert run("drift", *paths, "--permutations", "19").status == 0


def test_columns_are_those_chosen(run, files):
    paths = files / "reference.csv", files / "current.csv"
    done = run("drift", *paths, "--columns", "a,c", "--format", "json")
    assert {line["feature"] for line in done.record["features"]} == {"a", "c"}
    assert done.record["is_drift"] is False


def test_files_of_other_kinds_give_the_same(run, files, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    frame = csv_table(files / "current.csv")
    table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    parquet.write_table(table, tmp_path / "current.parquet")
    feather.write_feather(table, tmp_path / "current.arrow", compression="uncompressed")
    frame.to_csv(tmp_path / "current.csv.gz", index=False)
    frame.to_csv(tmp_path / "current.tsv", index=False, sep="\t")
    features = [
        run("drift", files / "reference.csv", path, "--format", "json").record["features"]
        for path in [files / "current.csv", *sorted(tmp_path.iterdir())]
    ]
    assert len(features) == 5
    assert all(own == features[0] for own in features)


def test_the_output_follows_the_name_of_the_file(run, files, tmp_path):
    paths = files / "reference.csv", files / "current.csv"
    for name, start in {
        "r.html": "<!DOCTYPE",
        "r.json": "{",
        "r.csv": "feature,",
        "r.md": "# ",
        "r.txt": "Drift",
    }.items():
        done = run("drift", *paths, "--permutations", "99", "--output", tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
        assert "differ (p = " in done.out
        assert done.out.endswith(f"written: {tmp_path / name}\n")
    assert len(list(tmp_path.iterdir())) == 5
