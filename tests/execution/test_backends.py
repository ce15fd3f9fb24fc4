"""Work on joblib's backends and in Dask's collections: where it runs, and its bits."""

import os
import pickle
import subprocess
import sys
import textwrap
import time
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.svm import SVC, SVR
from small_regression import ROWS, X, Y

import pkex
from pkex.execution.backends import SerializedFunction, Threads, active_workers, ranges_of_tasks
from pkex.explain import exact_values


@pytest.fixture
def explainer():
    return pkex.Explainer(SVR().fit(X, Y))


class _Watched:
    """The calls of joblib's, counted."""

    def __init__(self, monkeypatch):
        self.number = 0
        call = joblib.Parallel.__call__

        def counted(parallel, tasks):
            self.number += 1
            return call(parallel, tasks)

        monkeypatch.setattr(joblib.Parallel, "__call__", counted)


@pytest.fixture
def parallel_calls(monkeypatch):
    return _Watched(monkeypatch)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_rows_are_explained_by_workers_that_were_switched_on(explainer, parallel_calls, backend):
    rows = np.concatenate([ROWS] * 9)
    values, explanation = explainer.shap_values(rows), explainer(rows)
    assert parallel_calls.number == 0
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert active_workers(-1).number == active_workers(None).number == 2
        np.testing.assert_array_equal(explainer.shap_values(rows), values)
        assert parallel_calls.number == 1
        np.testing.assert_array_equal(explainer(rows).values, explanation.values)
        assert parallel_calls.number == 2


@pytest.mark.parametrize(
    "config", [{}, {"n_jobs": 2}, {"backend": "threading"}, {"backend": "sequential"}]
)
def test_nothing_runs_in_other_processes_unless_asked_for(explainer, parallel_calls, config):
    with joblib.parallel_config(**config):
        assert active_workers(-1) is None
        explainer.shap_values(np.concatenate([ROWS] * 9))
    with joblib.parallel_config(backend="loky", n_jobs=2):
        pkex.Explainer(SVR().fit(X, Y), n_jobs=1).shap_values(np.concatenate([ROWS] * 9))
    assert parallel_calls.number == 0


def test_threads_read_a_few_items_ahead_and_stop_after_an_error():
    read, begun = [], []

    def task(number):
        begun.append(number)
        if number > 50:
            time.sleep(0.1)
        return 1 / (50 - number)

    results = Threads(2).map(task, (read.append(number) or number for number in range(1000)))
    assert next(results) == 1 / 50
    assert len(read) < 20
    with pytest.raises(ZeroDivisionError):
        list(results)
    assert len(begun) < 56


def test_workers_have_no_workers():
    with joblib.parallel_config(backend="loky", n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(active_workers)(-1) for _ in range(2))
    assert found == [None, None]


def test_values_too_large_are_named_by_their_row_among_all():
    # The kernels at row 17 add up to more than a float holds.
    expansion = pkex.KernelExpansion([[0.0], [0.0]], [1e308, 1e308], pkex.kernels.RBF(1.0))
    rows = np.full((20, 1), 1e9)
    rows[17] = 0.0
    explainer = pkex.Explainer(expansion, np.array([[1e9]]))
    for backend in ("threading", "loky"):
        with (
            joblib.parallel_config(backend=backend, n_jobs=2),
            pytest.raises(OverflowError, match="row 17 "),
        ):
            explainer.shap_values(rows)


def dask_array():
    return pytest.importorskip("dask.array")


@pytest.mark.parametrize("outputs", [None, 0, [0, 2]])
def test_arrays_of_dask_are_explained_lazily_chunk_by_chunk(monkeypatch, outputs):
    da = dask_array()
    classes = SVC(decision_function_shape="ovo").fit(X, np.digitize(Y, np.quantile(Y, [0.3, 0.6])))
    explainer = pkex.Explainer(classes, outputs=outputs)
    rows = np.concatenate([ROWS] * 3)
    expected = explainer.shap_values(rows)
    read = []
    compute_table = recording(read, exact_values._compute_table)
    monkeypatch.setattr(exact_values, "_compute_table", compute_table)
    half = rows.shape[1] // 2
    lazy = explainer.shap_values(da.from_array(rows, chunks=(5, half)))
    assert read == []
    assert (lazy.shape, lazy.dtype) == (expected.shape, np.float64)
    np.testing.assert_array_equal(lazy[:5].compute(scheduler="synchronous"), expected[:5])
    assert read == [5]
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), expected)


