"""Bad input: a clear error that names the argument, the place and the remedy, and nothing else."""

import datetime as dt
import functools
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import pkex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
NAMES = ["age", "bmi", "bp"]
Y = X.sum(axis=1)
ROWS = RNG.normal(size=(4, 3))


@pytest.fixture
def explainer():
    return pkex.Explainer(SVR().fit(X, Y))


@pytest.fixture
def named_explainer():
    return pkex.Explainer(SVR().fit(pd.DataFrame(X, columns=NAMES), Y))


def with_entry(value, dtype=np.float64):
    rows = ROWS.astype(dtype)
    rows[2, 1] = value
    return rows


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_the_place_of_a_missing_or_infinite_entry_is_named(explainer, value, word, dtype):
    message = f"X has .*{word}.* in row 2, column 1\\. "
    for explain in (explainer, explainer.shap_values):
        with pytest.raises(ValueError, match=message):
            explain(with_entry(value, dtype))
    with pytest.raises(ValueError, match=message):
        explainer(sparse.csr_matrix(with_entry(value)))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(with_entry(np.nan), columns=NAMES),
        pd.DataFrame(with_entry(np.nan), columns=NAMES).convert_dtypes(),
        pd.DataFrame(with_entry(None, object), columns=NAMES),
        pd.DataFrame(with_entry(pd.NA, object), columns=NAMES),
        pl.DataFrame(with_entry(np.nan), schema=NAMES),
        pl.DataFrame(with_entry(np.nan), schema=NAMES).fill_nan(None),
        pl.DataFrame(with_entry(np.nan), schema=NAMES).cast({"bmi": pl.Float32}),
    ],
)
def test_the_column_of_a_missing_entry_is_named_as_the_frame_names_it(explainer, frame):
    with pytest.raises(ValueError, match=r"NaN.*row 2, column 'bmi'"):
        explainer(frame)


def test_the_column_of_a_missing_entry_is_named_as_the_model_names_it(named_explainer):
    with pytest.raises(ValueError, match=r"row 2, column 'bmi'"):
        named_explainer(with_entry(np.nan))


def test_further_missing_entries_are_counted(explainer):
    with pytest.raises(ValueError, match="row 0, column 0, and 11 more such values"):
        explainer(np.full((4, 3), np.nan))


def test_large_finite_numbers_are_none_of_these(explainer):
    explainer(np.full((2, 3), 1.7e308))


def test_masked_entries_are_refused_with_their_place(explainer):
    with pytest.raises(ValueError, match="masked value in row 2, column 1"):
        explainer(np.ma.masked_invalid(with_entry(np.nan)))


@pytest.mark.parametrize(
    "rows",
    [ROWS[:, :2], ROWS[:, :2].tolist(), sparse.csr_matrix(ROWS[:, :2]), pd.DataFrame(ROWS[:, :2])],
)
def test_a_wrong_number_of_columns_is_answered_with_expected_and_got(explainer, rows):
    with pytest.raises(ValueError, match="X has the wrong number of columns: expected 3, got 2"):
        explainer(rows)


def test_a_row_of_a_frame_is_told_how_to_be_a_table_and_that_is_right(named_explainer):
    frame = pd.DataFrame(ROWS, columns=NAMES)
    row = frame.iloc[0]
    with pytest.raises(ValueError, match=r"a Series of length 3\. Give .* if it is") as error:
        named_explainer(row)
    assert _remedy(error) == "X.to_frame().T"
    values = named_explainer(row.to_frame().T).values
    np.testing.assert_array_equal(values, named_explainer(frame[:1]).values)
    model = SVR().fit(frame, np.arange(4.0))
    with pytest.raises(ValueError, match=r"background\.to_frame\(\)\.T if it is one row"):
        pkex.Explainer(model, background=frame.mean())
    pkex.Explainer(model, background=frame.mean().to_frame().T)


