"""`to_html` of results: the report of the command line, of tables of any kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pages import check_page

import pkex
from pkex.compare.results.conclusion import share_intervals
from pkex.results.report import percent

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = RNG.normal(size=(50, 3)) + np.array([0.0, 1.5, 0.0])
RESULT = pkex.mmd(X, Y, n_permutations=99, random_state=0)
DEPENDENCE = pkex.hsic(X, X[:, 0] ** 2, n_permutations=99, random_state=0)


def _pictures(page):
    return [e["attributes"]["aria-label"] for e in page.all("svg") if "role" in e["attributes"]]


def test_a_result_writes_the_page_that_it_returns(tmp_path):
    text = RESULT.to_html(tmp_path / "r.html", samples=(X, Y))
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    page = check_page(text)
    verdict = page.text("p")[0]
    assert verdict.startswith("X and Y differ (p = ")
    assert (
        "After correction for the number of features, x1 (95\xa0% of the difference, 95\xa0%"
        in verdict
    )
    assert len(_pictures(page)) == 4


def test_the_verdict_names_only_features_that_are_proven_to_differ():
    # Whatever their shares are, here of x0 the largest.
    result = replace(RESULT, values=np.array([0.5, 0.3, 0.2]))
    verdict = check_page(result.to_html()).text("p")[0].replace("\xa0", " ")
    low, high = share_intervals(result)[1]
    interval = f"{percent(low)} to {percent(high)}".replace("\xa0", " ")
    assert verdict.endswith(
        f"x1 (30 % of the difference, 95 % interval {interval}) differs individually."
    )
    # A share that may be anything is not said.
    unsure = replace(result, standard_errors=np.array([0.3, 0.3, 0.3]))
    verdict = check_page(unsure.to_html()).text("p")[0]
    assert verdict.endswith("number of features, x1 differs individually.")
    # By the unbiased estimator: there are no shares of what is not positive.
    none = check_page(replace(RESULT, values=np.array([-0.1, 0.05, -0.1])).to_html())
    assert none.text("p")[0].endswith("features, x1 differs individually.")
    not_found = replace(RESULT.significance, alone_familywise_pvalues=np.full(3, 0.06))
    verdict = check_page(replace(RESULT, significance=not_found).to_html()).text("p")[0]
    assert verdict.endswith(
        "It is not significant for any single feature or pair of columns at this level."
    )
    assert "nothing was tested." in check_page(pkex.mmd(X, Y).to_html()).text("p")[0]


def test_shares_of_the_biased_estimator_leave_out_what_noise_has():
    rows = np.random.default_rng(0).normal(size=(200, 8))
    options = {"n_permutations": 99, "random_state": 0}
    result = pkex.hsic(rows, rows[:, 0] ** 2, estimator="biased", **options)
    assert result.values[0] < 0.5 * result.statistic
    found, (low, high) = result.shares, share_intervals(result)[0]
    np.testing.assert_allclose(found.sum(), 1.0)
    assert found[0] > 0.8
    assert low < 1.0 < high
    assert np.abs(found[1:]).max() < 0.1


def test_a_pair_that_depends_otherwise_is_named():
    first, second = np.random.default_rng(0).normal(size=(2, 300, 3))
    second[:, 2] = 0.8 * second[:, 0] + 0.6 * second[:, 2]
    second[:, 1] += 1.0
    page = check_page(pkex.mmd(first, second, n_permutations=99, random_state=0).to_html())
    assert page.text("p")[0].endswith(
        "differs individually. After correction for the number of pairs, the dependence between x0 "
        "and x2 differs."
    )
    assert (
        dict(zip(page.text("dt"), page.text("dd"), strict=True))["Pairs of columns"] == "3 tested"
    )


def test_intervals_of_shares_hold_the_share_of_the_distributions():
    of_samples, values = [], []
    for seed in range(100):
        x, y = np.random.default_rng(seed).normal(size=(2, 200, 4))
        y[:, :2] += [0.6, 0.4]
        result = pkex.mmd(x, y, kernel=pkex.kernels.RBF(2.5))
        of_samples.append(share_intervals(result))
        values.append(result.values)
    expected = np.mean(values, axis=0) / np.mean(values, axis=0).sum()
    low, high = np.moveaxis(of_samples, 2, 0)
    covered = ((low <= expected) & (expected <= high)).mean(axis=0)
    assert covered.min() >= 0.9
    # And they are at most twice as wide as shares vary.
    spread = (np.array(values) / np.sum(values, axis=1, keepdims=True)).std(axis=0)
    assert ((high - low).mean(axis=0) < 2.0 * 3.92 * spread).all()
    assert np.isnan(share_intervals(replace(result, standard_errors=None))).all()


@pytest.mark.parametrize("amplitude", [1e-170, 1e160])
def test_intervals_of_shares_do_not_depend_on_the_unit_of_the_kernel(amplitude):
    kernel = pkex.kernels.RBF(2.0)
    wanted = share_intervals(pkex.hsic(X, X[:, 0] ** 2, kernel=kernel))
    scaled = pkex.hsic(X, X[:, 0] ** 2, kernel=amplitude * kernel)
    np.testing.assert_allclose(share_intervals(scaled), wanted, rtol=1e-9)


def test_without_the_samples_there_are_no_distributions():
    assert len(_pictures(check_page(RESULT.to_html()))) == 1


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_tables_of_any_kind_show_the_same(table):
    frames = [table(dict(zip("abc", rows.T, strict=True))) for rows in (X, Y)]
    result = pkex.mmd(*frames, n_permutations=99, random_state=0)
    shown = _pictures(check_page(result.to_html(samples=frames)))
    arrays = _pictures(check_page(RESULT.to_html(samples=(X, Y))))
    for number, name in enumerate("abc"):
        arrays = [words.replace(f"x{number}", name) for words in arrays]
    assert shown == arrays


@pytest.mark.parametrize(("alpha", "found"), [(0.05, True), (0.005, False)])
def test_the_verdict_is_at_the_level(alpha, found):
    verdict = check_page(RESULT.to_html(alpha=alpha)).text("p")[0]
    assert verdict.startswith("X and Y differ") is found
    assert ("α = 0.005" in verdict and "No difference" in verdict) is not found


def test_a_dependence_is_shown_from_the_side_that_shares_it():
    page = check_page(DEPENDENCE.to_html(samples=(X, X[:, 0] ** 2)))
    assert page.text("p")[0].startswith("y depends on X (p = ")
    assert _pictures(page)[1].startswith("y by x0. 60 points")
    other = pkex.hsic(X[:, [0]] ** 2, X, attribute="y")
    assert len(_pictures(check_page(other.to_html(samples=(X[:, [0]] ** 2, X))))) == 4


def test_a_result_that_is_not_significant_names_nothing():
    result = replace(RESULT, significance=replace(RESULT.significance, pvalue=0.06))
    assert result.alone_familywise_pvalues[1] <= 0.05
    verdict = check_page(result.to_html()).text("p")[0]
    assert verdict.startswith("No difference between X and Y was found")
    assert verdict.endswith("there is none: there may be too few rows to detect it.")
    assert result.notes == ()


@pytest.mark.parametrize("alpha", [0.0, 1.0, float("nan")])
def test_a_level_is_between_0_and_1(alpha):
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        RESULT.to_html(alpha=alpha)
    with pytest.raises(ValueError, match="samples must be a pair"):
        RESULT.to_html(samples=(X,))
    with pytest.raises(TypeError, match="name must be a pair for a MMDResult report"):
        RESULT.to_html(name="May")


def test_an_estimator_with_a_budget_says_how_many_pairs_it_compared():
    x, y = np.random.default_rng(0).normal(size=(2, 2000, 3))
    result = pkex.mmd(x, y, estimator="incomplete", budget=10**5, n_permutations=99, random_state=0)
    page = check_page(result.to_html(samples=(x, y)))
    computed = dict(zip(page.text("dt"), page.text("dd"), strict=True))
    assert computed["Pairs of rows"] == f"{result.n_pairs:,}"
    assert "incomplete estimator" in computed["Statistic"]
    with pytest.raises(TypeError, match="must be tables in memory"):
        result.to_html(samples=("x.parquet", "y.parquet"))


def test_a_detector_reports_with_its_own_level_names_and_rows():
    rng = np.random.default_rng(0)

    def table(n, late):
        days = pd.to_timedelta(rng.integers(0, 60, n), "D")
        table = pd.DataFrame({"x": rng.normal(size=n), "day": pd.Timestamp("2026-03-01") + days})
        table["city"] = rng.choice(["Lima", "Oslo", "Rome" if late else "Oslo"], n)
        table.loc[rng.random(n) < 0.3 * late, "x"] = np.nan
        return table

    reference, batch = table(100, False), table(80, True)
    drift = pkex.MMDDrift(
        reference, alpha=0.01, n_permutations=199, random_state=0, missing="indicator"
    )
    result = drift.predict(batch)
    page = check_page(result.to_html())
    verdict = page.text("p")[0]
    assert verdict.startswith("reference and batch differ (p = ")
    assert "α = 0.01;" in verdict
    given = result.to_html(samples=(reference, batch), name=("reference", "batch"))
    assert page.source == given
    assert any(cell.startswith("'Rome' (") for cell in page.text("td"))


def test_columns_of_the_same_name_are_shown_each_by_itself():
    first, second = (pd.DataFrame(rows, columns=["a", "b", "a"]) for rows in (X, Y))
    as_arrays = _pictures(check_page(RESULT.to_html(samples=(X, Y))))
    as_arrays = [
        words.replace("x0", "a").replace("x1", "b").replace("x2", "a") for words in as_arrays
    ]
    result = pkex.mmd(first, second, n_permutations=99, random_state=0)
    assert _pictures(check_page(result.to_html(samples=(first, second)))) == as_arrays
    found = pkex.MMDDrift(first).predict(second)
    given = found.to_html(samples=(first, second), name=("reference", "batch"))
    shown = _pictures(check_page(given))
    assert _pictures(check_page(found.to_html())) == shown
    assert len(set(shown)) == 4


def _timeline(n_permutations=199, n_batches=4):
    """Return a timeline where x1 moves in the last batch, and the pair x0, x2 in that before it."""
    rng = np.random.default_rng(0)
    drift = pkex.MMDDrift(rng.normal(size=(200, 3)), n_permutations=n_permutations, random_state=0)
    batches = rng.normal(size=(n_batches, 100, 3))
    batches[-1, :, 1] += 1.5
    batches[-2, :, 2] = batches[-2, :, 0]
    return drift.timeline({f"<{t}>": batch for t, batch in enumerate(batches)})


def test_a_timeline_has_a_report_of_which_batches_differ_in_what(tmp_path):
    line = _timeline()
    assert line.is_drift.tolist() == [False, False, True, True]
    text = line.to_html(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == text
    page = check_page(text)
    assert page.text("h1") == ["Drift in 4 batches"]
    verdict = page.text("p")[0].replace("\xa0", " ")
    assert verdict.startswith("2 of 4 batches differ from the reference (α = 0.05, adjusted")
    assert ": <2>; <3>. Features that differ individually: x1 in 1 batch. " in verdict
    assert verdict.endswith("Pairs of columns whose dependence differs: x0 and x2 in 1 batch.")
    head, *lines = page.cells()
    numbers = np.array([[line[2], *line[5:]] for line in lines], dtype=float)
    expected = [line.corrected_pvalues, line.statistics, line.pvalues]
    np.testing.assert_allclose(numbers[:, [0, 1, 3]].T, expected, rtol=1e-2, atol=1e-4)
    assert numbers[:, 2].tolist() == [100.0] * 4
    assert head[1:5] == ["drift", "p (adjusted)", "features that differ", "dependence that differs"]
    assert head[5:] == ["MMD²", "rows", "p"]
    assert [[line[1], *line[3:5]] for line in lines] == [
        ["no", "–", "–"], ["no", "–", "–"], ["yes", "–", "x0 and x2"], ["yes", "x1", "–"],
    ]  # fmt: skip
    bars, heat_map = _pictures(page)
    assert "<3>: adjusted p" in bars
    assert f"x1: largest in <3>, {line.values[3, 1]:.4f}"[:-1] in heat_map
    assert [e["text"] for e in page.all("text") if e["text"] in ("▾", "")] == ["", "", "▾", "▾"]


def test_a_timeline_without_drift_or_test_names_nothing():
    untested = check_page(_timeline(0).to_html())
    assert untested.text("p")[0].endswith("with the reference; nothing was tested.")
    assert untested.cells()[0] == ["batch", "MMD²", "rows"]
    with pytest.warns(UserWarning, match="cannot be detected"):
        line = _timeline(19)
    page = check_page(line.to_html())
    assert page.text("p")[0].startswith("No drift was found in 4 batches (α = 0.05, ")
    assert {(cells[1], cells[3]) for cells in page.cells()[1:]} == {("no", "–")}
    assert page.text("li")[0] == line.notes[0]


def test_a_report_of_many_batches_shows_the_latest():
    line = _timeline(0)
    many = pkex.DriftTimeline(line.results * 75, tuple(f"day {t}" for t in range(300)))
    text = many.to_html()
    page = check_page(text)
    assert len(text) < 100_000
    assert [cells[0] for cells in page.cells()[1:]] == [f"day {t}" for t in range(200, 300)]
    assert page.text("caption") == ["Batches, compared with the reference, the latest 100 of 300"]
    assert "day 280: " in _pictures(page)[0]
    assert "day 279: " not in _pictures(page)[0]
