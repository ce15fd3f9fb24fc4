"""The variance of a Gaussian process, and how sure values are, beside the values of its mean.

It is the processor's time that is compared, which other work on the machine changes less.
"""

import time

import numpy as np
import pytest
from comparison import Task, duration, slowdown, spread
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel

import pkex

D, ROWS = 10, 10


def process(n, kernel=RBF):
    """A Gaussian process of n rows, a background of 50, and rows to explain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    model = GaussianProcessRegressor(kernel(D**0.5) + WhiteKernel(0.1), optimizer=None)
    model.fit(X, np.sin(X).sum(axis=1))
    return model, rng.standard_normal((50, D)), rng.standard_normal((ROWS, D))


@pytest.mark.parametrize(
    ("what", "n", "kernel", "goal"),
    [
        ("n = 500, pair by pair", 500, RBF, "< 1 s on two cores"),
        ("n = 500, Matern, coalition by coalition", 500, Matern, ""),
    ],
    ids=["pairs", "coalitions"],
)
def test_variance(turns, add_row, what, n, kernel, goal):
    model, background, X = process(n, kernel)
    explainer = pkex.Explainer(model, background, target="variance")
    ours = Task(lambda: explainer.shap_values(X), ROWS)
    (seconds,) = turns([ours])
    name = f"variance of a row, d = {D}, 50 background rows, {what}"
    add_row(name, "", spread(seconds, duration), "", goal)


def test_uncertainty(turns, add_comparison):
    model, background, X = process(1000)
    explainer = pkex.Explainer(model, background, n_jobs=1)
    mean = Task(lambda: explainer(X), ROWS, time.process_time)
    uncertain = Task(lambda: explainer(X, uncertainty=True), ROWS, time.process_time)
    found = turns([mean, uncertain])
    what = f"uncertainty of a row beside its mean, n = 1000, d = {D}, 50 background rows"
    add_comparison(what, *found, goal="≤ 20× the time", show=slowdown)