@pytest.mark.parametrize(
    ("row", "remedy"),
    [
        (pd.Series(["Lima", 1.0, 2.0]), "X.to_frame().T"),
        (np.array(["Lima", 1.0, 2.0], dtype=object), "X.reshape(1, -1)"),
        (["Lima", 1.0, 2.0], "np.reshape(X, (1, -1))"),
    ],
)
def test_the_shape_of_a_row_comes_before_its_strings(explainer, row, remedy):
    with pytest.raises(ValueError, match=f"{re.escape(remedy)} if it is one row"):
        explainer(row)


def test_columns_as_series_are_told_how_to_be_samples():
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.raises(ValueError, match=r"X\.to_frame\(\) if it is one column"):
        pkex.mmd(frame.age, frame.bmi)
    with pytest.raises(ValueError, match=r"Give X\.to_frame\(\) if it is one column$"):
        pkex.mmd(pl.Series(X[:, 0]), pl.Series(X[:, 1]))


def _remedy(error):
    return str(error.value).split("Give ")[1].split(" if")[0]


@pytest.mark.parametrize("rows", [ROWS[0], ROWS[0].tolist(), (1, 2, 3)])
def test_one_dimensional_rows_are_answered_with_how_to_reshape_them(explainer, rows):
    message = (
        r"X must be two-dimensional.*got shape \(3,\)\. Give .* if it is one row, or .* column"
    )
    with pytest.raises(ValueError, match=message) as error:
        explainer(rows)
    assert eval(_remedy(error), {"X": rows, "np": np}).shape == (1, 3)


@pytest.mark.parametrize("rows", [ROWS[None], np.array(1.0), 1.0], ids=["3-d", "0-d", "number"])
def test_other_dimensions_are_named(explainer, rows):
    with pytest.raises(ValueError, match=r"X must be two-dimensional.*got shape \("):
        explainer(rows)


@pytest.mark.parametrize(
    "rows",
    [
        np.empty((0, 3)),
        np.empty((4, 0)),
        np.empty((0, 0)),
        [[]],
        pd.DataFrame(columns=NAMES, dtype=float),
        pl.DataFrame(),
        sparse.csr_matrix((0, 3)),
    ],
)
def test_empty_rows_are_answered_with_their_shape(explainer, rows):
    with pytest.raises(ValueError, match=r"X is empty: got shape \("):
        explainer(rows)


@pytest.mark.parametrize("rows", [pd.DataFrame(index=range(4)), pl.DataFrame()])
def test_a_frame_without_columns_is_empty_whatever_names_are_expected(named_explainer, rows):
    with pytest.raises(ValueError, match=r"X is empty: got shape \("):
        named_explainer(rows)


def test_an_empty_list_is_answered_with_its_shape(explainer):
    with pytest.raises(ValueError, match=r"got shape \(0,\)"):
        explainer([])


@pytest.mark.parametrize(
    ("rows", "got"),
    [
        (ROWS.astype(str), "strings"),
        (ROWS.astype(bytes), "strings"),
        ([["a", "b", "c"]], "strings"),
        (ROWS.astype(complex), "complex numbers"),
        ([[1j, 1, 2]], "complex numbers"),
        (ROWS.astype("datetime64[s]"), "dates"),
        (np.zeros(4, dtype=[("a", float)]), "records"),
        (with_entry("a", object), r"'a' \(str\) in row 2, column 1"),
        (with_entry("1.5", object), r"'1.5' \(str\) in row 2, column 1"),
        (with_entry(1j, object), r"1j \(complex\) in row 2, column 1"),
        (with_entry(dt.date(2020, 1, 1), object), r"\(date\) in row 2, column 1"),
        (None, "NoneType"),
        ("abc", "str"),
        (object(), "object"),
        (pl.LazyFrame({"a": [1.0]}), "LazyFrame"),
    ],
)
def test_what_holds_no_real_numbers_is_answered_with_what_was_got(explainer, rows, got):
    with pytest.raises(TypeError, match=f"X must hold real numbers; got .*{got}"):
        explainer(rows)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    "column", [["a", "b"], ["1", "2"], [dt.date(2020, 1, 1)] * 2, [dt.timedelta(1)] * 2]
)
def test_a_column_without_numbers_is_named(explainer, frame, column):
    with pytest.raises(
        TypeError, match=r"X must hold real numbers.*'bmi'|'bmi' of X must hold real numbers"
    ):
        explainer(frame({"age": [1.0, 2.0], "bmi": column, "bp": [3.0, 4.0]}))


