"""Changes of single columns that a person sees, and warnings of ids, codes and texts."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pkex

DAYS = pd.Timestamp("2026-03-01")


def _frames():
    rng = np.random.default_rng(0)

    def table(n, late):
        frame = pd.DataFrame({"size": rng.random(n), "kind": rng.integers(0, 3, n) + late})
        frame["city"] = rng.choice(["Lima", "Oslo"] if late else ["Lima", "Rome"], n)
        frame["day"] = DAYS + pd.to_timedelta(rng.integers(0, 30, n) + 40 * late, "D")
        frame["same"] = rng.normal(size=n)
        return frame

    first, second = table(200, 0), table(100, 1)
    first.loc[:1, "size"] = [np.nan, 1.0]
    second.loc[:29, "size"] = np.nan
    second.loc[30:39, "size"] = 2.0
    second.loc[40:43, "city"] = None
    return first, second


@pytest.mark.parametrize("detector", [False, True], ids=["mmd", "MMDDrift"])
@pytest.mark.parametrize(
    "table",
    [pd.DataFrame, pl.from_pandas, lambda frame: pa.Table.from_pandas(frame, preserve_index=False)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_changes_are_those_that_a_person_counts(table, detector):
    first, second = _frames()
    options = {"missing": "indicator", "categorical": ["kind"]}
    tables = table(first), table(second)
    if detector:
        result = pkex.MMDDrift(tables[0], **options).predict(tables[1])
    else:
        result = pkex.mmd(*tables, **options)
    size, kind, city, day = result.column_changes
    assert (size.name, size.missing, size.below) == ("size", (0.005, 0.3), None)
    assert (size.above.n_rows, size.above.limit, size.above.extreme) == (10, 1.0, 2.0)
    assert (kind.new_levels, kind.missing) == (((3, int((second["kind"] == 3).sum())),), None)
    assert kind.lost_levels == ((0, int((first["kind"] == 0).sum())),)
    assert (city.missing, city.new_levels[0][0]) == ((0.0, 0.04), "Oslo")
    assert city.lost_levels == (("Rome", int((first["city"] == "Rome").sum())),)
    assert (day.above.n_rows, day.above.limit) == (100, str(first["day"].max().date()))
    assert day.above.extreme == str(second["day"].max().date())
    (from_dict, *_) = json.loads(json.dumps(result.to_dict()))["column_changes"]
    assert from_dict["above"] == {"n_rows": 10, "limit": 1.0, "extreme": 2.0}
    lines = repr(result).partition("column changes, observed and not tested:\n")[2].splitlines()
    assert lines[0] == "  size: missing: 0.5 % → 30 %; above range: 10 rows above 1, up to 2"


def test_arrays_have_ranges_and_detectors_with_a_budget_the_same_in_chunks():
    x, y = np.random.default_rng(0).normal(size=(2, 3000, 2))
    y[:20, 1] -= 9.0
    (change,) = pkex.mmd(x, y, estimator="incomplete", random_state=0).column_changes
    assert (change.name, change.below.extreme) == ("x1", y[:, 1].min())
    assert change.below.n_rows == (y[:, 1] < x[:, 1].min()).sum()


@pytest.mark.parametrize(("n_beyond", "is_shown"), [(6, False), (7, True)])
def test_rows_out_of_the_range_are_shown_from_1_in_1000_on(n_beyond, is_shown):
    # (90 / 245)^6 is 0.0025, and (90 / 245)^7 is 0.0009.
    x, y = np.random.default_rng(0).random((155, 1)), np.full((90, 1), 0.5)
    y[:n_beyond] = 2.0
    assert bool(pkex.mmd(x, y).column_changes) is is_shown


def test_many_changes_take_six_lines():
    x = np.random.default_rng(0).random((50, 9))
    result = pkex.mmd(x, x + 5.0)
    assert len(result.column_changes) == 9
    lines = repr(result).partition("column changes")[2].splitlines()
    assert len(lines) == 6
    assert lines[-1] == "  (5 more columns: column_changes)"


def test_most_samples_of_one_distribution_have_no_changes():
    found = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        frames = [
            pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(list("uvw"), n)})
            for n in (60, 90)
        ]
        frames[1].loc[rng.random(90) < 0.1, "a"] = frames[0].loc[rng.random(60) < 0.1, "a"] = np.nan
        found += bool(pkex.mmd(*frames, missing="indicator").column_changes)
    assert found <= 2


RNG = np.random.default_rng(0)
DOUBTFUL = {
    "counter": (
        np.arange(12),
        "increases by 1 from row to row. If it numbers the rows, drop column",
    ),
    "order": (RNG.permutation(400)[:200], "holds integers that are all different"),
    "user_id": (RNG.permutation(10**7)[:40], "holds integers that are all different"),
    "zip": (RNG.choice([10115, 20095, 80331], 40), r"holds integers, .*pass categorical=\['zip'\]"),
    "date": (
        [f"2026-03-{day:02}" for day in range(1, 29)],
        "holds texts such as '2026-03-01'.*dates",
    ),
    "price": ([f"{k}.25" for k in range(20)], "holds texts such as '0.25'.*pandas.to_numeric"),
}


@pytest.mark.filterwarnings("ignore:.*different labels in")
@pytest.mark.parametrize("name", DOUBTFUL)
def test_columns_that_hardly_are_what_they_are_compared_as_are_warned_of(name):
    entries, words = DOUBTFUL[name]
    frame = pd.DataFrame({"x": RNG.normal(size=len(entries)), name: entries})
    with pytest.warns(UserWarning, match=f"column '{name}' of X {words}"):
        pkex.mmd(frame, frame[::-1])
    with pytest.warns(UserWarning, match=f"column '{name}' of X_reference"):
        pkex.MMDDrift(frame)


def test_estimators_with_a_budget_warn_as_well():
    x, y = np.random.default_rng(0).normal(size=(2, 3000, 2))
    x[:, 1] = np.arange(3000)
    with pytest.warns(UserWarning, match="column 'x1' of X increases by 1 from row to row"):
        pkex.mmd(x, y, estimator="incomplete", random_state=0)


def test_measured_integers_and_named_labels_are_not_warned_of():
    frame = pd.DataFrame({"income": RNG.permutation(10**6)[:300], "zip": RNG.integers(0, 9, 300)})
    frame["day"] = RNG.choice(["2026-03-01", "2026-03-02"], 300)
    pkex.mmd(frame, frame, categorical=["zip", "day"])
