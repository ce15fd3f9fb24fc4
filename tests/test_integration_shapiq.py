"""ProductKernelExplainer: shapiq's arguments in, shapiq's objects out, exact values in between."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex

shapiq = pytest.importorskip("shapiq")
from shapiq.explainer.base import Explainer  # noqa: E402
from shapiq.explainer.product_kernel import ProductKernelExplainer as Theirs  # noqa: E402

from pkex.integrations.shapiq import ProductKernelExplainer  # noqa: E402

D = 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, D))
Y = X[:, 0] * X[:, 1] + X[:, 2]
ROWS = RNG.normal(size=(4, D))
Z = X[:10]
MODEL = SVR().fit(X, Y)
PAIRS = SVC().fit(X, np.digitize(Y, [-0.5, 0.5]))

MODELS = {
    "SVR": MODEL,
    "SVC": SVC(C=3.0).fit(X, Y > 0.0),
    "GaussianProcessRegressor": GaussianProcessRegressor(RBF(1.5), alpha=0.1).fit(X, Y),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("min_order", [0, 1])
def test_neutral_values_are_those_of_shapiqs_own_explainer(model, min_order):
    theirs = Theirs(model, min_order=min_order)
    ours = ProductKernelExplainer(model, min_order=min_order)
    assert ours.empty_prediction == pytest.approx(theirs.empty_prediction, abs=1e-12)
    for row in ROWS:
        found, expected = ours.explain(row), theirs.explain(row)
        assert type(found) is type(expected)
        assert set(found.interactions) == set(expected.interactions)
        for interaction, value in expected.interactions.items():
            assert found[interaction] == pytest.approx(value, abs=1e-12)
        for name in ("index", "min_order", "max_order", "n_players", "estimated"):
            assert getattr(found, name) == getattr(expected, name)
        assert found.baseline_value == pytest.approx(expected.baseline_value, abs=1e-12)


def test_interventional_values_are_those_of_shapiqs_exact_computer():
    explainer = ProductKernelExplainer(MODEL, Z)

    def game(coalitions):
        worth = []
        for members in coalitions:
            rows = np.where(members, ROWS[0], Z)
            worth.append(MODEL.predict(rows).mean())
        return np.array(worth)

    expected = shapiq.ExactComputer(game, n_players=D)("SV", 1)
    found = explainer.explain(ROWS[0])
    for interaction, value in expected.interactions.items():
        if interaction:
            assert found[interaction] == pytest.approx(value, abs=1e-12)
    assert found.baseline_value == pytest.approx(MODEL.predict(Z).mean(), abs=1e-12)


def test_it_is_a_shapiq_explainer_with_shapiqs_conventions():
    explainer = ProductKernelExplainer(MODEL)
    assert isinstance(explainer, Explainer)
    assert (explainer.index, explainer.max_order) == ("SV", 1)
    assert explainer.model is MODEL
    values = explainer.explain(ROWS[0])
    assert list(values.interactions) == [(), *((j,) for j in range(D))]
    assert values[()] == values.baseline_value == explainer.empty_prediction
    np.testing.assert_allclose(values.values.sum(), MODEL.predict(ROWS[:1])[0], atol=1e-12)
    np.testing.assert_allclose(explainer.predict(ROWS), MODEL.predict(ROWS), atol=1e-12)
    values.get_n_order(1).plot_waterfall(show=False)


def test_rows_are_explained_in_one_batch():
    explainer = ProductKernelExplainer(MODEL, Z)
    expected = pkex.Explainer(MODEL, Z).shap_values(ROWS)
    for options in ({}, {"n_jobs": 2, "random_state": 0}, {"verbose": True}):
        found = explainer.explain_X(ROWS, **options)
        np.testing.assert_array_equal([values.values[1:] for values in found], expected)
    found = explainer.explain_X(pd.DataFrame(ROWS))
    np.testing.assert_array_equal([values.values[1:] for values in found], expected)


def test_all_models_of_pkex_are_supported():
    pipeline = make_pipeline(StandardScaler(), SVC()).fit(X, Y > 0.0)
    for model in (pipeline, pipeline.decision_function):
        explainer = ProductKernelExplainer(model, Z, class_index=1)
        values = explainer.explain(ROWS[0])
        assert values.values.sum() == pytest.approx(pipeline.decision_function(ROWS[:1])[0])
        np.testing.assert_allclose(explainer.predict(ROWS), pipeline.decision_function(ROWS))


def test_one_of_several_outputs_is_chosen():
    expected = pkex.Explainer(PAIRS, outputs="0 vs 2").shap_values(ROWS)
    for outputs in (1, "0 vs 2"):
        found = ProductKernelExplainer(PAIRS, outputs=outputs).explain_X(ROWS)
        np.testing.assert_array_equal([values.values[1:] for values in found], expected)
    with pytest.raises(ValueError, match=r"3 outputs.*choose it by outputs"):
        ProductKernelExplainer(PAIRS)


def test_the_arguments_of_pkex_are_taken_too():
    options = {
        "value_function": "marginal",
        "background_weights": np.arange(1.0, 11.0),
        "groups": {"a": [0, 3]},
    }
    values = ProductKernelExplainer(MODEL, Z, **options).explain(ROWS[0])
    expected = pkex.Explainer(MODEL, Z, **options).shap_values(ROWS[:1])[0]
    assert values.n_players == 4
    np.testing.assert_array_equal(values.values[1:], expected)


def test_a_pickle_explains_to_equal_bits():
    explainer = ProductKernelExplainer(MODEL, Z)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.explain(ROWS[0]).values, explainer.explain(ROWS[0]).values)


# --- bad input ---


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"index": "k-SII", "max_order": 2},
            NotImplementedError,
            "today are .*index='SV' with max",
        ),
        ({"max_order": 2}, NotImplementedError, "max_order=2 is planned.*max_order=1"),
        ({"index": "BV"}, NotImplementedError, "index='BV'.*today are Shapley values"),
        ({"index": "sv"}, ValueError, "index must be one of 'SII'"),
        ({"max_order": 0}, ValueError, "max_order must be at least 1"),
        ({"min_order": -1}, ValueError, "min_order must be at least 0"),
        ({"min_order": 2}, ValueError, "min_order must not exceed max_order"),
        ({"class_index": 0}, ValueError, "class_index must be 1 or None"),
        ({"data": Z[0]}, ValueError, r"background\.reshape\(1, -1\)"),
        ({"budget": 100}, TypeError, "has no argument 'budget'; it takes model, data"),
    ],
)
def test_bad_arguments_are_answered_with_what_is_wrong(options, error, message):
    with pytest.raises(error, match=message):
        ProductKernelExplainer(MODEL, **options)


def test_bad_rows_are_answered_with_what_is_wrong():
    explainer = ProductKernelExplainer(MODEL)
    with pytest.raises(ValueError, match=r"x must be one row.*\(4, 5\).*explain_X"):
        explainer.explain(ROWS)
    with pytest.raises(ValueError, match="X has the wrong number of columns: expected 5, got 2"):
        explainer.explain(ROWS[0, :2])
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        explainer.explain_X(ROWS[0])
