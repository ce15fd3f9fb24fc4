"""Interactions of all pairs of features."""

import numpy as np
import shap
from comparison import Task, slowdown
from test_interventional import regression, rows_and_background

import pkex


def test_all_pairs_of_a_hundred_features(compare):
    rng = np.random.default_rng(0)
    kernel = pkex.kernels.RBF(10.0)
    f = pkex.KernelExpansion(rng.standard_normal((500, 100)), rng.standard_normal(500), kernel)
    X = rng.standard_normal((100, 100))
    explainer = pkex.Explainer(f)

    def values():
        return explainer.shap_values(X)

    def pairs():
        return explainer.interactions(X).to_shap().values.sum(axis=2)

    what = "all pairs of 100 features, 100 rows × 500 points: Shapley values, interactions"
    compare(what, Task(values), Task(pairs), goal="seconds", show=slowdown)


def test_pairs_of_exact_explainer(compare):
    model = regression(300, 10)
    X, background = rows_and_background(20, 10)
    masker = shap.maskers.Independent(background, max_samples=len(background))
    theirs = shap.ExactExplainer(model.predict, masker)
    ours = pkex.Explainer(model, background)

    def exact():
        return theirs(X[:1], interactions=True, silent=True).values

    def pairs():
        return ours.interactions(X, index="STII").to_shap().values

    what = "all pairs, 300 vectors, 20 background rows, d = 10: a row, shap.ExactExplainer"
    compare(what, Task(exact), Task(pairs, len(X)), seconds=20.0)
