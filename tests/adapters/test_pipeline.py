"""Pipelines: values of the columns that the first step gets, against brute force."""

import functools
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from brute_force import coalitions, interventional, neutral, shapley_weights, weighted_games
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    VarianceThreshold,
    f_regression,
)
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR

import pkex
from pkex.adapters.sklearn.columns import check_columns
from pkex.functions.column_maps import ColumnMap, Selection
from pkex.functions.transformed import Transformed

RNG = np.random.default_rng(0)
D = 6
NAMES = list("abcdef")
# Scales from 1e-6 to 1e6, offsets, repeated rows and repeated entries.
BASE = RNG.normal(size=(70, D))
Y = BASE[:, 1] + np.sin(2.0 * BASE[:, 4]) + 0.5 * BASE[:, 0] * BASE[:, 2]
X = BASE * [1e-6, 1.0, 1e6, 100.0, 10.0, 1.0] + [0.0, 5.0, -1e6, 1e4, 0.0, 0.0]
X[10:15], Y[10:15] = X[0], Y[0]
X[:, 5] = np.round(X[:, 5])
POSITIVE = np.abs(X) + 1e-7
MISSING = X.copy()
MISSING[::7, 1] = MISSING[3::9, 5] = np.nan
FRAME = pd.DataFrame(X, columns=NAMES)
ROWS = [0, 7, 21, 33]


def bins():
    with warnings.catch_warnings():  # the default of quantile_method changes
        warnings.simplefilter("ignore", FutureWarning)
        return KBinsDiscretizer(4, encode="ordinal", strategy="uniform")


def columns_with_scale(frame):
    return [name for name in frame.columns if frame[name].std() > 50.0]


# name: (steps before the model, the data)
STEPS = {
    "StandardScaler": ([StandardScaler()], X),
    "StandardScaler without mean": ([StandardScaler(with_mean=False)], X),
    "MinMaxScaler": ([MinMaxScaler()], X),
    "MinMaxScaler clip": ([MinMaxScaler((-1, 2), clip=True)], X),
    "MaxAbsScaler": ([MaxAbsScaler()], X),
    "RobustScaler": ([RobustScaler(quantile_range=(10, 80))], X),
    "QuantileTransformer": ([QuantileTransformer(n_quantiles=20)], X),
    "QuantileTransformer normal": (
        [QuantileTransformer(n_quantiles=70, output_distribution="normal")],
        X,
    ),
    "PowerTransformer": ([StandardScaler(), PowerTransformer()], X),
    "PowerTransformer box-cox": ([PowerTransformer("box-cox"), MinMaxScaler()], POSITIVE),
    "KBinsDiscretizer": ([bins()], X),
    "Binarizer": ([StandardScaler(), Binarizer(threshold=0.3)], X),
    "function": ([FunctionTransformer(np.log), StandardScaler()], POSITIVE),
    "function of scaled": ([StandardScaler(), FunctionTransformer(np.cbrt)], X),
    "identities": (["passthrough", FunctionTransformer(), StandardScaler(), None], X),
    "SimpleImputer": ([SimpleImputer(), StandardScaler()], MISSING),
    "SimpleImputer constant": (
        [StandardScaler(), SimpleImputer(strategy="constant", fill_value=-1.0)],
        MISSING,
    ),
    "SimpleImputer median, then selected": (
        [SimpleImputer(strategy="median"), StandardScaler(), SelectKBest(f_regression, k=3)],
        MISSING,
    ),
    "SelectKBest": ([SelectKBest(f_regression, k=3), StandardScaler()], X),
    "SelectFromModel": ([StandardScaler(), SelectFromModel(Ridge())], X),
    "RFE": ([StandardScaler(), RFE(Ridge(), n_features_to_select=2)], X),
    "VarianceThreshold": ([VarianceThreshold(0.5), StandardScaler()], X),
    "selected twice": (
        [VarianceThreshold(1e-3), StandardScaler(), SelectKBest(f_regression, k=2), bins()],
        X,
    ),
    "nested": (
        [make_pipeline(VarianceThreshold(1e-3), make_pipeline(RobustScaler())), MinMaxScaler()],
        X,
    ),
    "by number": (
        [
            ColumnTransformer(
                [("r", RobustScaler(), [4, 1]), ("s", StandardScaler(), [3])],
                remainder=MinMaxScaler(),
            )
        ],
        X,
    ),
    "by negative number and slice, rest dropped": (
        [
            ColumnTransformer([("a", StandardScaler(), [-2]), ("b", MinMaxScaler(), slice(0, 2))]),
            PowerTransformer(),
        ],
        X,
    ),
    "by mask, rest passed": (
        [
            ColumnTransformer(
                [
                    ("m", QuantileTransformer(n_quantiles=9), np.array([0, 1, 0, 0, 1, 0], bool)),
                    ("no", "drop", [2]),
                    ("none", StandardScaler(), []),
                ],
                remainder="passthrough",
            ),
            StandardScaler(),
        ],
        X,
    ),
    "by name": (
        [
            ColumnTransformer(
                [
                    ("a", StandardScaler(), ["e", "b"]),
                    ("b", make_pipeline(StandardScaler(), bins()), ["f"]),
                ]
            )
        ],
        FRAME,
    ),
    "by slice of names, by function": (
        [
            ColumnTransformer(
                [
                    ("a", StandardScaler(), slice("d", "f")),
                    ("b", MinMaxScaler(), lambda frame: ["c", "a"]),
                ]
            )
        ],
        FRAME,
    ),
    "by selector, then selected": (
        [
            ColumnTransformer(
                [("a", StandardScaler(), make_column_selector(pattern="[a-e]"))],
                remainder="passthrough",
            ),
            SelectKBest(f_regression, k=4),
        ],
        FRAME,
    ),
    "ColumnTransformer in another": (
        [
            ColumnTransformer(
                [
                    ("z", ColumnTransformer([("y", StandardScaler(), [1])]), [0, 4]),
                    ("w", make_pipeline(SimpleImputer(), StandardScaler()), [1, 3, 5]),
                ]
            )
        ],
        MISSING,
    ),
}


