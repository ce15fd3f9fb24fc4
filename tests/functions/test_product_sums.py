"""Sums of products of functions of columns, and exponentials: values by brute force."""

import pickle
from fractions import Fraction
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained, coalitions, interventional, marginal
from explainable_functions import Explained

import pkex
from pkex.functions.exponential import Exponential
from pkex.functions.linear import LinearFunction
from pkex.functions.term_sum import TermSum

RANDOM = np.random.default_rng(3)
X, BACKGROUND = RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(6, 5))
EDGES, TABLE = [-0.5, 0.4], [2.0, 0.0, -1.0]
FACTORS = [{0: np.exp, 3: (EDGES, TABLE), 4: np.sin}, {1: np.cosh, 0: np.tanh}]
F = pkex.ProductExpansion(FACTORS, [2.0, -0.5], 3.0)


def output(rows):
    """The same function, written out."""
    a, b, _, d, e = rows.T
    table = np.array(TABLE)[np.searchsorted(EDGES, d, "right")]
    return 3.0 + 2.0 * np.exp(a) * table * np.sin(e) - 0.5 * np.cosh(b) * np.tanh(a)


def unchanged(outputs):
    return outputs


def test_it_predicts_the_sum_of_its_products():
    assert F.predict(X) == pytest.approx(output(X), rel=1e-14)


@pytest.mark.parametrize("groups", [None, {"both": [0, 3], "pair": [1, 2]}])
@pytest.mark.parametrize("game", ["interventional", "marginal"])
def test_values_are_those_of_brute_force(game, groups):
    players = None if groups is None else [[0, 3], [1, 2], [4]]
    background = BACKGROUND[:3] if game == "marginal" else BACKGROUND
    weights = np.arange(1.0, 1.0 + len(background))
    weights /= weights.sum()
    explainer = pkex.Explainer(
        F, background, background_weights=weights, value_function=game, groups=groups
    )
    reference = {"interventional": interventional, "marginal": marginal}[game]
    for row, values in zip(X, explainer.shap_values(X), strict=True):
        expected, base = reference(output, row, background, weights, players)
        expected.assert_close(values, 1e-14)
        assert explainer.expected_value == pytest.approx(base, rel=1e-14)


@pytest.mark.parametrize("index", ["k-SII", "STII", "FSII", "SII", "BII", "Moebius", "CHII"])
def test_interactions_are_those_of_all_coalitions(index):
    by_products = pkex.Explainer(F, BACKGROUND).interactions(X, index=index, order=3)
    by_coalitions = pkex.Explainer(F, BACKGROUND, transform=unchanged).interactions(
        X, index=index, order=3
    )
    assert by_products.values == pytest.approx(by_coalitions.values, abs=1e-12)
    assert by_products.base_values == pytest.approx(by_coalitions.base_values, abs=1e-12)


def test_neutral_values_of_coalitions_need_no_dividends():
    # More features than those whose coalitions are all evaluated.
    f = pkex.ProductExpansion([dict.fromkeys(range(20), np.exp)], [1.0])
    rows = 0.1 * np.random.default_rng(0).normal(size=(1, 20))
    explainer = pkex.Explainer(f, value_function="neutral")
    estimate = explainer.estimate(rows, n_permutations=400, random_state=0)
    errors = np.abs(estimate.values - explainer.shap_values(rows))
    assert (errors <= 5.0 * estimate.standard_errors + 1e-12).all()


def test_factors_may_be_0_negative_and_far_out_of_range():
    # The products of all factors are moderate, and those of the first two are not.
    present = list(map(Fraction, [1e-200, -2e-200, 3e200, 1e199]))
    absent = list(map(Fraction, [4e-200, 1e-200, -1e200, 2e199]))
    tables = {j: ([0.5], [float(absent[j]), float(present[j])]) for j in range(4)}
    f = pkex.ProductExpansion([tables | {4: ([0.5], [1.0, 0.0])}], [1.0])
    explainer = pkex.Explainer(f, np.zeros((1, 5)))
    explanation = explainer([[1.0, 1.0, 1.0, 1.0, 0.0]])
    weights = [Fraction(factorial(size) * factorial(3 - size), 24) for size in range(4)]
    exact = []
    for j in range(4):
        others = [k for k in range(4) if k != j]
        changes = [
            weights[len(members)]
            * (present[j] - absent[j])
            * prod(present[k] if k in members else absent[k] for k in others)
            for members in coalitions(4)
            if j not in members
        ]
        exact.append(float(sum(changes)))
    assert explanation.values[0, :4] == pytest.approx(exact, rel=1e-12)
    assert explanation.values[0, 4] == 0.0
    assert explanation.base_values[0] == pytest.approx(float(prod(absent)), rel=1e-14)
    zero = explainer([[0.0, 0.0, 0.0, 0.0, 1.0]])
    assert zero.values[0, 4] == -zero.base_values[0]


