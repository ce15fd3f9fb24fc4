"""Games against background rows: interventional and marginal."""

import time

import numpy as np
import pandas as pd
import pytest
from brute_force import product_games, shapley_weights
from explainable_functions import ROWS, WEIGHTS, D, X, Y, Z
from explainable_models import fitted
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import pkex
from pkex.kernels import RBF, Categorical, Cauchy, Constant, Laplacian

KERNELS = {
    "RBF": RBF([0.3, 1.0, 2.0, 4.0, 1e4]),
    "Laplacian": Laplacian(1.5),
    "Cauchy": Cauchy(0.7),
    "Categorical": RBF().on([0, 1, 2]) * Categorical(0.25).on([3, 4]),
    "on columns": 3.0 * RBF().on([4, 0]) * Laplacian().on([0, 2]),
}


def factors(kernel, row, points):
    """Factors (n, d) of a product kernel of amplitude 1, others at distance 0."""
    columns = [np.tile(row, (len(points), 1)) for _ in row]
    for j, moved in enumerate(columns):
        moved[:, j] = points[:, j]
    return np.column_stack([kernel(row[None], moved)[0] for moved in columns])


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_each_products_games_are_exact_on_their_own_scale(kernel, method):
    points, rows, background = (np.round(2.0 * array) for array in (X[:20], ROWS, Z))
    amplitude = kernel(rows[:1])[0, 0]
    alphas, shares = Y[:20], WEIGHTS / WEIGHTS.sum()
    options = {"background_weights": WEIGHTS, "method": method}
    expansion = pkex.KernelExpansion(points, alphas, kernel, 3.0)
    absent = np.stack([factors(kernel, z, points) for z in background]) / amplitude
    for row in rows:
        present = factors(kernel, row, points) / amplitude
        expected = product_games(
            np.tile(present, (len(background), 1)),
            np.concatenate(absent),
            amplitude * np.outer(shares, alphas).ravel(),
            shapley_weights(D),
        )
        explainer = pkex.Explainer(expansion, background, **options)
        expected.assert_close(explainer.shap_values(row[None])[0])
        means = np.tensordot(shares, absent, axes=1)
        expected = product_games(present, means, amplitude * alphas, shapley_weights(D))
        explainer = pkex.Explainer(expansion, background, value_function="marginal", **options)
        expected.assert_close(explainer.shap_values(row[None])[0])


def test_sums_of_kernels_are_explained_term_by_term():
    parts = [RBF() * Cauchy().on([1]), 3.0 * Laplacian(2.0), 2.0 * Constant()]
    for value_function in ("interventional", "marginal"):
        explainers = [
            pkex.Explainer(pkex.KernelExpansion(X, Y, k), Z, value_function=value_function)
            for k in (*parts, parts[0] + parts[1] + parts[2])
        ]
        *single, whole = (explainer.shap_values(ROWS) for explainer in explainers)
        np.testing.assert_allclose(whole, sum(single), rtol=0, atol=1e-12)
        *bases, base = (explainer.expected_value for explainer in explainers)
        assert base == pytest.approx(sum(bases), abs=1e-12)


def test_interventional_values_are_means_over_games_of_one_reference_row():
    model, _ = fitted("SVC of three")
    whole = pkex.Explainer(model, background=Z, background_weights=WEIGHTS)
    games = [pkex.Explainer(model, background=z[None]) for z in Z]
    shares = WEIGHTS / WEIGHTS.sum()
    values = np.tensordot(shares, [game.shap_values(ROWS) for game in games], axes=1)
    np.testing.assert_allclose(whole.shap_values(ROWS), values, rtol=0, atol=1e-13)
    bases = np.tensordot(shares, [game.expected_value for game in games], axes=1)
    np.testing.assert_allclose(whole.expected_value, bases, rtol=0, atol=1e-13)


def test_with_one_background_row_features_are_independent_anyway():
    model, _ = fitted("SVR")
    values = [
        pkex.Explainer(model, Z[:1], value_function=name).shap_values(ROWS)
        for name in ("interventional", "marginal")
    ]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-14)


def test_a_row_that_is_the_reference_has_values_of_exactly_zero():
    model, _ = fitted("SVR")
    assert not pkex.Explainer(model, background=ROWS[:1]).shap_values(ROWS[:1]).any()


def test_weights_count_relatively_and_rows_of_weight_zero_not_at_all():
    model, _ = fitted("SVR")
    values = pkex.Explainer(model, Z, background_weights=WEIGHTS).shap_values(ROWS)
    kept = WEIGHTS > 0.0
    for rows, weights in [
        (Z, 2.0**900 * WEIGHTS),
        (Z, 2.0**-900 * WEIGHTS),
        (Z, WEIGHTS.tolist()),
        (Z, pd.Series(WEIGHTS)),
        (Z[kept], WEIGHTS[kept]),
    ]:
        explainer = pkex.Explainer(model, rows, background_weights=weights)
        np.testing.assert_array_equal(explainer.shap_values(ROWS), values)
    twice = pkex.Explainer(model, np.concatenate([Z, Z[:2]]))
    counted = pkex.Explainer(model, Z, background_weights=[2, 2, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(
        twice.shap_values(ROWS), counted.shap_values(ROWS), rtol=0, atol=1e-14
    )


@pytest.mark.alone
def test_a_marginal_background_is_prepared_once_however_often_rows_are_explained():
    # Here of a Pipeline, which maps the background in every call.
    rng = np.random.default_rng(0)
    rows, background = rng.normal(size=(400, 20)), rng.normal(size=(5000, 20))
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")).fit(rows, rows[:, 0])
    start = time.perf_counter()
    explainer = pkex.Explainer(model, background, value_function="marginal")
    prepared = time.perf_counter() - start
    times = []
    for _ in range(5):
        start = time.perf_counter()
        explainer.shap_values(rows[:1])
        times.append(time.perf_counter() - start)
    assert min(times) < prepared / 5


# --- beside shap ---


@pytest.fixture(scope="module")
def of_eight():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(80, 8))
    model = SVC(C=3.0).fit(inputs, inputs[:, 0] * inputs[:, 1] + inputs[:, 2] > 0.0)
    return model, inputs[:10], rng.normal(size=(4, 8))


@pytest.mark.slow
def test_values_are_those_of_shaps_exact_explainer(of_eight):
    shap = pytest.importorskip("shap")
    model, background, rows = of_eight
    ours = pkex.Explainer(model, background)(rows)
    masker = shap.maskers.Independent(background)
    theirs = shap.ExactExplainer(model.decision_function, masker)(rows)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.base_values, theirs.base_values, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_shaps_kernel_explainer_comes_close_to_the_values(of_eight):
    shap = pytest.importorskip("shap")
    model, background, rows = of_eight
    ours = pkex.Explainer(model, background)
    kernel_explainer = shap.KernelExplainer(model.decision_function, background)
    # All coalitions: it then solves a regression, regularised a little.
    theirs = kernel_explainer.shap_values(rows, nsamples=2**8, l1_reg=False, silent=True)
    np.testing.assert_allclose(ours.shap_values(rows), theirs, rtol=0, atol=1e-8)
    assert ours.expected_value == pytest.approx(kernel_explainer.expected_value, abs=1e-12)