def recording(read, function):
    def recorded(problem, rows, computation):
        read.append(len(rows))
        assert computation.n_threads == 1
        return function(problem, rows, computation)

    return recorded


def test_tables_of_dask_are_explained_with_empty_partitions_and_checked_for_their_columns():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    names = [f"column {j}" for j in range(X.shape[1])]
    explainer = pkex.Explainer(SVR().fit(pd.DataFrame(X, columns=names), Y))
    frame = pd.DataFrame(ROWS, columns=names)
    table = dd.from_pandas(frame, npartitions=3)
    empty = table[table[names[0]] > 1e9]
    lazy = explainer.shap_values(dd.concat([empty, table, empty]))
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), explainer.shap_values(frame))
    with pytest.raises(ValueError, match="another order than the model"):
        explainer.shap_values(table[names[::-1]])
    with pytest.raises(ValueError, match=r"X must have shape \(n, "):
        explainer.shap_values(dask_array().zeros((4, 99)))


def test_rows_of_parquet_files_are_explained_when_they_are_asked_for(tmp_path):
    pd = pytest.importorskip("pandas")
    dask_array()
    pytest.importorskip("pyarrow")
    names = [f"column {j}" for j in range(X.shape[1])]
    explainer = pkex.Explainer(SVR().fit(pd.DataFrame(X, columns=names), Y))
    frame = pd.DataFrame(ROWS, columns=names)
    # Columns that the model does not know are not read; their order is the model's.
    halves = frame.iloc[:4], frame.iloc[4:]
    for number, half in enumerate(halves):
        half[names[::-1]].assign(other="text").to_parquet(tmp_path / f"part {number}.parquet")
    for path, rows in ((tmp_path, frame), (str(tmp_path / "part 0.parquet"), halves[0])):
        lazy = explainer.shap_values(path)
        found = lazy.compute(scheduler="synchronous")
        np.testing.assert_array_equal(found, explainer.shap_values(rows))
    with pytest.raises(FileNotFoundError, match=r"X='nowhere.parquet': there is no such file"):
        explainer.shap_values("nowhere.parquet")


def test_work_that_is_pickled_again_needs_no_alignment():
    work = SerializedFunction(partial(np.add, np.arange(9.0)))
    for _ in range(2):
        beside = []
        pickled = pickle.dumps(work, protocol=5, buffer_callback=beside.append)
        # As if received at an odd address.
        received = [np.append(np.uint8(0), buffer)[1:] for buffer in beside]
        work = pickle.loads(pickled, buffers=received)
    values = work(1.0)
    assert values.flags.aligned
    np.testing.assert_array_equal(values, np.arange(1.0, 10.0))


@pytest.mark.parametrize("most", [None, 9])
@pytest.mark.parametrize(("number", "n_workers"), [(1, 2), (20, 3), (10_000, 2)])
def test_tasks_become_smaller_until_all_is_divided(number, n_workers, most):
    ranges = ranges_of_tasks(number, n_workers, most)
    assert [start for start, _ in ranges] == [0, *(stop for _, stop in ranges[:-1])]
    assert ranges[-1][1] == number
    lengths = [stop - start for start, stop in ranges]
    assert sorted(lengths, reverse=True) == lengths
    assert min(lengths) >= 1
    assert max(lengths) <= min(most or number, max(1, number / n_workers / 4))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_workers_report_rows_that_are_done(explainer, backend):
    reported = []
    with joblib.parallel_config(backend=backend, n_jobs=2):
        rows = np.concatenate([ROWS] * 9)
        explainer.shap_values(rows, progress=lambda *done: reported.append(done))
    assert len(reported) > 4
    assert sorted(reported) == reported
    assert reported[-1] == (len(rows), len(rows))


def test_estimates_are_computed_by_workers_without_waits_between_tasks(parallel_calls):
    x, y = np.random.default_rng(0).normal(size=(2, 3000, 2))
    options = {"estimator": "incomplete", "n_permutations": 9, "random_state": 0}
    expected, done = pkex.mmd(x, y, **options), []
    with joblib.parallel_config(backend="loky", n_jobs=2):
        found = pkex.mmd(x, y, progress=lambda *progress: done.append(progress), **options)
    assert parallel_calls.number == 1
    assert len(done) > 4
    for numbers in ("values", "standard_errors", "permuted_values"):
        np.testing.assert_array_equal(getattr(found, numbers), getattr(expected, numbers))


