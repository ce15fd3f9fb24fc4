"""Interactions of selected features, and of each with all others together."""

import json
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from brute_force_interactions import exact, interventional_worths, marginal_worths, neutral_worths
from interaction_models import ROWS, SINGLE, SVR_MODEL, D, Z
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sparse_documents import documents

import pkex
from pkex.errors import InputError, InputTypeError
from pkex.execution.computation import Computation
from pkex.games.indices import PAIRS
from pkex.games.selected_pairs import pairs_with_others


def neutral(x):
    return neutral_worths(
        lambda a, b: rbf_kernel(a, b, gamma=0.3),
        x,
        SVR_MODEL.support_vectors_,
        SVR_MODEL.dual_coef_[0],
        SVR_MODEL.intercept_[0],
        SINGLE,
    )


WORTHS = {
    "neutral": neutral,
    "interventional": lambda x: interventional_worths(SVR_MODEL.predict, x, Z, SINGLE),
    "marginal": lambda x: marginal_worths(SVR_MODEL.predict, x, Z, SINGLE),
}


def selected_sums(coefficients, selected, d, index):
    """The coefficients of selected features and all others, from those of all coalitions."""
    place = {player: number for number, player in enumerate(selected)}
    k = len(selected)
    sums = dict.fromkeys([(j,) for j in range(k + 1)] + list(combinations(range(k + 1), 2)), 0.0)
    for members, value in coefficients.items():
        own = tuple(sorted({place.get(player, k) for player in members}))
        is_inside = len(own) < len(members)
        # The SII of single others are their Shapley values, which contain the pairs inside.
        if members and not (is_inside and index == "SII"):
            sums[own] = sums[own] + value
    return sums


@pytest.mark.parametrize("index", ["k-SII", "SII"])
@pytest.mark.parametrize("game", WORTHS)
def test_coefficients_are_sums_of_those_of_all_coalitions(game, index):
    background = None if game == "neutral" else Z
    explainer = pkex.Explainer(SVR_MODEL, background, value_function=game)
    found = explainer.interactions(ROWS, index=index, features=[4, "x1"])
    assert found.feature_names == ["x4", "x1", f"other columns ({D - 2})"]
    for row, x in enumerate(ROWS):
        worths = WORTHS[game](x)
        coefficients = exact(worths, index, 2)
        scale = np.abs(worths).max()
        assert abs(found.empty_values[row] - coefficients[()]) < 1e-12 * scale
        for members, value in selected_sums(coefficients, [4, 1], D, index).items():
            assert abs(found.of(members)[row] - value) < 1e-12 * scale, members


N_POINTS, COLUMNS = 60, 14
RNG = np.random.default_rng(0)


POINTS, FEW, BACKGROUND = (
    documents(RNG, N_POINTS, COLUMNS),
    documents(RNG, 5, COLUMNS, 0.7),
    documents(RNG, 4, COLUMNS),
)
Y = RNG.normal(size=N_POINTS)
MODELS = {
    "SVR": (SVR(gamma=1.0), Y),
    "SVC": (SVC(gamma=3.0), RNG.choice(["a", "b", "c"], N_POINTS)),
    "far points": (SVR(gamma=500.0), Y),
    "laplacian": (KernelRidge(kernel="laplacian"), np.column_stack([Y, Y**2])),
    "polynomial": (KernelRidge(kernel="polynomial", degree=2), Y),
    "linear": (Ridge(), Y),
}
GAMES = {
    "neutral": {"value_function": "neutral"},
    "interventional": {"background": BACKGROUND, "background_weights": [1.0, 2.0, 0.0, 3.0]},
    "marginal": {"background": BACKGROUND, "value_function": "marginal"},
    "marginal of points": {},
}


@cache
def fitted(name):
    model, target = MODELS[name]
    return model.fit(POINTS, target)


