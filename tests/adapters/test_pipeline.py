"""Pipelines: values of the columns that the first step gets, against brute force."""

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained, neutral
from pipelines import FRAME, NAMES, ROWS, STEPS, D, X, Y, fitted
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, SelectorMixin, VarianceThreshold, f_regression
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex


def rows_of(data):
    return data.iloc[ROWS] if isinstance(data, pd.DataFrame) else data[ROWS]


def sources_by_trial(before, data):
    """For each column that reaches the model, the one input column that changes it."""
    changes = []
    for j in range(D):
        changed = np.asarray(data, dtype=float).copy()
        changed[:, j] = np.roll(changed[:, j], 17)
        as_before = pd.DataFrame(changed, columns=NAMES) if data is FRAME else changed
        changes.append(np.any(before.transform(as_before) != before.transform(data), axis=0))
    changes = np.asarray(changes)
    assert np.all(changes.sum(axis=0) == 1)
    return changes.argmax(axis=0)


def spread(columns, sources):
    """Columns of the model at the places of their sources; the others have no influence."""
    wide = np.zeros((len(columns), D))
    wide[:, sources] = columns
    return wide


def brute_force(pipeline, data):
    """The neutral game of the input columns, for a Pipeline with an SVR, for each of `ROWS`."""
    before, model = pipeline[:-1], pipeline[-1]
    sources = sources_by_trial(before, data)
    points = spread(model.support_vectors_, sources)
    rows = spread(before.transform(rows_of(data)), sources)

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=model._gamma)

    return [neutral(kernel, row, points, model.dual_coef_[0]) for row in rows], sources


@pytest.mark.parametrize(
    "method", ["quadrature", pytest.param("recursion", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", STEPS)
def test_values_of_the_input_columns_equal_brute_force(name, method):
    pipeline, data = fitted(name)
    expected, sources = brute_force(pipeline, data)
    values = pkex.Explainer(pipeline, method=method, value_function="neutral").shap_values(
        rows_of(data)
    )
    for reference, found in zip(expected, values, strict=True):
        reference.assert_close(found)
    assert np.all(np.delete(values, sources, axis=1) == 0.0)
    assert np.all(np.any(values[:, sources] != 0.0, axis=0))


@pytest.mark.parametrize("name", STEPS)
def test_values_and_base_add_up_to_the_pipelines_own_output(name):
    for model in (SVR(C=3.0), KernelRidge(kernel="laplacian", gamma=0.2)):
        pipeline, data = fitted(name, model)
        explanation = pkex.Explainer(pipeline)(data)
        total = explanation.values.sum(axis=1) + explanation.base_values
        np.testing.assert_allclose(total, pipeline.predict(data), rtol=0, atol=1e-10)


def test_all_pairs_of_classes_are_explained_as_for_the_last_step_alone():
    classes = np.digitize(Y, [-0.5, 0.5])
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, classes)
    explanation = pkex.Explainer(pipeline)(X)
    alone = pkex.Explainer(pipeline[-1])(pipeline[0].transform(X))
    np.testing.assert_array_equal(explanation.values, alone.values)
    np.testing.assert_array_equal(explanation.base_values, alone.base_values)
    assert explanation.output_names == ["0 vs 1", "0 vs 2", "1 vs 2"]
    chosen = pkex.Explainer(pipeline, outputs=["1 vs 2"])(X)
    np.testing.assert_array_equal(chosen.values[..., 0], alone.values[..., 2])


def test_a_laplacian_model_of_three_targets_equals_brute_force():
    targets = np.column_stack([Y, -Y, Y**2])
    pipeline = make_pipeline(SelectKBest(f_regression, k=4), StandardScaler())
    pipeline.fit(X, Y)
    ridge = KernelRidge(kernel="laplacian").fit(pipeline.transform(X), targets)
    whole = Pipeline([*pipeline.steps, ("ridge", ridge)])
    sources = sources_by_trial(pipeline, X)
    values = pkex.Explainer(whole, value_function="neutral").shap_values(X[ROWS])
    points, rows = spread(ridge.X_fit_, sources), spread(pipeline.transform(X[ROWS]), sources)
    for row, found in zip(rows, values, strict=True):
        reference = neutral(
            lambda A, B: laplacian_kernel(A, B, gamma=0.25), row, points, ridge.dual_coef_
        )
        reference.assert_close(found)


def test_a_nystroem_map_and_a_linear_model_are_one_model_at_the_end():
    pipeline = make_pipeline(
        VarianceThreshold(1e-3), StandardScaler(), Nystroem(gamma=0.1, n_components=30), Ridge()
    ).fit(X, Y)
    explanation = pkex.Explainer(pipeline)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(X), atol=1e-9)
    assert np.all(explanation.values[:, 0] == 0.0)


# --- methods, progress ---


def test_methods_of_pipelines_are_unwrapped():
    pipeline, _ = fitted("nested")
    explainer = pkex.Explainer(pipeline.predict)
    np.testing.assert_array_equal(explainer.shap_values(X), pkex.Explainer(pipeline).shap_values(X))
    classifier = make_pipeline(StandardScaler(), SVC()).fit(X, Y > 0)
    assert pkex.Explainer(classifier.decision_function)
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"Pipeline.predict cannot.*or its decision_function"
    ):
        pkex.Explainer(classifier.predict)


def test_progress_of_a_pipeline_is_reported():
    pipeline, _ = fitted("StandardScaler")
    reports = []
    pkex.Explainer(pipeline)(np.tile(X, (4000, 1)), progress=lambda *report: reports.append(report))
    assert reports
    assert all(done <= total for done, total in reports)


class Largest(SelectorMixin, BaseEstimator):
    """A selector of one's own: what scikit-learn leaves to its subclasses."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.scale_ = np.std(X, axis=0)
        return self

    def _get_support_mask(self):
        return self.scale_ > np.median(self.scale_)


def test_a_selector_of_ones_own_is_a_step():
    pipeline = make_pipeline(Largest(), StandardScaler(), SVR()).fit(X, Y)
    assert_explained(pkex.Explainer(pipeline, X[:5]), pipeline.predict, X[ROWS], X[:5])