# A process of its own, which starts the workers of a cluster anew.
ON_A_CLUSTER = """
    import os, signal, threading, time, warnings
    import joblib
    import numpy as np
    import pkex
    from dask.distributed import Client, LocalCluster
    from pkex.execution import backends
    from pkex.compare.pairs import pair_sums

    def slow_down():
        # Lets this process take its time for each piece of work.
        call = backends.SerializedFunction.__call__

        def slow(work, *arguments):
            time.sleep(0.05)
            open(f"slow {os.getpid()}", "w").close()
            return call(work, *arguments)

        backends.SerializedFunction.__call__ = slow
        return os.getpid()

    class Dies:
        # Ends the process of the first worker that explains the row of its mark.
        def __init__(self, function, mark):
            self.function, self.mark = function, mark

        def __call__(self, rows):
            if len(rows) and not os.path.exists(self.mark):
                open(self.mark, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return self.function(rows)

    if __name__ == "__main__":
        rng = np.random.default_rng(0)
        points, rows = rng.normal(size=(2000, 5)), rng.normal(size=(200, 5))
        expansion = pkex.KernelExpansion(points, rng.normal(size=2000), pkex.kernels.RBF(2.0))
        explainer = pkex.Explainer(expansion)
        values = explainer.shap_values(rows)
        x, y = rng.normal(size=(2, 3000, 3))
        y[:, 0] += 0.2
        drift = dict(estimator="incomplete", n_permutations=9, random_state=0)
        expected, exact = pkex.mmd(x, y, **drift), pkex.mmd(x, y)
        options = dict(n_workers=2, threads_per_worker=1, dashboard_address=None)
        with LocalCluster(processes=True, **options) as cluster, Client(cluster) as client:
            with joblib.parallel_config(backend="dask"):
                assert (explainer.shap_values(rows) == values).all()
                found = pkex.mmd(x, y, **drift)
                # A worker is slow: what it computes comes last, but stands in its place.
                slow = client.run(slow_down, workers=[next(iter(client.nthreads()))])
                assert (explainer.shap_values(rows) == values).all()
                assert pkex.mmd(x, y, **drift).values.tobytes() == expected.values.tobytes()
                assert all(os.path.exists(f"slow {process}") for process in slow.values())
                # A worker is killed while it computes.
                process = next(iter(cluster.workers.values())).pid
                threading.Timer(0.5, os.kill, (process, signal.SIGKILL)).start()
                many = np.tile(rows, (50, 1))
                assert (explainer.shap_values(many) == np.tile(values, (50, 1))).all()
                pair_sums._MANY_ROWS = 1000
                assert (pkex.mmd(x, y).values == exact.values).all()
                # After some progress Ctrl-C: soon nothing is left to compute.
                done = []

                def interrupt(*progress):
                    if len(done) == 1:
                        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
                    done.append(progress)

                try:
                    explainer.shap_values(np.tile(rows, (5000, 1)), progress=interrupt)
                except KeyboardInterrupt:
                    pass
                assert 0 < done[0][0] < done[-1][0] < done[-1][1], done
                for _ in range(100):
                    time.sleep(0.1)
                    if not client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.tasks):
                        break
                else:
                    raise AssertionError("the cluster keeps tasks")
            assert (found.values == expected.values).all()
            assert (found.permuted_values == expected.permuted_values).all()
            import dask.array as da
            lazy = explainer.shap_values(da.from_array(rows, chunks=(20, 5)))
            assert (lazy.compute() == values).all()
            killed = da.from_array(rows, chunks=(20, 5)).map_blocks(
                Dies(np.positive, "mark"), dtype=float
            )
            assert (explainer.shap_values(killed).compute() == values).all()
            assert os.path.exists("mark")
        print("equal bits")
"""


@pytest.mark.alone
def test_a_cluster_of_processes_gives_equal_bits_also_if_a_worker_is_slow_or_killed(tmp_path):
    pytest.importorskip("dask.distributed")
    script = tmp_path / "on_a_cluster.py"
    script.write_text(textwrap.dedent(ON_A_CLUSTER))
    run = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        env={**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert run.stdout.endswith("equal bits\n"), run.stderr[-3000:]
