"""Values of models with a log link, compared with shap's explainers of response and link."""

import numpy as np
import pytest
import shap
from comparison import Task, drop, duration
from sklearn.linear_model import PoissonRegressor

import pkex

N_BACKGROUND = 100


def regression(d, n=1000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    rate = np.exp(X @ (rng.standard_normal(d) / np.sqrt(d)))
    return PoissonRegressor(alpha=1e-3).fit(X, rng.poisson(rate)), X


def explaining(model, X):
    explainer = pkex.Explainer(model, X[:N_BACKGROUND])
    return Task(lambda: explainer.shap_values(X), len(X))


def test_kernel_explainer(compare, add_row):
    model, X = regression(12)
    theirs = shap.KernelExplainer(model.predict, X[:N_BACKGROUND])
    estimating = Task(lambda: drop(theirs.shap_values(X[:1], silent=True)))
    what = f"`PoissonRegressor`, {N_BACKGROUND} background rows, d = 12: a row"
    compare(f"{what}, shap.KernelExplainer", estimating, explaining(model, X), goal="≥ 500×")

    exact = pkex.Explainer(model, X[:N_BACKGROUND]).shap_values(X[:5])
    estimated = theirs.shap_values(X[:5], silent=True)
    errors = np.abs(estimated - exact).max(axis=1) / np.abs(exact).max(axis=1)
    add_row("the same: largest error, of a row's largest value", f"{errors.max():.1%}", "0", "", "")


@pytest.mark.parametrize("d", [20, 100])
def test_linear_predictor(compare, d):
    model, X = regression(d)
    theirs = shap.LinearExplainer((model.coef_, model.intercept_), X[:N_BACKGROUND])
    explainer = pkex.Explainer(model, X[:N_BACKGROUND], target="log-mean")
    ours = Task(lambda: explainer.shap_values(X), len(X))
    peer = Task(lambda: theirs.shap_values(X), len(X))
    compare(f"its linear predictor, d = {d}: a row, shap.LinearExplainer", peer, ours)


def test_many_features(turns, add_row):
    model, X = regression(100)
    (seconds,) = turns([explaining(model, X)], seconds=5.0)
    what = f"`PoissonRegressor`, {N_BACKGROUND} background rows, d = 100: a row"
    add_row(what, "", duration(np.median(seconds)), "", "")