def test_a_categorical_column_is_named(explainer):
    frame = pd.DataFrame({"age": [1.0, 2.0], "bmi": pd.Categorical(["u", "v"]), "bp": [3.0, 4.0]})
    with pytest.raises(TypeError, match=r"got 'u' \(str\) in row 0, column 'bmi'"):
        explainer(frame)


def test_ragged_rows_are_refused(explainer):
    with pytest.raises(ValueError, match="rows of equal length; got a list"):
        explainer([[1.0, 2.0, 3.0], [1.0]])


def test_objects_that_are_numbers_are_accepted(explainer):
    rows = np.array([[Decimal("0.5"), np.float32(1.0), True], [1, 2**70, 0.0]], dtype=object)
    np.testing.assert_array_equal(
        explainer.shap_values(rows), explainer.shap_values(rows.astype(np.float64))
    )


# --- one row as a dict ---


def test_a_dict_is_one_row_in_any_order(explainer, named_explainer):
    entries = {"bp": 3, "age": 0.5, "bmi": np.float32(2.0)}
    explanation = named_explainer(entries)
    np.testing.assert_array_equal(explanation.data, [[0.5, 2.0, 3.0]])
    np.testing.assert_array_equal(explanation.values, explainer([[0.5, 2.0, 3.0]]).values)
    renamed = pkex.Explainer(SVR().fit(X, Y), feature_names=NAMES)
    np.testing.assert_array_equal(renamed.shap_values(entries), explanation.values)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"age": 1.0, "bmi": 2.0}, r"X has other columns than the model: missing \['bp'\]"),
        ({"age": 1.0, "bmi": 2.0, "bp": 3.0, "s1": 4.0}, r"not expected \['s1'\]"),
        ({"age": [1.0], "bmi": [2.0], "bp": [3.0]}, r"'age' has .*\[1.0\].* pandas.DataFrame\(X\)"),
        ({"age": 1.0, "bmi": None, "bp": 3.0}, "column 'bmi'"),
        ({}, "missing"),
    ],
)
def test_a_dict_that_is_no_row_is_answered_with_what_is_wrong(named_explainer, entries, message):
    with pytest.raises((ValueError, TypeError), match=message):
        named_explainer(entries)


def test_a_dict_needs_the_names_of_columns(explainer):
    with pytest.raises(ValueError, match="names of the model's columns are unknown"):
        explainer({"a": 1.0, "b": 2.0, "c": 3.0})


# --- columns of DataFrames ---


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["bmi", "age", "bp"], r"another order .* model: column 0 is 'bmi', expected 'age'"),
        (["age", "bmi"], r"missing \['bp'\].*expected 3 columns, got 2"),
        (["age", "bmi", "bp", "s1"], r"not expected \['s1'\].*expected 3 columns, got 4"),
        (["age", "BMI", "bp"], r"missing \['bmi'\]; not expected \['BMI'\]$"),
    ],
)
def test_columns_that_are_not_the_models_are_named(named_explainer, frame, columns, message):
    rows = frame({name: [1.0, 2.0] for name in columns})
    with pytest.raises(ValueError, match=f"X has .* columns .*{message}"):
        named_explainer(rows)


def test_without_names_in_the_model_those_given_are_expected():
    explainer = pkex.Explainer(SVR().fit(X, Y), feature_names=NAMES)
    with pytest.raises(ValueError, match="another order than feature_names"):
        explainer(pd.DataFrame(ROWS, columns=NAMES[::-1]))


def test_many_columns_do_not_flood_the_message():
    names = [f"feature {j}" for j in range(1000)]
    expansion = pkex.KernelExpansion(np.zeros((1, 1000)), [1.0], pkex.kernels.RBF())
    explainer = pkex.Explainer(expansion, feature_names=names)
    for columns in (names[::-1], [name.upper() for name in names]):
        with pytest.raises(ValueError, match="more") as raised:
            explainer(pd.DataFrame(np.zeros((1, 1000)), columns=columns))
        assert len(str(raised.value)) < 1000


