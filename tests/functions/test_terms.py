"""Sums of functions of few columns: values by brute force, whatever the terms are."""

import pickle

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained, interventional, marginal

import pkex

RANDOM = np.random.default_rng(11)
X, BACKGROUND = RANDOM.normal(size=(4, 5)), RANDOM.normal(size=(7, 5))
WEIGHTS = RANDOM.uniform(0.5, 2.0, size=7)
WEIGHTS /= WEIGHTS.sum()


def triple(first, second, third):
    return np.tanh(first * second) + third**2 * first


EDGES = [-0.5, 0.0, 0.8], [0.1]
TABLE = RANDOM.normal(size=(4, 2))
TERMS = [
    (0, np.sin),
    ([1, 2], np.multiply),
    ([4, 0, 2], triple),
    ([2, 1], np.arctan2),
    ([3, 4], EDGES, TABLE),
    (3, [0.0], [-1.0, 1.0]),
]


def output(rows):
    """The same function, written out."""
    a, b, c, d, e = rows.T
    bins = TABLE[np.searchsorted(EDGES[0], d, "right"), np.searchsorted(EDGES[1], e, "right")]
    whole = np.sin(a) + b * c + triple(e, a, c) + np.arctan2(c, b)
    return 3.0 + whole + bins + np.where(d >= 0.0, 1.0, -1.0)


F = pkex.TermExpansion(TERMS, 3.0)


def test_it_predicts_the_sum_of_its_terms():
    assert F.predict(X) == pytest.approx(output(X), rel=1e-14)


@pytest.mark.parametrize("groups", [None, {"both": [0, 3], "pair": [1, 2]}])
@pytest.mark.parametrize("game", ["interventional", "marginal"])
def test_values_are_those_of_brute_force(game, groups):
    players = None if groups is None else [[0, 3], [1, 2], [4]]
    background = BACKGROUND[:3] if game == "marginal" else BACKGROUND
    weights = WEIGHTS[: len(background)] / WEIGHTS[: len(background)].sum()
    explainer = pkex.Explainer(
        F, background, background_weights=weights, value_function=game, groups=groups
    )
    reference = {"interventional": interventional, "marginal": marginal}[game]
    wanted = [reference(output, row, background, weights, players)[0].values for row in X]
    explanation = explainer(X)
    assert explanation.values == pytest.approx(np.array(wanted), abs=1e-12)
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total == pytest.approx(output(X), rel=1e-12)


@pytest.mark.parametrize("index", ["k-SII", "STII", "FSII", "SII", "BII", "Moebius"])
def test_interactions_are_those_of_all_coalitions(index):
    def unchanged(outputs):
        return outputs

    by_terms = pkex.Explainer(F, BACKGROUND).interactions(X, index=index, order=3)
    by_coalitions = pkex.Explainer(F, BACKGROUND, transform=unchanged).interactions(
        X, index=index, order=3
    )
    assert by_terms.values == pytest.approx(by_coalitions.values, abs=1e-11)
    assert by_terms.base_values == pytest.approx(by_coalitions.base_values, abs=1e-12)


def test_a_feature_in_no_term_has_no_value_and_the_cost_does_not_grow_with_their_number():
    called = []

    def counting(first, second):
        called.append(len(first))
        return first * second

    costs = []
    for d in (3, 300):
        f = pkex.TermExpansion([([0, 2], counting)], feature_names=[f"c{j}" for j in range(d)])
        rows = np.random.default_rng(0).normal(size=(10, d))
        explainer = pkex.Explainer(f, rows[:6])
        called.clear()
        values = explainer.shap_values(rows)
        costs.append(sum(called))
        assert np.array_equal(np.flatnonzero(values.any(axis=0)), [0, 2])
    # Of four coalitions, two are of all background rows; and some rows are looked at again.
    assert costs[0] == costs[1]
    assert 10 * 6 * 2 + 10 + 6 <= costs[0] < 10 * 6 * 3


def by_itself(x):
    return x - 0.5


def by_mean(x):
    return x - np.mean(x)


def by_rank(x):
    return np.argsort(np.argsort(x)).astype(float)


def by_order(x):
    return np.cumsum(x)


