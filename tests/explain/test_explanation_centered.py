"""Importance and centred values: what varies between rows, apart from constants of the game."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge

import pkex

FEATURES = ["age", "bmi", "pulse"]
GAMES = [None, "interventional", "marginal"]


def _explanation(n_outputs: int | None = None, **options) -> pkex.Explanation:
    rng = np.random.default_rng(0)
    outputs = () if n_outputs is None else (n_outputs,)
    return pkex.Explanation(
        rng.normal(5.0, 1.0, size=(6, 3, *outputs)),
        np.full((6, *outputs), 10.0),
        rng.normal(size=(6, 3)),
        FEATURES,
        None if n_outputs is None else [f"y{k}" for k in range(n_outputs)],
        **options,
    )


# --- the game ---


@pytest.mark.parametrize("game", [*GAMES, "neutral"])
def test_slices_and_pickles_keep_the_game(game):
    explanation = _explanation(value_function=game)
    assert explanation.value_function == game
    for part in (explanation[2:], explanation[0], explanation[:, "bmi"], explanation.centered()):
        assert part.value_function == game
        assert pickle.loads(pickle.dumps(part)).value_function == game


def test_an_unknown_game_is_refused():
    with pytest.raises(ValueError, match=r"value_function must be one of 'neutral'.*'Neutral'"):
        _explanation(value_function="Neutral")


# --- importance ---


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("n_outputs", [None, 2])
def test_importance_is_the_mean_absolute_value(game, n_outputs):
    explanation = _explanation(n_outputs, value_function=game)
    expected = np.abs(explanation.values).mean(axis=0)
    np.testing.assert_array_equal(explanation.importance(), expected)
    assert explanation._rows.importance_label == "mean |value|"


@pytest.mark.parametrize("n_outputs", [None, 2])
def test_importance_of_neutral_values_is_their_mean_absolute_deviation(n_outputs):
    explanation = _explanation(n_outputs, value_function="neutral")
    deviations = explanation.values - explanation.values.mean(axis=0)
    np.testing.assert_array_equal(explanation.importance(), np.abs(deviations).mean(axis=0))
    assert explanation[:, "bmi"].importance() == pytest.approx(explanation.importance()[1])
    assert explanation._rows.importance_label == "mean |value − its mean|"


@pytest.mark.parametrize("game", ["neutral", "marginal"])
def test_importance_of_one_row_is_its_absolute_values(game):
    explanation = _explanation(2, value_function=game)
    for row in (explanation[3], explanation[3:4]):
        expected = np.abs(explanation.values[3])
        np.testing.assert_array_equal(row.importance(), expected)


def test_importance_of_no_rows_is_an_error():
    with pytest.raises(ValueError, match="no rows"):
        _explanation()[[]].importance()


def test_constants_of_the_target_do_not_hide_the_features_that_act():
    # y = 3 x0 + x1 + 10, and two columns of noise.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    model = KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1).fit(X, 3.0 * X[:, 0] + X[:, 1] + 10.0)
    neutral = pkex.Explainer(model, value_function="neutral")(X)
    for explanation in (neutral, neutral.centered()):
        assert list(np.argsort(-explanation.importance())[:2]) == [0, 1]
    # What hides them: the constants are larger than what acts.
    assert np.abs(neutral.values).mean(axis=0).argmax() > 1


# --- centered ---


@pytest.mark.parametrize("index", [..., (..., "bmi"), (..., ["bmi", "age"]), slice(2)])
def test_centred_values_have_mean_0_and_add_up_to_the_output(index):
    explanation = _explanation(value_function="neutral")[index]
    centred = explanation.centered()
    np.testing.assert_allclose(centred.values.mean(axis=0), 0.0, atol=1e-14)

    def total(given):
        return given.base_values + given.values.reshape(len(given), -1).sum(axis=1)

    np.testing.assert_allclose(total(centred), total(explanation), rtol=1e-14)
    np.testing.assert_allclose(centred.base_values, total(explanation).mean(), rtol=1e-14)


def test_a_centred_explanation_of_a_model_starts_from_the_mean_output():
    X, y = load_diabetes(return_X_y=True)
    model = KernelRidge(kernel="rbf", gamma=5.0, alpha=0.1).fit(X, y)
    centred = pkex.Explainer(model, value_function="neutral")(X).centered()
    np.testing.assert_allclose(centred.base_values, model.predict(X).mean(), rtol=1e-10)
    np.testing.assert_allclose(
        centred.values.sum(axis=1) + centred.base_values, model.predict(X), rtol=1e-10
    )


def test_rows_may_be_centred_by_others():
    whole = _explanation(2, value_function="neutral")
    by_all = whole.centered()
    for part, reference in (
        (slice(2), whole),
        (0, whole),
        ([5], whole),
        ((slice(None), "bmi"), whole[:, "bmi"]),
        ((0, "bmi"), whole[:, "bmi"]),
        ((0, "bmi", 1), whole[:, "bmi", 1]),
        ((..., "y1"), whole[..., "y1"]),
    ):
        centred = whole[part].centered(reference)
        np.testing.assert_allclose(centred.values, by_all[part].values, rtol=1e-12)
        expected = whole[part].base_values + reference.values.mean(axis=0).sum(
            axis=0 if "feature" in reference._axes.present else ()
        )
        np.testing.assert_allclose(centred.base_values, expected, rtol=1e-12)


def test_centred_values_keep_everything_else_and_say_that_they_are_centred():
    pd = pytest.importorskip("pandas")
    explanation = _explanation(
        value_function="neutral", row_index=pd.Index(list("uvwxyz")), output_name="b vs a"
    )
    for centred in (
        explanation.centered(),
        pickle.loads(pickle.dumps(explanation.centered())),
        explanation[:3].centered(explanation)[:3],
    ):
        assert "neutral, centered, base value" in repr(centred)
        assert centred.feature_names == FEATURES
        assert centred.output_name == "b vs a"
        assert list(centred.row_index) == list("uvwxyz")[: len(centred)]
        np.testing.assert_array_equal(centred.data, explanation.data[: len(centred)])
        assert not centred.values.flags.writeable
        assert not centred.base_values.flags.writeable
        # Of a part of the rows, too: how far they are from the reference counts.
        expected = np.abs(centred.values).mean(axis=0)
        np.testing.assert_array_equal(centred.importance(), expected)
    assert "centered" not in repr(explanation)


@pytest.mark.parametrize(
    ("reference", "error", "words"),
    [
        (lambda whole: whole.values, TypeError, "must be an Explanation.*ndarray"),
        (
            lambda whole: whole[0],
            ValueError,
            "reference is a single row; several rows are required",
        ),
        (lambda whole: whole[[]], ValueError, "no rows to average"),
        (lambda whole: whole[:, ::-1], ValueError, "the same features.*'age'.*it has .'pulse'"),
        (lambda whole: whole[:, "bmi"], ValueError, "same features.*it has the single one 'bmi'"),
        (lambda whole: whole[..., 0], ValueError, "same outputs.*it has the single one 'y0'"),
        (lambda whole: whole[..., ::-1], ValueError, "the same outputs"),
        (lambda whole: _explanation(2), ValueError, "value_function=None, but .* 'neutral'; both"),
        (lambda whole: whole.centered(), ValueError, "different base values"),
    ],
)
def test_a_reference_that_does_not_fit_is_refused(reference, error, words):
    whole = _explanation(2, value_function="neutral")
    with pytest.raises(error, match=words):
        whole[:2].centered(reference(whole))


def test_a_row_without_a_row_axis_needs_a_reference():
    with pytest.raises(ValueError, match=r"explanation\[0\].centered\(explanation\)"):
        _explanation()[0].centered()


def test_a_single_row_is_not_centred_by_itself_but_by_others():
    explanation = _explanation()
    with pytest.raises(ValueError, match=r"several rows.*explanation\[:1\].centered\(explanation"):
        explanation[:1].centered()
    values = explanation[:1].centered(explanation[1:2]).values
    np.testing.assert_array_equal(values, explanation.values[:1] - explanation.values[1:2])


def test_no_rows_cannot_be_centred_by_themselves_but_by_others():
    explanation = _explanation()
    with pytest.raises(ValueError, match="no rows"):
        explanation[[]].centered()
    assert explanation[[]].centered(explanation).shape == (0, 3)