def fitted(name, model=None):
    steps, data = STEPS[name]
    return make_pipeline(*steps, SVR(C=3.0) if model is None else model).fit(data, Y), data


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


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
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


# --- names and data ---


def test_names_and_data_are_those_of_the_input():
    pipeline, _ = fitted("by name")
    explanation = pkex.Explainer(pipeline)(FRAME)
    assert explanation.feature_names == NAMES
    np.testing.assert_array_equal(explanation.data, X)
    pipeline, _ = fitted("SelectKBest")
    assert pkex.Explainer(pipeline)(X).feature_names == [f"x{j}" for j in range(D)]
    assert pkex.Explainer(pipeline)(FRAME).feature_names == NAMES
    assert pkex.Explainer(pipeline, feature_names=list("uvwxyz"))(X).feature_names == list("uvwxyz")


@pytest.mark.parametrize("name", ["StandardScaler", "nested", "identities", "by number"])
def test_the_names_of_a_pipeline_fitted_on_a_frame_are_checked(name):
    pipeline = make_pipeline(*STEPS[name][0], SVR()).fit(FRAME, Y)
    explainer = pkex.Explainer(pipeline)
    assert explainer(X).feature_names == NAMES
    with pytest.raises(ValueError, match="another order"):
        explainer(FRAME[NAMES[::-1]])
    with pytest.raises(ValueError, match=r"missing \['f'\]"):
        explainer(FRAME[NAMES[:-1]])


def test_a_pipeline_that_passes_data_frames_on_is_explained_in_terms_of_its_input():
    plain, _ = fitted("by name")
    pipeline = make_pipeline(*STEPS["by name"][0], SVR(C=3.0)).set_output(transform="pandas")
    pipeline.fit(FRAME, Y)
    explanation = pkex.Explainer(pipeline)(FRAME)
    np.testing.assert_allclose(explanation.values, pkex.Explainer(plain).shap_values(X))
    assert explanation.feature_names == NAMES


def test_scikit_learns_global_output_setting_changes_nothing():
    pipeline, _ = fitted("by number")
    values = pkex.Explainer(pipeline).shap_values(X)
    with sklearn.config_context(transform_output="pandas"):
        np.testing.assert_array_equal(pkex.Explainer(pipeline).shap_values(X), values)


def test_equal_numbers_in_any_container_give_equal_bits():
    pipeline, _ = fitted("by name")
    explainer = pkex.Explainer(pipeline)
    values = explainer.shap_values(FRAME)
    for rows in (X, X.tolist(), np.asfortranarray(X), sparse.csr_array(X), pl.DataFrame(X, NAMES)):
        np.testing.assert_array_equal(explainer.shap_values(rows), values)


@pytest.mark.parametrize("container", ["pandas", "polars", "sparse"])
def test_steps_that_make_data_frames_or_sparse_matrices_are_explained(container):
    is_sparse = container == "sparse"
    steps = [("code", OneHotEncoder(sparse_output=is_sparse), ["f"])]
    encode = ColumnTransformer(steps, remainder="passthrough", sparse_threshold=float(is_sparse))
    scale = MaxAbsScaler() if is_sparse else StandardScaler().set_output(transform=container)
    encode.set_output(transform="default" if is_sparse else container)
    pipeline = make_pipeline(encode, scale, SVR()).fit(FRAME, Y)
    assert sparse.issparse(pipeline[:-1].transform(FRAME)) == is_sparse
    values = pkex.Explainer(pipeline, FRAME[:4]).shap_values(FRAME.iloc[ROWS])
    for row, found in zip(X[ROWS], values, strict=True):
        expected, _ = interventional(predict_of(pipeline), row, X[:4])
        expected.assert_close(found)


def test_a_pipeline_with_a_memory_is_explained(tmp_path):
    steps = [("a", StandardScaler()), ("b", "passthrough"), ("c", None), ("m", SVR())]
    plain, cached = (Pipeline(steps, memory=memory).fit(X, Y) for memory in (None, str(tmp_path)))
    for pipeline in (cached, cached.fit(X, Y)):  # the second from the cache
        np.testing.assert_array_equal(
            pkex.Explainer(pipeline, X[:4]).shap_values(X[ROWS]),
            pkex.Explainer(plain, X[:4]).shap_values(X[ROWS]),
        )


