"""Models of preferences as estimators: what is fitted, what they are given and what they refuse."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_checks

import pkex
from pkex.kernels import RBF, Categorical, Chi2, Laplacian, Linear, Matern, Polynomial
from pkex.models import PreferenceLogistic, PreferenceRidge

RNG = np.random.default_rng(0)
N = 30
LEFT, RIGHT = RNG.normal(size=(2, N, 3))
CONTEXT = RNG.normal(size=(N, 2))
MARGINS = LEFT[:, 0] - RIGHT[:, 0] + LEFT[:, 1] * RIGHT[:, 2] - RIGHT[:, 1] * LEFT[:, 2]
NAMES = ["speed", "weight", "age"]
FRAMES = [pd.DataFrame(rows, columns=NAMES) for rows in (LEFT, RIGHT)]
MODELS = [PreferenceRidge, PreferenceLogistic]


def target_of(model):
    return MARGINS if model is PreferenceRidge else MARGINS > 0.0


def fitted(model, context=None, left=LEFT, right=RIGHT, **options):
    return model(**{"alpha": 0.1} | options).fit(left, right, target_of(model), context)


def output(model, *tables):
    return getattr(model, "decision_function", model.predict)(*tables)


# --- what is fitted ---


def preferential(kernel, left, right, others_left, others_right):
    """The generalised preferential kernel, as it is written."""
    there = kernel(left, others_left) * kernel(right, others_right)
    return there - kernel(left, others_right) * kernel(right, others_left)


@pytest.mark.parametrize("kernel", [2.0 * RBF([1.0, 2.0, 3.0]), Matern(2.0)])
@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_the_ridge_solves_its_equations(context, kernel):
    model = fitted(PreferenceRidge, context, kernel=kernel)
    matrix = preferential(model.kernel_, LEFT, RIGHT, LEFT, RIGHT)
    rows = preferential(model.kernel_, LEFT[:5], RIGHT[5:10], LEFT, RIGHT)
    told = []
    if context is not None:
        matrix = matrix * model.context_kernel_(CONTEXT)
        rows, told = rows * model.context_kernel_(CONTEXT[10:15], CONTEXT), [CONTEXT[10:15]]
    coefficients = np.linalg.solve(matrix + 0.1 * np.eye(N), MARGINS)
    np.testing.assert_allclose(model.dual_coef_, coefficients, rtol=0, atol=1e-10)
    found = model.predict(LEFT[:5], RIGHT[5:10], *told)
    np.testing.assert_allclose(found, rows @ coefficients, rtol=0, atol=1e-12)


@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_the_logistic_loss_has_no_slope_where_the_model_is(context):
    model = fitted(PreferenceLogistic, context)
    matrix = preferential(model.kernel_, LEFT, RIGHT, LEFT, RIGHT)
    told = [] if context is None else [CONTEXT]
    if told:
        matrix = matrix * model.context_kernel_(CONTEXT)
    wrong = expit(model.decision_function(LEFT, RIGHT, *told)) - (MARGINS > 0.0)
    slope = matrix @ wrong + 0.2 * matrix @ model.dual_coef_
    assert np.abs(slope).max() <= 1e-10
    assert 2 <= model.n_iter_ <= 20


def test_of_labels_it_is_a_skew_matrix_of_log_odds():
    left = RNG.integers(3, size=(60, 1))
    right = (left + RNG.integers(1, 3, size=(60, 1))) % 3
    has_won = RNG.random(60) < 0.7
    model = PreferenceLogistic(alpha=0.5, kernel=Categorical()).fit(left, right, has_won)
    # The entry of W for a pair of labels, of f(a, b) = W_ab − W_ba.
    features = np.zeros((60, 3, 3))
    features[np.arange(60), left[:, 0], right[:, 0]] = 1.0
    features[np.arange(60), right[:, 0], left[:, 0]] = -1.0
    upper = features[:, *np.triu_indices(3, 1)]
    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10).fit(upper, has_won)
    found = model.decision_function(left, right)
    np.testing.assert_allclose(found, theirs.decision_function(upper), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kernel", [None, Matern(2.0)])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_swapped_items_have_the_same_output_with_the_other_sign(model, context, kernel):
    model, told = fitted(model, context, kernel=kernel), [] if context is None else [CONTEXT]
    there, back = output(model, LEFT, RIGHT, *told), output(model, RIGHT, LEFT, *told)
    np.testing.assert_array_equal(there, -back)
    assert not output(model, LEFT, LEFT, *told).any()


def test_rock_beats_scissors_beats_paper_beats_rock():
    rock, scissors, paper = np.eye(3)
    winners, losers = np.array([rock, scissors, paper]), np.array([scissors, paper, rock])
    for model in (PreferenceRidge(alpha=0.01), PreferenceLogistic(alpha=0.01)):
        model.fit(winners, losers)
        assert (output(model, winners, losers) > 0.5).all()
        assert (output(model, losers, winners) < -0.5).all()


def test_labels_left_and_right_say_which_item_was_preferred():
    labels = np.where(MARGINS > 0.0, "left", "right")
    model = PreferenceLogistic(alpha=0.1).fit(LEFT, RIGHT, labels)
    assert model.classes_.tolist() == ["right", "left"]
    odds, shares = model.decision_function(LEFT, RIGHT), model.predict_proba(LEFT, RIGHT)
    np.testing.assert_array_equal(odds, fitted(PreferenceLogistic).decision_function(LEFT, RIGHT))
    np.testing.assert_allclose(shares[:, 1], expit(odds), rtol=1e-14)
    np.testing.assert_allclose(shares, model.predict_proba(RIGHT, LEFT)[:, ::-1], rtol=1e-14)
    np.testing.assert_array_equal(model.predict(LEFT, RIGHT), np.where(odds > 0, "left", "right"))
    assert model.score(LEFT, RIGHT, labels) == np.mean(model.predict(LEFT, RIGHT) == labels)
    assert model.explain_items(LEFT, RIGHT).output_name == "left vs right"


@pytest.mark.parametrize(
    ("right", "left"),
    [(False, True), (0, 1), (0.0, 1.0), (-1, 1), ("right", "left")],
)
@pytest.mark.parametrize("kind", [None, object], ids=["as they are", "as objects"])
def test_labels_that_are_understood_give_the_same_model(right, left, kind):
    labels = np.array([left if margin > 0.0 else right for margin in MARGINS], dtype=kind)
    model = PreferenceLogistic(alpha=0.1).fit(LEFT, RIGHT, labels)
    assert model.classes_.tolist() == [right, left]
    assert {type(label) for label in model.classes_.tolist()} == {type(left)}
    expected = fitted(PreferenceLogistic).decision_function(LEFT, RIGHT)
    np.testing.assert_array_equal(model.decision_function(LEFT, RIGHT), expected)
    assert model.score(LEFT, RIGHT, labels) == np.mean((expected > 0.0) == (MARGINS > 0.0))
    # Without labels, of the pairs that left has won.
    won = LEFT[MARGINS > 0.0], RIGHT[MARGINS > 0.0]
    assert model.score(*won) == np.mean(expected[MARGINS > 0.0] > 0.0)


@pytest.mark.parametrize("model", MODELS)
def test_columns_that_are_constant_in_the_fit_do_not_matter(model):
    told, pair = fitted(model, CONTEXT), (LEFT[:4], RIGHT[:4], CONTEXT[:4])
    tables = [np.insert(table, 1, 0.1, axis=1) for table in (LEFT, RIGHT, CONTEXT)]
    with pytest.warns(UserWarning, match="which are constant in") as warned:
        found = fitted(model, tables[2], *tables[:2])
    assert [str(each.message).partition(", so")[0] for each in warned] == [
        "the default kernel ignores columns ['x1'], which are constant in left and right",
        "the default context_kernel ignores columns ['x1'], which are constant in context",
    ]
    others = [np.insert(table, 1, [7.0, -1.0, 0.1, 2.0], axis=1) for table in pair]
    np.testing.assert_allclose(output(found, *others), output(told, *pair), rtol=1e-12)
    for game in ("marginal", "interventional", "neutral"):
        own, theirs = (
            each.explain_items(*tables, value_function=game).values
            for each, tables in ((found, others), (told, pair))
        )
        np.testing.assert_allclose(np.delete(own, 1, axis=1), theirs, rtol=0, atol=1e-10)
        assert np.abs(own[:, 1]).max() <= 1e-12
    own, theirs = found.explain_context(others[2]), told.explain_context(pair[2])
    np.testing.assert_allclose(np.delete(own.values, 1, axis=1), theirs.values, rtol=0, atol=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_contexts_that_are_all_alike_have_no_default_kernel(model):
    with pytest.raises(
        ValueError, match=r"all columns of context are constant, .* column of the items"
    ):
        fitted(model, np.ones((N, 2)))
    found = fitted(model, np.ones((N, 2)), context_kernel=RBF())
    expected = output(fitted(model), LEFT, RIGHT)
    np.testing.assert_allclose(output(found, LEFT, RIGHT, np.ones((N, 2))), expected, rtol=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_without_y_left_was_preferred(model):
    found = model().fit(LEFT, RIGHT)
    winners, losers = LEFT.copy(), RIGHT.copy()
    winners[::2], losers[::2] = RIGHT[::2], LEFT[::2]
    signs = np.where(np.arange(N) % 2, 1, -1)
    mirrored = model().fit(winners, losers, signs)
    np.testing.assert_allclose(
        output(mirrored, LEFT, RIGHT), output(found, LEFT, RIGHT), rtol=0, atol=1e-9
    )


def test_r2_without_y_is_refused():
    with pytest.raises(
        ValueError, match=r"score requires y: .* Use \(predict\(left, right\) > 0\)"
    ):
        fitted(PreferenceRidge).score(LEFT, RIGHT)


# --- estimators ---


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_set_params,
    ],
)
def test_they_are_estimators_of_scikit_learn_as_far_as_it_knows_two_tables(model, check):
    check(model.__name__, model())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_they_are_cloned_and_pickled(model, context):
    told = [] if context is None else [context]
    found = fitted(model, context, kernel=Laplacian(2.0))
    fresh = clone(found)
    assert fresh.get_params() == found.get_params()
    with pytest.raises(NotFittedError):
        output(fresh, LEFT, RIGHT, *told)
    pickled = pickle.dumps(found)
    assert b"pkex.models." not in pickled
    assert_same(pickle.loads(pickled), found, (LEFT, RIGHT, *told))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("context", [None, CONTEXT], ids=["alone", "in contexts"])
def test_skops_saves_what_is_fitted(model, context):
    skops = pytest.importorskip("skops.io")
    found = fitted(model, context, *FRAMES)
    saved = skops.dumps(found)
    trusted = skops.get_untrusted_types(data=saved)
    assert all(name.startswith("pkex.") for name in trusted)
    told = [] if context is None else [context]
    assert_same(skops.loads(saved, trusted=trusted), found, (*FRAMES, *told))


def assert_same(again, model, tables):
    np.testing.assert_array_equal(output(again, *tables), output(model, *tables))
    values = model.explain_items(*tables).values
    np.testing.assert_array_equal(again.explain_items(*tables).values, values)


@pytest.mark.parametrize("model", MODELS)
def test_names_are_kept_and_compared(model):
    contexts = pd.DataFrame(CONTEXT, columns=["wind", "rain"])
    found = fitted(model, contexts, *FRAMES)
    assert found.feature_names_in_.tolist() == NAMES
    assert found.n_features_in_ == 3
    explanation = found.explain_items(*FRAMES, contexts)
    assert explanation.feature_names == NAMES
    np.testing.assert_array_equal(explanation.data, LEFT - RIGHT)
    assert explanation.to_frame().columns.tolist() == NAMES
    assert found.explain_context(contexts).feature_names == ["wind", "rain"]
    with pytest.raises(ValueError, match="right has its columns in another order than"):
        found.explain_items(FRAMES[0], FRAMES[1][NAMES[::-1]], contexts)
    with pytest.raises(ValueError, match=r"context has other columns .* missing \['wind'\]"):
        output(found, *FRAMES, contexts.rename(columns={"wind": "snow"}))
    again = found.fit(LEFT, RIGHT, target_of(model))
    assert not hasattr(again, "feature_names_in_")
    assert again.context_ is None


def test_columns_that_are_numbered_are_in_the_same_order():
    left = pd.DataFrame(LEFT, columns=[5, 6, 7])
    with pytest.raises(ValueError, match="right has its columns in another order than lef"):
        PreferenceRidge().fit(left, pd.DataFrame(RIGHT, columns=[7, 6, 5]))
    halves = PreferenceRidge().fit(left, pd.DataFrame(RIGHT))
    expected = PreferenceRidge().fit(LEFT, RIGHT).predict(LEFT, RIGHT)
    np.testing.assert_array_equal(halves.predict(LEFT, RIGHT), expected)


def test_the_arrays_given_may_change_afterwards():
    left, right, context = LEFT.copy(), RIGHT.copy(), CONTEXT.copy()
    model = PreferenceRidge().fit(left, right, MARGINS, context)
    before = model.predict(LEFT, RIGHT, CONTEXT)
    for table in (left, right, context):
        table[:] = 0.0
    np.testing.assert_array_equal(model.predict(LEFT, RIGHT, CONTEXT), before)


def test_steps_that_do_not_suffice_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="in 1 steps. Increase max_iter=1"):
        fitted(PreferenceLogistic, max_iter=1)
    with warnings.catch_warnings(action="error"):
        fitted(PreferenceLogistic, alpha=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_the_explainer_says_what_explains_them(model):
    found = fitted(model)
    for given in (found, found.predict):
        with pytest.raises(pkex.UnsupportedModelError, match=r"explain_items\(left, right\)"):
            pkex.Explainer(given, LEFT)


# --- bad input ---


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ((LEFT, RIGHT[:, :2]), "right has the wrong number of columns: expected 3, got 2"),
        ((LEFT, RIGHT[:-1]), r"left and right must have the same number of rows; got 30 and 29"),
        (
            (FRAMES[0], FRAMES[1].rename(columns={"age": "size"})),
            "right has other columns than left",
        ),
        ((LEFT, np.where(LEFT > 2.0, np.nan, RIGHT)), r"right .*(missing|NaN|nan)"),
        ((LEFT[0], RIGHT[0]), r"left must"),
        (
            (LEFT, MARGINS > 0.0),
            r"right must be two-dimensional, .* got shape \(30,\)\. Pass the items that left was "
            r".*: fit\(left, right, y\)$",
        ),
        ((LEFT, ["left", "right"] * (N // 2)), r"right has documents .*: fit\(left, right, y\)$"),
        (
            (LEFT, np.vstack([RIGHT[:4], LEFT[4:6], RIGHT[6:]])),
            r"row 4 of left and right compares it",
        ),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_tables_that_are_no_pairs_are_refused(model, tables, message):
    with pytest.raises(ValueError, match=message):
        fitted(model, None, *tables)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(N), r"y must have two classes; got only 1.0. Leave y out if left"),
        (np.arange(N) % 3, r"y must have two classes, .* got 3: \[0, 1, 2\]. Use PreferenceRidge"),
        (MARGINS, r"y must have two classes, .* got 30: .* Use PreferenceRidge for degrees"),
        (
            np.where(MARGINS > 0.0, "win", "loss"),
            r"y has the classes \['loss', 'win'\], which do not tell",
        ),
        (
            np.where(MARGINS > 0.0, 2, 1),
            r"classes \[1, 2\], .* Pass True or 1 .* or 'left' and",
        ),
        (np.where(MARGINS > 0.0, 1.0, np.nan), r"y has no label in row \d+ \(\d+ such rows in all"),
        (np.where(MARGINS > 0.0, True, None), r"y has no label in row \d+ \(\d+ such rows in all"),
        (np.ones(N - 1), r"y must have shape \(30,\), a label for each row of left"),
    ],
)
def test_labels_that_are_not_two_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        PreferenceLogistic().fit(LEFT, RIGHT, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            MARGINS > 0.0,
            r"y must be degrees .* booleans. .* PreferenceLogistic .* pass 2 \* y\.astype",
        ),
        ((MARGINS > 0.0).astype(object), r"y must be degrees of preference; got booleans"),
        (np.where(MARGINS > 0.0, np.nan, 1.0), r"y "),
        (np.ones(N - 1), r"y must have shape \(30,\)"),
        (np.ones((N, 2)), r"y must have shape \(30,\), a number for each row; got \(30, 2\)"),
    ],
)
def test_margins_that_are_none_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        PreferenceRidge().fit(LEFT, RIGHT, y)


def test_an_alpha_that_rounding_hides_is_to_be_larger():
    pairs = LEFT[:5].repeat(6, axis=0), RIGHT[:5].repeat(6, axis=0)
    with pytest.raises(
        ValueError, match=r"alpha=1e-17 is below the rounding errors .* Increase it"
    ):
        PreferenceRidge(alpha=1e-17).fit(*pairs)
    assert (PreferenceRidge(alpha=1e-11).fit(*pairs).predict(*pairs) > 0.99).all()


def test_draws_and_wins_of_left_are_margins_and_warned_of_as_what_may_be_labels():
    y = np.where(MARGINS > 0.0, 1, 0)
    with pytest.warns(UserWarning, match=r"0 means a draw. If 0 means .* pass 2 \* y - 1, or"):
        model = PreferenceRidge(alpha=0.1).fit(LEFT, RIGHT, y)
    # A number that is hardly a win of right tells what 0 is.
    y = np.where(y == 1, 1.0, -1e-12 * (np.arange(N) == y.argmin()))
    told = PreferenceRidge(alpha=0.1).fit(LEFT, RIGHT, y)
    found, expected = (each.predict(LEFT, RIGHT) for each in (model, told))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert model.score(LEFT, RIGHT, np.where(y == 1, 1, 0)) > 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be .* above 0, or None \(the default\); got 0.0"),
        ({"kernel": RBF([1.0, 2.0])}, "kernel: .*length"),
        ({"context_kernel": RBF([1.0, 2.0, 3.0])}, "context_kernel: .*length"),
        ({"kernel": Chi2()}, "left and right has the value -"),
        ({"kernel": RBF() * Linear()}, r"kernel=RBF.* is or contains a power series .* require"),
        (
            {"context_kernel": Polynomial(3, 1.0, -50.0)},
            r"semidefinite, but RBF.* times Poly.* is not on",
        ),
        ({"kernel": 1e200 * RBF()}, "overflows between rows of left and right"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_parameters_out_of_range_are_refused(model, options, message):
    with pytest.raises(ValueError, match=message):
        fitted(model, CONTEXT, **options)


@pytest.mark.parametrize("model", MODELS)
def test_contexts_are_given_exactly_where_the_model_has_them(model):
    alone, within = fitted(model), fitted(model, CONTEXT)
    for call in (alone.predict, alone.explain_items):
        with pytest.raises(ValueError, match="context was given, but the model was fitted without"):
            call(LEFT, RIGHT, CONTEXT)
    with pytest.raises(ValueError, match=r"context is missing, .* Pass a table of 2 columns"):
        within.predict(LEFT, RIGHT)
    with pytest.raises(ValueError, match="left and context must have the same number of rows"):
        within.predict(LEFT, RIGHT, CONTEXT[:2])
    with pytest.raises(
        ValueError, match="explain_context requires a model that was fitted with contexts"
    ):
        alone.explain_context(CONTEXT)
    with pytest.raises(ValueError, match="left and right must both be given"):
        within.explain_context(CONTEXT, LEFT)
    with pytest.raises(ValueError, match="left and context must have the same number of rows"):
        within.explain_context(CONTEXT[:2], LEFT, RIGHT)


def test_kernels_of_too_many_terms_are_refused_with_others_that_have_fewer():
    model = fitted(PreferenceRidge, kernel=Matern(2.0) * Matern(1.0))
    with pytest.raises(ValueError, match=r"kernel=Matern.* too many terms .* Use a single Mat"):
        model.explain_items(LEFT[:2], RIGHT[:2])
    game = pkex.Observational(leave_one_out=True)
    values = model.explain_items(LEFT[:2], RIGHT[:2], value_function=game).values
    total = model.predict(LEFT[:2], RIGHT[:2])
    np.testing.assert_allclose(values.sum(axis=1), total, rtol=0, atol=1e-9)


def test_games_that_there_are_not_are_refused(monkeypatch):
    model = fitted(PreferenceRidge)
    with pytest.raises(ValueError, match="value_function must be one of 'neutral', "):
        model.explain_items(LEFT, RIGHT, value_function="paper")
    with pytest.raises(ValueError, match="value_function='neutral' does not use a background"):
        model.explain_items(LEFT, RIGHT, background=LEFT, value_function="neutral")
    with pytest.raises(TypeError, match="backgroud"):  # codespell:ignore backgroud
        model.explain_items(LEFT, RIGHT, backgroud=LEFT)  # codespell:ignore backgroud
    monkeypatch.setattr("pkex.models.preferences.absent._MAX_PAIRS", 100)
    with pytest.raises(
        ValueError, match=r"all pairs of 60 items, but at most 10 items are supported\. Pass"
    ):
        model.explain_items(LEFT, RIGHT, value_function="interventional")
    wide = RNG.normal(size=(2, 6, 15))
    model = PreferenceRidge().fit(*wide)
    with pytest.raises(ValueError, match=r"each of 2\^15 coalitions of 15 features"):
        model.explain_items(*wide, value_function="observational")
