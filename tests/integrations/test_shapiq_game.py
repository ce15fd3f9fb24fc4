"""KernelGame: a game of shapiq, evaluated by the engine, and exact."""

import pickle
from importlib import import_module

import numpy as np
import pytest
from brute_force import coalitions, imputed
from classifiers import ROWS, D, X, Z, fitted, probabilities
from sklearn.svm import SVR

import pkex

shapiq = pytest.importorskip("shapiq")
KernelGame = import_module("pkex.integrations.shapiq").KernelGame

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

EQUAL = np.full(len(Z), 1.0 / len(Z))
MODEL = SVR().fit(X, X[:, 0] * X[:, 1])
ALL = np.array([[j in members for j in range(D)] for members in coalitions(D)])


def test_coalitions_are_worth_what_the_model_is_on_average():
    game = KernelGame(MODEL, ROWS[0], Z, normalize=False)
    expected = [imputed(MODEL.predict, ROWS[0], Z, EQUAL, members) for members in coalitions(D)]
    np.testing.assert_allclose(game(ALL), expected, rtol=0, atol=1e-12)
    normalized = KernelGame(MODEL, ROWS[0], Z)
    np.testing.assert_allclose(normalized(ALL), game(ALL) - expected[0], rtol=0, atol=1e-12)
    assert game.value_function(ALL[:0]).shape == (0,)


def test_probabilities_are_played():
    model = fitted("SVC of three")
    game = KernelGame(model.predict_proba, ROWS[0], Z, outputs=1, normalize=False)
    output = probabilities(model)
    expected = [
        imputed(lambda rows: output(rows)[:, 1], ROWS[0], Z, EQUAL, members)
        for members in coalitions(D)
    ]
    np.testing.assert_allclose(game(ALL), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("index", ["SV", "k-SII", "STII", "FBII"])
def test_shapiqs_exact_computer_finds_the_values_of_an_explainer(index):
    game = KernelGame(MODEL, ROWS[0], Z)
    order = 1 if index == "SV" else 2
    found = shapiq.ExactComputer(game, n_players=D)(index, order=order)
    explainer = pkex.Explainer(MODEL, Z)
    own = explainer.interactions(ROWS[:1], index="SII" if index == "SV" else index, order=order)
    for members, value in zip(own.coalitions, own.values[0], strict=True):
        assert found[members] == pytest.approx(value, abs=1e-9)


def test_shapiqs_approximators_take_the_game_of_many_features():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(30, 24))
    model = SVR().fit(wide, wide[:, 0])
    game = KernelGame(model, wide[0], wide[:3], groups={"first": [0, 1]})
    found = shapiq.KernelSHAP(n=23, random_state=0).approximate(600, game)
    exact = pkex.Explainer(model, wide[:3], groups={"first": [0, 1]}).shap_values(wide[:1])[0]
    estimated = np.array([found[(j,)] for j in range(23)])
    assert np.abs(estimated - exact).max() < 0.1 * np.abs(exact).max()


def test_without_a_background_the_game_is_neutral():
    game = KernelGame(MODEL, ROWS[0])
    values = shapiq.ExactComputer(game, n_players=D)("SV", order=1)
    exact = pkex.Explainer(MODEL, value_function="neutral").shap_values(ROWS[:1])[0]
    np.testing.assert_allclose([values[(j,)] for j in range(D)], exact, rtol=0, atol=1e-12)


def test_games_of_several_outputs_or_of_no_rows_are_refused():
    with pytest.raises(
        ValueError, match=r"the model has 3 outputs, but a game has one\. Choose one by"
    ):
        KernelGame(fitted("SVC of three").predict_proba, ROWS[0], Z)
    with pytest.raises(ValueError, match="coalitions are not evaluated one by one"):
        KernelGame(MODEL, ROWS[0], Z, value_function="marginal")
    with pytest.raises(ValueError, match="x"):
        KernelGame(MODEL, ROWS, Z)


def test_probabilities_without_a_background_are_played_as_explained():
    model = fitted("SVC")
    game = KernelGame(model.predict_proba, ROWS[0], outputs=1)
    explainer = pkex.Explainer(model.predict_proba, outputs=1)
    assert "predict_proba of SVC" in repr(game)
    assert "value_function='interventional'" in repr(game)
    total = explainer.shap_values(ROWS[:1]).sum()
    np.testing.assert_allclose(game(ALL)[-1], total, rtol=0, atol=1e-12)


def test_games_can_be_pickled():
    game = KernelGame(fitted("SVC").predict_proba, ROWS[0], Z, outputs=1)
    again = pickle.loads(pickle.dumps(game))
    np.testing.assert_array_equal(again(ALL), game(ALL))
