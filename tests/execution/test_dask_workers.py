"""Workers of a Dask cluster in this process: nested calls, lost workers and large arguments."""

import threading
import time
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVR
from small_regression import ROWS, X, Y

import pkex
from pkex.execution import backends
from pkex.execution.backends import active_workers
from pkex.execution.threads import thread_count
from pkex.explain import exact_values, value_files

distributed = pytest.importorskip("dask.distributed")


@pytest.fixture
def cluster():
    options = {"processes": False, "threads_per_worker": 2, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=1, **options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    # As one of several clients.
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


def test_tasks_of_dask_use_one_thread_and_no_workers(client, monkeypatch):
    monkeypatch.setattr("pkex.execution.threads._usable_cores", lambda: 6)
    with joblib.parallel_config(backend="dask", client=client):
        nested = joblib.Parallel()([joblib.delayed(thread_count)(-1)])
        assert [*nested, thread_count(-1)] == [1, 6]
        assert client.submit(active_workers, -1).result() is None
    assert [client.submit(thread_count, n_jobs).result() for n_jobs in (-1, 3)] == [1, 3]


def test_a_closed_client_is_named(client):
    with joblib.parallel_config(backend="dask", client=client):
        client.close()
        with pytest.raises(ValueError, match=r"Dask client of .* is closed"):
            pkex.Explainer(SVR().fit(X, Y)).shap_values(ROWS)


def test_calls_warn_while_a_cluster_has_no_workers(cluster, client, monkeypatch):
    monkeypatch.setattr(backends, "_PATIENCE", 0.1)
    cluster.scale(0)
    while client.ncores():
        time.sleep(0.01)
    explainer = pkex.Explainer(SVR().fit(X, Y))
    threading.Timer(1.0, cluster.scale, (1,)).start()
    with joblib.parallel_config(backend="dask", client=client, wait_for_workers_timeout=0):
        with pytest.warns(pkex.errors.InputWarning, match="Dask cluster has no workers") as warned:
            values = explainer.shap_values(ROWS)
        # Workers that take their time do not raise a warning.
        assert list(active_workers(-1).map(time.sleep, [0.3])) == [None]
    assert len(warned) == 1
    np.testing.assert_array_equal(values, explainer.shap_values(ROWS))


def test_arguments_are_sent_without_advice_and_are_bounded(client, monkeypatch):
    import dask

    sizes, submit = [], client.submit

    def recorded(function, *arguments, **kwargs):
        sizes.append(max(len(argument) for argument in arguments if isinstance(argument, bytes)))
        return submit(function, *arguments, **kwargs)

    monkeypatch.setattr(client, "submit", recorded)
    monkeypatch.setattr(exact_values, "_VALUES_OF_TASK", 20_000)
    rows = np.ones((300, 2000))
    explainer = pkex.Explainer(pkex.KernelExpansion(rows[:1], [1.0], pkex.kernels.RBF(1.0)))
    with (
        joblib.parallel_config(backend="dask", client=client),
        dask.config.set({"distributed.admin.large-graph-warning-threshold": 1000}),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        explainer.shap_values(rows)
    assert max(sizes) < 200_000
    assert sum(sizes) > rows.nbytes


def test_the_model_is_sent_once_for_all_blocks_of_a_call(client, monkeypatch, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    explainer, rows = pkex.Explainer(SVR().fit(X, Y)), np.concatenate([ROWS] * 9)
    pd.DataFrame(rows).rename(columns="x{}".format).to_parquet(tmp_path / "rows.parquet")
    expected = explainer.shap_values(rows)
    # Blocks of ten rows.
    monkeypatch.setattr(exact_values, "_MAX_DENSE", 10 * X.shape[1])
    monkeypatch.setattr(value_files, "_ROWS", 10)
    sent, submit = [], client.submit

    def recorded(function, *arguments, **kwargs):
        sent.append(function)
        return submit(function, *arguments, **kwargs)

    monkeypatch.setattr(client, "submit", recorded)
    with joblib.parallel_config(backend="dask", client=client):
        sparse = explainer.shap_values(rows, sparse=True)
        explainer.write_parquet(tmp_path / "rows.parquet", tmp_path / "values.parquet")
    assert sent.count(backends._unpickle_function) == 2
    assert len(sent) > 2 * len(rows) / 10
    np.testing.assert_array_equal(sparse.toarray(), expected)
    written = parquet.read_table(tmp_path / "values.parquet").to_pandas()
    np.testing.assert_array_equal(written[[f"x{j}" for j in range(X.shape[1])]], expected)
    assert_has_no_tasks(client, None)


# Tasks run in this process.
begun, gate = [], threading.Event()


def task(number):
    begun.append(number)
    assert number == 0 or gate.wait(10.0)


def test_tasks_are_canceled_after_an_error_whose_traceback_is_kept(client):
    with joblib.parallel_config(backend="dask", client=client):
        results = active_workers(-1).map(task, range(100))
        next(results)
        with pytest.raises(RuntimeError) as kept:
            results.throw(RuntimeError)
        gate.set()
        assert_has_no_tasks(client, kept)
    assert len(begun) < 10


def test_an_error_of_progress_ends_an_estimate(client):
    def progress(done, total):
        raise RuntimeError

    x, y = np.random.default_rng(0).normal(size=(2, 6000, 2))
    with joblib.parallel_config(backend="dask", client=client):
        with pytest.raises(RuntimeError) as kept:
            pkex.mmd(x, y, estimator="incomplete", progress=progress)
        assert_has_no_tasks(client, kept)


def assert_has_no_tasks(client, kept):
    end = time.monotonic() + 10.0
    while client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)):
        assert time.monotonic() < end, f"the cluster keeps tasks after {kept}"
        time.sleep(0.01)