@pytest.mark.parametrize("scale", [1e150, 1e300, 1e-150, 1e-300])
@pytest.mark.parametrize("step", [MinMaxScaler(), QuantileTransformer(n_quantiles=20)], ids=repr)
def test_columns_of_extreme_scales_are_explained(step, scale):
    rows = BASE * scale
    pipeline = make_pipeline(step, SVR()).fit(rows, Y)
    values = pkex.Explainer(pipeline, rows[:4]).shap_values(rows[ROWS])
    for row, found in zip(rows[ROWS], values, strict=True):
        expected, _ = interventional(pipeline.predict, row, rows[:4])
        expected.assert_close(found)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_rows_that_a_step_takes_out_of_range_are_refused_with_their_place():
    pipeline = make_pipeline(StandardScaler(), SVR()).fit(1e-5 * BASE, Y)
    rows = BASE[:5].copy()
    rows[3, 1] = 1e305
    with pytest.raises(ValueError, match=r"X has the entry 1e\+305 in row 3, column 1, .* inf;"):
        pkex.Explainer(pipeline)(rows)
    with pytest.raises(ValueError, match=r"background has the entry 1e\+305 in row 3, column 1"):
        pkex.Explainer(pipeline, rows)


def test_a_pipeline_fitted_on_polars_is_explained():
    frame = pl.DataFrame(X, schema=NAMES)
    pipeline = make_pipeline(*STEPS["by name"][0], SVR(C=3.0)).fit(frame, Y)
    expected = pkex.Explainer(fitted("by name")[0]).shap_values(X)
    np.testing.assert_allclose(pkex.Explainer(pipeline).shap_values(frame), expected, atol=1e-12)


def test_a_pipeline_fitted_on_sparse_data_is_explained():
    few = sparse.csr_array(np.where(np.abs(BASE) > 0.5, X, 0.0))
    pipeline = make_pipeline(MaxAbsScaler(), StandardScaler(with_mean=False), SVR()).fit(few, Y)
    explanation = pkex.Explainer(pipeline)(few)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(few), rtol=0, atol=1e-10)


def test_steps_that_work_in_place_change_neither_the_rows_nor_the_pipeline():
    pipeline = make_pipeline(StandardScaler(copy=False), SVR()).fit(X.copy(), Y)
    rows = X.copy()
    explainer = pkex.Explainer(pipeline)
    explanation = explainer(rows)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(explanation.data, X)
    assert pipeline[0].copy is False


# --- missing entries ---


def test_missing_entries_are_explained_where_a_step_fills_them():
    pipeline, _ = fitted("SimpleImputer")
    explanation = pkex.Explainer(pipeline)(pd.DataFrame(MISSING, columns=NAMES))
    np.testing.assert_array_equal(explanation.data, MISSING)
    filled = pipeline[0].transform(MISSING)
    np.testing.assert_array_equal(pkex.Explainer(pipeline).shap_values(filled), explanation.values)


def test_missing_entries_that_no_step_fills_are_refused_with_their_place():
    pipeline, _ = fitted("StandardScaler")
    with pytest.raises(ValueError, match=r"missing entry \(NaN\) in row 0, column 1.*fill"):
        pkex.Explainer(pipeline)(MISSING)
    pipeline = make_pipeline(StandardScaler(), SVR()).fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"missing entry \(NaN\) in row 0, column 1 \('b'\)"):
        pkex.Explainer(pipeline)(MISSING)


def test_missing_entries_are_ignored_in_columns_that_are_dropped():
    pipeline = make_pipeline(ColumnTransformer([("s", StandardScaler(), [0, 2, 3])]), SVR()).fit(
        MISSING, Y
    )
    explanation = pkex.Explainer(pipeline)(MISSING)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(MISSING), atol=1e-10)


def test_missing_entries_are_refused_by_the_step_that_does_not_take_them():
    pipeline, _ = fitted("SelectKBest")
    with pytest.raises(ValueError, match="NaN"):
        pkex.Explainer(pipeline)(MISSING)
    with pytest.raises(ValueError, match="NaN"):
        pipeline.predict(MISSING)


def test_infinite_entries_are_refused_with_their_place():
    pipeline, _ = fitted("SimpleImputer")
    rows = MISSING.copy()
    rows[2, 3] = np.inf
    with pytest.raises(ValueError, match=r"infinite entry \(inf\) in row 2, column 3"):
        pkex.Explainer(pipeline)(rows)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_entries_that_a_step_is_not_defined_for_are_refused_with_their_place():
    pipeline, _ = fitted("function")
    rows = POSITIVE.copy()
    rows[3, 2] = -1.0
    with pytest.raises(ValueError, match=r"X has the entry -1.0 in row 3, column 2, which .* nan"):
        pkex.Explainer(pipeline)(rows)


def test_an_imputer_that_drops_an_empty_column_gives_it_zero():
    data = X.copy()
    data[:, 2] = np.nan
    with pytest.warns(UserWarning, match="without any observed"):
        pipeline = make_pipeline(SimpleImputer(), StandardScaler(), SVR()).fit(data, Y)
    with pytest.warns(UserWarning, match="without any observed"):
        values = pkex.Explainer(pipeline).shap_values(data)
    assert np.all(values[:, 2] == 0.0)
    assert np.all(values[:, 3].any())


