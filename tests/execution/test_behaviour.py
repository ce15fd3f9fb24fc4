"""How long calls behave: interrupts, threads, forks, workers, progress, memory, overflow."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import joblib
import numpy as np
import pytest

import pkex
from pkex.kernels import RBF

needs_posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no fork and no SIGINT")


def random_explainer(n, d, **options):
    rng = np.random.default_rng(0)
    expansion = pkex.KernelExpansion(rng.normal(size=(n, d)), rng.normal(size=n), RBF(d**0.5))
    return pkex.Explainer(expansion, **options)


def random_rows(n, d):
    return np.random.default_rng(1).normal(size=(n, d))


def rows_for(seconds, explainer, d):
    """As many rows as take about that long to explain, however fast the machine."""
    sample = random_rows(100, d)
    explainer.shap_values(sample)
    start = time.perf_counter()
    explainer.shap_values(sample)
    return random_rows(int(100 * seconds / (time.perf_counter() - start)) + 1, d)


def run_script(script, *, timeout=120):
    """Run Python code in a process of its own; its last line of output, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


# --- Ctrl-C ---

# Each takes ten seconds or more.
LONG_CALLS = {
    "explain": """
        explainer, rows = pkex.Explainer(expansion), np.ones((100_000, 50))
        call = lambda: explainer(rows)
    """,
    "explain, with a progress bar": """
        import tqdm.auto  # an interrupt within Python's own import may become another exception
        explainer, rows = pkex.Explainer(expansion), np.ones((100_000, 50))
        call = lambda: explainer(rows, progress=True)
    """,
    "make an explainer with a marginal background": """
        background = rng.normal(size=(40_000, 50))
        call = lambda: pkex.Explainer(expansion, background, value_function="marginal")
    """,
    "predict": """
        rows = np.ones((200_000, 50))
        call = lambda: expansion.predict(rows)
    """,
    "mmd": """
        samples = rng.normal(size=(2, 60_000, 50))
        call = lambda: pkex.mmd(*samples, kernel=RBF(10.0), n_permutations=99)
    """,
    "mmd, permuted often": """
        samples = rng.normal(size=(2, 60, 50))
        call = lambda: pkex.mmd(*samples, kernel=RBF(10.0), n_permutations=1_000_000)
    """,
    "hsic": """
        rows = rng.normal(size=(60_000, 50))
        call = lambda: pkex.hsic(rows, rows[:, 0], kernel=RBF(10.0), target_kernel=RBF())
    """,
    "a detector": """
        rows = rng.normal(size=(60_000, 50))
        call = lambda: pkex.MMDDrift(rows, kernel=RBF(10.0))
    """,
    "pairs of a thousand features": """
        wide = pkex.KernelExpansion(rng.normal(size=(3000, 1000)), np.ones(3000), RBF(30.0))
        rows = rng.normal(size=(4, 1000))
        call = lambda: pkex.Explainer(wide).interactions(rows)
    """,
    "coalitions of four": """
        narrow = pkex.KernelExpansion(rng.normal(size=(1000, 60)), np.ones(1000), RBF(8.0))
        rows = rng.normal(size=(4, 60))
        call = lambda: pkex.Explainer(narrow).interactions(rows, index="FBII", order=4)
    """,
    "many rows of few points": """
        few = pkex.KernelExpansion(rng.normal(size=(20, 50)), np.ones(20), RBF(7.0))
        rows = rng.normal(size=(2_000_000, 50))
        call = lambda: pkex.Explainer(few).shap_values(rows)
    """,
    "sensitivity": """
        from scipy import stats
        narrow = pkex.KernelExpansion(rng.normal(size=(3000, 4)), np.ones(3000), RBF(0.005))
        call = lambda: pkex.sensitivity(narrow, [stats.uniform(-3.0, 6.0)] * 4)
    """,
    "games": """
        factors = rng.uniform(0.9, 1.0, size=(3000, 2000))
        call = lambda: pkex.product_game(factors, method="recursion")
    """,
    "games of very many players": """
        factors = rng.uniform(0.9, 1.0, size=(100, 10_000))
        call = lambda: pkex.product_game(factors, method="recursion")
    """,
}


