"""SAGE values from exact losses, compared with the samples of the package sage-importance."""

import time

import numpy as np
import pytest
from comparison import Task, drop
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

import pkex

sage = pytest.importorskip("sage")

N_ROWS, N_BACKGROUND = 200, 50


def problem(model, d):
    """Return a fitted model, rows with their targets, and background rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300 + N_ROWS, d))
    y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2] + 0.3 * rng.standard_normal(len(X))
    model.fit(X[:300], y[:300])
    return model, X[300:], y[300:], X[:N_BACKGROUND]


def sampling(model, X, y, background):
    """Return a call of the package at its defaults: until its values have converged to 2.5 %."""
    estimator = sage.PermutationEstimator(
        sage.MarginalImputer(model, background), "mse", random_state=0
    )
    return lambda: estimator(X, y, bar=False)


@pytest.mark.parametrize(
    ("name", "model", "d", "goal"),
    [
        ("SVR, 250 vectors", SVR(gamma=0.05), 8, "100×"),
        ("SVR, 250 vectors", SVR(gamma=0.05), 10, ""),
        ("linear regression", LinearRegression(), 30, "100×"),
    ],
)
def test_sage_values(turns, add_comparison, add_row, name, model, d, goal):
    model, X, y, background = problem(model, d)
    explainer = pkex.Explainer(model, background, n_jobs=1)
    theirs = sampling(model, X, y, background)
    calls = [lambda: drop(theirs()), lambda: drop(explainer.loss(X, y).sage())]
    tasks = [Task(call, clock=time.process_time) for call in calls]
    what = f"SAGE values, {name}, {N_BACKGROUND} background rows, d = {d}: {N_ROWS} rows, sage"
    add_comparison(what, *turns(tasks, seconds=20.0), goal=goal)
    found, exact = theirs(), explainer.loss(X, y).sage().values
    errors = np.abs(found.values - exact)
    # Sampling errors of that package, not of pkex.
    assert (errors <= 4.0 * found.std).all()
    inside = (errors <= 2.0 * found.std).mean()
    add_row("the same: exact values within two standard errors", f"{inside:.0%}", "", "", "")
    largest = errors.max() / np.abs(exact).max()
    add_row("the same: largest error, of the largest value", f"{largest:.1%}", "0", "", "")