# --- methods, pickles, progress ---


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


def test_a_pickle_explains_to_equal_bits():
    for name in ("by name", "SelectFromModel", "function", "nested"):
        pipeline, data = fitted(name)
        explainer = pkex.Explainer(pipeline)
        again = pickle.loads(pickle.dumps(explainer))
        np.testing.assert_array_equal(again.shap_values(data), explainer.shap_values(data))
        assert repr(again) == repr(explainer)


def test_progress_of_a_pipeline_is_reported():
    pipeline, _ = fitted("StandardScaler")
    reports = []
    pkex.Explainer(pipeline)(np.tile(X, (4000, 1)), progress=lambda *report: reports.append(report))
    assert reports
    assert all(done <= total for done, total in reports)


# --- what is refused ---


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
    "step FeatureUnion is not": FeatureUnion([("a", StandardScaler())]),
    "step OneHotEncoder with a feature_name_combiner.*with feature_name_combiner='concat'": (
        OneHotEncoder(handle_unknown="ignore", feature_name_combiner=lambda a, b: f"{a}{b}")
    ),
    "step PolynomialFeatures is not supported: it makes several": PolynomialFeatures(2),
    "step SplineTransformer is not supported: it makes several": SplineTransformer(),
    "step MissingIndicator is not supported: it makes several": MissingIndicator(features="all"),
    "step KBinsDiscretizer with encode='onehot-dense'.*with encode='ordinal'": (
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform")
    ),
    "step SimpleImputer with add_indicator=True.*with add_indicator=False": (
        SimpleImputer(add_indicator=True)
    ),
    "step FunctionTransformer with the function log_of_norms": FunctionTransformer(log_of_norms),
    "with the function <lambda> is not supported: it is not known to act on each entry alone": (
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
    values = pkex.Explainer(pipeline, X[:5]).shap_values(X[ROWS])
    for row, found in zip(X[ROWS], values, strict=True):
        expected, _ = interventional(pipeline.predict, row, X[:5])
        expected.assert_close(found)


def test_a_column_used_twice_is_one_feature():
    twice = [("a", StandardScaler(), ["b", "c"]), ("b", MinMaxScaler(), ["e", "b"])]
    pipeline = make_pipeline(ColumnTransformer(twice), SVR()).fit(FRAME, Y)
    explainer = pkex.Explainer(pipeline, FRAME[:6])
    values = explainer.shap_values(FRAME.iloc[ROWS])
    assert np.all(values[:, [0, 3, 5]] == 0.0)
    for row, found in zip(X[ROWS], values, strict=True):
        expected, _ = interventional(predict_of(pipeline), row, X[:6])
        expected.assert_close(found)
    # Neutral, the factors of both columns go.
    svr, before = pipeline[-1], pipeline[:-1]
    values = pkex.Explainer(pipeline, value_function="neutral").shap_values(FRAME.iloc[ROWS])
    made = before.transform(FRAME.iloc[ROWS])
    kernel = functools.partial(rbf_kernel, gamma=svr._gamma)
    for row, found in zip(made, values, strict=True):
        expected = grouped(kernel, row, svr, [[0, 3], [1], [2]])
        expected.assert_close(found[[1, 2, 4]])


def test_a_column_used_twice_of_which_one_use_is_selected_is_explained():
    ramp = np.column_stack([Y + 0.01 * BASE[:, 5], BASE[:, 0], BASE[:, 1]])
    twice = [("a", StandardScaler(), [0, 1]), ("b", FunctionTransformer(np.square), [1, 2])]
    pipeline = make_pipeline(ColumnTransformer(twice), SelectKBest(f_regression, k=1), SVR())
    pipeline.fit(ramp, Y)
    values = pkex.Explainer(pipeline).shap_values(ramp)
    assert np.all(values[:, 1:] == 0.0)
    assert np.all(values[:, 0] != 0.0)


def predict_of(pipeline):
    return lambda rows: pipeline.predict(pd.DataFrame(rows, columns=NAMES))


def grouped(kernel, row, svr, groups):
    """The neutral game of players who have several of the model's columns, by brute force."""
    games = np.ones((2 ** len(groups), len(svr.support_)))
    for number, players in enumerate(coalitions(len(groups))):
        members = [column for player in players for column in groups[player]]
        if members:
            games[number] = kernel(row[None, members], svr.support_vectors_[:, members])
    return weighted_games(games, svr.dual_coef_[0], shapley_weights(len(groups)))


# --- encoders ---

CODES = np.round(np.abs(BASE) * 1.5)  # some categories in each column

# The encoder, and the kinds of column that it is given: codes in columns 0 and 5, else numbers.
ENCODERS = {
    "OneHotEncoder": OneHotEncoder(sparse_output=False),
    "OneHotEncoder sparse": OneHotEncoder(handle_unknown="ignore"),
    "OneHotEncoder drop": OneHotEncoder(drop="first", sparse_output=False),
    "OneHotEncoder infrequent": OneHotEncoder(
        min_frequency=8, handle_unknown="infrequent_if_exist", sparse_output=False
    ),
    "OrdinalEncoder": OrdinalEncoder(),
    "TargetEncoder": TargetEncoder(),
}
MIXED = BASE.copy()
MIXED[:, [0, 5]] = CODES[:, [0, 5]]
MIXED_FRAME = pd.DataFrame(MIXED, columns=NAMES).astype({"a": int, "f": int})


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_an_encoded_column_is_one_feature(encoder):
    transformer = ColumnTransformer(
        [("codes", encoder, ["a", "f"]), ("numbers", StandardScaler(), ["b", "c", "d", "e"])]
    )
    pipeline = make_pipeline(transformer, SVR()).fit(MIXED_FRAME, Y)
    explainer = pkex.Explainer(pipeline, MIXED_FRAME[:6])
    explanation = explainer(MIXED_FRAME.iloc[ROWS])
    assert explanation.feature_names == NAMES
    np.testing.assert_array_equal(explanation.data, MIXED[ROWS])
    for row, found in zip(MIXED[ROWS], explanation.values, strict=True):
        expected, _ = interventional(predict_of(pipeline), row, MIXED[:6])
        expected.assert_close(found)
    by_default = pkex.Explainer(pipeline)(MIXED_FRAME)
    total = by_default.values.sum(axis=1) + by_default.base_values
    np.testing.assert_allclose(total, pipeline.predict(MIXED_FRAME), rtol=0, atol=1e-11)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again(MIXED_FRAME.iloc[ROWS]).values, explanation.values)