@pytest.mark.parametrize("groups", [None, {"some": [0, 1, 2], "more": [3, 4, 5, 6]}])
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_have_the_sums_of_all_pairs(name, game, groups):
    options = GAMES[game]
    if name == "linear" and not options:
        options = GAMES["marginal"]
    explainer = pkex.Explainer(fitted(name), **options, groups=groups)
    everything = explainer.interactions(FEW)
    d = len(everything.feature_names)
    selected = [3, 0, 5, 4]
    found = explainer.interactions(FEW, features=selected)
    by_coalition = {
        members: everything.values[:, place] for place, members in enumerate(everything.coalitions)
    }
    sums = selected_sums(by_coalition, selected, d, "k-SII")
    scale = np.abs(everything.values).max()
    for members, value in sums.items():
        np.testing.assert_allclose(found.of(members), value, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("game", ["neutral", "interventional"])
def test_powers_of_many_columns_have_the_pairs_of_the_columns_of_a_row(game):
    points, rows = (sparse.random(n, 6000, 0.002, "csr", random_state=n) for n in (100, 3))
    model = KernelRidge(kernel="polynomial", degree=3, coef0=0.5).fit(points, np.arange(100.0))
    background = None if game == "neutral" else rows[[2]]
    explainer = pkex.Explainer(model, background, value_function=game)
    function = explainer._problem.function
    # Two columns of each row, one of no row.
    selected = [*rows[[0]].indices[:2].tolist(), *rows[[1]].indices[:2].tolist(), 5999]
    columns = np.union1d(rows.indices, selected)
    few = pkex.KernelExpansion(
        points[:, columns].toarray(), function.coefficients, function.kernel, function.intercept
    )
    rows = rows[[0, 1]]
    if background is not None:
        background = background[:, columns].toarray()
    own = np.searchsorted(columns, selected).tolist()
    expected = pkex.Explainer(few, background, value_function=game).interactions(
        rows[:, columns].toarray(), features=own
    )
    found = explainer.interactions(rows, features=selected)
    assert found.feature_names[-1] == "other columns (5,995)"
    scale = np.abs(expected.values).max()
    np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-12 * scale)


SUM = 0.5 * pkex.kernels.RBF(9.0) + pkex.kernels.Laplacian(30.0) * pkex.kernels.Cauchy(20.0)


@pytest.mark.parametrize("kernel", [SUM, pkex.kernels.Matern(9.0), pkex.kernels.Polynomial(2)])
@pytest.mark.parametrize("game", ["neutral", "interventional", "marginal", None])
def test_dense_points_of_many_columns_have_the_sums_of_all_pairs(game, kernel):
    data = np.random.default_rng(1).normal(size=(25, 90))
    function = pkex.KernelExpansion(data[:20], data[:20, :2], kernel)
    background = data[22:] if game in ("interventional", "marginal") else None
    explainer = pkex.Explainer(function, background, value_function=game)
    problem, rows, selected = explainer._problem, data[20:22], np.array([40, 3, 89])
    found = explainer.interactions(rows, features=selected).of_size(2)
    pairs = problem.function.explain(
        rows, game=problem.game, quantity=PAIRS, computation=Computation()
    )
    expected = pairs_with_others(pairs, selected, 90)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * scale)


def test_rows_and_splits_have_equal_bits():
    explainer = pkex.Explainer(fitted("SVC"), n_jobs=2)
    found = explainer.interactions(FEW, features=[3, 0, 5])
    alone = pkex.Explainer(fitted("SVC"), n_jobs=1)
    for row in range(FEW.shape[0]):
        of_row = alone.interactions(FEW[row : row + 1], features=[3, 0, 5])
        np.testing.assert_array_equal(of_row.values[0], found.values[row])


def test_a_number_selects_the_features_with_the_largest_mean_absolute_value():
    explainer = pkex.Explainer(fitted("SVC"))
    sizes = np.abs(explainer.shap_values(FEW)).mean(axis=(0, 2))
    order = np.argsort(-sizes)[:3]
    found = explainer.interactions(FEW, features=3)
    assert found.feature_names == [*(f"x{j}" for j in order), "other columns (11)"]
    np.testing.assert_array_equal(found.to_shap().data[:, :3], FEW.toarray()[:, order])
    assert found.to_shap().data[0, 3] == "11 values"


