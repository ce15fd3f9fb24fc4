"""Shapley values of sparse rows: pkex, its own dense engine, and implementations by others."""

import numpy as np
import pytest
from comparison import Task, drop
from shapiq.explainer.product_kernel import ProductKernelExplainer
from sparse_rows import LogarithmQuadrature, documents, regression

import pkex
from pkex.execution.computation import Computation
from pkex.games.indices import PAIRS
from pkex.games.selected_pairs import pairs_with_others
from pkex.games.value_functions import Game

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


def test_mixture(compare, model, X):
    """A Matérn kernel is a mixture of products; its values differ from those of the other."""
    weights = model.dual_coef_.toarray()[0]
    kernel = pkex.kernels.Matern((2.0 * model.gamma) ** -0.5, nu=1.5)
    mixture = pkex.KernelExpansion(model.support_vectors_, weights, kernel, model.intercept_[0])
    explainers = [pkex.Explainer(one, value_function="neutral") for one in (model, mixture)]
    tasks = [Task(lambda own=own: drop(own.shap_values(X[:5])), 5) for own in explainers]
    compare(f"{PROBLEM}: RBF, compared with Matérn 3/2, neutral", *tasks, seconds=10.0)


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


@pytest.mark.parametrize("game", GAMES)
def test_interactions_among_ten_columns(compare, model, X, game):
    explainer = pkex.Explainer(model, **GAMES[game])
    pairs = Task(lambda: (explainer.interactions(X, features=10), None)[1], ROWS)
    values = explaining(model, X, game)
    alone = Task(lambda: (values.call(), None)[1], ROWS)
    what = f"{PROBLEM}: interactions among 10 columns, and values alone, {game}"
    compare(what, pairs, alone, goal="≤ 4×")


@pytest.mark.parametrize("rows", ["sparse", "dense"])
def test_all_pairs(compare, rows):
    """From which pairs among ten columns, and with all others, are selected and added."""
    points, columns, words = 500, 500, 50
    fitted = regression(points, columns, words)
    X, selected = documents(4, columns, words, seed=1), np.arange(10)
    function = dense(fitted)._problem.function
    dense_rows, game, computation = X.toarray(), Game("neutral", None), Computation()

    def all_pairs():
        pairs = function.explain(dense_rows, game=game, quantity=PAIRS, computation=computation)
        return pairs_with_others(pairs, selected, columns)

    own, some = function, dense_rows
    if rows == "sparse":
        own, some = pkex.Explainer(fitted, **GAMES["neutral"])._problem.function, X
    ours = Task(lambda: own.selected_pairs(some, selected, game=game, computation=computation), 4)
    what = f"a row, {points} points × {columns} columns, {words} words: all pairs, {rows} rows"
    compare(what, Task(all_pairs, 4), ours, seconds=20.0)
