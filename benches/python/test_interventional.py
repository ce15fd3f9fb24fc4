"""Interventional values of support vector regressions, compared with shap's explainers."""

import numpy as np
import pytest
import shap
from comparison import Task, drop
from sklearn.svm import SVR

import pkex


def regression(n, d):
    """Return a regression with nearly every training row as support vector."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    model = SVR(epsilon=1e-4).fit(X, X[:, 0] + np.sin(X[:, 1]) + 0.1 * rng.standard_normal(n))
    assert len(model.support_) > 0.98 * n
    return model


def rows_and_background(n_background, d, n=100):
    return np.split(np.random.default_rng(1).standard_normal((n + n_background, d)), [n])


def explaining(model, background, rows):
    explainer = pkex.Explainer(model, background)
    return Task(lambda: explainer.shap_values(rows), len(rows))


def test_kernel_explainer(compare, add_row):
    model = regression(300, 12)
    X, background = rows_and_background(50, 12)
    explainer = shap.KernelExplainer(model.predict, background)
    estimating = Task(lambda: drop(explainer.shap_values(X[:1], silent=True)))
    what = "interventional, 300 vectors, 50 background rows, d = 12: a row, shap.KernelExplainer"
    compare(what, estimating, explaining(model, background, X), goal="≥ 2000×", seconds=20.0)

    exact = pkex.Explainer(model, background).shap_values(X[:5])
    estimated = explainer.shap_values(X[:5], silent=True)
    errors = np.abs(estimated - exact).max(axis=1) / np.abs(exact).max(axis=1)
    add_row("the same: largest error, of a row's largest value", f"{errors.max():.1%}", "0", "", "")


# --- ten thousand rows ---

MANY = 10_000
# shap.ExactExplainer is timed on the first few features, times the number of other coalitions.
FEW = 10


@pytest.fixture(scope="module")
def large():
    return regression(1000, 20), *rows_and_background(100, 20)


def kernel(model, X, background):
    explainer = shap.KernelExplainer(model.predict, background)
    return Task(lambda: explainer.shap_values(X[:1], silent=True), 1 / MANY)


def sampling(model, X, background):
    explainer = shap.SamplingExplainer(model.predict, background)
    return Task(lambda: explainer.shap_values(X[:1], silent=True), 1 / MANY)


def permutation(model, X, background):
    masker = shap.maskers.Independent(background, max_samples=len(background))
    explainer = shap.PermutationExplainer(model.predict, masker)
    return Task(lambda: explainer(X[:1], silent=True), 1 / MANY)


def exact(model, X, background):
    """Return a task for the first features, with the others present: 2^−(d − FEW) of the work."""
    masker = shap.maskers.Independent(background[:, :FEW], max_samples=len(background))

    def predict(rows):
        known = np.broadcast_to(X[0, FEW:], (len(rows), X.shape[1] - FEW))
        return model.predict(np.hstack([rows, known]))

    explainer = shap.ExactExplainer(predict, masker)
    return Task(lambda: explainer(X[:1, :FEW], silent=True), 0.5 ** (X.shape[1] - FEW) / MANY)


@pytest.mark.parametrize(
    ("peer", "of"),
    [
        (kernel, "a row"),
        (sampling, "a row"),
        (permutation, "a row"),
        (exact, f"the 2^{FEW} coalitions of {FEW} features"),
    ],
    ids=["kernel", "sampling", "permutation", "exact"],
)
def test_ten_thousand_rows(turns, add_comparison, large, peer, of):
    model, X, background = large
    pkex_task = explaining(model, background, X)
    ours = Task(pkex_task.call, pkex_task.rows / MANY)
    what = (
        f"interventional, {MANY:,} rows × 1000 vectors × 100 background rows, d = 20: "
        f"shap.{peer.__name__.capitalize()}Explainer, both extrapolated, from {of} and 100 rows"
    )
    add_comparison(what, *turns([peer(model, X, background), ours], seconds=20.0))