def test_columns_that_a_target_encoder_makes_for_classes_are_one_feature():
    pipeline = make_pipeline(TargetEncoder(), SVC(decision_function_shape="ovo"))
    pipeline.fit(CODES, np.digitize(Y, [-0.5, 0.5]))
    values = pkex.Explainer(pipeline, CODES[:6]).shap_values(CODES[ROWS])
    for row, found in zip(CODES[ROWS], values, strict=True):
        expected, _ = interventional(pipeline.decision_function, row, CODES[:6])
        expected.assert_close(found)


def test_by_default_of_a_one_hot_column_drop_all_of_its_columns():
    encode = ColumnTransformer([("a", OneHotEncoder(), [0])], remainder="passthrough")
    pipeline = make_pipeline(encode, SVR()).fit(MIXED[:, :3], Y)
    svr, made = pipeline[-1], np.asarray(pipeline[:-1].transform(MIXED[ROWS, :3]))
    n_codes = made.shape[1] - 2
    groups = [list(range(n_codes)), [n_codes], [n_codes + 1]]
    kernel = functools.partial(rbf_kernel, gamma=svr._gamma)
    values = pkex.Explainer(pipeline, value_function="neutral").shap_values(MIXED[ROWS, :3])
    for row, found in zip(made, values, strict=True):
        grouped(kernel, row, svr, groups).assert_close(found)


def test_encoded_columns_may_be_grouped_with_others_and_have_gaps():
    gaps = MIXED[:, :4].copy()
    gaps[::5, 0] = np.nan
    encode = ColumnTransformer([("a", OneHotEncoder(), [0])], remainder="passthrough")
    pipeline = make_pipeline(encode, StandardScaler(with_mean=False), SVR()).fit(gaps, Y)
    explainer = pkex.Explainer(pipeline, gaps[:6], groups={"x": [0, 2]})
    for row, found in zip(gaps[ROWS], explainer.shap_values(gaps[ROWS]), strict=True):
        expected, _ = interventional(pipeline.predict, row, gaps[:6], groups=[[0, 2], [1], [3]])
        expected.assert_close(found)


def test_a_column_may_be_encoded_and_scaled():
    both = [("a", StandardScaler(), [0, 1]), ("b", OneHotEncoder(), [0])]
    for parts in (both, both[::-1]):
        pipeline = make_pipeline(ColumnTransformer(parts), SVR()).fit(MIXED[:, :2], Y)
        values = pkex.Explainer(pipeline, MIXED[:6, :2]).shap_values(MIXED[ROWS, :2])
        for row, found in zip(MIXED[ROWS, :2], values, strict=True):
            expected, _ = interventional(pipeline.predict, row, MIXED[:6, :2])
            expected.assert_close(found)


@pytest.mark.parametrize("place", [(0, 0), (2, 5), (28, 0)])
def test_an_unknown_category_is_an_error_that_names_its_place(place):
    steps = [("numbers", StandardScaler(), ["b"]), ("codes", OneHotEncoder(), ["f", "a"])]
    pipeline = make_pipeline(ColumnTransformer(steps), SVR()).fit(MIXED_FRAME, Y)
    rows = MIXED_FRAME[:30].copy()
    rows.iloc[place] = rows.iloc[29, 5] = 77
    row, column = place
    where = rf"77.0 in row {row}, column {column} \('{NAMES[column]}'\): .* OneHotEncoder .*remove"
    with pytest.raises(ValueError, match=f"X has the entry {where}"):
        pkex.Explainer(pipeline)(rows)
    with pytest.raises(ValueError, match=f"background has the entry {where}"):
        pkex.Explainer(pipeline, rows)


