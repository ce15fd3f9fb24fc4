"""Pictures of columns of whatever a table may hold: well-formed, described, in the frame."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from pages import Page

from pkex.results.column_pictures import comparison_figure, dependence_figure
from pkex.results.column_values import ColumnValues

N = 40
RNG = np.random.default_rng(0)
COLUMNS = {
    "numbers": RNG.normal(size=N),
    "integers": RNG.integers(0, 4, N),
    "constant": np.ones(N),
    "missing": np.full(N, np.nan),
    "half missing": np.where(RNG.random(N) < 0.5, np.nan, RNG.normal(size=N)),
    "infinite": np.where(RNG.random(N) < 0.5, np.inf, RNG.normal(size=N)),
    "huge": RNG.choice([-1.7e308, 1.7e308], N) * RNG.random(N),
    "tiny": 5e-324 * RNG.integers(0, 100, N),
    "outlier": np.append(RNG.normal(size=N - 1), 1e9),
    "objects": np.array([None, *RNG.normal(size=N - 1)], dtype=object),
    "truth": RNG.random(N) < 0.5,
    "texts": RNG.choice(["<b>", "a & b", 'say "x"', "", "nan", "1"], N),
    "many texts": np.array([f"label {i}" for i in range(N)]),
    "categories": pd.Series(RNG.integers(0, 3, N)).astype("category"),
    "nullable": pd.Series([None, *RNG.integers(0, 30, N - 1)], dtype="Int64"),
    "days": pd.Series(pd.Timestamp("2026-03-01") + pd.to_timedelta(np.arange(N), "D")),
    "times": pd.Series(pd.Timestamp("2026-03-01") + pd.to_timedelta(RNG.random(N), "D")),
    "no days": pd.Series([pd.NaT] * N),
    "durations": pd.Series(pd.to_timedelta(RNG.random(N), "D")),
}


def _check(figure):
    page = Page(figure.picture)
    picture = page.elements[0]
    assert picture["attributes"]["role"] == "img"
    assert picture["attributes"]["aria-label"].startswith(page.text("title")[0])
    assert float(picture["attributes"]["height"]) >= 0.0
    for element in page.elements[1:]:
        for name in ("x", "width", "cx", "x1", "x2"):
            place = element["attributes"].get(name, "0")
            assert re.fullmatch(r"-?[\d.]+%?", place), element
            assert -1.0 <= float(place.rstrip("%")) <= 101.0
        assert not re.search("nan|inf", element["attributes"].get("d", ""))


@pytest.mark.parametrize("name", COLUMNS)
def test_any_columns_can_be_shown_beside_and_against_each_other(name):
    first = ColumnValues.of(COLUMNS[name])
    for column in COLUMNS.values():
        second = ColumnValues.of(column)
        _check(comparison_figure("column", first, second, ("one", "other")))
        _check(dependence_figure("column", first, "target", second))


@pytest.mark.parametrize(
    ("value", "words"), [(0.0, "40 points, one is constant; vertical axis"), (np.nan, "0 points")]
)
def test_values_without_a_rank_correlation_say_why(value, words):
    rows = ColumnValues.of(np.arange(40.0) ** 1.5)
    figure = dependence_figure(
        "a", rows, "value", ColumnValues(np.full(40, value), are_measured=True)
    )
    _check(figure)
    assert f"value by a. {words}" in figure.picture
    assert "nan" not in figure.picture


def test_entries_are_described_in_words():
    words = {name: ColumnValues.of(column).in_words() for name, column in COLUMNS.items()}
    assert words["constant"] == "median 1, middle half from 1 to 1"
    assert words["missing"] == "no values"
    assert words["days"] == "median 2026-03-20, middle half from 2026-03-11 to 2026-03-30"
    assert words["truth"] in {
        f"{a} {p} %, {b} {100 - p} %"
        for p in range(101)
        for a, b in (("True", "False"), ("False", "True"))
    }


def test_bars_of_a_histogram_hold_all_rows_and_show_where_entries_are_cut():
    figure = comparison_figure(
        "x", ColumnValues.of(COLUMNS["outlier"]), ColumnValues.of(COLUMNS["numbers"]), ("a", "b")
    )
    texts = Page(figure.picture).text("text")
    assert len([text for text in texts if text.startswith("≥ ")]) == 1
    for path in Page(figure.picture).all("path"):
        heights = [100.0 - float(y) for y in re.findall(r"V([\d.]+)H", path["attributes"]["d"])]
        rows = np.array(heights) / sum(heights) * N
        np.testing.assert_allclose(rows, rows.round(), atol=0.02)
