"""Sensitivity indices have the same bits for any number of threads, in bounded memory."""

import threading
import tracemalloc
from importlib import import_module

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as GPRBF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import pkex
from pkex.kernels import RBF

RNG = np.random.default_rng(0)
MODEL = pkex.KernelExpansion(RNG.normal(size=(150, 5)), RNG.normal(size=(150, 2)), RBF(2.0))
ROWS = RNG.normal(size=(60, 5))


def bits(result):
    return [result.variance, result.shapley_effects, result.total, result.second_order]


@pytest.mark.parametrize("summation", ["compensated", "plain"])
def test_bits_are_the_same_for_any_number_of_threads(summation):
    options = {"order": 2, "summation": summation}
    expected = bits(pkex.sensitivity(MODEL, ROWS, n_jobs=1, **options))
    for n_jobs in (2, 3, -1):
        found = bits(pkex.sensitivity(MODEL, ROWS, n_jobs=n_jobs, **options))
        for own, other in zip(found, expected, strict=True):
            assert np.array_equal(own, other, equal_nan=True)


def test_chunks_of_nodes_and_columns_in_parallel_change_rounding_only(monkeypatch):
    inputs = [stats.uniform(-1.0, 2.0)] * 5
    expected = pkex.sensitivity(MODEL, inputs)
    deviations = import_module("pkex.sensitivity.deviations")
    monkeypatch.setattr(deviations, "_CHUNK", 1)
    monkeypatch.setattr(deviations, "_FEW", 0)
    for longest in (1024, 8):
        monkeypatch.setattr(deviations, "_LONG", longest)
        alone, together = (pkex.sensitivity(MODEL, inputs, n_jobs=n) for n in (1, 2))
        np.testing.assert_array_equal(alone.shapley_effects, together.shapley_effects)
        for name in ("variance", "shapley_effects", "first_order", "total"):
            np.testing.assert_allclose(getattr(alone, name), getattr(expected, name), rtol=1e-10)


PROCESS = GaussianProcessRegressor(GPRBF(6.0), alpha=0.1, optimizer=None)
OWN_STEP = FunctionTransformer(np.frompyfunc(lambda x: 2.0 * x, 1, 1))


@pytest.mark.parametrize("uncertainty", [0, 20])
@pytest.mark.parametrize("model", [PROCESS, make_pipeline(OWN_STEP, PROCESS)], ids=["", "step"])
def test_functions_of_users_are_called_in_the_thread_of_the_call(monkeypatch, model, uncertainty):
    deviations = import_module("pkex.sensitivity.deviations")
    monkeypatch.setattr(deviations, "_FEW", 0)
    threads, of_column = set(), deviations._column_deviations

    def recorded(*arguments):
        threads.add(threading.get_ident())
        return of_column(*arguments)

    monkeypatch.setattr(deviations, "_column_deviations", recorded)
    model.fit(ROWS, ROWS[:, 0])
    pkex.sensitivity(model, ROWS, n_jobs=2, uncertainty=uncertainty, random_state=0)
    assert (threads == {threading.get_ident()}) is (model is not PROCESS)


def test_memory_is_that_of_single_columns():
    n, d = 1500, 10
    model = pkex.KernelExpansion(RNG.normal(size=(n, d)), RNG.normal(size=n), RBF(3.0))
    rows = RNG.normal(size=(500, d))
    tracemalloc.start()
    pkex.sensitivity(model, rows, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Some arrays of the factors of a column; all pairs of points and columns would take 180 MB.
    assert peak < 8 * n * len(rows) * 8


def test_progress_is_reported_to_its_end():
    told = []
    pkex.sensitivity(MODEL, ROWS, order=2, progress=lambda done, total: told.append(done / total))
    assert told == sorted(told)
    assert told[-1] == 1.0
