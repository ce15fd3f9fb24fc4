"""Encoders of a Pipeline: all that is made of a column is one feature."""

import functools
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from pipelines import BASE, CODES, FRAME, NAMES, ROWS, X, Y, grouped, predict_of
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR

import pkex


def test_a_column_used_twice_is_one_feature():
    twice = [("a", StandardScaler(), ["b", "c"]), ("b", MinMaxScaler(), ["e", "b"])]
    pipeline = make_pipeline(ColumnTransformer(twice), SVR()).fit(FRAME, Y)
    explainer = pkex.Explainer(pipeline, FRAME[:6])
    values = explainer.shap_values(FRAME.iloc[ROWS])
    assert np.all(values[:, [0, 3, 5]] == 0.0)
    assert_explained(explainer, predict_of(pipeline), FRAME.iloc[ROWS], X[:6])
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
    assert_explained(explainer, predict_of(pipeline), MIXED_FRAME.iloc[ROWS], MIXED[:6])
    by_default = pkex.Explainer(pipeline)(MIXED_FRAME)
    total = by_default.values.sum(axis=1) + by_default.base_values
    np.testing.assert_allclose(total, pipeline.predict(MIXED_FRAME), rtol=0, atol=1e-11)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again(MIXED_FRAME.iloc[ROWS]).values, explanation.values)


def test_columns_that_a_target_encoder_makes_for_classes_are_one_feature():
    pipeline = make_pipeline(TargetEncoder(), SVC(decision_function_shape="ovo"))
    pipeline.fit(CODES, np.digitize(Y, [-0.5, 0.5]))
    explainer = pkex.Explainer(pipeline, CODES[:6])
    assert_explained(explainer, pipeline.decision_function, CODES[ROWS], CODES[:6])


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
    groups = [[0, 2], [1], [3]]
    assert_explained(explainer, pipeline.predict, gaps[ROWS], gaps[:6], groups=groups)


def test_a_column_may_be_encoded_and_scaled():
    both = [("a", StandardScaler(), [0, 1]), ("b", OneHotEncoder(), [0])]
    for parts in (both, both[::-1]):
        pipeline = make_pipeline(ColumnTransformer(parts), SVR()).fit(MIXED[:, :2], Y)
        explainer = pkex.Explainer(pipeline, MIXED[:6, :2])
        assert_explained(explainer, pipeline.predict, MIXED[ROWS, :2], MIXED[:6, :2])


@pytest.mark.parametrize("place", [(0, 0), (2, 5), (28, 0)])
def test_an_unknown_category_is_an_error_that_names_its_place(place):
    steps = [("numbers", StandardScaler(), ["b"]), ("codes", OneHotEncoder(), ["f", "a"])]
    pipeline = make_pipeline(ColumnTransformer(steps), SVR()).fit(MIXED_FRAME, Y)
    rows = MIXED_FRAME[:30].copy()
    rows.iloc[place] = rows.iloc[29, 5] = 77
    row, column = place
    where = rf"77.0 in row {row}, column '{NAMES[column]}': .* OneHotEncoder .*Remove"
    with pytest.raises(ValueError, match=f"X has the value {where}"):
        pkex.Explainer(pipeline)(rows)
    with pytest.raises(ValueError, match=f"background has the value {where}"):
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
        message = rf"{argument} has a missing value \(NaN\) in row 4, column 'f'.*fill"
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
            message = rf"{argument} has the value 90071992.* in row 5, column 'id': .*astype"
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
