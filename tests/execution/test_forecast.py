"""Calls that are going to take long say so before they do."""

import warnings

import numpy as np
import pytest

import pkex
from pkex.execution import progress as progress_module
from pkex.execution.progress import advising, reporting


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


def report_at(clock, report, reports):
    for seconds, share in reports:
        clock[0] = seconds
        report(round(share * 1_000_000), 1_000_000)


@pytest.mark.parametrize(
    ("share_a_second", "said"),
    [(1 / 1500, "25 minutes"), (1 / 10_000, "2.8 hours"), (1 / 1_000_000, "12 days")],
)
def test_a_call_of_more_than_ten_minutes_says_so_once(clock, share_a_second, said):
    seconds = [1.0, 3.0, 8.0, 20.0, 40.0]
    warned = pytest.warns(UserWarning, match=f"about {said}.*progress=True")
    with warned as found, reporting(False) as report:
        report_at(clock, report, [(s, s * share_a_second) for s in seconds])
    assert len(found) == 1


def test_shorter_calls_and_what_is_prepared_before_say_nothing(clock):
    with reporting(False) as report:
        report_at(clock, report, [(s, s / 500.0) for s in (1.0, 8.0, 100.0, 500.0)])
    clock[0] = 0.0
    with reporting(False) as report:
        prepared = [(1.0, 0.0), (100.0, 0.0)]
        report_at(clock, report, [*prepared, (101.0, 0.01), (110.0, 0.1), (200.0, 1.0)])


def test_each_step_of_a_call_is_measured_by_itself(clock):
    with reporting(False) as report:
        first = [(s, s / 400.0) for s in (1.0, 8.0, 399.0)]
        report_at(clock, report, [*first, (400.0, 1.0), (401.0, 0.1), (407.0, 0.4), (420.0, 1.0)])
    clock[0] = 0.0
    warned = pytest.warns(UserWarning, match="about 50 minutes, as its first 6 seconds")
    with warned, reporting(False) as report:
        report_at(clock, report, [*first, (400.0, 1.0), (401.0, 0.1), (407.0, 0.102)])


def test_a_call_with_a_faster_one_says_so_above_ten_seconds(clock):
    reports = [(s, s / 25.0) for s in (0.1, 1.0, 2.2, 3.0)]
    warned = pytest.warns(
        UserWarning, match=r"about 25 seconds, .*Faster: fewer rows\. progress=True"
    )
    with warned as found, reporting(False) as report, advising("fewer rows"):
        report_at(clock, report, reports)
    assert len(found) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Without advice, and of less time.
        with reporting(False) as report:
            report_at(clock, report, reports)
        with reporting(False) as report, advising("fewer rows"):
            report_at(clock, report, [(s, s / 9.0) for s in (0.1, 1.0, 3.0, 9.0)])


@pytest.fixture
def process_and_rows():
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    rows = np.random.default_rng(0).normal(size=(60, 3))
    kernel = gaussian_process.kernels.Matern(9.0, nu=2.5)
    process = gaussian_process.GaussianProcessRegressor(kernel, alpha=0.1, optimizer=None)
    return process.fit(rows, np.sin(rows).sum(axis=1)), rows


def explain_variance(process, rows):
    more = np.random.default_rng(1).normal(size=(200, 3))
    pkex.Explainer(process.fit(more, more[:, 0]), target="variance", n_jobs=1)


CALLS = {
    "variance": (
        explain_variance,
        'the RBF kernel; value_function="neutral"; .* with a background',
    ),
    "uncertainty": (
        lambda process, rows: pkex.Explainer(process, n_jobs=1)(rows, uncertainty=True),
        "fewer rows, the RBF kernel",
    ),
    "importance": (
        lambda process, rows: pkex.Explainer(process, rows, n_jobs=1)(
            rows, uncertainty=True
        ).importance(samples=30, random_state=0),
        "fewer samples or fewer rows",
    ),
    "sensitivity": (
        lambda process, rows: pkex.sensitivity(process, rows, n_jobs=1),
        "fitted on fewer rows; the RBF kernel",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_takes_long_of_a_gaussian_process_names_what_is_faster(
    monkeypatch, process_and_rows, name
):
    monkeypatch.setattr(progress_module, "_LONG_CALL_WITH_ADVICE", 0.0)
    monkeypatch.setattr(progress_module, "_MEASUREMENT_WITH_ADVICE", 0.0)
    call, faster = CALLS[name]
    with pytest.warns(UserWarning, match=f"is going to take about .*Faster: .*{faster}"):
        call(*process_and_rows)


def test_an_explainer_that_takes_long_to_prepare_says_so(monkeypatch):
    monkeypatch.setattr(progress_module, "_LONG_CALL", 0.15)
    monkeypatch.setattr(progress_module, "_MEASUREMENT", 0.05)
    points = np.random.default_rng(0).normal(size=(3000, 100))
    function = pkex.KernelExpansion(points, np.ones(3000), pkex.kernels.Laplacian(8.0))
    with pytest.warns(UserWarning, match="is going to take about .* seconds") as found:
        pkex.Explainer(function, n_jobs=1)
    assert found[0].filename == __file__
    pkex.Explainer(function, value_function="neutral", n_jobs=1)


def test_a_call_whose_progress_is_shown_says_nothing(clock):
    with reporting(lambda done, total: None) as report:
        report_at(clock, report, [(s, s / 10_000.0) for s in (1.0, 8.0, 20.0)])


def test_the_forecast_of_a_call_points_at_the_line_that_calls(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(6000, 40))
    function = pkex.KernelExpansion(rows[:1000], np.ones(1000), pkex.kernels.RBF(3.0))
    explainer = pkex.Explainer(function, n_jobs=1)
    monkeypatch.setattr(progress_module, "_LONG_CALL", 0.3)
    monkeypatch.setattr(progress_module, "_MEASUREMENT", 0.1)
    with pytest.warns(UserWarning, match="is going to take about .* seconds") as found:
        values = explainer.shap_values(rows)
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="is going to take"):
            explainer.shap_values(rows)
    shown = explainer.shap_values(rows, progress=lambda done, total: None)
    np.testing.assert_array_equal(values, shown)