def test_a_missing_category_is_an_error_that_names_its_place():
    steps = [("numbers", StandardScaler(), ["b"]), ("codes", OneHotEncoder(), ["f"])]
    pipeline = make_pipeline(ColumnTransformer(steps), SVR()).fit(MIXED_FRAME, Y)
    rows = MIXED_FRAME[:9].astype(float)
    rows.iloc[4, 5] = np.nan
    for argument, explain in (
        ("X", pkex.Explainer(pipeline)),
        ("background", functools.partial(pkex.Explainer, pipeline)),
    ):
        message = rf"{argument} has a missing entry \(NaN\) in row 4, column 5 \('f'\).*fill"
        with pytest.raises(ValueError, match=message):
            explain(rows)


def number_encoded(encoder, numbers):
    frame = pd.DataFrame({"id": numbers, "a": BASE[: len(numbers), 1]})
    encode = ColumnTransformer([("id", encoder, ["id"])], remainder="passthrough")
    return make_pipeline(encode, SVR()).fit(frame, Y[: len(numbers)]), frame


ENCODER_CLASSES = [OneHotEncoder, OrdinalEncoder, TargetEncoder]
LARGE = np.array([2**53, 2**53 + 1, 2**53 + 2, 7])[np.arange(60) % 4]


@pytest.mark.parametrize("kind", ["int64", "uint64", "object"])
@pytest.mark.parametrize("encoder", ENCODER_CLASSES)
def test_encoders_of_numbers_that_floats_do_not_tell_apart_are_refused(encoder, kind):
    pipeline, _ = number_encoded(encoder(), LARGE.astype(kind))
    message = rf"{encoder.__name__} of the numbers in column 'id'.*2\*\*53.*astype\(str\)"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(pipeline)


@pytest.mark.parametrize("kind", ["int64", "uint64", "object"])
def test_numbers_that_floats_do_not_tell_apart_are_refused_where_an_encoder_gets_them(kind):
    for used_twice in (False, True):
        known = np.array([1, 2, 3])[np.arange(60) % 3]
        pipeline, frame = number_encoded(OneHotEncoder(handle_unknown="ignore"), known)
        if used_twice:
            both = [("n", StandardScaler(), ["id"]), ("id", OneHotEncoder(), ["id"])]
            pipeline = make_pipeline(ColumnTransformer(both), SVR()).fit(frame, Y[:60])
        rows = frame.astype({"id": kind})
        rows.loc[5, "id"] = 2**53 + 1
        for argument, explain in (
            ("X", pkex.Explainer(pipeline)),
            ("background", functools.partial(pkex.Explainer, pipeline)),
        ):
            message = rf"{argument} has the entry 90071992.* in row 5, column 0 \('id'\): .*astype"
            with pytest.raises(ValueError, match=message):
                explain(rows)


@pytest.mark.parametrize("numbers", [[3, 1, 2], [True, False], [0.5, -1.0], [1, None]], ids=repr)
@pytest.mark.parametrize("encoder", ENCODER_CLASSES)
def test_an_encoder_fitted_on_objects_that_are_numbers_is_explained(encoder, numbers):
    objects = np.array(numbers, dtype=object)[np.arange(60) % len(numbers)]
    pipeline, frame = number_encoded(encoder(), pd.Series(objects, dtype=object))
    explanation = pkex.Explainer(pipeline, frame[:7])(frame)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(frame), rtol=0, atol=1e-11)
    assert np.ptp(explanation.values[:, 0]) > 1e-4


def test_encoders_of_decimals_that_no_float_is_equal_to_are_refused():
    tenths = np.array([Decimal("0.1"), Decimal("0.2"), Decimal("0.5")])[np.arange(60) % 3]
    pipeline, _ = number_encoded(OneHotEncoder(), tenths)
    with pytest.raises(pkex.UnsupportedModelError, match=r"OneHotEncoder of the numbers .*'id'"):
        pkex.Explainer(pipeline)


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_encoders_of_dates_are_refused_by_name(unit):
    days = np.array(["2020-01-01", "2021-01-01"], dtype=f"datetime64[{unit}]")[np.arange(60) % 2]
    pipeline, _ = number_encoded(OneHotEncoder(handle_unknown="ignore"), days)
    with pytest.raises(pkex.UnsupportedModelError, match=r"OneHotEncoder of the dates .*'id'"):
        pkex.Explainer(pipeline)


# --- strings ---

SHOP = pd.DataFrame(
    {
        "order": [f"no. {number}" for number in range(len(BASE))],
        "colour": np.array(["red", "green", "blue"])[CODES[:, 0].astype(int) % 3],
        "weight": BASE[:, 1],
        "size": np.array(["S", "M", "L"])[CODES[:, 5].astype(int) % 3],
        "day": pd.date_range("2020-02-27", periods=len(BASE)),
    }
)
GAPS = SHOP.copy()
GAPS.loc[::6, "colour"] = None
GAPS.loc[::11, "weight"] = np.nan
SIZES = OrdinalEncoder(
    categories=[["S", "M", "L"]], handle_unknown="use_encoded_value", unknown_value=-1
)
FILLED = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
NUMBER = ("weight", make_pipeline(SimpleImputer(), StandardScaler()), ["weight"])

