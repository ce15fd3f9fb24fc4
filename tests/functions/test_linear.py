"""Linear functions: their values against brute force, their accuracy, what is refused."""

import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import shap
from brute_force import coalitions, imputed
from brute_force_interactions import exact
from explainable_functions import Explained

import pkex
from pkex.execution.computation import Computation
from pkex.explain.interaction_values import interaction_values
from pkex.functions.linear import LinearFunction
from pkex.games.indices import INDICES, Quantity
from pkex.games.value_functions import NEUTRAL, Game

D = 5
RNG = np.random.default_rng(0)
ROWS, BACKGROUND = RNG.normal(size=(3, D)), RNG.normal(size=(7, D))
WEIGHTS = np.array([0.2, 0.1, 0.05, 0.3, 0.05, 0.25, 0.05])
ONE = LinearFunction([2.0, -1.0, 0.0, 1e-3, 30.0], 0.7)
TWO = LinearFunction(RNG.normal(size=(D, 2)), [1.0, -5.0])
GROUPS = [[0, 3], [1], [2, 4]]
PLAYERS = np.array([0, 1, 2, 0, 2])
HOW = Computation()
GAMES = {
    "neutral": NEUTRAL,
    "interventional": Game("interventional", (BACKGROUND, WEIGHTS)),
    "marginal": Game("marginal", (BACKGROUND, WEIGHTS)),
}


def worth(function, game, x, members):
    """The mean output while the members have their entries, and others those of the background.

    In the neutral game an absent feature contributes 0. Of a linear function it does not matter
    whether features are drawn together.
    """
    if game.background is None:
        return imputed(function.predict, x, np.zeros((1, D)), [1.0], members)
    return imputed(function.predict, x, *game.background, members)


# --- values ---


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["columns", "groups"])
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
@pytest.mark.parametrize("index", INDICES)
def test_every_index_of_every_order_equals_brute_force(index, game, groups):
    function = ONE if groups is None else ONE.grouped(PLAYERS)
    members = [[j] for j in range(D)] if groups is None else groups
    for order in range(1, len(members) + 1):
        found, empty = interaction_values(function, ROWS, index, order, game, HOW)
        for place, row in enumerate(ROWS):
            worths = np.array(
                [
                    worth(ONE, game, row, [j for player in players for j in members[player]])
                    for players in coalitions(len(members))
                ]
            )
            expected = exact(worths, index, order)
            scale = np.abs(worths).max()
            # shapiq leaves out some that are 0.
            sizes = range(1, order + 1)
            keys = [key for size in sizes for key in combinations(range(len(members)), size)]
            wanted = [expected.get(key, 0.0) for key in keys]
            np.testing.assert_allclose(found[place, :, 0], wanted, rtol=0, atol=1e-12 * scale)
            first = function.base(game, HOW) if empty is None else empty[place, 0]
            np.testing.assert_allclose(first, expected[()], rtol=0, atol=1e-12 * scale)


CENTRE, POINTS = np.linspace(-2.0, 1e3, D), BACKGROUND + 3.0
CENTRED = LinearFunction(TWO.coefficients, TWO.intercept, center=CENTRE, points=POINTS)


def test_a_centred_function_is_that_of_differences_from_the_centre():
    np.testing.assert_allclose(CENTRED.predict(ROWS), TWO.predict(ROWS - CENTRE), rtol=1e-14)
    explainer = pkex.Explainer(Explained(CENTRED, CENTRED.predict), value_function="neutral")
    shifted = pkex.Explainer(Explained(TWO, TWO.predict), value_function="neutral")
    np.testing.assert_array_equal(explainer.shap_values(ROWS), shifted.shap_values(ROWS - CENTRE))
    np.testing.assert_array_equal(explainer.expected_value, shifted.expected_value)


