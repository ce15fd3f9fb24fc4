"""Exact and estimated values of an SVC's probabilities, compared with shap's samples."""

import warnings

import numpy as np
import pytest
import shap
from comparison import Task, drop
from sklearn.svm import SVC

import pkex


def classifier(n, d, vectors):
    """Return an SVC with probabilities, rows and background rows; about that many vectors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + np.sin(X[:, 1]) * X[:, 2] + 0.5 * rng.standard_normal(n) > 0.0
    with warnings.catch_warnings(action="ignore"):  # probability=True is deprecated
        model = SVC(probability=True, random_state=0).fit(X, y)
    assert abs(len(model.support_) - vectors) < 0.1 * vectors
    return model, rng.standard_normal((5, d)), X[:50]


def estimating(model, background, rows):
    explainer = shap.KernelExplainer(model.predict_proba, background)
    return lambda: explainer.shap_values(rows, silent=True)[..., 1]


@pytest.mark.parametrize("d", [12, 16])
def test_exact_probabilities(turns, add_comparison, add_row, d):
    model, X, background = classifier(440, d, 300)
    explainer = pkex.Explainer(model.predict_proba, background)
    theirs = estimating(model, background, X[:1])
    tasks = [Task(lambda: drop(theirs())), Task(lambda: drop(explainer.shap_values(X)), len(X))]
    what = f"probabilities, 300 vectors, 50 background rows, d = {d}: a row, shap.KernelExplainer"
    goal = "< 100 ms" if d == 12 else ""
    add_comparison(what, *turns(tasks, seconds=20.0), goal=goal)
    exact = explainer.shap_values(X[:1])[..., 1]
    error = np.abs(theirs() - exact).max() / np.abs(exact).max()
    add_row("the same: largest error, of the row's largest value", f"{error:.1%}", "0", "", "")


def test_estimated_probabilities(turns, add_comparison, add_row):
    model, X, background = classifier(400, 50, 370)
    explainer = pkex.Explainer(model.predict_proba, background, outputs=1)
    options = {"n_permutations": 200, "random_state": 0}
    theirs = estimating(model, background, X[:1])
    ours = Task(lambda: drop(explainer.estimate(X[:1], **options)))
    what = "probabilities, 370 vectors, 50 background rows, d = 50: a row, shap.KernelExplainer"
    add_comparison(what, *turns([Task(lambda: drop(theirs())), ours], seconds=20.0))
    found = explainer.estimate(X[:1], **options)
    best = explainer.estimate(X[:1], n_permutations=20_000, random_state=1).values
    errors = [f"{np.abs(values - best).max():.1e}" for values in (theirs(), found.values)]
    add_row("the same: largest error", *errors, "", "")
    add_row("the same: largest standard error", "", f"{found.standard_errors.max():.1e}", "", "")
