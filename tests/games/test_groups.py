"""Features of several columns."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute_force import assert_explained, coalitions, marginal, shapley_weights, weighted_games
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.kernels import RBF, Laplacian

D = 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, D))
NAMES = ["age", "lon", "bmi", "lat", "kind_a", "kind_b"]
GROUPS = {"where": ["lon", "lat"], "kind": [4, 5]}
# The players in the order of their first columns, and their columns.
PLAYERS = ["age", "where", "bmi", "kind"]
COLUMNS = [[0], [1, 3], [2], [4, 5]]
Y = X[:, 0] + np.sin(X[:, 1]) * X[:, 3] + X[:, 4]
THREE = np.digitize(Y, [-0.5, 0.5])
ROWS = RNG.normal(size=(3, D))
Z = RNG.normal(size=(5, D))
FRAME = pd.DataFrame(X, columns=NAMES)

MODELS = {
    "SVR": SVR(),
    "Pipeline": make_pipeline(StandardScaler(), SelectKBest(f_regression, k=4), SVR()),
    "BaggingRegressor": BaggingRegressor(SVR(), n_estimators=3, max_features=0.5, random_state=0),
    "VotingRegressor": VotingRegressor(
        [("a", SVR()), ("b", make_pipeline(StandardScaler(), SVR()))], weights=[1.0, 2.0]
    ),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param].fit(FRAME, Y)


@pytest.fixture
def svr():
    return SVR().fit(FRAME, Y)


def output(model):
    return lambda rows: model.predict(pd.DataFrame(rows, columns=NAMES))


@pytest.mark.parametrize("method", ["quadrature", "recursion"])
def test_neutral_values_equal_brute_force_over_grouped_coalitions(svr, method):
    values = pkex.Explainer(
        svr, groups=GROUPS, method=method, value_function="neutral"
    ).shap_values(ROWS)
    for row, found in zip(ROWS, values, strict=True):
        games = np.ones((2 ** len(COLUMNS), len(svr.support_)))
        for number, players in enumerate(coalitions(len(COLUMNS))):
            members = [column for player in players for column in COLUMNS[player]]
            if members:
                points = svr.support_vectors_[:, members]
                games[number] = rbf_kernel(row[None, members], points, gamma=svr._gamma)
        expected = weighted_games(games, svr.dual_coef_[0], shapley_weights(len(COLUMNS)))
        expected.assert_close(found)


def test_interventional_values_equal_brute_force_over_grouped_coalitions(model):
    explainer = pkex.Explainer(model, Z, groups=GROUPS)
    assert_explained(explainer, output(model), ROWS, Z, groups=COLUMNS)


def test_marginal_values_draw_the_columns_of_a_feature_together(model):
    weights = np.array([0.5, 0.125, 0.375])
    explainer = pkex.Explainer(
        model, Z[:3], background_weights=weights, value_function="marginal", groups=GROUPS
    )
    for row, found in zip(ROWS, explainer.shap_values(ROWS), strict=True):
        expected, base = marginal(output(model), row, Z[:3], weights, COLUMNS)
        expected.assert_close(found)
        assert explainer.expected_value == pytest.approx(base, abs=1e-12)


@pytest.mark.parametrize("background", [None, Z], ids=["neutral", "interventional"])
def test_base_and_values_add_up_to_the_models_output(model, background):
    explanation = pkex.Explainer(model, background, groups=GROUPS)(ROWS)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, output(model)(ROWS), rtol=0, atol=1e-12)


def test_a_kernel_may_have_factors_of_several_families_in_one_feature():
    kernel = RBF().on([0, 1]) * Laplacian().on([1, 3]) + 2.0 * RBF(3.0)
    expansion = pkex.KernelExpansion(X, np.column_stack([Y, -(Y**2)]), kernel, [1.0, 2.0])
    explainer = pkex.Explainer(expansion, Z, groups={"a": [0, 5], "b": [1, 3]})
    groups = [[0, 5], [1, 3], [2], [4]]
    assert_explained(explainer, expansion.predict, ROWS, Z, groups=groups)


def test_one_feature_of_all_columns_has_the_whole_difference(svr):
    explanation = pkex.Explainer(svr, Z, groups={"all": range(D)})(ROWS)
    assert explanation.feature_names == ["all"]
    expected = output(svr)(ROWS) - explanation.base_values
    np.testing.assert_allclose(explanation.values[:, 0], expected, rtol=0, atol=1e-13)


def test_groups_of_one_column_each_change_nothing_but_names(svr):
    plain = pkex.Explainer(svr)(ROWS)
    named = pkex.Explainer(svr, groups={"years": ["age"], "lon": "lon", "x": 5})(ROWS)
    np.testing.assert_array_equal(named.values, plain.values)
    np.testing.assert_array_equal(named.data, plain.data)
    assert named.feature_names == ["years", "lon", "bmi", "lat", "kind_a", "x"]
    np.testing.assert_array_equal(pkex.Explainer(svr, groups={})(ROWS).values, plain.values)


# --- the explanation ---


def test_features_are_in_the_order_of_their_first_columns(svr):
    explanation = pkex.Explainer(svr, groups=dict(reversed(GROUPS.items())))(ROWS)
    assert explanation.feature_names == PLAYERS
    assert explanation.shape == (3, 4)
    assert explanation[:, "where"].values.shape == (3,)


def test_the_data_of_a_feature_of_several_columns_is_a_text(svr):
    rows = np.round(ROWS, 1)
    data = pkex.Explainer(svr, groups=GROUPS)(rows).data
    np.testing.assert_array_equal(data[:, [0, 2]], rows[:, [0, 2]])
    assert data[0, 1] == f"{rows[0, 1]}, {rows[0, 3]}"


def test_shap_draws_features_of_several_columns(svr):
    plt = pytest.importorskip("matplotlib.pyplot")
    shap = pytest.importorskip("shap")
    explanation = pkex.Explainer(svr, groups=GROUPS)(X).to_shap()
    shap.plots.beeswarm(explanation, show=False)
    assert {label.get_text() for label in plt.gca().get_yticklabels()} == set(PLAYERS)
    for draw in (shap.plots.bar, shap.plots.heatmap):
        plt.close("all")
        draw(explanation, show=False)
    for draw in (shap.plots.waterfall, shap.plots.bar):
        plt.close("all")
        draw(explanation[0], show=False)
    plt.close("all")


def test_outputs_may_be_chosen_and_explainers_pickled():
    svc = SVC().fit(FRAME, THREE)
    whole = pkex.Explainer(svc, Z, groups=GROUPS)
    values = whole.shap_values(ROWS)
    assert values.shape == (3, 4, 3)
    one = pkex.Explainer(svc, Z, groups=GROUPS, outputs="0 vs 2")
    np.testing.assert_array_equal(one.shap_values(ROWS), values[..., 1])
    for n_jobs in (1, 2):
        other = pkex.Explainer(svc, Z, groups=GROUPS, n_jobs=n_jobs)
        again = pickle.loads(pickle.dumps(other))
        np.testing.assert_array_equal(again.shap_values(ROWS), values)
        assert again(ROWS).feature_names == PLAYERS
    assert "4 features" in repr(whole)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_may_be_named_by_the_explained_rows_alone(frame):
    rows = frame(dict(zip(NAMES, ROWS.T, strict=True)))
    groups = {"where": [1, 3], "kind": ["x4", "x5"]}
    explainer = pkex.Explainer(SVR().fit(X, Y), groups=groups)
    assert explainer(rows).feature_names == PLAYERS
    assert explainer(ROWS).feature_names == ["x0", "where", "x2", "kind"]


def test_columns_may_be_named_by_the_background_or_by_the_caller():
    svr = SVR().fit(X, Y)
    explainer = pkex.Explainer(svr, pd.DataFrame(Z, columns=NAMES), groups=GROUPS)
    assert explainer(ROWS).feature_names == PLAYERS
    explainer = pkex.Explainer(svr, feature_names=NAMES, groups=GROUPS)
    assert explainer(ROWS).feature_names == PLAYERS


# --- bad input ---


def test_groups_keep_their_names_whatever_the_rows_call_their_columns():
    svr = SVR().fit(X[:, :3], Y)
    frame = pd.DataFrame(X[:2, :3], columns=list("abc"))
    for groups, names in (({"x0": [0, 1]}, ["x0", "c"]), ({"x2": [2]}, ["a", "b", "x2"])):
        explainer = pkex.Explainer(svr, groups=groups)
        assert explainer(frame).feature_names == names
        assert explainer.interactions(frame).feature_names == names


def test_a_group_named_as_another_column_of_the_rows_is_refused():
    explainer = pkex.Explainer(SVR().fit(X[:, :3], Y), groups={"c": [0, 1]})
    assert explainer(X[:2, :3]).feature_names == ["c", "x2"]
    frame = pd.DataFrame(X[:2, :3], columns=list("abc"))
    for explain in (explainer, explainer.interactions):
        with pytest.raises(ValueError, match="groups: 'c' is the name of a group and of a column"):
            explain(frame)


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"a": [0, 1], "b": ["lon"]}, ValueError, "'lon' is in both 'a' and 'b'"),
        ({"a": ["height"]}, ValueError, r"'a' has 'height', which is not a column.*\['age'"),
        ({"a": ["lo"]}, ValueError, r"names, such as those that contain 'lo': \['lon'\]"),
        ({"a": [6]}, ValueError, "'a' has 6, which is not a column.*from 0 to 5"),
        ({"a": [-1]}, ValueError, "'a' has -1, which is not a column"),
        ({"a": [0.0]}, ValueError, "which is not a column"),
        ({"a": []}, ValueError, "'a' has no columns"),
        ({"a": [1, "lon"]}, ValueError, "'a' has a column twice"),
        ({"bmi": [0, 1]}, ValueError, "'bmi' is the name of a group and of a column"),
        ({1: [0, 1]}, TypeError, "names must be strings; got 1"),
        ([[0, 1], [2, 3]], TypeError, "groups must be a dict"),
        ("where", TypeError, "groups must be a dict"),
    ],
)
def test_bad_groups_are_answered_with_what_is_wrong(svr, groups, error, message):
    with pytest.raises(error, match=message):
        pkex.Explainer(svr, groups=groups)


# --- columns of the same name ---


def repeated():
    names = ["age", "bmi", "age", "bp", "age", "lat"]
    return pd.DataFrame(X[:20], columns=names)


def test_columns_of_the_same_name_stay_features_of_their_own():
    frame = repeated()
    names = ["age", "pair", "age", "age", "lat"]
    found = pkex.mmd(frame[:10], frame[10:], groups={"pair": ["bmi", 3]})
    assert found.feature_names == names
    expected = pkex.mmd(X[:10], X[10:20], groups={"pair": [1, 3]})
    np.testing.assert_array_equal(found.values, expected.values)
    expansion = pkex.KernelExpansion(X, Y, RBF(2.0))
    explained = pkex.Explainer(expansion, repeated(), groups={"pair": ["bmi", 3]})(frame)
    assert explained.feature_names == names
    by_number = pkex.Explainer(expansion, X[:20], groups={"pair": [1, 3]})(X[:20])
    np.testing.assert_array_equal(explained.values, by_number.values)


def test_a_name_of_several_columns_must_be_replaced_by_a_number():
    frame = repeated()
    with pytest.raises(ValueError, match=r"'a' has 'age', .* several columns\. .* 0, 2, 4"):
        pkex.mmd(frame, frame, groups={"a": ["age", "bp"]})
    assert pkex.mmd(frame[:9], frame[9:], groups={"a": [0, 2]}).feature_names == [
        "a",
        "bmi",
        "bp",
        "age",
        "lat",
    ]