@pytest.mark.parametrize("groups", [None, {"first": [0, 3], "last": [2, 4]}])
def test_points_of_its_own_are_a_background(groups):
    model = Explained(CENTRED, CENTRED.predict)
    explainer = pkex.Explainer(model, groups=groups, outputs=[1, 0])
    against = pkex.Explainer(model, POINTS, groups=groups, outputs=[1, 0])
    np.testing.assert_array_equal(explainer.background, POINTS)
    for again in (explainer, pickle.loads(pickle.dumps(explainer))):
        np.testing.assert_array_equal(again.shap_values(ROWS), against.shap_values(ROWS))
        np.testing.assert_array_equal(again.expected_value, against.expected_value)


def test_interactions_of_an_explainer_are_exactly_0():
    explainer = pkex.Explainer(Explained(TWO, TWO.predict), BACKGROUND)
    values = explainer.interactions(ROWS, order=3).values
    np.testing.assert_array_equal(values[:, D:], 0.0)
    np.testing.assert_array_equal(values[:, :D], explainer.shap_values(ROWS))


def test_interventional_values_are_those_of_shap():
    explainer = shap.LinearExplainer((ONE.coefficients, ONE.intercept), BACKGROUND)
    expected = explainer.shap_values(ROWS)
    found = ONE.explain(
        ROWS, game=Game("interventional", (BACKGROUND, np.full(7, 1 / 7))), computation=HOW
    )
    np.testing.assert_allclose(found[..., 0], expected, rtol=1e-13, atol=1e-14)


def test_outputs_are_those_of_functions_of_one_output():
    for game in GAMES.values():
        for output in (0, 1):
            alone = LinearFunction(TWO.coefficients[:, output], TWO.intercept[output])
            values = TWO.explain(ROWS, game=game, computation=HOW)[..., [output]]
            np.testing.assert_array_equal(values, alone.explain(ROWS, game=game, computation=HOW))
            chosen = TWO.select([output])
            np.testing.assert_array_equal(values, chosen.explain(ROWS, game=game, computation=HOW))
            assert chosen.base(game, HOW) == TWO.base(game, HOW)[output] == alone.base(game, HOW)


# --- accuracy ---


def test_values_of_columns_far_from_0_keep_their_digits():
    background = 1e9 + 1e-5 * RNG.normal(size=(1000, 2))
    row = 1e9 + 1e-5 * RNG.normal(size=(1, 2))
    weights = np.full(1000, 1e-3)
    function = LinearFunction([1.0, -3.0])
    values = function.explain(
        row, game=Game("interventional", (background, weights)), computation=HOW
    )
    for column, coefficient in enumerate((1, -3)):
        entries = map(Fraction, background[:, column])
        expected = coefficient * (Fraction(row[0, column]) - sum(entries) / 1000)
        assert values[0, column, 0] == pytest.approx(float(expected), rel=1e-13)


def test_values_of_a_row_like_all_of_the_background_are_exactly_0():
    row = RNG.normal(size=(1, D)) * [1e-9, 1.0, 1e3, 1e9, 1e300]
    game = Game("interventional", (np.tile(row, (9, 1)), np.full(9, 1 / 9)))
    np.testing.assert_array_equal(TWO.explain(row, game=game, computation=HOW), 0.0)


def test_pieces_of_many_rows_have_equal_bits():
    rows, background = RNG.normal(size=(700, 101)), RNG.normal(size=(333, 101))
    for function in (
        LinearFunction(RNG.normal(size=101), 2.0),
        LinearFunction(RNG.normal(size=(101, 3))).grouped(np.arange(101) % 10),
    ):
        game = Game("marginal", (background, np.full(333, 1 / 333)))
        whole = function.explain(rows, game=game, computation=HOW)
        output = function.evaluate(rows, n_threads=1)
        for size in (1, 3, 324, 699):
            pieces = [rows[start : start + size] for start in range(0, len(rows), size)]
            values = [function.explain(piece, game=game, computation=HOW) for piece in pieces]
            np.testing.assert_array_equal(np.concatenate(values), whole)
            outputs = [function.evaluate(piece, n_threads=2) for piece in pieces]
            np.testing.assert_array_equal(np.concatenate(outputs), output)


