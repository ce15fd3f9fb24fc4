"""Data for models made of other models, and what their values must equal."""

import numpy as np
from brute_force import Reference, neutral
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex

RNG = np.random.default_rng(0)
D = 5
# Scales from 1e-6 to 1e6, offsets and repeated rows.
BASE = RNG.normal(size=(70, D))
Y = BASE[:, 1] + np.sin(2.0 * BASE[:, 4]) + 0.5 * BASE[:, 0] * BASE[:, 2]
X = BASE * [1e-6, 1.0, 1e6, 100.0, 10.0] + [0.0, 5.0, -1e6, 1e4, 0.0]
X[10:15], Y[10:15] = X[0], Y[0]
TARGETS = np.column_stack([Y, 1e6 * Y**2 + 1e7, 1e-6 * np.cos(Y)])
TWO = np.where(Y > 0.0, "yes", "no")
THREE = np.array(["b", "c", "a"])[np.digitize(Y, [-0.5, 0.5])]
ROWS = X[[0, 7, 21, 33]]


def scaled(model=None):
    return make_pipeline(StandardScaler(), SVR(C=3.0) if model is None else model)


def brute_force(pipeline, rows, columns=None):
    """The neutral game of a scaler and a support vector machine, over all or some columns."""
    scaler, model = pipeline
    columns = np.arange(D) if columns is None else columns
    points, spread = np.zeros((len(model.support_vectors_), D)), np.zeros((len(rows), D))
    points[:, columns] = model.support_vectors_
    spread[:, columns] = scaler.transform(rows[:, columns])

    def kernel(A, B):
        return rbf_kernel(A, B, gamma=model._gamma)

    return [neutral(kernel, row, points, model.dual_coef_[0]) for row in spread]


def combined(weights, parts):
    """Σ_p weights_p · parts_p of references, for each row; weights may have an output axis."""
    weights = np.asarray(weights, dtype=float)
    rows = []
    for references in zip(*parts, strict=True):
        values = np.stack([reference.values for reference in references], axis=-1)
        scale = np.stack([reference.scale for reference in references], axis=-1)
        rows.append(Reference(values @ weights, scale @ np.abs(weights)))
    return rows


def assert_values(model, expected, **options):
    values = pkex.Explainer(model, value_function="neutral", **options).shap_values(ROWS)
    for reference, found in zip(expected, values, strict=True):
        reference.assert_close(found)


def assert_adds_up(model, output, relative=1e-13):
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total.shape == output.shape
    tolerance = relative * max(1.0, np.abs(explanation.values).max(), np.abs(output).max())
    np.testing.assert_allclose(total, output, rtol=0, atol=100 * tolerance)
    return explanation