def test_background_rows_are_taken_in_blocks(monkeypatch):
    whole = pkex.Explainer(F, BACKGROUND).shap_values(X)
    monkeypatch.setattr("pkex.functions.product_sum._MAX_NUMBERS", 20)
    assert pkex.Explainer(F, BACKGROUND).shap_values(X) == pytest.approx(whole, rel=1e-13)


def test_columns_may_be_named_and_outputs_chosen():
    f = pkex.ProductExpansion(
        [{"age": np.sqrt}, {"age": np.sqrt, "bp": np.square}],
        [[1.0, 0.0], [0.0, 2.0]],
        [0.5, 0.0],
        feature_names=["bp", "age", "sex"],
    )
    table = pd.DataFrame([[2.0, 4.0, 0.0]], columns=["bp", "age", "sex"])
    assert f.predict(table) == pytest.approx(np.array([[2.5, 16.0]]))
    explainer = pkex.Explainer(f, table - 1.0, outputs=1)
    assert explainer.feature_names == ["bp", "age", "sex"]
    first = 2.0 * (4.0 - 1.0) * (np.sqrt(3.0) + 2.0) / 2.0
    assert explainer.shap_values(table)[0, 0] == pytest.approx(first)
    with pytest.raises(ValueError, match="X has its columns in another order than the factors"):
        f.predict(table[["age", "bp", "sex"]])


def test_they_pickle_and_are_explained_in_the_observational_game():
    explainer = pkex.Explainer(F, BACKGROUND, value_function="observational")
    again = pickle.loads(pickle.dumps(explainer))
    total = again(X).values.sum(axis=1) + again.expected_value
    assert total == pytest.approx(output(X))
    by_rows = pkex.Explainer(
        F, BACKGROUND, value_function="observational", transform=unchanged
    ).shap_values(X)
    assert again.shap_values(X) == pytest.approx(by_rows, abs=1e-10)


@pytest.mark.parametrize(
    ("factors", "coefficients", "options", "error", "message"),
    [
        ({0: np.exp}, [1.0], {}, TypeError, "factors must be a sequence of dicts from columns"),
        ([np.exp], [1.0], {}, TypeError, r"factors\[0\] must be a dict from columns to functions"),
        ([{0: np.exp}, {}], [1, 1], {}, ValueError, r"factors\[1\] has no columns; add a constant"),
        ([{(0, 1): np.add}], [1.0], {}, TypeError, r"a column must be a number from 0 or a name"),
        ([{-1: np.exp}], [1.0], {}, ValueError, "columns must be numbers from 0, or names"),
        ([{0: 5.0}], [1.0], {}, TypeError, r"factors\[0\]\[0\] must be a function of its column"),
        ([{0: ([0.0], [1.0])}], [1.0], {}, ValueError, r"values must have shape \(2,\)"),
        ([{0: ([0.0], [[1], [2]])}], [1.0], {}, ValueError, "values must have one dimension"),
        ([{0: np.exp}], [1.0, 2.0], {}, ValueError, r"coefficients must have shape \(1,\)"),
        ([{0: np.exp}], [np.inf], {}, ValueError, "coefficients"),
        ([{0: np.exp}], [1.0], {"intercept": [1.0]}, ValueError, "intercept must be a number"),
        ([{"a": np.exp}], [1.0], {"feature_names": ["b"]}, ValueError, "there is no column 'a'"),
        ([], [], {}, ValueError, "factors must have a column"),
    ],
)
def test_invalid_factors_are_named_in_errors(factors, coefficients, options, error, message):
    with pytest.raises(error, match=message):
        pkex.ProductExpansion(factors, coefficients, **options)


def reciprocal(column):
    with np.errstate(divide="ignore"):
        return 1.0 / column


def test_infinite_factors_and_products_are_errors():
    f = pkex.ProductExpansion([{0: reciprocal, 1: np.exp}], [1.0])
    with pytest.raises(ValueError, match=r"factors\[0\]\[0\] is not finite at \(0.0\)"):
        f.predict([[0.0, 1.0]])
    with pytest.raises(OverflowError, match="a value of row 1 is too large for a float"):
        f.predict([[1.0, 1.0], [1e-300, 600.0]])
    with pytest.raises(OverflowError, match="a value of row 1 is too large for a float"):
        pkex.Explainer(f, [[1.0, 1.0]]).shap_values([[1.0, 1.0], [1e-300, 600.0]])
    with pytest.raises(ValueError, match="background"):
        pkex.Explainer(f)


def of_function(function):
    return Explained(function, function.predict)