def test_a_pickled_function_has_equal_bits():
    for function in (ONE, TWO, TWO.grouped(PLAYERS)):
        again = pickle.loads(pickle.dumps(function))
        assert repr(again) == repr(function)
        for game in GAMES.values():
            values = function.explain(ROWS, game=game, computation=HOW)
            np.testing.assert_array_equal(again.explain(ROWS, game=game, computation=HOW), values)


# --- the check against the model ---


@pytest.mark.parametrize("scales", [np.ones(D), 10.0 ** np.arange(-8, 12, 4)], ids=["1", "1e-8"])
@pytest.mark.parametrize("intercept", [0.0, 1e-6, 1e6])
@pytest.mark.parametrize("changed", range(D + 1))
def test_another_coefficient_or_intercept_is_noticed(scales, intercept, changed):
    coefficients = np.append(scales * [1.0, -2.0, 0.5, 3.0, -1.0], intercept)
    others = coefficients.copy()
    others[changed] = others[changed] * (1.0 + 1e-9) + (others[changed] == 0.0)
    function, other = (
        LinearFunction(numbers[:D], numbers[D]) for numbers in (coefficients, others)
    )
    assert pkex.Explainer(Explained(function, function.predict), BACKGROUND)
    with pytest.raises(pkex.UnsupportedModelError, match="its fitted attributes say"):
        pkex.Explainer(Explained(function, other.predict), BACKGROUND)


def test_the_magnitude_is_that_of_all_terms():
    sizes = np.abs(ROWS) @ np.abs(TWO.coefficients) + np.abs(TWO.intercept)
    np.testing.assert_allclose(TWO.magnitude(ROWS, n_threads=1), sizes, rtol=1e-15)


# --- wrong input ---


@pytest.mark.parametrize(
    ("coefficients", "intercept", "error", "message"),
    [
        ([1.0, np.nan], 0.0, ValueError, "coefficients has a missing value"),
        ([1.0, np.inf], 0.0, ValueError, "coefficients has an infinite value"),
        (np.ones((2, 2, 2)), 0.0, ValueError, "coefficients must have shape"),
        (["a", "b"], 0.0, TypeError, "coefficients must hold real numbers"),
        ([1.0, 2.0], [1.0], ValueError, "intercept must be a number"),
        (np.ones((2, 3)), [1.0, 2.0], ValueError, r"intercept must .* shape \(3,\)"),
        ([1.0, 2.0], np.nan, ValueError, "intercept must be finite"),
    ],
)
def test_unusable_numbers_are_refused_by_name(coefficients, intercept, error, message):
    with pytest.raises(error, match=message):
        LinearFunction(coefficients, intercept)


def test_values_too_large_for_a_float_are_reported_with_their_row():
    huge = LinearFunction([1e300, 1.0])
    rows = np.array([[1.0, 1.0], [1e10, 1.0]])
    for compute in (
        lambda: huge.explain(rows, computation=HOW),
        lambda: huge.explain(rows, quantity=Quantity(0, 0.5), computation=HOW),
        lambda: huge.predict(rows),
    ):
        with pytest.raises(OverflowError, match="row 1"):
            compute()
    with pytest.raises(OverflowError, match="base value"):
        huge.base(Game("interventional", (rows[1:], np.ones(1))), HOW)
    far = Game("interventional", (np.array([[1e308, 0.0], [-1e308, 0.0]]), np.full(2, 0.5)))
    with pytest.raises(OverflowError, match="base value"):
        LinearFunction([1.0, 1.0]).base(far, HOW)


def test_the_game_of_its_own_points_is_refused():
    for compute in (ONE.explain, lambda rows, **options: ONE.base(**options)):
        with pytest.raises(ValueError, match="no stored points"):
            compute(ROWS, game=Game("marginal"), computation=HOW)


def test_a_single_output_cannot_be_chosen():
    with pytest.raises(ValueError, match="no output axis"):
        ONE.select([0])


def test_progress_goes_from_the_first_rows_to_the_last():
    reports = []
    computation = Computation(progress=lambda *report: reports.append(report))
    ONE.explain(np.tile(ROWS, (20_000, 1)), computation=computation)
    assert len(reports) > 5
    assert reports == sorted(reports)
    assert reports[-1] == (60_000, 60_000)
