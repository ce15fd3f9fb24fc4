"""Values of a Gaussian process's variance, and the uncertainty of values of its mean.

Processor times are compared, which depend less on other work on the machine.
"""

import time
from functools import partial

import numpy as np
import pytest
from comparison import Task, duration, slowdown, spread
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

import pkex

D, ROWS = 10, 10


def process(n, kernel=RBF):
    """Return a Gaussian process of n rows, a background of 50, and rows to explain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    model = GaussianProcessRegressor(kernel(D**0.5) + WhiteKernel(0.1), optimizer=None)
    model.fit(X, np.sin(X).sum(axis=1))
    return model, rng.standard_normal((50, D)), rng.standard_normal((ROWS, D))


@pytest.fixture(autouse=True)
def one_thread_of_blas():
    """Limit BLAS to one thread: its threads wait at full speed if others use the machine."""
    with threadpool_limits(1, user_api="blas"):
        yield


def test_variance_pair_by_pair(turns, add_row):
    model, background, X = process(500)
    explainer = pkex.Explainer(model, background, target="variance")
    (seconds,) = turns([Task(lambda: explainer.shap_values(X), ROWS)], seconds=5.0)
    what = f"variance of a row, n = 500, d = {D}, 50 background rows: all threads"
    add_row(what, "", spread(seconds, duration), "", "< 1 s on two cores")


@pytest.mark.parametrize(("n", "kernel"), [(1000, RBF), (5000, RBF), (120, Matern)])
def test_variance_without_a_background(turns, add_row, n, kernel):
    model, _, X = process(n, kernel)
    explainer = pkex.Explainer(model, target="variance")
    (seconds,) = turns([Task(lambda: explainer.shap_values(X), ROWS)], seconds=5.0)
    what = f"variance of a row, default value function, n = {n}, d = {D}: {kernel.__name__}"
    add_row(what, "", spread(seconds, duration), "", "")


def test_variance_coalition_by_coalition(turns, add_comparison):
    """Matérn's kernel is not a product."""
    tasks = []
    for kernel in (RBF, Matern):
        model, background, X = process(500, kernel)
        explainer = pkex.Explainer(model, background, target="variance", n_jobs=1)
        call = partial(explainer.shap_values, X[:1])
        tasks.append(Task(call, clock=time.process_time))
    what = f"variance of a row, n = 500, d = {D}, 50 background rows: Matern and RBF"
    add_comparison(what, *turns(tasks, seconds=5.0), show=slowdown)


def test_uncertainty(turns, add_comparison):
    model, background, X = process(1000)
    explainer = pkex.Explainer(model, background, n_jobs=1)
    mean = Task(lambda: explainer(X), ROWS, time.process_time)
    uncertain = Task(lambda: explainer(X, uncertainty=True), ROWS, time.process_time)
    what = f"uncertainty and mean of a row, n = 1000, d = {D}, 50 background rows"
    found = turns([mean, uncertain], seconds=5.0)
    add_comparison(what, *found, goal="≤ 20× the time", show=slowdown)


@pytest.mark.parametrize("kernel", [RBF, Matern])
def test_uncertainty_with_many_points(turns, add_row, kernel):
    model, _, X = process(5000, kernel)
    explainer = pkex.Explainer(model)
    (seconds,) = turns([Task(lambda: explainer(X, uncertainty=True), ROWS)], seconds=5.0)
    what = f"uncertainty of a row, default value function, n = 5000, d = {D}: {kernel.__name__}"
    add_row(what, "", spread(seconds, duration), "", "")