def by_chance(x):
    return np.random.default_rng().normal(size=len(x))


@pytest.mark.parametrize("function", [by_mean, by_rank, by_order, by_chance])
def test_functions_that_mix_rows_are_refused_by_number(function):
    f = pkex.TermExpansion([(1, by_itself), (0, function)])
    message = (
        r"terms\[1\] must treat each row separately, but at \(-?\d.* it returns .* among \d+ r"
    )
    with pytest.raises(ValueError, match=message):
        f.predict(X[:, :2])
    with pytest.raises(ValueError, match=message):
        pkex.Explainer(f, BACKGROUND[:, :2])
    with pytest.raises(ValueError, match=message):
        pkex.Explainer(f, BACKGROUND[:1, :2])(X[:, :2])


def test_functions_in_single_precision_do_not_mix_rows():
    weights = np.random.default_rng(0).normal(size=(2, 50)).astype(np.float32)

    def network(first, second):
        rows = np.stack([first, second], axis=1).astype(np.float32)
        return np.tanh(rows @ weights).sum(axis=1)

    f = pkex.TermExpansion([([0, 1], network)])
    many = np.random.default_rng(1).normal(size=(500, 2))
    assert pkex.Explainer(f, many).shap_values(many[:9]).shape == (9, 2)


def test_terms_with_several_outputs_have_an_axis_of_them():
    def two(first, second):
        return np.stack([first * second, first - second], axis=1)

    f = pkex.TermExpansion([([0, 1], two), (1, [0.0], [[1.0, 2.0], [3.0, 4.0]])], [0.5, -0.5])
    assert f.predict(X[:, :2]).shape == (4, 2)
    explainer = pkex.Explainer(f, BACKGROUND[:, :2])
    second = pkex.Explainer(f, BACKGROUND[:, :2], outputs=1).shap_values(X[:, :2])
    assert np.array_equal(explainer.shap_values(X[:, :2])[..., 1], second)
    assert_explained(explainer, f.predict, X[:, :2], BACKGROUND[:, :2], 1e-13)


def test_many_rows_and_background_rows_are_taken_in_blocks(monkeypatch):
    whole = pkex.Explainer(F, BACKGROUND).shap_values(X)
    monkeypatch.setattr("pkex.functions.term_sum._MIXED", 16)
    monkeypatch.setattr("pkex.functions.term_sum._MAX_NUMBERS", 16)
    assert pkex.Explainer(F, BACKGROUND).shap_values(X) == pytest.approx(whole, abs=1e-14)


def test_columns_may_be_named_and_data_frames_are_compared():
    f = pkex.TermExpansion(
        [("age", np.sqrt), (["age", "bp"], np.multiply)], feature_names=["bp", "age", "sex"]
    )
    table = pd.DataFrame([[2.0, 4.0, 0.0]], columns=["bp", "age", "sex"])
    assert f.predict(table) == pytest.approx([10.0])
    assert pkex.Explainer(f, table).feature_names == ["bp", "age", "sex"]
    with pytest.raises(ValueError, match="X has its columns in another order than the terms"):
        f.predict(table[["age", "bp", "sex"]])


def test_they_pickle_and_are_explained_in_other_games():
    f = pkex.TermExpansion([(0, np.sin), ([1, 2], np.multiply)], 1.0)
    explainer = pkex.Explainer(f, BACKGROUND[:, :3], value_function="observational")
    again = pickle.loads(pickle.dumps(explainer))
    assert np.array_equal(again.shap_values(X[:, :3]), explainer.shap_values(X[:, :3]))


