"""Models with penalised Shapley values as estimators of scikit-learn; how they are explained."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from brute_force import interventional
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import pkex
from pkex.kernels import RBF, Chi2, Polynomial
from pkex.models import ShapleyRegularizedClassifier, ShapleyRegularizedRidge

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2]
FRAME = pd.DataFrame(X, columns=["age", "sex", "bmi"])
MODELS = [ShapleyRegularizedRidge, ShapleyRegularizedClassifier]


def fitted(model, X=X, **options):
    target = Y if model is ShapleyRegularizedRidge else Y > 0.0
    return model(**{"features": [1], "penalty": 10.0} | options).fit(X, target)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        ShapleyRegularizedRidge(features=[0], alpha=0.1),
        ShapleyRegularizedClassifier(features=[0], alpha=0.1, value_function="marginal"),
    ]
)
def test_they_are_estimators_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS)
def test_features_are_named_by_number_or_column(model):
    by_number = fitted(model, features=[2, 0])
    rows = by_number.kernel_expansion_.points
    for features in (["bmi", "age"], ("age", 2), np.array([0, 2])):
        by_name = fitted(model, FRAME, features=features)
        np.testing.assert_allclose(by_name.kernel_expansion_.predict(rows), by_number_of(by_number))
    assert list(by_name.feature_names_in_) == ["age", "sex", "bmi"]
    one = fitted(model, FRAME, features="sex")
    np.testing.assert_array_equal(
        one.kernel_expansion_.coefficients, fitted(model, features=1).kernel_expansion_.coefficients
    )


def by_number_of(model):
    return model.kernel_expansion_.predict(model.kernel_expansion_.points)


def test_they_are_explained_like_any_other_model():
    model = fitted(ShapleyRegularizedRidge, FRAME)
    explainer = pkex.Explainer(model, FRAME[:5])
    explanation = explainer(FRAME)
    assert explanation.feature_names == ["age", "sex", "bmi"]
    for row, found in zip(X[:3], explanation.values, strict=False):
        expected, _ = interventional(
            lambda rows: model.predict(pd.DataFrame(rows, columns=FRAME.columns)), row, X[:5]
        )
        expected.assert_close(found)
    of_method = pkex.Explainer(model.predict, FRAME[:5])(FRAME)
    np.testing.assert_array_equal(of_method.values, explanation.values)
    of_points = pkex.Explainer(model)(FRAME)
    of_expansion = pkex.Explainer(model.kernel_expansion_)(FRAME)
    np.testing.assert_array_equal(of_points.values, of_expansion.values)
    assert of_expansion.feature_names == ["age", "sex", "bmi"]


def test_probabilities_and_log_odds_are_explained():
    model = fitted(ShapleyRegularizedClassifier)
    explanation = pkex.Explainer(model.predict_proba, X[:4])(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_proba(X), atol=1e-12)
    odds = pkex.Explainer(model, X[:4], target="log-odds")(X)
    decided = pkex.Explainer(model, X[:4])(X)
    np.testing.assert_allclose(odds.values, decided.values, atol=1e-12)
    assert decided.output_name == "True vs False"
    several = ShapleyRegularizedClassifier(features=[1]).fit(X, np.digitize(Y, [-0.5, 0.5]))
    assert pkex.Explainer(several, X[:4])(X).output_names == ["0", "1", "2"]
    explanation = pkex.Explainer(several.predict_proba, X[:4])(X[:3])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, several.predict_proba(X[:3]), atol=1e-12)
    with pytest.raises(
        pkex.UnsupportedModelError, match="class labels are computed from the decision function"
    ):
        pkex.Explainer(model.predict, X)


@pytest.mark.parametrize("model", MODELS)
def test_they_work_in_pipelines_searches_and_pickles(model):
    pipeline = make_pipeline(StandardScaler(), model(features=[1]))
    name = model.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__penalty": [0.0, 1.0]}, cv=2)
    search.fit(FRAME, Y > 0.0)
    values = pkex.Explainer(search, FRAME)(FRAME).values
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(pkex.Explainer(again, FRAME)(FRAME).values, values)
    alone = pickle.dumps(clone(fitted(model)))
    assert b"pkex.models" in alone
    assert b"pkex.models." not in alone


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"features": [3]},
            r"features contains 3, which is not a column of X.* from 0 to 2 or by name",
        ),
        (
            {"features": ["weight"]},
            r"'weight', which is not a column of X.*\['age', 'sex', 'bmi'\]",
        ),
        ({"features": [-1]}, "features contains -1, which is not a column of X"),
        ({"features": [1, "sex"]}, "features contains column 'sex' twice"),
        ({"penalty": -1.0}, r"penalty must be a finite number, 0 or above; got -1.0"),
        ({"penalty": np.inf}, r"penalty must be a finite number, 0 or above; got inf"),
        ({"alpha": 0.0}, r"alpha must be a finite number above 0; got 0.0"),
        ({"alpha": np.nan}, r"alpha must be a finite number above 0; got nan"),
        ({"value_function": "neutral"}, r"value_function must be one of 'interventional', "),
        ({"kernel": Polynomial(3, 0.2, -5.0)}, r"kernel must be positive semidefinite, but Poly"),
        ({"kernel": RBF([1.0, 2.0])}, r"kernel: .*length"),
        ({"kernel": Chi2()}, r"Chi2 kernel requires values of at least 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_parameters_out_of_range_are_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        fitted(model, FRAME, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": [1.5]}, r"features must contain columns of X, .* got 1.5 \(float\)"),
        ({"features": None}, r"features must contain columns of X, .* got None \(NoneType\)"),
        ({"penalty": "1"}, r"penalty must be a finite number, 0 or above; got '1' \(str\)"),
        ({"alpha": True}, r"alpha must be a finite number above 0; got True \(bool\)"),
        ({"kernel": "rbf"}, r"kernel must be a kernel of pkex.kernels, such as RBF"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_parameters_of_another_type_are_refused(model, options, message):
    with pytest.raises(TypeError, match=message):
        fitted(model, **options)


@pytest.mark.parametrize("model", MODELS)
def test_bad_rows_and_weights_are_refused(model):
    constant = FRAME.assign(sex=1.0)
    with pytest.warns(
        UserWarning,
        match=r"features contains columns \['sex'\], which are constant in X: .* whatever",
    ):
        fitted(model, constant, features=["bmi", "sex"], kernel=RBF(1.0))
    fitted(model, constant, features="bmi", kernel=RBF(1.0))
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fitted(model, gaps)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted(model, FRAME).predict(FRAME[["sex", "age", "bmi"]])
    target = Y if model is ShapleyRegularizedRidge else Y > 0.0
    for weights, message in (
        (np.zeros(30), "sample_weight must not all be zero"),
        (np.where(X[:, 0] > 0.0, 1.0, -1.0), "sample_weight must not be negative; got -1.0 in row"),
        (np.ones(29), "sample_weight must have"),
    ):
        with pytest.raises(ValueError, match=message):
            model().fit(X, target, weights)


def test_one_class_alone_is_refused():
    with pytest.raises(ValueError, match="y must have two or more classes, but has only 1 in"):
        ShapleyRegularizedClassifier().fit(X, np.ones(30, dtype=int))
    for options, message in (
        ({"tol": 0.0}, "tol must be a finite number above 0"),
        ({"max_iter": 0}, "max_iter must be a positive integer; got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ShapleyRegularizedClassifier(**options).fit(X, Y > 0.0)


def test_without_scikit_learn_the_rest_works_and_the_extra_is_named():
    code = """
import sys
sys.modules["sklearn"] = None
from pkex import *
import pkex
assert "models" in dir(pkex) and "hsic" in globals() and "models" not in globals()
try:
    pkex.models
except ImportError as error:
    assert "pip install 'pkex[scikit-learn]'" in str(error), error
else:
    raise AssertionError("found")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("data", [X, FRAME], ids=["array", "data frame"])
def test_skops_saves_what_is_fitted(model, data):
    skops = pytest.importorskip("skops.io")
    found = fitted(model, data)
    saved = skops.dumps(found)
    trusted = skops.get_untrusted_types(data=saved)
    assert all(name.startswith("pkex.") for name in trusted)
    loaded = skops.loads(saved, trusted=trusted)
    np.testing.assert_array_equal(loaded.predict(data), found.predict(data))
    values = pkex.Explainer(loaded, data).shap_values(data)
    np.testing.assert_array_equal(values, pkex.Explainer(found, data).shap_values(data))
