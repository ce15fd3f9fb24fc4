"""Covariances between rows, by brute force through the model's own covariances."""

import pickle

import numpy as np
import pytest
from gaussian_processes import (
    KERNELS,
    ROWS,
    SCALES,
    D,
    X,
    Y,
    composites,
    fitted,
    independent,
    latent_covariance,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import pkex

BACKGROUND = X[10:15] + 0.1 * SCALES
WEIGHTS = np.array([0.1, 0.2, 0.3, 0.25, 0.15])
FAR = np.concatenate([ROWS, X[:1] + np.array([4e-6, 0.0, 6.0, 0.0, 0.0])])


def brute_force(model, rows, background, weights):
    """The covariance of all values of all rows, shape (n, d, n, d, outputs)."""
    parts = [composites(row, background, weights) for row in rows]
    mixed = np.concatenate([part for part, _ in parts])
    covariance = latent_covariance(model, mixed)
    count = len(parts[0][0])
    by_row = covariance.reshape(len(rows), count, len(rows), count, -1)
    maps = np.stack([values for _, values in parts])
    return np.einsum("aip,apbqo,bjq->aibjo", maps, by_row, maps, optimize=True)


def assert_covariances(explanation, expected, tolerance=1e-10):
    n = len(explanation)
    for i, k in np.ndindex(n, n):
        found = explanation.covariance(i, k)
        wanted = np.reshape(expected[i, :, k], found.shape)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", ["the usual", "sum", "power of a sum", "matern"])
def test_covariances_between_rows_equal_brute_force_through_predict(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    explainer = pkex.Explainer(model, BACKGROUND, background_weights=WEIGHTS)
    explanation = explainer(FAR, uncertainty="joint")
    assert_covariances(explanation, brute_force(model, FAR, BACKGROUND, WEIGHTS))
    of_rows = explainer(FAR, uncertainty=True)
    np.testing.assert_array_equal(explanation.values, of_rows.values)
    np.testing.assert_allclose(
        explanation.standard_deviations, of_rows.standard_deviations, atol=1e-8
    )


@pytest.mark.parametrize("name", ["the usual", "matern"])
def test_covariances_of_independent_features_equal_brute_force(name):
    model = fitted(KERNELS[name], alpha=1e-3)
    background, weights = independent(BACKGROUND[:2], np.array([0.3, 0.7]))
    explainer = pkex.Explainer(
        model, BACKGROUND[:2], background_weights=[0.3, 0.7], value_function="marginal"
    )
    explanation = explainer(FAR[1:], uncertainty="joint")
    assert_covariances(explanation, brute_force(model, FAR[1:], background, weights))


def test_outputs_are_independent_in_their_own_units():
    model = fitted(KERNELS["the usual"], np.column_stack([30.0 * Y, Y**2]), normalize_y=True)
    explanation = pkex.Explainer(model, BACKGROUND)(ROWS, uncertainty="joint")
    expected = brute_force(model, ROWS, BACKGROUND, np.full(5, 0.2))
    for output in range(2):
        assert_covariances(explanation[..., output], expected[..., output])
    assert explanation.covariance(2, 0).shape == (D, D, 2)
    drawn = explanation.sample(4000, random_state=0)[:, 0, 0]
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 4.0 / np.sqrt(4000)


def test_columns_that_a_pipeline_drops_have_no_covariance():
    process = GaussianProcessRegressor(RBF(3.0) + WhiteKernel(0.1), optimizer=None)
    model = make_pipeline(SelectKBest(f_regression, k=3), process).fit(X / SCALES, Y)
    rows, background = ROWS / SCALES, BACKGROUND / SCALES
    explanation = pkex.Explainer(model, background)(rows, uncertainty="joint")
    kept = model[0].get_support()
    own = pkex.Explainer(process, background[:, kept])(rows[:, kept], uncertainty="joint")
    between = explanation.covariance(0, 1)
    np.testing.assert_allclose(between[np.ix_(kept, kept)], own.covariance(0, 1), atol=1e-14)
    assert np.all(between[~kept] == 0.0)


# --- what follows from them ---


@pytest.fixture(scope="module")
def explained():
    """Sixteen rows, and the covariance of all their values by brute force."""
    model, rows = fitted(KERNELS["the usual"]), X[:16] + 0.3 * SCALES
    explanation = pkex.Explainer(model, BACKGROUND)(rows, uncertainty="joint")
    return explanation, brute_force(model, rows, BACKGROUND, np.full(5, 0.2))[..., 0]


def test_samples_are_joint_over_rows(explained):
    explanation, covariance = explained
    n = 20_000
    drawn = explanation.sample(n, random_state=0) - explanation.values
    # A mean over rows depends on all covariances between them.
    expected = np.sqrt(np.einsum("aibi->i", covariance)) / len(explanation)
    np.testing.assert_allclose(drawn.mean(axis=1).std(axis=0), expected, rtol=4.0 / np.sqrt(2 * n))
    separate = np.sqrt(np.einsum("aiai->i", covariance)) / len(explanation)
    assert np.all(expected > 1.1 * separate)


def test_samples_of_the_importance_are_those_of_functions(explained):
    explanation, _ = explained
    model, rows = fitted(KERNELS["the usual"]), explanation.data
    functions = pkex.Explainer(model, BACKGROUND)(rows, uncertainty=True)
    exact, drawn = (
        result.importance(samples=4000, random_state=0) for result in (explanation, functions)
    )
    # Four standard errors of a difference.
    errors = exact.std(axis=0) * np.sqrt(2.0 / 4000)
    assert np.all(np.abs(exact.mean(axis=0) - drawn.mean(axis=0)) < 4.0 * errors)
    np.testing.assert_allclose(exact.std(axis=0), drawn.std(axis=0), rtol=4.0 / np.sqrt(4000))
    restored = pickle.loads(pickle.dumps(explanation))
    again = restored.importance(samples=4000, random_state=0)
    np.testing.assert_array_equal(again, exact)


def test_centered_values_have_the_uncertainty_of_differences_from_the_mean(explained):
    explanation, covariance = explained
    n = len(explanation)
    difference = np.eye(n) - 1.0 / n
    expected = np.einsum("ab,bicj,dc->aidj", difference, covariance, difference)
    centered = explanation.centered()
    assert_covariances(centered, expected)
    # A part of the same rows, after saving, is centered by all of them.
    part = pickle.loads(pickle.dumps(explanation[[3, 5]]))
    restored = pkex.Explanation.from_dict(explanation.to_dict())
    of_part = part.centered(restored)
    np.testing.assert_allclose(
        of_part.standard_deviations, centered[[3, 5]].standard_deviations, rtol=1e-12
    )


def test_rows_that_were_explained_separately_have_no_covariance_with_a_mean(explained):
    explanation, _ = explained
    model = fitted(KERNELS["the usual"])
    other = pkex.Explainer(model, BACKGROUND)(explanation.data[:9], uncertainty="joint")
    assert explanation.centered(other).standard_deviations is None


def test_slices_and_saved_explanations_keep_covariances_between_rows(explained):
    explanation, covariance = explained
    part = explanation[[5, 2], [4, 0]]
    expected = covariance[np.ix_([5, 2], [4, 0], [5, 2], [4, 0])]
    for result in (
        part,
        pickle.loads(pickle.dumps(part)),
        pkex.Explanation.from_dict(part.to_dict()),
    ):
        assert_covariances(result, expected)


def test_covariances_between_rows_that_are_not_known_raise_errors(explained):
    explanation, _ = explained
    of_rows = pkex.Explainer(fitted(KERNELS["the usual"]), BACKGROUND)(ROWS, uncertainty=True)
    with pytest.raises(ValueError, match=r'covariance\(0, 2\).*uncertainty="joint"'):
        of_rows.covariance(0, 2)
    np.testing.assert_array_equal(of_rows.covariance(1, 1), of_rows.covariance(1))
    with pytest.raises(IndexError, match="row 16 is out of range"):
        explanation.covariance(0, 16)
    expected = "uncertainty must be True, False or 'joint'; got 'rows'"
    with pytest.raises(ValueError, match=expected):
        pkex.Explainer(fitted(KERNELS["the usual"]), BACKGROUND)(ROWS, uncertainty="rows")


def test_too_many_rows_raise_an_error_before_computing():
    model = GaussianProcessRegressor(RBF(2.0) + WhiteKernel(0.1), optimizer=None)
    explainer = pkex.Explainer(model.fit(X / SCALES, Y), (X / SCALES)[:2])
    with pytest.raises(pkex.errors.InputError, match=r"uncertainty='joint'.* at most 819 rows"):
        explainer(np.zeros((820, D)), uncertainty="joint")
    with pytest.raises(pkex.UnsupportedModelError, match="no posterior covariance"):
        pkex.Explainer(SVR().fit(X, Y))(ROWS, uncertainty="joint")
