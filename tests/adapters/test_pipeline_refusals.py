"""Steps that do not act on each column separately are refused, and models of their own methods."""

import numpy as np
import pytest
from pipelines import BASE, STEPS, X, Y, fitted
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVR

import pkex
from pkex.adapters.sklearn.step_maps import check_columns
from pkex.functions.column_maps import ColumnMap, Selection
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.transformed import Transformed


class Odd(StandardScaler):
    def transform(self, X, copy=None):
        return super().transform(X)[:, ::-1]


class Sneaky(SimpleImputer):
    def _concatenate_indicator(self, X_imputed, X_indicator):
        return X_imputed[:, ::-1]


def log_of_norms(rows):
    return np.log1p(np.linalg.norm(rows, axis=1, keepdims=True) + 0 * rows)


# what the message must name: step
REFUSED = {
    "step PCA is not supported: it mixes columns": PCA(),
    "step Normalizer is not supported: it mixes columns": Normalizer(),
    "step KNNImputer is not": KNNImputer(),
    "step FeatureUnion with transformer_weights": FeatureUnion(
        [("a", StandardScaler())], transformer_weights={"a": 2.0}
    ),
    "step OneHotEncoder with a custom feature_name_combiner.*with feature_name_combiner='concat'": (
        OneHotEncoder(handle_unknown="ignore", feature_name_combiner=lambda a, b: f"{a}{b}")
    ),
    "step PolynomialFeatures is not supported: it multiplies": PolynomialFeatures(2),
    "step KBinsDiscretizer with encode='onehot-dense'.*with encode='ordinal'": (
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    ),
    "step FunctionTransformer with the function log_of_norms": FunctionTransformer(log_of_norms),
    r"with the function <lambda> is not supported: .* func=np.frompyfunc\(f, 1, 1\)": (
        FunctionTransformer(lambda rows: 2.0 * rows)
    ),
    "step FunctionTransformer with the function tanh": (
        FunctionTransformer(np.tanh, kw_args={"where": True})
    ),
    "step ColumnTransformer with transformer_weights": ColumnTransformer(
        [("a", StandardScaler(), [0, 1])], transformer_weights={"a": 2.0}
    ),
    "Odd replaces scikit-learn's transform": Odd(),
    "Sneaky replaces scikit-learn's _concatenate_indicator": Sneaky(),
}


@pytest.mark.parametrize("named", REFUSED)
def test_steps_that_do_not_act_on_each_column_alone_are_refused_by_name(named):
    step = REFUSED[named]
    for pipeline in (
        make_pipeline(step, SVR()),
        make_pipeline(make_pipeline(StandardScaler(), step), SVR()),
        make_pipeline(ColumnTransformer([("a", step, slice(0, 6))]), SVR()),
    ):
        with pytest.raises(pkex.UnsupportedModelError, match=named):
            pkex.Explainer(pipeline.fit(X, Y))


def test_a_pipeline_without_a_model_is_refused():
    pipeline = make_pipeline(StandardScaler(), "passthrough").fit(X)
    with pytest.raises(pkex.UnsupportedModelError, match="Pipeline without a model"):
        pkex.Explainer(pipeline)


def test_a_pipeline_of_unsupported_models_names_the_model():
    with pytest.raises(pkex.UnsupportedModelError, match="SVR with kernel 'sigmoid'"):
        pkex.Explainer(make_pipeline(StandardScaler(), SVR(kernel="sigmoid")).fit(X, Y))
    with pytest.raises(pkex.UnsupportedModelError, match="KNeighborsRegressor is not supported"):
        pkex.Explainer(make_pipeline(StandardScaler(), KNeighborsRegressor()).fit(X, Y))


def test_unfitted_pipelines_and_steps_are_reported_as_such():
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(make_pipeline(StandardScaler(), SVR()))
    with pytest.raises(NotFittedError, match="StandardScaler"):
        pkex.Explainer(make_pipeline(StandardScaler(), SVR().fit(X, Y)))


class Halved(Pipeline):
    def predict(self, X):
        return 0.5 * super().predict(X)


def test_a_pipeline_that_computes_something_else_is_refused():
    pipeline = Halved([("s", StandardScaler()), ("m", SVR())]).fit(X, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="Halved replaces scikit-learn's predict"):
        pkex.Explainer(pipeline)


def test_steps_fitted_apart_on_other_columns_are_refused():
    odd = Pipeline([("a", StandardScaler().fit(X)), ("m", SVR().fit(X[:, :3], Y))])
    with pytest.raises((pkex.UnsupportedModelError, ValueError), match="columns"):
        pkex.Explainer(odd)


class Swapped(ColumnMap):
    """Says that its columns come from others than they do."""

    n_columns = 3
    sources = np.array([0, 2, 1])

    def __call__(self, rows):
        return rows

    def inverse(self, rows):
        return rows


class Mixing(Swapped):
    sources = np.arange(3)

    def __call__(self, rows):
        return rows + 1e-6 * rows[:, ::-1]


@pytest.mark.parametrize("columns", [Swapped(), Mixing()])
def test_maps_that_mix_or_mistake_columns_are_found_out(columns):
    expansion = KernelSum(BASE[:, :3], Y, pkex.kernels.RBF())
    with pytest.raises(pkex.UnsupportedModelError, match="do not act on each column separately"):
        check_columns(Transformed(columns, expansion), columns)
    same = Selection(3, [0, 1, 2])
    check_columns(Transformed(same, expansion), same)


@pytest.mark.parametrize("name", STEPS)
def test_a_model_that_differs_a_little_is_found_out_behind_any_step(name, monkeypatch):
    pipeline, _ = fitted(name)
    own = SVR.predict
    monkeypatch.setattr(SVR, "predict", lambda self, rows: 1.001 * own(self, rows))
    with pytest.raises(pkex.UnsupportedModelError, match="returns"):
        pkex.Explainer(pipeline)
