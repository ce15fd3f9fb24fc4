"""`--estimator` and `--budget`: tables that have too many rows to compare all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from csv_tables import csv_table

import pkex

N, PAIRS = 10_500, 150_000
HOW = ("--permutations", 19, "--format", "json")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Two tables of more rows than all pairs of which are compared; `b` differs, and is in `y`."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    for name, shift in (("reference", 0.0), ("current", 0.5)):
        frame = pd.DataFrame(rng.normal(size=(N, 2)).round(6), columns=["a", "b"])
        frame["b"] += shift
        frame["y"] = frame["b"].round(6)
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder / "reference.csv", folder / "current.csv"


@pytest.mark.parametrize("estimator", ["incomplete", "block"])
def test_drift_of_large_tables_is_that_of_the_library_in_all_rows(run, large, estimator):
    computation = "--estimator", estimator, "--budget", PAIRS, "--columns", "a,b"
    record = run("drift", *large, *computation, *HOW).record
    frames = [csv_table(path)[["a", "b"]] for path in large]
    expected = pkex.mmd(
        *frames, estimator=estimator, budget=PAIRS, n_permutations=19, random_state=0
    )
    assert record["statistic"] == expected.statistic
    assert (record["estimator"], record["n_pairs"]) == (estimator, expected.n_pairs)
    assert record["reference"]["rows"] == record["reference"]["of"] == N
    found = {line["feature"]: line["value"] for line in record["features"]}
    assert found == dict(zip(expected.feature_names, expected.values, strict=True))
    assert record["is_drift"] is True


def test_dependence_of_large_tables_is_that_of_the_library(run, large):
    computation = "--target", "y", "--estimator", "incomplete", "--budget", PAIRS
    record = run("hsic", large[0], *computation, *HOW).record
    frame = csv_table(large[0])
    expected = pkex.hsic(
        frame[["a", "b"]],
        frame["y"],
        estimator="incomplete",
        budget=PAIRS,
        n_permutations=19,
        random_state=0,
    )
    assert (record["statistic"], record["n_pairs"]) == (expected.statistic, expected.n_pairs)
    # It takes all pairs.
    assert record["r2"] is None
    assert "Normalised" not in run("hsic", large[0], *computation, "--permutations", 0).out


def test_fewer_rows_are_used_if_asked_for_or_if_all_pairs_are_compared(run, large, monkeypatch):
    some = "--sample", 5000, "--permutations", 0, "--format", "json"
    record = run("drift", *large, "--estimator", "incomplete", "--budget", PAIRS, *some).record
    assert (record["current"]["rows"], record["current"]["of"]) == (5000, N)
    monkeypatch.setattr("pkex.cli.options._DEFAULT_SAMPLE", 1000)
    table = run("drift", *large, "--columns", "a", "--permutations", 0).out
    assert f"1000 of {N} rows, drawn at random" in table


def test_a_budget_may_be_a_time_and_the_answer_says_how_many_pairs_it_was(run, large):
    computation = "--estimator", "block", "--budget", "0.01s", "--permutations", 0
    lines = run("drift", *large, *computation).out.splitlines()
    (pairs,) = [line for line in lines if line.startswith("Pairs of rows: ")]
    assert 0 < int(pairs.partition(": ")[2].replace(",", "")) < N**2


@pytest.mark.parametrize("budget", ["0", "-1", "1.5", "0s", "5 min", "1e99", "many", "9h9", "1e8x"])
def test_a_budget_that_is_none_is_answered_with_what_it_may_be(run, large, budget):
    done = run("drift", *large, "--estimator", "block", f"--budget={budget}")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "such as 100000000 or 1e8, or a time, such as 90s, 5min or 2h" in done.err


def test_advice_about_estimators_is_what_commands_can_follow(run, files, large):
    done = run("drift", "no file", "none", "--budget", "1e6")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "Omit the budget, or pass --estimator incomplete" in done.err
    done = run("hsic", files / "labelled.csv", "--target", "y", "--estimator", "incomplete")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "Pass --estimator unbiased, which is fast for so few rows" in done.err
    done = run("drift", *large, "--estimator", "block", "--budget", "10")
    assert "--budget 10 is too small: --estimator block compares at least" in done.err
