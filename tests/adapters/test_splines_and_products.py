"""Splines and products of columns before a linear model, by brute force through the model."""

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_regression
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVR

import pkex
from pkex.adapters.sklearn.steps import affine_inverse

RNG = np.random.default_rng(3)
NAMES = list("abcde")
X = RNG.normal(size=(60, 5)) * [1.0, 10.0, 1.0, 1e-3, 1.0] + [0.0, 500.0, 0.0, 0.0, 2.0]
X[:, 4] = np.round(X[:, 4])
Y = X[:, 0] * X[:, 2] + 0.1 * X[:, 1] + 1e3 * X[:, 3] ** 2
SCALED = StandardScaler().fit_transform(X)
ROWS, BACKGROUND = X[20:22], X[:4]
FRAME = pd.DataFrame(X, columns=NAMES)

BRANCHES = make_column_transformer(
    (
        make_pipeline(
            StandardScaler(), PolynomialFeatures(2, interaction_only=True), MinMaxScaler()
        ),
        ["c", "a"],
    ),
    (SplineTransformer(4), ["b"]),
    (OneHotEncoder(sparse_output=False), ["e"]),
    remainder="passthrough",
)
PIPELINES = {
    "splines": make_pipeline(SplineTransformer(), Ridge()),
    "splines without constants, where they are defined": make_pipeline(
        StandardScaler(), SplineTransformer(extrapolation="error", include_bias=False), Ridge()
    ),
    "sparse splines": make_pipeline(SplineTransformer(3, sparse_output=True), Ridge()),
    "splines before a kernel machine": make_pipeline(
        StandardScaler(), SplineTransformer(4, degree=2), SVR()
    ),
    "products of degree 3": make_pipeline(StandardScaler(), PolynomialFeatures(3), Ridge()),
    "products in the columns' units": make_pipeline(
        PolynomialFeatures(2, include_bias=False), LinearRegression()
    ),
    "products of the same columns only once": make_pipeline(
        RobustScaler(), PolynomialFeatures((2, 3), interaction_only=True), Lasso(0.01)
    ),
    "scaled and selected products": make_pipeline(
        MaxAbsScaler(),
        PolynomialFeatures(2, include_bias=False),
        StandardScaler(),
        SelectKBest(f_regression, k=8),
        RobustScaler(with_centering=False),
        "passthrough",
        FunctionTransformer(),
        Ridge(),
    ),
    "products of splines": make_pipeline(
        SplineTransformer(3, degree=2), PolynomialFeatures(2, interaction_only=True), Ridge()
    ),
    "inside of another Pipeline": make_pipeline(
        make_pipeline(StandardScaler(), PolynomialFeatures(2)), VarianceThreshold(), Ridge()
    ),
    "a column in two branches": make_pipeline(
        make_column_transformer(
            (PolynomialFeatures(2), [0, 2]), (StandardScaler(), [1, 2]), remainder="drop"
        ),
        Ridge(),
    ),
    "several models": make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2),
        VotingRegressor([("a", Ridge()), ("b", Lasso(0.1))], weights=[1.0, 3.0]),
    ),
    "a scaled target": TransformedTargetRegressor(
        make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()),
        transformer=StandardScaler(),
    ),
    "a search": GridSearchCV(
        make_pipeline(StandardScaler(), PolynomialFeatures(), Ridge()),
        {"polynomialfeatures__degree": [1, 2]},
        cv=2,
    ),
    "degree 1": make_pipeline(PolynomialFeatures(1), Ridge()),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_values_equal_brute_force_through_predict(name):
    model = PIPELINES[name].fit(X, Y)
    assert_explained(pkex.Explainer(model, BACKGROUND), model.predict, ROWS, BACKGROUND)


def test_products_in_some_columns_of_a_table_are_explained():
    model = make_pipeline(BRANCHES, RobustScaler(), Ridge()).fit(FRAME, Y)
    explainer = pkex.Explainer(model, FRAME.iloc[:4])
    assert explainer.feature_names == NAMES
    assert_explained(
        explainer, lambda rows: model.predict(pd.DataFrame(rows, columns=NAMES)), ROWS, BACKGROUND
    )