@pytest.mark.parametrize(
    ("terms", "options", "error", "message"),
    [
        ([(0, np.sin), 5], {}, TypeError, r"terms\[1\] must be a pair"),
        ([(0, 5)], {}, TypeError, r"terms\[0\] must have a function"),
        ([(-1, np.sin)], {}, ValueError, r"terms\[0\]: columns must be numbers from 0"),
        ([("a", np.sin)], {}, ValueError, r"terms\[0\]: columns must be numbers from 0, or names"),
        (
            [("z", np.sin)],
            {"feature_names": ["a"]},
            ValueError,
            "there is no column 'z'; feature_names are",
        ),
        ([([0, 0], np.add)], {}, ValueError, r"terms\[0\] has a column twice"),
        ([(0, [1.0, 0.0], [1, 2, 3])], {}, ValueError, "edges must be ascending"),
        ([(0, [0.0, 1.0], [1, 2])], {}, ValueError, r"values must have shape \(3,\)"),
        ([([0, 1], [[0.0]], [1, 2])], {}, ValueError, "edges for each of its 2 columns"),
        ([], {}, ValueError, "terms must have a column"),
        (None, {}, TypeError, "terms must be pairs"),
        ([(0.0, np.sin)], {}, TypeError, r"terms\[0\]: columns must be a number from 0 or a name"),
        ([([], np.sin)], {}, ValueError, r"terms\[0\] has no columns; add a constant"),
        (
            [("a", np.sin)],
            {"feature_names": ["a", "a"]},
            ValueError,
            "several columns have the name",
        ),
        ([(0, ["x"], [1, 2])], {}, ValueError, r"terms\[0\]: edges and values must be arrays"),
        ([(0, [0.0], [1.0, np.nan])], {}, ValueError, r"terms\[0\]: values must be finite"),
        (
            [(0, [0.0], [[1, 2], [3, 4]])],
            {},
            ValueError,
            "0] has values of 2 outputs, but the inte",
        ),
        ([(0, [0.0], [1, 2])], {"intercept": [0, 0]}, ValueError, "has no axis of outputs"),
        ([(0, np.sin)], {"intercept": [[1.0]]}, ValueError, "intercept must be a number, or an"),
        ([(0, np.sin)], {"intercept": []}, ValueError, "intercept must be a number, or an array"),
    ],
)
def test_terms_that_are_none_are_refused_by_number(terms, options, error, message):
    with pytest.raises(error, match=message):
        pkex.TermExpansion(terms, **options)


def overflowing(entries):
    with np.errstate(over="ignore"):
        return np.exp(entries)


def test_what_functions_return_is_checked():
    with pytest.raises(ValueError, match=r"terms\[0\] must return an array of shape \(4,\)"):
        pkex.TermExpansion([(0, np.sum)]).predict(X[:, :1])
    with pytest.raises(ValueError, match=r"terms\[0\] is not finite at \(800.0\)"):
        pkex.TermExpansion([(0, overflowing)]).predict([[800.0]])
    with pytest.raises(TypeError, match=r"terms\[0\] must be a function of 2 arrays"):
        pkex.TermExpansion([([0, 1], lambda x: x)]).predict([[0.0, 1.0]])
    with pytest.raises(ValueError, match=r"terms\[0\] must be a function of 1 array.*truth value"):
        pkex.TermExpansion([(0, lambda x: 1.0 if x > 0.0 else 0.0)]).predict([[0.0], [1.0]])
    with pytest.raises(TypeError, match=r"terms\[0\] must return real numbers"):
        pkex.TermExpansion([(0, lambda x: x.astype(str))]).predict([[0.0]])
    with pytest.raises(ZeroDivisionError) as raised:
        pkex.TermExpansion([(0, np.sin), (1, lambda x: x[0] + 1 // 0)]).predict([[0.0, 1.0]])
    assert "terms[1] was called with 1 array" in raised.value.__notes__[0]


def doubled(entries):
    entries *= 2.0
    return entries


@pytest.mark.parametrize("term", [(1, doubled), ([0, 1], np.sin), (range(2), np.sin)])
def test_functions_cannot_change_the_rows(term):
    # The second array of a ufunc of one is where it writes to.
    with pytest.raises(ValueError, match="read-only"):
        pkex.TermExpansion([term]).predict([[1.0, 2.0]])


def test_games_without_a_background_are_refused_with_the_remedy():
    for game in (None, "neutral"):
        with pytest.raises(ValueError, match="background"):
            pkex.Explainer(F, value_function=game)
    many = np.zeros((300, 5))
    with pytest.raises(ValueError, match=r"each of the 2 features of terms\[1\] independently"):
        pkex.Explainer(F, many, value_function="marginal")
