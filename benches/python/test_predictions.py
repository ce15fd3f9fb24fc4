"""Shapley values of predictions: pkex and other implementations of the neutral value function."""

import copy
import os

import numpy as np
import pytest
from comparison import Task, slowdown
from numpy_quadrature import NumpyQuadrature
from shapiq.explainer.product_kernel import ProductKernelExplainer
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

import pkex

ROWS = 100


@pytest.fixture(scope="module", params=[20, 100], ids="d={}".format)
def model(request):
    """Return a regression with gamma="scale" and every training row as support vector."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, request.param))
    model = SVR(epsilon=1e-4).fit(X, X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.standard_normal(1000))
    assert len(model.support_) > 980
    return model


@pytest.fixture(scope="module")
def X(model):
    return np.random.default_rng(1).standard_normal((ROWS, model.n_features_in_))


def explaining(model, X, value_function="neutral", **options):
    explainer = pkex.Explainer(model, value_function=value_function, **options)
    return Task(lambda: explainer.shap_values(X), rows=len(X))


@pytest.mark.parametrize("n_jobs", [1, -1], ids="n_jobs={}".format)
def test_shapiq(compare, model, X, n_jobs):
    d = model.n_features_in_
    explainer = ProductKernelExplainer(model)
    few = X[: 5 if d < 50 else 1]
    peer = Task(
        lambda: np.array([explainer.explain(x).get_n_order_values(1) for x in few]), len(few)
    )
    goal = {20: "≥ 500×", 100: "≥ 6000×"}[d]
    what = f"a row, d = {d}: shapiq's ProductKernelExplainer{threads(n_jobs)}"
    compare(what, peer, explaining(model, X, n_jobs=n_jobs), goal=goal, seconds=10.0)


def test_numpy(compare, model, X):
    numpy = NumpyQuadrature(model.support_vectors_, model.dual_coef_[0], model._gamma)
    few = X[:10]
    what = f"a row, d = {model.n_features_in_}: NumPy quadrature, 8 nodes, one thread"
    with threadpool_limits(1):
        peer = Task(lambda: numpy.shap_values(few), len(few))
        compare(what, peer, explaining(model, X, n_jobs=1), goal="≥ 25×")


def test_recursion(compare, model, X):
    what = f'a row, d = {model.n_features_in_}: method="recursion", one thread'
    recursion = explaining(model, X[:20], method="recursion", n_jobs=1)
    compare(what, recursion, explaining(model, X, n_jobs=1), seconds=3.0)


def test_one_thread(compare, model, X):
    what = f"a row, d = {model.n_features_in_}: one thread against {os.cpu_count()}"
    compare(what, explaining(model, X, n_jobs=1), explaining(model, X), seconds=3.0)


def test_default_game(turns, add_comparison, model, X):
    """Marginal values of the model's stored points, whose means are computed before."""
    options = {"n_jobs": 1}
    neutral, default = turns(
        [explaining(model, X, **options), explaining(model, X, "marginal", **options)]
    )
    what = f"a row, d = {model.n_features_in_}: marginal compared with neutral"
    add_comparison(what, neutral, default, show=slowdown)


def test_preparation(turns, add_comparison, model, X):
    """Time to make an explainer, relative to a row."""
    prepare = Task(lambda: pkex.Explainer(copy.deepcopy(model), n_jobs=1))
    row, whole = turns([explaining(model, X, "marginal", n_jobs=1), prepare])
    what = f"an explainer of marginal values, d = {model.n_features_in_}: one of its rows"
    add_comparison(what, row, whole, show=slowdown)


def threads(n_jobs):
    return ", one thread" if n_jobs == 1 else f", {os.cpu_count()} threads"