@pytest.mark.parametrize("classes", [[0.0], [-1.0, 1.0]], ids=["two", "three"])
def test_classifiers_and_their_probabilities_are_explained(classes):
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression())
    model.fit(X, np.digitize(Y - np.median(Y), classes))
    for output in (model.decision_function, model.predict_proba):
        assert_explained(pkex.Explainer(output, BACKGROUND), output, ROWS, BACKGROUND)


def test_products_do_what_columns_do_where_there_are_none():
    model = make_pipeline(PolynomialFeatures(1, include_bias=False), Ridge()).fit(X, Y)
    alone = pkex.Explainer(model[-1], BACKGROUND)(ROWS)
    explanation = pkex.Explainer(model, BACKGROUND)(ROWS)
    np.testing.assert_allclose(explanation.values, alone.values, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(explanation.base_values, alone.base_values, rtol=1e-10)


def test_interactions_are_those_of_the_products_alone():
    # Only a and c are in a product that has a coefficient.
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()).fit(X, Y)
    powers = model[1].powers_
    of_pairs = (powers > 0).sum(axis=1) == 2
    model[-1].coef_[of_pairs & (powers[:, [0, 2]].sum(axis=1) < 2)] = 0.0
    interactions = pkex.Explainer(model, BACKGROUND).interactions(ROWS, index="k-SII").to_frame()
    pairs = interactions.loc[:, [name for name in interactions.columns if "×" in str(name)]]
    assert list(pairs.columns[(pairs != 0.0).any()]) == ["x0 × x2"]


def test_products_before_other_models_and_steps_are_refused_by_name():
    products = PolynomialFeatures(2)
    for pipeline, named in {
        make_pipeline(products, SVR()): "the step PolynomialFeatures is not supported: it mult",
        make_pipeline(products, PCA(2), Ridge()): "step PCA is not supported: it mixes",
        make_pipeline(products, PowerTransformer(), Ridge()): "PowerTransformer after Polynomial",
        make_pipeline(products, MinMaxScaler(clip=True), Ridge()): "MinMaxScaler after Polynomial",
        make_pipeline(products, PolynomialFeatures(2), Lasso()): "PolynomialFeatures after",
        make_pipeline(PCA(2), products, Ridge()): "step PCA is not supported: it mixes",
    }.items():
        with pytest.raises(pkex.UnsupportedModelError, match=named):
            pkex.Explainer(pipeline.fit(SCALED, Y), BACKGROUND)
    unfitted = Pipeline([("products", PolynomialFeatures(2)), ("ridge", Ridge().fit(X, Y))])
    with pytest.raises(NotFittedError, match="PolynomialFeatures"):
        pkex.Explainer(unfitted, BACKGROUND)


def test_attributes_that_were_changed_after_fitting_are_refused():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()).fit(X, Y)
    model[-1].coef_ = model[-1].coef_[:-1]
    with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting"):
        pkex.Explainer(model, BACKGROUND)


def test_products_that_are_misread_are_found_out(monkeypatch):
    def slightly_moved(scaler, original=affine_inverse):
        by, shift = original(scaler)
        return by, shift + 1e-6

    model = make_pipeline(PolynomialFeatures(2), StandardScaler(), Ridge()).fit(X, Y)
    monkeypatch.setattr("pkex.adapters.sklearn.polynomials.affine_inverse", slightly_moved)
    with pytest.raises(pkex.UnsupportedModelError, match="for a row for which its fitted"):
        pkex.Explainer(model, BACKGROUND)


def test_games_without_a_background_are_refused_with_the_remedy():
    model = make_pipeline(PolynomialFeatures(2), Ridge()).fit(X, Y)
    for game in (None, "neutral"):
        with pytest.raises(ValueError, match="background"):
            pkex.Explainer(model, value_function=game)
