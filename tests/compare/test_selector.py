"""Selection of features: what each rule promises, and what scikit-learn asks of transformers."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import pkex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
Y = X[:, 1] ** 2 + 1.5 * np.sin(1.5 * X[:, 3]) + 0.7 * X[:, 4]
FRAME = pd.DataFrame(X, columns=list("abcdef"))


def selector(*args, **options):
    return pkex.HSICSelector(*args, random_state=0, **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "options",
    [
        {"n_permutations": 99},
        {"n_features_to_select": 1, "refit": "backward"},
        {"n_features_to_select": 1, "refit": "forward"},
    ],
    ids=["alpha", "backward", "forward"],
)
def test_it_is_a_transformer_of_scikit_learn(options):
    check_estimator(pkex.HSICSelector(**options))


@pytest.mark.parametrize("refit", [None, "backward", "forward"])
@pytest.mark.parametrize("number", [1, 3, 6])
def test_exactly_that_many_are_selected(number, refit):
    found = selector(number, refit=refit).fit(X, Y)
    assert found.support_.sum() == number
    assert sorted(found.ranking_) == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(found.support_, found.ranking_ <= number)


def test_a_number_takes_the_largest_values_and_of_equal_ones_the_column_further_left():
    found = selector(3).fit(X, Y)
    largest = np.argsort(-pkex.hsic(X, Y).values)[:3]
    assert set(found.get_support(indices=True)) == set(largest) == {1, 3, 4}
    twice = selector(1).fit(X[:, [3, 0, 3, 3]], Y)
    assert twice.ranking_.tolist() == [1, 4, 2, 3]


def test_a_share_is_reached_by_as_few_as_possible():
    values = pkex.hsic(X, Y, estimator="biased").values
    for share in (0.3, 0.6, 0.9, 1.0):
        own = values[selector(share=share, estimator="biased").fit(X, Y).support_]
        positive = values[values > 0.0].sum()
        assert own.sum() >= share * positive * (1.0 - 1e-12)
        assert own.sum() - own.min() < share * positive
    assert selector(share=1.0, estimator="biased").fit(X, Y).support_.sum() == np.sum(values > 0.0)


def test_by_default_what_depends_on_the_target_is_selected():
    found = selector().fit(X, Y)
    result = pkex.hsic(X, Y, n_permutations=999, random_state=0)
    assert np.array_equal(found.result_.alone_familywise_pvalues, result.alone_familywise_pvalues)
    assert found.get_support(indices=True).tolist() == [1, 3, 4]
    stricter = selector(alpha=0.0015).fit(X, Y)
    assert np.array_equal(stricter.support_, result.alone_familywise_pvalues <= 0.0015)


def test_of_noise_something_is_selected_as_seldom_as_alpha_says():
    n_found = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        noise = pkex.HSICSelector(alpha=0.1, n_permutations=99, random_state=seed + 1000)
        n_found += noise.fit(rng.normal(size=(30, 4)), rng.normal(size=30)).support_.any()
    assert 8 <= n_found <= 34  # 20 ± 3.3 standard errors
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector(alpha=0.001).fit_transform(X, RNG.normal(size=120)).shape == (120, 0)


def test_what_acts_together_only_is_found_by_values_and_not_alone():
    signs = RNG.normal(size=(300, 5))
    target = np.sign(signs[:, 0] * signs[:, 2])
    assert set(selector(2).fit(signs, target).get_support(indices=True)) == {0, 2}


def test_backward_drops_the_smallest_value_again_and_again():
    found = selector(2, refit="backward").fit(FRAME, Y)
    left, gone = list(FRAME.columns), []
    while len(left) > 2:
        worst = left[int(np.argmin(pkex.hsic(FRAME[left], Y).values))]
        left.remove(worst)
        gone.append(worst)
    assert list(found.get_feature_names_out()) == left
    ranks = dict(zip(FRAME.columns, found.ranking_, strict=True))
    assert [ranks[name] for name in gone] == [6, 5, 4, 3]
    assert found.selected_result_.feature_names == left


def test_forward_adds_what_makes_the_normalised_dependence_largest():
    found = selector(3, refit="forward").fit(X, Y)
    chosen = []
    while len(chosen) < 3:
        others = [j for j in range(6) if j not in chosen]
        r2 = [pkex.hsic(X[:, sorted([*chosen, j])], Y).r2 for j in others]
        chosen.append(others[int(np.argmax(r2))])
    assert found.ranking_[chosen].tolist() == [1, 2, 3]


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
def test_forward_takes_constant_columns_last():
    copies = np.column_stack([X[:, 3], X[:, 3], X[:, 1], np.ones(120)])
    target = np.sin(2.0 * X[:, 3]) + 0.8 * X[:, 1]
    assert selector(2, refit="forward").fit(copies, target).support_.tolist() == [1, 0, 1, 0]
    assert selector(4, refit="forward").fit(copies, target).ranking_[3] == 4


@pytest.mark.filterwarnings("ignore:.*categories:UserWarning")
@pytest.mark.parametrize("refit", ["backward", "forward"])
@pytest.mark.parametrize("categorical", [None, [3]])
def test_the_result_of_selected_columns_of_arrays_has_their_names(refit, categorical):
    rows = np.column_stack([X[:, :3], np.arange(120.0) % 3.0, X[:, 3:]])
    target = 2.0 * X[:, 3] + (rows[:, 3] == 1.0)
    found = selector(2, refit=refit, categorical=categorical).fit(rows, target)
    names = list(found.get_feature_names_out())
    assert names != ["x0", "x1"]
    assert found.selected_result_.feature_names == names
    assert [column.name for column in found.selected_result_.columns] == names


@pytest.mark.parametrize("refit", [None, "backward", "forward"])
def test_copies_of_a_strong_feature_are_not_left_out_and_that_is_said(refit):
    rows = np.column_stack([X, X[:, 3]])
    found = selector(2, refit=refit).fit(rows, 2.0 * X[:, 3] + X[:, 1] ** 2)
    assert found.get_support(indices=True).tolist() == [3, 6]
    text = " ".join(pkex.HSICSelector.__doc__.split())
    assert "Neither removes copies" in text


@pytest.mark.filterwarnings("ignore:.*constant:UserWarning")
def test_a_share_of_no_dependence_is_nothing_and_scikit_learn_warns():
    found = selector(share=0.5, kernel=pkex.kernels.RBF(1.0)).fit(X, np.ones(120))
    with pytest.warns(UserWarning, match="No features were selected"):
        assert found.transform(X).shape == (120, 0)


def test_names_frames_and_pipelines_are_as_scikit_learn_has_them():
    found = selector(2).fit(FRAME, Y).set_output(transform="pandas")
    assert list(found.transform(FRAME).columns) == list(found.get_feature_names_out())
    assert found.result_.feature_names == list(FRAME.columns) == list(found.feature_names_in_)
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(FRAME[list("bacdef")])
    model = make_pipeline(StandardScaler(), selector(), LinearRegression())
    search = GridSearchCV(model, {"hsicselector__n_features_to_select": [1, 4]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"hsicselector__n_features_to_select": 4}
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.transform(FRAME), X[:, found.support_])
    assert b"pkex.compare.selector" not in pickle.dumps(clone(found))


def test_labels_are_classes_and_cross_validation_takes_them():
    iris = load_iris()
    names = iris.target_names[iris.target]
    found = selector(2).fit(iris.data, names)
    assert found.result_.target_kernel == pkex.kernels.Categorical()
    assert found.get_support(indices=True).tolist() == [2, 3]
    given = selector(2, target_kernel=pkex.kernels.Categorical()).fit(iris.data, iris.target)
    assert np.array_equal(found.result_.values, given.result_.values)
    assert cross_val_score(make_pipeline(selector(2), SVC()), iris.data, names).mean() > 0.9
    with pytest.warns(UserWarning, match="Categorical"):
        selector(2).fit(iris.data, iris.target)


def mixed(n=150):
    rng = np.random.default_rng(1)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), "D")
    columns = {"size": rng.normal(size=n), "code": rng.integers(0, 3, n), "day": days}
    return pd.DataFrame(columns | {"city": rng.choice(["Oslo", "Rome"], n)})


@pytest.mark.parametrize("refit", [None, "backward", "forward"])
def test_tables_are_measured_as_they_are(refit):
    table = mixed()
    target = np.where(table["code"] == 1, 2.0, 0.0) + (table["city"] == "Rome")
    found = selector(2, refit=refit, categorical=["code"]).fit(table, target)
    assert list(found.get_feature_names_out()) == ["code", "city"]
    result = pkex.hsic(table, target, categorical=["code"])
    assert np.array_equal(found.result_.values, result.values)
    if refit is not None:
        own = pkex.hsic(table[["code", "city"]], target, categorical=["code"])
        assert np.array_equal(found.selected_result_.values, own.values)
    polars = pytest.importorskip("polars").from_pandas(table)
    assert np.array_equal(clone(found).fit(polars, target).support_, found.support_)


def test_missing_entries_are_taken_if_they_are_to_be():
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        selector(2).fit(gaps, Y)
    taken = selector(2, missing="indicator").fit(gaps, Y)
    assert np.array_equal(taken.result_.values, pkex.hsic(gaps, Y, missing="indicator").values)
    assert np.isnan(taken.transform(np.full((1, 6), np.nan))).all()


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix])
def test_sparse_rows_are_as_dense_ones_and_stay_sparse(form):
    rows = np.where(X > 0.5, X, 0.0)
    found = selector(2, refit="backward").fit(form(rows), Y)
    dense = selector(2, refit="backward").fit(rows, Y)
    assert np.array_equal(found.ranking_, dense.ranking_)
    transformed = found.transform(form(rows))
    assert sparse.issparse(transformed)
    assert np.array_equal(transformed.toarray(), dense.transform(rows))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 0}, "an integer from 1 to 6, the number of features of X; got 0"),
        ({"n_features_to_select": 7}, "an integer from 1 to 6, the number of features of X; got 7"),
        (
            {"n_features_to_select": 2, "share": 0.5},
            "Pass only one of n_features_to_select, share and alpha",
        ),
        ({"share": 1.5}, "share must be above 0 and at most 1; got 1.5"),
        ({"alpha": 5}, "alpha must be between 0 and 1; got 5"),
        (
            {"alpha": 0.001, "n_permutations": 99},
            "of at least 0.01, above alpha=0.001. Pass n_permutations of at least 999",
        ),
        ({"refit": "backward"}, "refit requires n_features_to_select. Pass the number"),
        (
            {"n_features_to_select": 2, "refit": "both"},
            "refit must be one of 'backward', 'forward'",
        ),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        pkex.HSICSelector(**options).fit(X, Y)


def test_other_bad_input_is_refused_with_the_reason():
    with pytest.raises(TypeError, match="n_features_to_select must be an integer from 1 to 6"):
        pkex.HSICSelector(0.5).fit(X, Y)
    with pytest.raises(TypeError, match=r"share must be a number above 0 .*; got 'a' \(str\)"):
        pkex.HSICSelector(share="a").fit(X, Y)
    with pytest.raises(TypeError, match=r"alpha must be a number between 0 and 1; got True"):
        pkex.HSICSelector(alpha=True).fit(X, Y)
    for rows in (X, FRAME):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            selector().fit(rows, None)
    gaps = FRAME.copy()
    gaps.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match="X has a missing value"):
        selector().fit(gaps, Y)


def test_without_scikit_learn_the_rest_works_and_the_extra_is_named():
    code = """
import sys
sys.modules["sklearn"] = None
from pkex import *
import pkex
assert "HSICSelector" in dir(pkex) and "hsic" in globals()
try:
    pkex.HSICSelector
except ImportError as error:
    assert "pip install 'pkex[scikit-learn]'" in str(error), error
else:
    raise AssertionError("found")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_share_leaves_noise_out():
    rows = np.random.default_rng(0).normal(size=(300, 8))
    selector = pkex.HSICSelector(share=0.8).fit(rows, rows[:, 0] ** 2)
    assert selector.get_support(indices=True).tolist() == [0]