# name: (the steps for colours and sizes, what they were fitted on)
STRINGS = {
    "OneHotEncoder": (OneHotEncoder(handle_unknown="ignore"), OneHotEncoder(drop="first"), SHOP),
    "OrdinalEncoder": (OrdinalEncoder(), SIZES, SHOP),
    "TargetEncoder": (TargetEncoder(), TargetEncoder(), SHOP),
    "infrequent": (OneHotEncoder(max_categories=2), OrdinalEncoder(max_categories=2), SHOP),
    "missing as a category": (OneHotEncoder(), OneHotEncoder(), GAPS),
    "filled": (FILLED, SIZES, GAPS),
}


def with_strings(name, model=None, remainder="drop"):
    colours, sizes, data = STRINGS[name]
    steps = [("colour", colours, ["colour"]), NUMBER, ("size", sizes, ["size"])]
    transformer = ColumnTransformer(steps, remainder=remainder)
    return make_pipeline(transformer, SVR() if model is None else model).fit(data, Y), data


def typed(rows):
    """A frame of the columns' own kinds, of rows of objects."""
    return pd.DataFrame(rows, columns=list(SHOP)).astype({"weight": float})


def assert_interventional(pipeline, explainer, background, rows, groups=None):
    players = [[0], [1], [2], [3], [4]] if groups is None else groups
    for row, found in zip(rows.to_numpy(object), explainer.shap_values(rows), strict=True):
        expected, base = interventional(
            lambda rows: pipeline.predict(typed(rows)),
            row,
            background.to_numpy(object),
            None,
            players,
        )
        expected.assert_close(found)
        assert explainer.expected_value == pytest.approx(base, abs=1e-12)


@pytest.mark.parametrize("name", STRINGS)
def test_columns_of_strings_are_explained_as_they_are(name):
    pipeline, data = with_strings(name)
    explainer = pkex.Explainer(pipeline, data[:6])
    assert_interventional(pipeline, explainer, data[:6], data.iloc[ROWS[:2]])
    explanation = pkex.Explainer(pipeline)(data)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(data), rtol=0, atol=1e-11)
    assert explanation.feature_names == list(SHOP)
    assert np.all(np.any(explanation.values[:, 1:4] != 0.0, axis=0))
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(
        again.shap_values(data.iloc[ROWS]), explainer.shap_values(data.iloc[ROWS])
    )


@pytest.mark.parametrize("name", ["OneHotEncoder", "filled"])
def test_by_default_of_a_column_of_strings_drop_all_that_is_made_of_it(name):
    pipeline, data = with_strings(name)
    svr, made = pipeline[-1], pipeline[:-1].transform(data.iloc[ROWS])
    names = [found.partition("__")[0] for found in pipeline[0].get_feature_names_out()]
    groups = [[j for j, own in enumerate(names) if own == n] for n in ("colour", "weight", "size")]
    kernel = functools.partial(rbf_kernel, gamma=svr._gamma)
    values = pkex.Explainer(pipeline, value_function="neutral").shap_values(data.iloc[ROWS])
    assert np.all(values[:, [0, 4]] == 0.0)
    for row, found in zip(np.asarray(made), values, strict=True):
        grouped(kernel, row, svr, groups).assert_close(found[1:4])


def test_the_data_of_an_explanation_are_the_strings():
    pipeline, data = with_strings("filled")
    explanation = pkex.Explainer(pipeline)(data)
    assert explanation.data[1].tolist() == data.iloc[1].tolist()
    assert pd.isna(explanation.data[0, 1])
    shown = pkex.Explainer(pipeline, groups={"look": ["colour", "size"]})(data).data
    assert shown[1, 1] == f"{data['colour'][1]}, {data['size'][1]}"


def test_equal_strings_in_any_container_give_equal_bits():
    pipeline, data = with_strings("OneHotEncoder")
    explainer = pkex.Explainer(pipeline)
    values = explainer.shap_values(data)
    polars = pl.DataFrame({name: data[name].tolist() for name in data})
    categorical = data.astype({"colour": "category", "size": "category"})
    objects = data.to_numpy(object)
    for rows in (polars, categorical, data.astype(object), objects, objects.tolist()):
        np.testing.assert_array_equal(explainer.shap_values(rows), values)


@pytest.mark.parametrize("fit_on", ["polars", "objects"])
def test_pipelines_fitted_on_strings_in_other_tables_are_explained(fit_on):
    data = SHOP.drop(columns="day")
    polars = pl.DataFrame({name: data[name].tolist() for name in data})
    rows = polars if fit_on == "polars" else data.to_numpy(object)
    transformer = ColumnTransformer([("a", OneHotEncoder(), [1, 3]), ("b", StandardScaler(), [2])])
    pipeline = make_pipeline(transformer, SVR()).fit(rows, Y)
    explanation = pkex.Explainer(pipeline, rows[:5])(rows)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(rows), rtol=0, atol=1e-11)


def test_unknown_categories_are_what_the_encoder_makes_of_them():
    rows = SHOP.iloc[ROWS].copy()
    rows["colour"] = ["mauve", "red", "taupe", "blue"]
    for name in ("OneHotEncoder", "TargetEncoder"):
        pipeline, data = with_strings(name)
        assert_interventional(pipeline, pkex.Explainer(pipeline, data[:6]), data[:6], rows)
    pipeline, _ = with_strings("OrdinalEncoder")
    for explainer in (pkex.Explainer(pipeline), pkex.Explainer(pipeline, SHOP[:6])):
        with pytest.raises(
            ValueError, match=r"X has the entry 'mauve' in row 0, column 1 \('colour'\): "
        ):
            explainer(rows)


