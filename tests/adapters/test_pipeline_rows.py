"""Rows of Pipelines: any table, any scale, and missing entries where a step fills them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from brute_force import assert_explained
from pipelines import (
    BASE,
    FRAME,
    MISSING,
    NAMES,
    POSITIVE,
    ROWS,
    STEPS,
    D,
    X,
    Y,
    fitted,
    predict_of,
)
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVR

import pkex

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
    explainer = pkex.Explainer(pipeline, FRAME[:4])
    assert_explained(explainer, predict_of(pipeline), FRAME.iloc[ROWS], X[:4])


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
    assert_explained(pkex.Explainer(pipeline, rows[:4]), pipeline.predict, rows[ROWS], rows[:4])


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_rows_that_a_step_takes_out_of_range_are_refused_with_their_place():
    pipeline = make_pipeline(StandardScaler(), SVR()).fit(1e-5 * BASE, Y)
    rows = BASE[:5].copy()
    rows[3, 1] = 1e305
    with pytest.raises(ValueError, match=r"X has the value 1e\+305 in row 3, column 1, .* inf;"):
        pkex.Explainer(pipeline)(rows)
    with pytest.raises(ValueError, match=r"background has the value 1e\+305 in row 3, column 1"):
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


@pytest.mark.parametrize(
    "step",
    [
        SimpleImputer(add_indicator=True),
        make_pipeline(SimpleImputer(add_indicator=True, strategy="median"), MaxAbsScaler()),
        MissingIndicator(),
        MissingIndicator(features="all"),
        FeatureUnion([("fill", SimpleImputer()), ("is", MissingIndicator()), ("no", "drop")]),
        ColumnTransformer(
            [
                ("fill", SimpleImputer(add_indicator=True), [4, 1]),
                ("scaled", StandardScaler(), [0, 2]),
                ("is", MissingIndicator(features="all"), [1, 5]),
            ]
        ),
    ],
    ids=str,
)
def test_indicators_of_missing_entries_belong_to_their_columns(step):
    rows = X.copy()
    rows[::3, 1] = rows[1::4, 4] = rows[::5, 5] = np.nan
    rows[0, :1] = rows[7, 2] = 0.5
    pipeline = make_pipeline(step, SVR(gamma=0.3)).fit(rows, Y + 2.0 * np.isnan(rows[:, 1]))
    explainer = pkex.Explainer(pipeline, rows[:6])
    assert_explained(explainer, pipeline.predict, rows[[0, 5, 9, 15]], rows[:6])
    # Without a background, what is made of a column stays together.
    values = pkex.Explainer(pipeline)(rows)
    total = values.values.sum(axis=1) + values.base_values
    np.testing.assert_allclose(total, pipeline.predict(rows), atol=1e-10)


def test_a_function_of_one_number_is_a_step_as_a_ufunc():
    squared = FunctionTransformer(np.frompyfunc(lambda x: x * abs(x), 1, 1))
    pipeline = make_pipeline(squared, StandardScaler(), SVR()).fit(X, Y)
    assert_explained(pkex.Explainer(pipeline, X[:5]), pipeline.predict, X[:2], X[:5])


def test_missing_entries_that_no_step_fills_are_refused_with_their_place():
    pipeline, _ = fitted("StandardScaler")
    with pytest.raises(ValueError, match=r"missing value \(NaN\) in row 0, column 1.*fill"):
        pkex.Explainer(pipeline)(MISSING)
    pipeline = make_pipeline(StandardScaler(), SVR()).fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"missing value \(NaN\) in row 0, column 'b'"):
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
    with pytest.raises(ValueError, match=r"infinite value \(inf\) in row 2, column 3"):
        pkex.Explainer(pipeline)(rows)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_entries_that_a_step_is_not_defined_for_are_refused_with_their_place():
    pipeline, _ = fitted("function")
    rows = POSITIVE.copy()
    rows[3, 2] = -1.0
    with pytest.raises(ValueError, match=r"X has the value -1.0 in row 3, column 2, which .* nan"):
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
