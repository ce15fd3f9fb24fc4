"""Labels that are large integers, dates of several types, intervals and periods."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pkex

BIG = 2**60


def numbers_of(dtype, n=20):
    return np.array([BIG + j % 4 for j in range(n)], dtype=dtype)


FORMS = {
    "pandas": lambda ids: pd.DataFrame({"size": np.arange(20.0) / 2.0, "id": ids}),
    "nullable": lambda ids: pd.DataFrame(
        {"size": np.arange(20.0) / 2.0, "id": pd.array(ids, dtype="UInt64")}
    ),
    "objects": lambda ids: pd.DataFrame({"size": np.arange(20.0) / 2.0, "id": ids.astype(object)}),
    "polars": lambda ids: pl.DataFrame({"size": np.arange(20.0) / 2.0, "id": ids}),
    "arrow": lambda ids: pa.table({"size": np.arange(20.0) / 2.0, "id": ids}),
    "array": lambda ids: np.column_stack([np.arange(20, dtype=ids.dtype) // 2, ids]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_are_labels_of_their_own(form, dtype):
    levels = tuple(BIG + j for j in range(4))
    table = form(numbers_of(dtype))
    assert pkex.mmd(table, table, categorical=[1]).columns[1].levels == levels
    drift = pkex.MMDDrift(table, categorical=[1])
    other = drift.predict(form(numbers_of(dtype) + dtype(4)))
    assert other.rows.entries(1)[1].tolist()[:2] == [BIG + 4, BIG + 5]
    if not isinstance(table, pa.Table):
        witness = pkex.witness(table, table[:10], categorical=[1])
        found = pkex.Explainer(witness, value_function="neutral")(table)
        np.testing.assert_allclose(
            found.values.sum(axis=1) + found.base_values, witness.predict(table), atol=1e-12
        )


def test_large_integers_are_kept_with_a_detector(tmp_path):
    table = FORMS["pandas"](numbers_of(np.int64))
    pkex.MMDDrift(table, categorical=["id"]).save(tmp_path / "file")
    result = pkex.MMDDrift.load(tmp_path / "file").predict(table)
    assert result.columns[1].levels == tuple(BIG + j for j in range(4))
    assert not result.rows.new_levels


def dates(kind):
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)] * 10
    made = {
        "date": days,
        "timestamp": [pd.Timestamp(day) for day in days],
        "datetime64": np.array(days, dtype="datetime64[D]").tolist(),
        "nanoseconds": np.array(days, dtype="datetime64[ns]"),
    }
    return pd.DataFrame({"size": np.arange(20.0) / 2.0, "day": pd.Categorical(made[kind])})


@pytest.mark.parametrize("kind", ["timestamp", "datetime64", "nanoseconds"])
def test_equal_dates_are_equal_categories_whatever_their_type(kind):
    drift = pkex.MMDDrift(dates("date"))
    result = drift.predict(dates(kind))
    assert result.columns[1].levels == ("2024-01-01", "2024-01-02")
    assert not result.rows.new_levels
    witness = pkex.witness(dates("date"), dates("date")[:7])
    found = pkex.Explainer(witness, value_function="neutral")(dates(kind))
    expected = witness.predict(dates(kind))
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, expected, atol=1e-12)


def test_dates_and_durations_as_labels_are_readable():
    time = pd.DataFrame(
        {
            "at": pd.to_datetime(
                ["2024-01-01", "2024-01-01 06:30", "2024-01-01 06:30:00.5"], format="ISO8601"
            ),
            "after": pd.to_timedelta(["1D", "1h", "90s"]),
            "kind": pd.Categorical(pd.to_timedelta(["1D", "1h", "90s"])),
        }
    )
    columns = pkex.mmd(time, time, categorical=["at", "after"]).columns
    assert columns[0].levels == ("2024-01-01", "2024-01-01 06:30:00", "2024-01-01 06:30:00.5")
    assert columns[1].levels == columns[2].levels == ("0:01:30", "1 day, 0:00:00", "1:00:00")


def test_polars_tables_with_dates_are_explained(rng):
    start = dt.datetime(2024, 1, 1)
    when = [start + dt.timedelta(hours=j) for j in range(30)]
    table = pl.DataFrame({"when": when, "long": [x - start for x in when]})
    witness = pkex.witness(table, table[:9])
    for explainer in (pkex.Explainer(witness, value_function="neutral"), None):
        found = (explainer or pkex.Explainer(witness, table))(table)
        expected = witness.predict(table)
        np.testing.assert_allclose(
            found.values.sum(axis=1) + found.base_values, expected, atol=1e-12
        )


def test_intervals_and_periods_are_labels(rng):
    table = pd.DataFrame(
        {
            "cut": pd.cut(np.arange(30.0), [-1.0, 10.0, 20.0]),
            "month": pd.PeriodIndex(["2020-01", "2020-02", "2020-03"] * 10, freq="M"),
        }
    )
    result = pkex.mmd(table, table[:12])
    assert result.columns[0].levels == ("(-1.0, 10.0]", "(10.0, 20.0]", None)
    assert result.columns[1].levels == ("2020-01", "2020-02", "2020-03")


def test_record_batches_may_lack_numbers_and_polars_has_wide_integers():
    batch = pa.RecordBatch.from_pydict({"size": [1.0, None, 3.0], "count": [1, None, 2]})
    result = pkex.mmd(batch, batch, missing="indicator")
    assert [column.imputed for column in result.columns] == [2.0, 1.5]
    # Older versions have none of 128 bits.
    wide = pl.DataFrame({"id": pl.Series([1, 2, 3], dtype=getattr(pl, "Int128", pl.Int64))})
    assert pkex.mmd(wide, wide).columns[0].compared == "numbers"
    assert pkex.MMDDrift(wide, categorical=["id"]).predict(wide).columns[0].levels == (1, 2, 3)


def test_arrays_of_too_few_columns_are_counted_first():
    table = pd.DataFrame({"size": np.arange(9.0), "city": ["a", "b", "c"] * 3})
    thin, message = np.zeros((3, 1)), "has the wrong number of columns: expected 2, got 1"
    with pytest.raises(ValueError, match=f"^Y {message}"):
        pkex.mmd(table, thin)
    with pytest.raises(ValueError, match=f"^X {message}"):
        pkex.witness(table, table).predict(thin)
    with pytest.raises(ValueError, match=f"^X {message}"):
        pkex.MMDDrift(table).predict(thin)
    with pytest.raises(ValueError, match=f"^X {message}"):
        pkex.MMDDrift(table).predict(pd.DataFrame({0: [1.0, 2.0]}))


def test_columns_of_equal_names_keep_their_own_labels():
    first, second = ["a", "b"] * 10, ["u", "v"] * 10
    table = pd.DataFrame(zip(first, second, strict=True), columns=["city", "city"])
    batch = pd.DataFrame([["new", "other"], ["a", "u"]], columns=["city", "city"])
    result = pkex.MMDDrift(table).predict(batch)
    assert result.rows.entries(0)[1].tolist() == ["new", "a"]
    assert result.rows.entries(1)[1].tolist() == ["other", "u"]
    assert result.rows.new_levels == {0: ("new",), 1: ("other",)}
    assert result.to_dict()["new_levels"] == {"0": ["new"], "1": ["other"]}
    assert [c.new_levels for c in result.column_changes] == [(("new", 1),), (("other", 1),)]


def test_messages_name_the_sample_that_lacks_and_both_kinds_of_categories():
    table = pd.DataFrame({"size": np.arange(9.0), "kind": pd.Categorical([1, 2, 3] * 3)})
    with pytest.raises(ValueError, match=r"^Y has missing values in column 'size'"):
        pkex.mmd(table, table.assign(size=np.nan))
    texts = table.assign(kind=pd.Categorical(["1", "2", "3"] * 3))
    words = r"of Y holds categories \(text\), but categories \(numbers\) in X"
    with pytest.raises(TypeError, match=words):
        pkex.mmd(table, texts)
    with pytest.raises(TypeError, match=r"of X holds categories \(text\), but categories \(numb"):
        pkex.MMDDrift(table).predict(texts)