def test_strings_in_columns_of_numbers_are_refused_with_their_place():
    pipeline, data = with_strings("OneHotEncoder")
    rows = data.astype(object)
    rows.loc[3, "weight"] = "heavy"
    with pytest.raises(TypeError, match=r"'heavy' \(str\) in row 3, column 2 \('weight'\)"):
        pkex.Explainer(pipeline)(rows)
    with pytest.raises(TypeError, match=r"background must .*'heavy' \(str\) in row 3, column 2"):
        pkex.Explainer(pipeline, rows)


def test_masked_entries_in_columns_of_strings_are_refused_with_their_place():
    pipeline, data = with_strings("OneHotEncoder")
    rows = np.ma.masked_array(data.to_numpy(object), mask=np.zeros(data.shape, bool))
    assert np.isfinite(pkex.Explainer(pipeline).shap_values(rows)).all()
    rows.mask[4, 1] = True
    with pytest.raises(ValueError, match="X has a masked entry in row 4, column 1"):
        pkex.Explainer(pipeline)(rows)


@pytest.mark.parametrize("drop", ["remainder", "by name"])
def test_columns_that_are_dropped_may_hold_anything_and_have_the_value_zero(drop):
    steps = [("weight", StandardScaler(), ["weight"])]
    if drop == "by name":
        steps.append(("rest", "drop", ["order", "colour", "size", "day"]))
    pipeline = make_pipeline(ColumnTransformer(steps), SVR()).fit(SHOP, Y)
    explanation = pkex.Explainer(pipeline, SHOP[:6])(SHOP)
    assert np.all(explanation.values[:, [0, 1, 3, 4]] == 0.0)
    assert explanation.data[0, 0] == "no. 0"
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, pipeline.predict(SHOP), rtol=0, atol=1e-11)


def test_columns_of_strings_act_in_groups_and_behind_other_models():
    pipeline, data = with_strings("filled")
    groups = {"look": ["colour", "size"], "parcel": ["order", "weight"]}
    explainer = pkex.Explainer(pipeline, data[:6], groups=groups)
    assert explainer.feature_names == ["parcel", "look", "day"]
    assert_interventional(
        pipeline, explainer, data[:6], data.iloc[ROWS[:2]], groups=[[0, 2], [1, 3], [4]]
    )
    other, _ = with_strings("missing as a category")
    for model in (
        GridSearchCV(pipeline, {"svr__C": [1.0, 10.0]}, cv=2),
        TransformedTargetRegressor(pipeline, transformer=StandardScaler()),
        VotingRegressor([("a", pipeline), ("b", other)]),
    ):
        model.fit(GAPS, Y)
        assert_interventional(model, pkex.Explainer(model, GAPS[:6]), GAPS[:6], GAPS.iloc[ROWS[:2]])


def test_strings_that_reach_a_model_by_way_of_another_are_refused():
    pipeline, data = with_strings("OneHotEncoder")
    first = ColumnTransformer([("all", "passthrough", list(SHOP))]).set_output(transform="pandas")
    first.set_params(verbose_feature_names_out=False)
    outer = make_pipeline(first, pipeline).fit(data, Y)
    with pytest.raises(pkex.UnsupportedModelError, match="encode the strings in the first step"):
        pkex.Explainer(outer)


def test_shap_draws_columns_of_strings():
    plt = pytest.importorskip("matplotlib.pyplot")
    shap = pytest.importorskip("shap")
    pipeline, data = with_strings("OneHotEncoder")
    explanation = pkex.Explainer(pipeline)(data).to_shap()
    for draw in (shap.plots.beeswarm, shap.plots.bar, shap.plots.heatmap):
        draw(explanation, show=False)
        plt.close("all")
    shap.plots.waterfall(explanation[0], show=False)
    plt.close("all")
    if not shap.__version__.startswith("0.46."):  # which subtracts neighbouring entries
        shap.plots.scatter(explanation[:, "colour"], show=False)
        plt.close("all")


def test_a_pipeline_without_a_model_is_refused():
    pipeline = make_pipeline(StandardScaler(), "passthrough").fit(X)
    with pytest.raises(pkex.UnsupportedModelError, match="Pipeline without a model"):
        pkex.Explainer(pipeline)


def test_a_pipeline_of_unsupported_models_names_the_model():
    with pytest.raises(pkex.UnsupportedModelError, match="SVR with kernel 'sigmoid'"):
        pkex.Explainer(make_pipeline(StandardScaler(), SVR(kernel="sigmoid")).fit(X, Y))
    with pytest.raises(pkex.UnsupportedModelError, match="Ridge is not supported"):
        pkex.Explainer(make_pipeline(StandardScaler(), Ridge()).fit(X, Y))


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
    expansion = pkex.KernelExpansion(BASE[:, :3], Y, pkex.kernels.RBF())
    with pytest.raises(pkex.UnsupportedModelError, match="do not act on each column alone"):
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