def test_words_of_documents_are_named_and_results_are_saved_with_them():
    texts = ["good wine good food", "bad wine", "good service", "bad food slow service", "slow"]
    model = make_pipeline(TfidfVectorizer(), SVC()).fit(texts, [1, 0, 1, 0, 0])
    found = pkex.Explainer(model).interactions(texts, features=["wine", "good"])
    assert found.feature_names == ["wine", "good", "other words (4)"]
    assert "wine × other words (4)" in found.to_html()
    assert "good × other words (4)" in str(found)
    found.plot()
    loaded = pkex.Interactions.from_dict(json.loads(json.dumps(found.to_dict())))
    np.testing.assert_array_equal(loaded.of("good", "other words (4)"), found.of(1, 2))
    np.testing.assert_array_equal(loaded.to_shap().data, found.to_shap().data)


def test_rows_add_up_to_shapley_values_and_the_output():
    explainer = pkex.Explainer(fitted("SVR"))
    found, values = explainer.interactions(FEW, features=[2, 7]), explainer.shap_values(FEW)
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, fitted("SVR").predict(FEW), atol=1e-12)
    lines = found.to_shap().values.sum(axis=2)
    others = np.delete(values, [2, 7], axis=1).sum(axis=1)
    np.testing.assert_allclose(lines, np.column_stack([values[:, [2, 7]], others]), atol=1e-14)


def test_all_features_have_no_others():
    explainer = pkex.Explainer(SVR_MODEL, Z)
    found = explainer.interactions(ROWS, features=list(range(D)))
    expected = explainer.interactions(ROWS)
    assert found.coalition_names == expected.coalition_names
    np.testing.assert_allclose(found.values, expected.values, atol=1e-13)


@pytest.mark.parametrize("groups", [None, {"all": [0, 1, 2]}])
def test_a_single_feature_has_no_pairs(groups):
    points = sparse.csr_array(FEW[:, :3] if groups else FEW[:, [3]])
    function = pkex.KernelExpansion(points, [1.0, -2.0, 3.0, 1.0, 1.0], pkex.kernels.Polynomial(3))
    explainer = pkex.Explainer(function, groups=groups)
    found = explainer.interactions(points, features=1)
    assert found.coalition_names == ["all" if groups else "x0"]
    np.testing.assert_array_equal(found.values, explainer.shap_values(points))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"features": 0}, InputError, "features=0 is not a number of features from 1 to 6"),
        ({"features": 7}, InputError, "features=7 is not a number of features from 1 to 6"),
        ({"features": []}, InputError, "features is empty"),
        ({"features": [1, "x1"]}, InputError, "features has a feature twice"),
        ({"features": "x1"}, InputTypeError, "features='x1' is neither a number nor a list"),
        ({"features": 2.0}, InputTypeError, r"features=2\.0 is neither a number nor a list"),
        ({"features": ["y"]}, KeyError, "no feature is named 'y'"),
        ({"features": [6]}, IndexError, "feature 6 is out of range"),
        (
            {"features": [1], "index": "STII"},
            InputError,
            "index='STII' is not supported with features",
        ),
        ({"features": [1], "order": 3}, InputError, "order=3 is not supported with features"),
        ({"features": [1], "index": "SV"}, ValueError, "index"),
    ],
)
def test_other_selections_and_indices_raise_errors(options, error, message):
    with pytest.raises(error, match=message):
        pkex.Explainer(SVR_MODEL).interactions(ROWS, **options)


def test_pairs_that_do_not_fit_into_memory_raise_an_error():
    points = sparse.csr_array(([1.0, 2.0], ([0, 1], [5, 24_999])), shape=(2, 25_000))
    function = pkex.KernelExpansion(points, [1.0, -1.0], pkex.kernels.Polynomial(2))
    message = r"features requires all pairs of 25,000 features for this function, 2\.5 GB a row"
    with pytest.raises(InputError, match=message):
        pkex.Explainer(function).interactions(points, features=[5])
    function = pkex.KernelExpansion(points, [1.0, -1.0], pkex.kernels.RBF())
    message = r"features selects 25,000 features, whose pairs take 5\.0 GB"
    with pytest.raises(InputError, match=message):
        pkex.Explainer(function).interactions(points, features=25_000)