def test_exponentials_do_not_depend_on_the_origin_of_columns():
    coefficients = np.array([0.5, -0.25, 2.0**-40])
    far = np.array([2020.0, 4000.0, 2.0**41])  # exp(1010) is too large for a float
    near = Exponential(LinearFunction(coefficients, 0.3))
    shifted = Exponential(LinearFunction(coefficients, 0.3 - far @ coefficients))
    for game in ("interventional", "marginal"):
        expected = pkex.Explainer(of_function(near), BACKGROUND[:, :3], value_function=game)
        found = pkex.Explainer(of_function(shifted), BACKGROUND[:, :3] + far, value_function=game)
        values = expected.shap_values(X[:, :3])
        # The last column loses digits when it is shifted.
        assert found.shap_values(X[:, :3] + far)[:, :2] == pytest.approx(values[:, :2], rel=1e-10)


def test_exponentials_out_of_range_are_errors():
    f = of_function(Exponential(LinearFunction([1.0, 1.0])))
    with pytest.raises(OverflowError, match=r"the base value, .*, is too large for a float"):
        pkex.Explainer(f, [[400.0, 400.0]])
    explainer = pkex.Explainer(f, [[0.0, 0.0]])
    with pytest.raises(OverflowError, match="a value of row 1 is too large for a float"):
        explainer([[1.0, 1.0], [400.0, 400.0]])


@pytest.mark.parametrize("value_function", ["interventional", "marginal"])
@pytest.mark.parametrize("far", [-80.0, -72.0, -20.0])
def test_exponentials_of_backgrounds_that_underflow_are_exact(far, value_function):
    f = of_function(Exponential(LinearFunction(np.ones(10))))
    explainer = pkex.Explainer(f, np.full((1, 10), far), value_function=value_function)
    values = explainer(np.zeros((1, 10))).values
    # All features are equal, f(x) = 1, and f is negligible at the background.
    np.testing.assert_allclose(values, np.full((1, 10), 0.1), rtol=1e-13)


def test_transforms_by_the_exponential_are_products_if_the_model_is_a_sum():
    coefficients = np.linspace(-0.5, 0.5, 20)
    linear = pkex.KernelExpansion([coefficients], [1.0], pkex.kernels.Linear(), 0.3)
    rows = np.random.default_rng(0).normal(size=(8, 20))
    found = pkex.Explainer(linear, rows, transform=np.exp).shap_values(rows[:2])
    product = of_function(Exponential(LinearFunction(coefficients, 0.3)))
    expected = pkex.Explainer(product, rows).shap_values(rows[:2])
    assert found == pytest.approx(expected, rel=1e-12)


def test_without_a_background_whole_rows_are_drawn_from_the_stored_points():
    points = BACKGROUND[:, :3]
    f = of_function(Exponential(LinearFunction([1.0, -0.5, 0.3], 0.2, points=points)))
    by_default, drawn = pkex.Explainer(f), pkex.Explainer(f, points)
    assert by_default.value_function == "interventional"
    assert by_default.shap_values(X[:, :3]) == pytest.approx(drawn.shap_values(X[:, :3]))
    marginal_values = pkex.Explainer(f, value_function="marginal").shap_values(X[:, :3])
    expected = pkex.Explainer(f, points, value_function="marginal").shap_values(X[:, :3])
    assert marginal_values == pytest.approx(expected)


def test_small_changes_keep_their_digits():
    f = of_function(Exponential(LinearFunction([1e-9, 2e-9, -3e-9])))
    explainer = pkex.Explainer(f, np.zeros((1, 3)), value_function="marginal")
    values = explainer.shap_values([[1.0, 1.0, 2.0]])[0]
    # To second order, Σ_j u_j (1 + Σ_l u_l / 2) for u = (1, 2, −6) · 1e-9.
    assert values == pytest.approx(np.array([1e-9, 2e-9, -6e-9]) * (1.0 - 1.5e-9), rel=1e-15)


def test_exponentials_of_sums_with_pairs_are_evaluated_at_coalitions_unless_pairs_are_grouped():
    terms = TermSum([(0, np.sin), ([1, 2], np.multiply), (3, np.cos), (4, np.tanh)])
    f = of_function(Exponential(terms))
    row, groups = X[:1], {"pair": [1, 2]}
    for options, players in (({}, None), ({"groups": groups}, [[0], [1, 2], [3], [4]])):
        explainer = pkex.Explainer(f, BACKGROUND, **options)
        assert_explained(explainer, f.predict, row, BACKGROUND, 1e-13, groups=players)
    wide = TermSum([([0, 1], np.multiply)], feature_names=[f"c{j}" for j in range(30)])
    with pytest.raises(ValueError, match="the explained output is not a sum over features"):
        pkex.Explainer(of_function(Exponential(wide)), np.zeros((2, 30)))(np.ones((1, 30)))
