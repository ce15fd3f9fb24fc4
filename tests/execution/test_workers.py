"""How many threads a call takes: as `n_jobs` says, and one in a worker of joblib."""

from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.svm import SVR
from small_regression import ROWS, X, Y

import pkex
from pkex.execution.threads import thread_count


@pytest.fixture
def explainer():
    return pkex.Explainer(SVR().fit(X, Y))


@pytest.fixture
def values(explainer):
    return explainer.shap_values(ROWS)


def test_threads_may_share_an_explainer(explainer, values):
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(explainer.shap_values, [ROWS] * 40):
            np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_workers_use_one_thread_unless_told_otherwise(explainer, values, backend):
    explain, count = joblib.delayed(explainer.shap_values), joblib.delayed(thread_count)
    in_workers = joblib.Parallel(2, backend=backend)
    for found in in_workers(explain(ROWS) for _ in "abc"):
        np.testing.assert_array_equal(found, values)
    assert in_workers(count(n_jobs) for n_jobs in (-1, -2, 3)) == [1, 1, 3]


def test_n_jobs_follows_joblibs_convention(monkeypatch):
    monkeypatch.setattr("pkex.execution.threads._usable_cores", lambda: 6)
    assert [thread_count(n) for n in (-1, -2, -5, -6, -7, -100, 1, 2, 7)] == [
        *(6, 5, 2, 1, 1, 1),
        *(1, 2, 7),
    ]
    with joblib.parallel_config(n_jobs=2):
        assert thread_count(-1) == 6
    assert thread_count(10**9) < 100


def test_n_jobs_of_none_is_one_or_what_joblib_is_told(monkeypatch, values):
    monkeypatch.setattr("pkex.execution.threads._usable_cores", lambda: 6)
    assert thread_count(None) == 1
    for told, expected in ((2, 2), (-2, 5)):
        with joblib.parallel_config(n_jobs=told):
            assert thread_count(None) == expected
    explainer = pkex.Explainer(SVR().fit(X, Y), n_jobs=None)
    assert explainer.n_jobs is None
    np.testing.assert_array_equal(explainer.shap_values(ROWS), values)


@pytest.mark.parametrize("n_jobs", [0, True, 1.0, "all"])
def test_n_jobs_that_are_none_are_answered_with_what_they_may_be(n_jobs):
    with pytest.raises((TypeError, ValueError), match="n_jobs must be -1"):
        pkex.Explainer(SVR().fit(X, Y), n_jobs=n_jobs)