# --- models ---


@pytest.mark.parametrize(
    "function",
    [
        lambda X: X[:, 0],
        len,
        functools.partial(np.sum, axis=1),
        test_ragged_rows_are_refused,
    ],
    ids=["lambda", "builtin", "partial", "function"],
)
def test_a_plain_function_is_answered_with_what_to_pass_instead(function):
    with pytest.raises(pkex.UnsupportedModelError, match=r"plain function.*Pass the fitted model"):
        pkex.Explainer(function)


def test_a_class_is_answered_with_what_to_pass_instead():
    with pytest.raises(pkex.UnsupportedModelError, match="SVR is a class; pass a fitted instance"):
        pkex.Explainer(SVR)


@pytest.mark.parametrize("rows", [X, X.tolist(), pd.DataFrame(X), sparse.csr_array(X)], ids=type)
@pytest.mark.parametrize("options", [{}, {"value_function": "neutral"}, {"method": "none"}])
def test_arguments_in_the_wrong_order_are_answered_with_the_right_one(rows, options):
    message = r"it is not a model. Pass the model first: pkex.Explainer\(model, background\)"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(rows, SVR().fit(X, Y), **options)


@pytest.mark.parametrize(
    ("model", "instead"),
    [
        (None, "None is not supported: pass a fitted model"),
        (ExtraTreesClassifier(), "ExtraTreesClassifier is not supported: use shap.TreeExplainer"),
        (HistGradientBoostingRegressor(), "shap.TreeExplainer"),
        (DecisionTreeRegressor(), "shap.TreeExplainer"),
        (VotingClassifier([]), "probabilities. Explain each of its estimators_.*predict_proba"),
        (MLPRegressor(), "MLPRegressor is not supported: shap.KernelExplainer estimates.* SVR or"),
        (RandomForestRegressor, "RandomForestRegressor is not supported: use shap.Tree"),
    ],
    ids=str,
)
def test_models_that_something_else_explains_are_answered_with_that(model, instead):
    with pytest.raises(pkex.UnsupportedModelError, match=instead) as raised:
        pkex.Explainer(model)
    # Classes that other tests have registered are named last.
    said, known, _ = str(raised.value).partition("models of your own")
    assert known
    assert len(said + known) < 550


@pytest.mark.parametrize(
    ("origin", "instead"),
    [
        ("baybe.campaign.Campaign", "pkex.Explainer(campaign.get_surrogate().to_botorch())"),
        ("baybe.surrogates.gaussian_process.core.GP", "pkex.Explainer(surrogate.to_botorch())"),
        ("ax.service.ax_client.AxClient", "strategy = client.generation_strategy"),
        ("ax.api.client.Client", "strategy = client._generation_strategy"),
        ("gpflow.models.gpr.GPR", "optimizer=None, which predicts the same"),
        ("optuna.study.study.Study", "GaussianProcessRegressor().fit(X, y)"),
        ("optuna.samplers._gp.sampler.GPSampler", "GaussianProcessRegressor().fit(X, y)"),
    ],
)
def test_models_of_libraries_that_are_not_read_are_answered_with_the_call(origin, instead):
    module, _, name = origin.rpartition(".")
    model = type(name, (), {"__module__": module, "predict": lambda self, X: X})()
    with pytest.raises(pkex.UnsupportedModelError, match=f"^{name} is not supported: ") as raised:
        pkex.Explainer(model)
    assert instead in str(raised.value)


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        *[(word, "probability") for word in ("proba", "predict_proba", "prob", "Probability")],
        *[("logit", "log-odds"), ("log_odds", "log-odds"), ("std_dev", "std"), ("var", "variance")],
        *[("decision_function", None), ("margin", None)],
    ],
)
def test_targets_of_other_names_are_answered_with_ours(target, meant):
    with pytest.raises(ValueError, match=f"target must be one of .*; got '{target}'") as raised:
        pkex.Explainer(SVR().fit(X, Y), target=target)
    _, _, said = str(raised.value).partition("Did you mean ")
    assert said == (f"{meant!r}?" if meant else "")
    assert ("'log-mean' of a model with a log link" in str(raised.value)) == (meant is None)


