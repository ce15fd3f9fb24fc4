"""What a background may be, and what is said to one that is none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute_force import assert_explained
from explainable_functions import ROWS, WEIGHTS, D, X, Y, Z
from explainable_models import fitted
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pkex

NAMES = ["age", "bmi", "bp", "s1", "s2"]


# --- what a background may be ---

CONTAINERS = {
    "list": np.ndarray.tolist,
    "Fortran order": np.asfortranarray,
    "pandas": lambda a: pd.DataFrame(a, columns=NAMES),
    "polars": lambda a: pl.DataFrame(a, schema=NAMES),
    "sparse": sparse.csr_array,
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
}


@pytest.mark.parametrize("convert", CONTAINERS.values(), ids=CONTAINERS)
def test_equal_backgrounds_in_any_container_give_equal_bits(convert):
    model, _ = fitted("SVR")
    expected = pkex.Explainer(model, Z)
    found = pkex.Explainer(model, convert(Z))
    np.testing.assert_array_equal(found.shap_values(ROWS), expected.shap_values(ROWS))
    assert found.expected_value == expected.expected_value


def test_summaries_and_maskers_of_shap_are_backgrounds():
    shap = pytest.importorskip("shap")
    model, _ = fitted("SVR")
    summary = shap.kmeans(X, 6)
    expected = pkex.Explainer(model, summary.data, background_weights=summary.weights)
    np.testing.assert_array_equal(
        pkex.Explainer(model, summary).shap_values(ROWS), expected.shap_values(ROWS)
    )
    expected = pkex.Explainer(model, X).shap_values(ROWS)
    for masker in (shap.maskers.Independent(X), shap.maskers.Partition(X)):
        np.testing.assert_array_equal(pkex.Explainer(model, masker).shap_values(ROWS), expected)
    with pytest.raises(TypeError, match=r"background must be rows.*got shap's Impute"):
        pkex.Explainer(model, shap.maskers.Impute(X))
    with pytest.raises(ValueError, match="background has weights of its own"):
        pkex.Explainer(model, summary, background_weights=np.ones(6))
    named = SVR().fit(pd.DataFrame(X, columns=NAMES), Y)
    other = pd.DataFrame(X, columns=NAMES[::-1])
    for background in (shap.kmeans(other, 4), shap.maskers.Independent(other)):
        with pytest.raises(ValueError, match="background has its columns in another order"):
            pkex.Explainer(named, background)


def test_the_background_may_have_gaps_that_a_step_fills():
    model = make_pipeline(SimpleImputer(), StandardScaler(), SVR()).fit(X, Y)
    gaps = Z.copy()
    gaps[0, 1] = gaps[3, 2] = np.nan
    assert_explained(pkex.Explainer(model, gaps), model.predict, ROWS[:1], gaps)


def test_the_background_names_columns_that_the_model_does_not():
    frame = pd.DataFrame(Z, columns=NAMES)
    model, _ = fitted("SVR")
    explainer = pkex.Explainer(model, frame)
    assert explainer(ROWS).feature_names == NAMES
    with pytest.raises(ValueError, match="another order than the background"):
        explainer(pd.DataFrame(ROWS, columns=NAMES[::-1]))


def test_changing_the_background_later_changes_nothing():
    model, _ = fitted("SVR")
    rows = Z.copy()
    explainer = pkex.Explainer(model, rows)
    before = explainer.shap_values(ROWS)
    rows += 1.0
    np.testing.assert_array_equal(explainer.shap_values(ROWS), before)


def test_a_large_background_is_used_as_a_whole():
    model, output = fitted("SVR")
    large = np.random.default_rng(1).normal(size=(3000, D))
    explainer = pkex.Explainer(model, large)
    assert explainer.expected_value == pytest.approx(output(large).mean(), rel=1e-12)
    assert "background of 3000 rows" in repr(explainer)


# --- bad input ---


def with_entry(value):
    rows = Z.copy()
    rows[2, 3] = value
    return rows


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"value_function": "interventional"}, ValueError, "Pass these by background=Z"),
        ({"background_weights": [1.0]}, ValueError, "was given without the background"),
        (
            {"background": Z, "value_function": "neutral"},
            ValueError,
            "'neutral' does not use a background.*Omit background",
        ),
        ({"background": Z, "value_function": "mean"}, ValueError, "must be one of 'neutral'"),
        ({"background": Z[0]}, ValueError, r"background must be two-dim.*background\.reshape"),
        ({"background": Z[:, :2]}, ValueError, "background has the wrong number of columns.*5"),
        ({"background": Z[:0]}, ValueError, r"background is empty: got shape \(0, 5\)"),
        ({"background": "train"}, TypeError, "background must hold real numbers"),
        (
            {"background": with_entry(np.nan)},
            ValueError,
            "background has a missing value .* in row 2, column 3",
        ),
        (
            {"background": with_entry(np.inf)},
            ValueError,
            "background has an infinite value .* in row 2, column 3",
        ),
        (
            {"background": Z, "background_weights": [1.0, 2.0]},
            ValueError,
            r"background_weights must have shape \(7,\)",
        ),
        (
            {"background": Z, "background_weights": np.ones((7, 1))},
            ValueError,
            r"background_weights must have shape \(7,\).*got shape \(7, 1\)",
        ),
        (
            {"background": Z, "background_weights": -WEIGHTS},
            ValueError,
            "must not be negative; got -1.0 in row 0",
        ),
        (
            {"background": Z, "background_weights": 0.0 * WEIGHTS},
            ValueError,
            "background_weights must not all be zero",
        ),
        (
            {"background": Z, "background_weights": np.where(WEIGHTS == 4.0, np.nan, 1.0)},
            ValueError,
            "background_weights has a missing value .* in row 6",
        ),
        ({"background": Z, "background_weights": ["a"] * 7}, TypeError, "background_weights must"),
    ],
)
def test_a_bad_background_is_answered_with_what_is_wrong(options, error, message):
    model, _ = fitted("SVR")
    with pytest.raises(error, match=message):
        pkex.Explainer(model, **options)


def test_a_background_of_other_columns_is_answered_with_their_names():
    model = SVR().fit(pd.DataFrame(X, columns=NAMES), Y)
    with pytest.raises(ValueError, match=r"background has other .*missing \['s2'\].*\['s9'\]"):
        pkex.Explainer(model, pd.DataFrame(Z, columns=[*NAMES[:4], "s9"]))


def test_a_gap_that_no_step_fills_is_answered_with_its_place():
    model = make_pipeline(StandardScaler(), SVR()).fit(X, Y)
    with pytest.raises(ValueError, match=r"background has a missing .* row 2, column 3"):
        pkex.Explainer(model, with_entry(np.nan))
