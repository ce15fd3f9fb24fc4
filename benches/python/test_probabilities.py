"""Probabilities of an SVC, compared with shap's samples, and their coupling, with NumPy."""

import warnings

import numpy as np
import pytest
import shap
from comparison import Task, drop, duration
from numpy_coupling import coupled_probabilities
from sklearn.svm import SVC

import pkex
from pkex.adapters.sklearn.probability_links import Coupled


def classifier(n, d, vectors, n_classes=2):
    """Return an SVC with probabilities, rows and background rows; about that many vectors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    score = X[:, 0] + np.sin(X[:, 1]) * X[:, 2] + 0.5 * rng.standard_normal(n)
    edges = [0.0] if n_classes == 2 else np.quantile(score, np.arange(1, n_classes) / n_classes)
    y = np.digitize(score, edges)
    with warnings.catch_warnings(action="ignore"):  # probability=True is deprecated
        model = SVC(probability=True, random_state=0).fit(X, y)
    assert abs(len(model.support_) - vectors) < 0.1 * vectors
    return model, rng.standard_normal((5, d)), X[:50]


def estimating(model, background, rows):
    explainer = shap.KernelExplainer(model.predict_proba, background)
    return lambda: explainer.shap_values(rows, silent=True)[..., 1]


@pytest.mark.parametrize("d", [12, 16, 20])
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


@pytest.mark.parametrize(("n_classes", "vectors"), [(3, 360), (5, 390)])
def test_several_classes(turns, add_comparison, add_row, n_classes, vectors):
    model, X, background = classifier(400, 14, vectors, n_classes)
    slopes, offsets = model._probA, model._probB
    # As many decision values as a row has coalitions and background rows.
    values = np.random.default_rng(1).standard_normal((50 << 14, len(slopes)))
    link = Coupled(slopes, offsets, 1.0)
    explainer = pkex.Explainer(model.predict_proba, background)
    tasks = [
        Task(lambda: coupled_probabilities(values, slopes, offsets)),
        Task(lambda: drop(explainer.shap_values(X)), len(X)),
        Task(lambda: link(values, pkex._core.available_threads())),
    ]
    theirs, whole, ours = turns(tasks, seconds=30.0)
    what = f"coupling of {n_classes} classes, 50 background rows, d = 14: a row, NumPy"
    add_comparison(what, theirs, ours, goal="> 20×")
    found = duration(np.median(whole))
    add_row(f"the same: probabilities, {vectors} vectors: a row", "", found, "", "")


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
