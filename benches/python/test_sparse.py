"""Shapley values of sparse rows: pkex, its own dense engine, and implementations by others."""

import numpy as np
import pytest
from comparison import Task
from shapiq.explainer.product_kernel import ProductKernelExplainer
from sparse_rows import LogarithmQuadrature, documents, regression

import pkex

POINTS, COLUMNS, WORDS, ROWS = 2000, 20_000, 50, 50
PROBLEM = f"a row, {POINTS} points × {COLUMNS} columns, {WORDS} words"


@pytest.fixture(scope="module")
def model():
    return regression(POINTS, COLUMNS, WORDS)


@pytest.fixture(scope="module")
def X():
    return documents(ROWS, COLUMNS, WORDS, seed=1)


GAMES = {
    "neutral": {"value_function": "neutral"},
    "default": {},
    "20 background rows": {"background": documents(20, COLUMNS, WORDS, seed=2)},
}


def explaining(model, X, game="neutral"):
    explainer = pkex.Explainer(model, **GAMES[game])
    return Task(lambda: explainer.shap_values(X), rows=X.shape[0])


def dense(model, game="neutral"):
    """Return an explainer of the same model with dense points."""
    kernel = pkex.kernels.RBF((2.0 * model.gamma) ** -0.5)
    weights = model.dual_coef_.toarray()[0]
    expansion = pkex.KernelExpansion(
        model.support_vectors_.toarray(), weights, kernel, model.intercept_[0]
    )
    options = dict(GAMES[game])
    if "background" in options:
        options["background"] = options["background"].toarray()
    return pkex.Explainer(expansion, **options)


@pytest.mark.parametrize("game", ["neutral", "default"])
def test_dense_rows(compare, model, X, game):
    explainer, few = dense(model, game), X[:3].toarray()
    peer = Task(lambda: explainer.shap_values(few), len(few))
    compare(f"{PROBLEM}: dense, {game}", peer, explaining(model, X, game), seconds=20.0)


def test_dense_background(compare, model, X):
    game = "20 background rows"
    explainer, few = dense(model, game), X[:1].toarray()
    peer = Task(lambda: explainer.shap_values(few), len(few))
    compare(f"{PROBLEM}: dense, {game}", peer, explaining(model, X, game), seconds=20.0)


def test_logarithms(compare, model, X):
    numpy, few = LogarithmQuadrature(model), X[:1].toarray()
    peer = Task(lambda: numpy.shap_values(few), len(few))
    compare(f"{PROBLEM}: logarithms in NumPy", peer, explaining(model, X), seconds=30.0)


def test_shapiq(compare):
    """Its time grows with the square of the columns: fewer of them, and fewer points."""
    model, X = regression(200, 200, 10), documents(20, 200, 10, seed=1)
    few = X[:1].toarray()
    explainer = ProductKernelExplainer(regression(200, 200, 10, is_dense=True))
    peer = Task(
        lambda: np.array([explainer.explain(x).get_n_order_values(1) for x in few]), len(few)
    )
    what = "a row, 200 points × 200 columns, 10 words: shapiq's ProductKernelExplainer"
    compare(what, peer, explaining(model, X), seconds=20.0)


@pytest.mark.parametrize("game", GAMES)
def test_more_columns(compare, model, X, game):
    larger = regression(POINTS, 10 * COLUMNS, WORDS)
    rows = documents(ROWS, 10 * COLUMNS, WORDS, seed=1)
    options = dict(GAMES[game])
    if "background" in options:
        options["background"] = documents(20, 10 * COLUMNS, WORDS, seed=2)
    explainer = pkex.Explainer(larger, **options)
    more = Task(lambda: (explainer.shap_values(rows), None)[1], ROWS)
    few = explaining(model, X, game)
    fewer = Task(lambda: (few.call(), None)[1], ROWS)
    compare(f"{PROBLEM}: ten times the columns, {game}", more, fewer, goal="≤ 1.5×")
