"""Columns of strings, which an encoder of a Pipeline gets."""

import functools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute_force import assert_explained
from pipelines import BASE, CODES, ROWS, Y, grouped
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import VotingRegressor
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVR

import pkex

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
GAPS.loc[::6, "colour"] = np.nan
GAPS.loc[::11, "weight"] = np.nan
SIZES = OrdinalEncoder(
    categories=[["S", "M", "L"]], handle_unknown="use_encoded_value", unknown_value=-1
)
FILLED = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
MARKED = SimpleImputer(strategy="most_frequent", add_indicator=True)
# Indicators before what is filled, and beside what is encoded, where "S" stands for a gap.
UNION = FeatureUnion(
    [("is", MissingIndicator()), ("fill", SimpleImputer(strategy="constant", fill_value="none"))]
)
BESIDE = FeatureUnion([("code", OrdinalEncoder()), ("is", MissingIndicator(missing_values="S"))])
NUMBER = ("weight", make_pipeline(SimpleImputer(), StandardScaler()), ["weight"])

# name: (the steps for colours and sizes, what they were fitted on)
STRINGS = {
    "OneHotEncoder": (OneHotEncoder(handle_unknown="ignore"), OneHotEncoder(drop="first"), SHOP),
    "OrdinalEncoder": (OrdinalEncoder(), SIZES, SHOP),
    "TargetEncoder": (TargetEncoder(), TargetEncoder(), SHOP),
    "infrequent": (OneHotEncoder(max_categories=2), OrdinalEncoder(max_categories=2), SHOP),
    "missing as a category": (OneHotEncoder(), OneHotEncoder(), GAPS),
    "filled": (FILLED, SIZES, GAPS),
    "filled and marked": (make_pipeline(MARKED, OneHotEncoder()), SIZES, GAPS),
    "marked and filled": (make_pipeline(UNION, OneHotEncoder()), BESIDE, GAPS),
    "marked, as targets": (make_pipeline(MARKED, TargetEncoder()), BESIDE, GAPS),
    "marked alone": (MissingIndicator(), MissingIndicator(missing_values="S"), GAPS),
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
    def output(rows):
        return pipeline.predict(typed(rows))

    assert_explained(explainer, output, rows, background, groups=groups)


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
            ValueError, match=r"X has the value 'mauve' in row 0, column 'colour': "
        ):
            explainer(rows)


def test_strings_in_columns_of_numbers_are_refused_with_their_place():
    pipeline, data = with_strings("OneHotEncoder")
    rows = data.astype(object)
    rows.loc[3, "weight"] = "heavy"
    with pytest.raises(TypeError, match=r"'heavy' \(str\) in row 3, column 'weight'"):
        pkex.Explainer(pipeline)(rows)
    with pytest.raises(TypeError, match=r"background must .*'heavy' .* row 3, column 'weight'"):
        pkex.Explainer(pipeline, rows)


def test_masked_entries_in_columns_of_strings_are_refused_with_their_place():
    pipeline, data = with_strings("OneHotEncoder")
    rows = np.ma.masked_array(data.to_numpy(object), mask=np.zeros(data.shape, bool))
    assert np.isfinite(pkex.Explainer(pipeline).shap_values(rows)).all()
    rows.mask[4, 1] = True
    with pytest.raises(ValueError, match="X has a masked value in row 4, column 1"):
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