def seconds_to_stop(call):
    """How long after SIGINT the call ends; checks that its process can go on."""
    script = f"""
import time
import numpy as np
import pkex
from pkex.kernels import RBF

rng = np.random.default_rng(0)
expansion = pkex.KernelExpansion(rng.normal(size=(9000, 50)), np.ones(9000), RBF(7.0))
{dedent(call)}
print("ready", flush=True)
try:
    call()
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
print(pkex.product_game(np.full((10_000, 5), 0.5)).shape)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as run:
        try:
            assert run.stdout.readline() == "ready\n"
            time.sleep(0.5)
            assert run.poll() is None
            sent = time.monotonic()
            run.send_signal(signal.SIGINT)
            stopped = float(run.stdout.readline())  # on the clock of all processes
            assert run.stdout.readline() == "(5,)\n"
            assert run.wait(timeout=10) == 0
        finally:
            run.kill()
    return stopped - sent


@pytest.mark.alone
@needs_posix
@pytest.mark.parametrize(
    "name",
    [
        name if name in ("explain", "mmd") else pytest.param(name, marks=pytest.mark.slow)
        for name in LONG_CALLS
    ],
)
def test_control_c_ends_a_call_within_a_second_and_leaves_all_in_order(name):
    # Other work on the machine may delay one of several attempts, a slow call delays all.
    assert any(seconds_to_stop(LONG_CALLS[name]) < 1.0 for _ in range(4))


# --- threads ---


@pytest.mark.alone
def test_other_threads_run_during_a_call():
    explainer = random_explainer(2000, 30, n_jobs=1)
    rows, ticks = rows_for(0.6, explainer, 30), []
    with ThreadPoolExecutor(1) as pool:
        start = time.monotonic()
        call = pool.submit(explainer.shap_values, rows)
        while not call.done():
            ticks.append(time.monotonic())
            time.sleep(0.002)
    duration = time.monotonic() - start
    assert duration > 0.2
    # Without the lock released there would be one tick: the last.
    assert len(ticks) > 20 * duration


@pytest.mark.alone
@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_that_share_an_explainer_get_the_bits_that_each_alone_would(n_jobs):
    explainer, rows = random_explainer(500, 20, n_jobs=n_jobs), random_rows(160, 20)
    chunks = np.split(rows, 16)
    expected = [explainer.shap_values(chunk) for chunk in chunks]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(explainer.shap_values, chunks * 5))
    np.testing.assert_array_equal(found, expected * 5)


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("n_jobs", [-1, 2])
def test_chunks_explained_by_joblib_workers_have_the_bits_of_the_whole(backend, n_jobs):
    explainer, rows = random_explainer(500, 20, n_jobs=n_jobs), random_rows(60, 20)
    job = joblib.delayed(explainer.shap_values)
    parts = joblib.Parallel(2, backend=backend)(job(chunk) for chunk in np.split(rows, 6))
    np.testing.assert_array_equal(np.concatenate(parts), explainer.shap_values(rows))


# --- forks ---

FORKING = """
    import json, os, threading
    import numpy as np
    import pkex
    from pkex.kernels import RBF

    rng = np.random.default_rng(0)
    points, coefficients, rows = rng.normal(size=(500, 20)), rng.normal(size=500), np.ones((40, 20))
    explainer = pkex.Explainer(pkex.KernelExpansion(points, coefficients, RBF(4.0)), n_jobs=2)
    expected = explainer.shap_values(rows)  # starts the threads of this process

    def explains_correctly(_=None):
        return bool(np.array_equal(explainer.shap_values(rows), expected))

    def child_explains_correctly():
        child = os.fork()
        if child == 0:
            os._exit(0 if explains_correctly() and explains_correctly() else 1)
        return os.waitpid(child, 0)[1] == 0
