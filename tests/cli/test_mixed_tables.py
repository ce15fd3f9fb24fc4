"""Tables of numbers, labels, dates and missing entries, from files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pages import check_page

import pkex

N = 150


@pytest.fixture(scope="module")
def frames():
    """Two tables that differ in the frequency of a label, in missingness and in a date."""
    rng = np.random.default_rng(0)
    frames = []
    for late in (False, True):
        frame = pd.DataFrame(
            {
                "amount": rng.normal(size=N),
                "city": rng.choice(
                    ["Lima", "Oslo", "Rome"], N, p=[[0.6, 0.2, 0.2], [0.2, 0.6, 0.2]][late]
                ),
                "code": rng.integers(0, 3, N),
                "day": pd.Timestamp("2026-03-01") + pd.to_timedelta(rng.integers(0, 60, N), "D"),
                "member": rng.random(N) < 0.5,
            }
        )
        frame.loc[rng.random(N) < (0.4 if late else 0.05), "amount"] = np.nan
        frame.loc[:2, "city"] = None
        frames.append(frame)
    return frames


@pytest.fixture(scope="module", params=["csv", "parquet"])
def paths(request, frames, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    paths = [folder / f"{name}.{request.param}" for name in ("march", "june")]
    for frame, path in zip(frames, paths, strict=True):
        frame.to_csv(path, index=False) if request.param == "csv" else frame.to_parquet(path)
    return paths


def test_drift_of_mixed_tables_is_that_of_the_frames(run, frames, paths):
    options = "--missing", "indicator", "--categorical", "code", "--permutations", "199"
    record = run("drift", *paths, *options, "--format", "json").record
    expected = pkex.mmd(
        *frames, missing="indicator", categorical=["code"], n_permutations=199, random_state=0
    )
    found = {line["feature"]: line["value"] for line in record["features"]}
    assert found == dict(zip(expected.feature_names, expected.values.tolist(), strict=True))
    changed = {
        line["feature"] for line in record["features"] if line["alone_familywise_pvalue"] <= 0.05
    }
    assert changed == {"amount", "city"}
    compared = {column["name"]: column["compared"] for column in record["columns"]}
    assert compared == {
        "amount": "numbers",
        "city": "labels",
        "code": "labels",
        "day": "days",
        "member": "labels",
    }


def test_missing_numbers_are_an_error_that_says_where_and_what_to_do(run, frames, paths):
    done = run("drift", *paths)
    first = int(frames[0]["amount"].isna().argmax())
    place = f"line {first + 2}" if paths[0].suffix == ".csv" else f"row {first + 1}"
    assert (done.status, done.out) == (2, "")
    assert f"{paths[0]}, {place}, column 'amount': the value is missing" in done.err
    assert "--missing indicator" in done.err


def test_the_report_shows_levels_and_what_is_missing(run, paths, tmp_path):
    output = tmp_path / "r.html"
    run("drift", *paths, "--missing", "indicator", "--permutations", "99", "--output", output)
    page = check_page(output.read_text(encoding="utf-8"))
    pictures = [e["attributes"].get("aria-label", "") for e in page.all("svg")]
    city = next(words for words in pictures if words.startswith("city in "))
    assert "Oslo: " in city
    assert "(missing): 2.0 % → 2.0 %" in city
    amount = next(words for words in pictures if words.startswith("amount in "))
    assert "; missing: " in amount
    assert "missing" in page.text("text")
    day = next(words for words in pictures if words.startswith("day in "))
    assert "median 2026-04-02, middle half from 2026-03-18 to" in day


@pytest.mark.parametrize("target", ["city", "amount", "day"])
def test_a_dependence_of_labels_numbers_and_dates(run, paths, tmp_path, target):
    output = tmp_path / "r.html"
    done = run(
        "hsic",
        paths[0],
        "--target",
        target,
        "--missing",
        "indicator",
        "--permutations",
        "99",
        "--output",
        output,
    )
    assert done.status == 0
    page = check_page(output.read_text(encoding="utf-8"))
    pictures = [e["attributes"]["aria-label"] for e in page.all("svg") if "role" in e["attributes"]]
    assert len(pictures) == 5
    if target == "city":
        done = run("hsic", paths[0], "--target", target, "--columns", "code,member")
        assert done.status == 2
        assert "column 'city': the value is missing" in done.err