def test_the_link_of_a_log_link_is_answered_with_the_target():
    with pytest.raises(ValueError, match=r"link='log' is not supported.*Pass target='log-mean'"):
        pkex.Explainer(SVR().fit(X, Y), X, link="log")


@pytest.mark.parametrize("model", [None, 1.0, "svr", X, [SVR()], {}], ids=repr)
def test_anything_else_is_named_with_what_is_supported(model):
    with pytest.raises(pkex.UnsupportedModelError, match=r"not supported.*Supported: .*SVR"):
        pkex.Explainer(model)


# --- options and keywords ---


@pytest.mark.parametrize(
    ("argument", "valid"),
    [
        ({"method": "Quadrature"}, "'quadrature', 'recursion'; got 'Quadrature'"),
        ({"method": None}, "'quadrature', 'recursion'"),
        ({"summation": "kahan"}, "'compensated', 'plain'; got 'kahan'"),
        ({"value_function": "conditional"}, "'neutral', 'interventional', .*; got 'cond"),
        ({"value_function": 1}, "'neutral', 'interventional', 'marginal', 'observational'; got 1"),
    ],
)
def test_an_unknown_value_of_an_option_is_answered_with_the_valid_ones(argument, valid):
    with pytest.raises(ValueError, match=f"{next(iter(argument))} must be one of {valid}"):
        pkex.Explainer(SVR().fit(X, Y), **argument)


def test_an_unknown_keyword_is_answered_with_the_valid_ones(explainer):
    with pytest.raises(TypeError, match=r"has no argument 'njobs' .*'n_jobs'\?\); it takes .*n_j"):
        pkex.Explainer(SVR().fit(X, Y), njobs=1)
    with pytest.raises(
        TypeError, match=r"that is value_function=pkex.Observational\(leave_one_out="
    ):
        pkex.Explainer(SVR().fit(X, Y), X, leave_one_out=True)
    with pytest.raises(TypeError, match="has no argument 'nsamples'; it takes X, sparse, progress"):
        explainer.shap_values(ROWS, nsamples=100)
    takes = "has no argument 'check_additivity'; it takes X, uncertainty, progress"
    with pytest.raises(TypeError, match=takes):
        explainer(ROWS, check_additivity=False)


@pytest.mark.parametrize("progress", ["yes", 1, None])
def test_an_unknown_progress_is_answered_with_the_valid_ones(explainer, progress):
    with pytest.raises(TypeError, match="progress must be True, False or a function"):
        explainer(ROWS, progress=progress)


@pytest.mark.parametrize(
    ("argument", "error", "message"),
    [
        ({"feature_names": ["a", "b"]}, ValueError, "feature_names must have 3 names.*got 2"),
        ({"feature_names": ["a", "b", "a"]}, ValueError, "feature_names must differ.*'a' occurs"),
        ({"feature_names": [1, 2, 3]}, TypeError, "feature_names must be strings; got 1"),
        ({"feature_names": "abc"}, TypeError, "feature_names must be a sequence of names"),
        ({"output_names": ["a", "b"]}, ValueError, "output_names must have 3 names.*got 2"),
        ({"output_names": ["a", "b", "b"]}, ValueError, "output_names must differ"),
    ],
)
def test_names_must_fit(argument, error, message):
    model = SVC().fit(X, np.digitize(Y, [-1.0, 1.0]))
    with pytest.raises(error, match=message):
        pkex.Explainer(model, **argument)


# --- overflow ---


def test_a_value_that_overflows_names_the_row():
    points, coefficients = [[0.0], [9.0], [0.0], [9.0]], [1.7e308, -1.7e308, 1.7e308, -1.7e308]
    explainer = pkex.Explainer(
        pkex.KernelExpansion(points, coefficients, pkex.kernels.RBF(4.2)), value_function="neutral"
    )
    explainer([[4.5]])
    with pytest.raises(OverflowError, match="row 1"):
        explainer([[4.5], [9.0]])