"""


@needs_posix
def test_a_forked_child_explains_after_its_parent_has_and_so_does_its_own_child():
    script = """
        def child_and_grandchild():
            return explains_correctly() and child_explains_correctly()

        child = os.fork()
        if child == 0:
            os._exit(0 if child_and_grandchild() else 1)
        answers = [os.waitpid(child, 0)[1] == 0, child_explains_correctly(), explains_correctly()]
        print(json.dumps(answers))
    """
    assert run_script(dedent(FORKING) + dedent(script)) == [True, True, True]


@pytest.mark.alone
@needs_posix
def test_forked_children_explain_while_other_threads_of_the_parent_do():
    # Short calls take and return pools of threads all the time, a long one holds its own.
    script = """
        stop = threading.Event()

        def keep_explaining(rows):
            while not stop.is_set():
                explainer.shap_values(rows)

        threads = [
            threading.Thread(target=keep_explaining, args=(np.ones((n, 20)),)) for n in (4, 4, 2000)
        ]
        for thread in threads:
            thread.start()
        answers = [child_explains_correctly() for _ in range(30)]
        stop.set()
        for thread in threads:
            thread.join()
        print(json.dumps([all(answers), explains_correctly()]))
    """
    assert run_script(dedent(FORKING) + dedent(script)) == [True, True]


@needs_posix
def test_a_pool_of_forked_processes_explains():
    script = """
        import multiprocessing

        with multiprocessing.get_context("fork").Pool(2) as pool:
            answers = pool.map(explains_correctly, range(8), chunksize=1)
        print(json.dumps(all(answers)))
    """
    assert run_script(dedent(FORKING) + dedent(script)) is True


# --- progress ---


@pytest.fixture(scope="module")
def reports():
    """Of a call that takes a while: (time since its start, its thread, done, total)."""
    explainer = random_explainer(2000, 30, n_jobs=1)
    rows, found = rows_for(1.0, explainer, 30), []
    start = time.monotonic()

    def report(done, total):
        found.append((time.monotonic() - start, threading.get_ident(), done, total))

    explainer(rows, progress=report)
    return found


@pytest.mark.alone
def test_progress_is_reported_again_and_again_from_the_calling_thread(reports):
    times, threads, done, totals = zip(*reports, strict=True)
    assert times[0] < 0.5
    assert len(reports) > 5 * times[-1]
    assert set(threads) == {threading.get_ident()}
    assert len(set(totals)) == 1
    assert list(done) == sorted(done)
    assert len(set(done)) > len(done) / 2


@pytest.mark.alone
def test_progress_approaches_the_total_as_time_passes(reports):
    done, total = reports[-1][2:]
    assert 0.5 * total < done <= total


def test_progress_changes_no_bits():
    explainer, rows = random_explainer(500, 20), random_rows(50, 20)
    plain = explainer.shap_values(rows)
    shown = explainer.shap_values(rows, progress=lambda done, total: None)
    np.testing.assert_array_equal(shown, plain)


@pytest.mark.alone
@pytest.mark.parametrize("explain", ["__call__", "shap_values"])
def test_an_exception_from_progress_ends_the_call_at_once_and_leaves_all_in_order(explain):
    explainer = random_explainer(5000, 50)
    rows, raised = rows_for(5.0, explainer, 50), []
    expected = explainer.shap_values(rows[:3])

    def fail(done, total):
        if done > 0:
            raised.append(time.monotonic())
            raise ZeroDivisionError(f"{done} of {total}")

    with pytest.raises(ZeroDivisionError, match=r"\d+ of \d+"):
        getattr(explainer, explain)(rows, progress=fail)
    assert time.monotonic() - raised[0] < 1.0
    assert len(raised) == 1
    np.testing.assert_array_equal(explainer.shap_values(rows[:3]), expected)


@pytest.mark.alone
def test_progress_may_explain_something_itself():
    explainer = random_explainer(2000, 30)
    rows, found = rows_for(0.5, explainer, 30), []
    expected = explainer.shap_values(rows)

    def explain_some(done, total):
        if len(found) < 3:
            found.append(explainer.shap_values(rows[:40]))

    np.testing.assert_array_equal(explainer.shap_values(rows, progress=explain_some), expected)
    assert found
    for values in found:
        np.testing.assert_array_equal(values, expected[:40])


# --- inputs that change meanwhile ---


@pytest.mark.parametrize("explain", ["__call__", "shap_values"])
def test_writing_to_the_rows_during_a_call_changes_nothing(explain):
    explainer = random_explainer(2000, 30, n_jobs=1)
    rows = rows_for(0.5, explainer, 30)
    original, expected = rows.copy(), explainer.shap_values(rows)
    running, written = threading.Event(), threading.Event()

    def write():
        running.wait()
        rows[:] = np.nan
        written.set()

    def wait_for_writing(done, total):
        running.set()
        written.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write)
        result = getattr(explainer, explain)(rows, progress=wait_for_writing)
        running.set()  # had there been no report, the writer would wait for ever
    assert np.isnan(rows).all()
    if explain == "__call__":
        np.testing.assert_array_equal(result.values, expected)
        np.testing.assert_array_equal(result.data, original)
    else:
        np.testing.assert_array_equal(result, expected)


# --- memory ---


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_explaining_ten_thousand_rows_against_a_thousand_points_takes_below_100_megabytes():
    shape, growth = shape_and_memory("""
        f = rng.normal(size=(1000, 50)), rng.normal(size=1000)
        rows, background = rng.normal(size=(10_000, 50)), None
    """)
    assert shape == [10_000, 50]
    # The explanation itself, its values, data and base values, is 8.1 MB of it.
    assert 8e6 < growth < 100e6


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_points_times_background_rows_times_outputs():
    # The sums of 390 tiles of 50 features and 128 outputs would be 40 MB.
    shape, growth = shape_and_memory("""
        f = rng.normal(size=(2000, 50)), rng.normal(size=(2000, 128))
        rows, background = rng.normal(size=(1, 50)), rng.normal(size=(200, 50))
    """)
    assert shape == [1, 50, 128]
    assert growth < 36e6


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_recursion_over_ten_thousand_players_takes_about_a_hundred_megabytes():
    shape, growth = shape_and_memory(
        "factors = rng.uniform(0.9, 1.0, size=(1, 10_000))",
        "pkex.product_game(factors, method='recursion', n_jobs=1)",
    )
    assert shape == [10_000]
    assert growth < 130e6


EXPLAIN = "pkex.Explainer(pkex.KernelExpansion(*f, RBF(7.0)), background, n_jobs=2)(rows).values"


def shape_and_memory(data, compute=EXPLAIN):
    """The shape of an array, and by how much a process grew while it was computed."""
    return run_script(
        f"""
import json, re
import numpy as np
import pkex
from pkex.kernels import RBF

def memory(entry):
    # Not by getrusage, whose peak a child inherits from its parent.
    with open("/proc/self/status") as status:
        return 1024 * int(re.search(entry + r":\\s+(\\d+) kB", status.read())[1])

rng = np.random.default_rng(0)
{dedent(data)}
before = memory("VmRSS")
result = {compute}
print(json.dumps([result.shape, memory("VmHWM") - before]))
""",
        timeout=300,
    )


# --- overflow ---


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("row", [0, 12_345, 19_999])
def test_a_value_that_overflows_names_its_row_among_many(method, row):
    # Halfway between the points the coefficients cancel, at one of them they add up.
    points = np.array([[0.0, 0.0], [90.0, 0.0]] * 2)
    coefficients = np.outer([1.5e308, -1.5e308] * 2, np.ones(100))
    explainer = pkex.Explainer(pkex.KernelExpansion(points, coefficients, RBF()), method=method)
    rows = np.full((20_000, 2), 45.0)
    assert np.isfinite(explainer.shap_values(rows)).all()
    rows[row, 0] = 90.0
    with pytest.raises(OverflowError, match=f"row {row} "):
        explainer.shap_values(rows)
