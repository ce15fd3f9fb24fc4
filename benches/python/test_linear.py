"""Values of a linear model, compared with its prediction and shap.LinearExplainer."""

import numpy as np
import pytest
import shap
from comparison import Task, drop
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

import pkex

N, D = 100_000, 100
# shap.LinearExplainer samples this many of more rows.
BACKGROUND = 100


@pytest.fixture(scope="module")
def problem():
    X = np.random.default_rng(0).standard_normal((N, D))
    return Ridge().fit(X, X[:, 0]), X


def explaining(model, X):
    explainer = pkex.Explainer(model, X[:BACKGROUND])
    return Task(lambda: explainer.shap_values(X), len(X))


def predicting(model, X):
    with threadpool_limits(1):
        model.predict(X)


WHAT = f"`Ridge`, {N:,} rows, d = {D}: a row"


def test_prediction(compare, problem):
    prediction = Task(lambda: predicting(*problem), N)
    compare(f"{WHAT}, its `predict` with one thread", prediction, explaining(*problem))


def test_numpy(compare, problem):
    model, X = problem
    formula = Task(lambda: (X - X[:BACKGROUND].mean(axis=0)) * model.coef_, N)
    compare(f"{WHAT}, `(X - mean) * coef_` in NumPy", formula, explaining(*problem))


def test_linear_explainer(compare, problem):
    model, X = problem
    theirs = shap.LinearExplainer(model, X[:BACKGROUND])
    peer = Task(lambda: theirs.shap_values(X), N)
    compare(f"{WHAT}, shap.LinearExplainer", peer, explaining(*problem), goal="≥ 1×")


def test_background_of_all_rows(compare, problem):
    model, X = problem
    fitting = Task(lambda: drop(Ridge().fit(X, X[:, 0])))
    ours = Task(lambda: drop(pkex.Explainer(model, X)))
    compare(f"an explainer of `Ridge` against {N:,} rows, d = {D}: its `fit`", fitting, ours)
