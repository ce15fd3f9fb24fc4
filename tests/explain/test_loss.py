"""Losses: exact by brute force through the model's own output, and their means over rows."""

import json
import pickle

import brute_force
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import brier_score_loss, hinge_loss, log_loss, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex
from pkex.execution.computation import Computation
from pkex.functions.coalitionwise import CoalitionGames
from pkex.functions.losses import squared_errors
from pkex.functions.row_losses import RowLosses
from pkex.results import tables

D = 4
RNG = np.random.default_rng(18)
X = RNG.normal(size=(60, D))
Y = 5.0 + X[:, 0] + np.sin(2.0 * X[:, 1]) * X[:, 2] + 0.1 * RNG.normal(size=60)
LABELS = np.where(Y > 5.0, "yes", "no")
SIGNS = np.where(LABELS == "yes", 1.0, -1.0)
CLASSES = np.digitize(Y, [4.5, 5.5])
ROWS, Z = slice(5, 8), X[40:43]
GROUPS = {"pair": [0, 3]}

LOSSES = {"squared_error": np.square, "absolute_error": np.abs}


def outputs_of_coalitions(output, row, background, groups=None):
    """Mean outputs over a background with the entries of a row, coalition by coalition."""
    groups = groups or [[j] for j in range(len(row))]
    weights = np.full(len(background), 1.0 / len(background))
    members = (
        [j for p in players for j in groups[p]] for players in brute_force.coalitions(len(groups))
    )
    return np.array([brute_force.imputed(output, row, background, weights, m) for m in members])


def combined(rows):
    """All combinations of the entries of rows."""
    chosen = np.indices((len(rows),) * rows.shape[1]).reshape(rows.shape[1], -1)
    return np.stack([rows[number, j] for j, number in enumerate(chosen)], axis=1)


def assert_explained(explanation, losses):
    """Compare with losses (n, 2^d) or (n, 2^d, outputs) of coalitions."""
    losses = np.asarray(losses)
    weights = brute_force.shapley_weights(losses.shape[1].bit_length() - 1)
    expected = np.einsum("js,ns...->nj...", weights, losses)
    scale = np.abs(losses).max()
    np.testing.assert_allclose(explanation.values, expected, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(explanation.base_values, losses[:, 0], rtol=0, atol=1e-10 * scale)


REGRESSORS = {
    "SVR": SVR(),
    "poly": SVR(kernel="poly", degree=2),
    "Matern": GaussianProcessRegressor(Matern(nu=1.5), alpha=0.1, normalize_y=True),
    "linear": LinearRegression(),
    "Pipeline": make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", alpha=0.1)),
}


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_equal_brute_force(name, loss):
    model = REGRESSORS[name].fit(X, Y)
    for background, rows, game in (
        (Z, Z, None),
        (Z, combined(Z), "marginal"),
        (Z[:1], Z[:1], None),
    ):
        explainer = pkex.Explainer(model, background, value_function=game)
        explanation = explainer.loss(X[ROWS], Y[ROWS], loss=loss)
        errors = [
            outputs_of_coalitions(model.predict, x, rows) - y
            for x, y in zip(X[ROWS], Y[ROWS], strict=True)
        ]
        assert_explained(explanation, LOSSES[loss](np.array(errors)))


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_of_stored_points_and_of_groups_equal_brute_force(loss):
    model = KernelRidge(kernel="rbf", alpha=0.1).fit(X[:5], Y[:5])
    explained = pkex.Explainer(model).loss(X[ROWS], Y[ROWS], loss=loss)
    own = combined(X[:5])
    errors = [
        outputs_of_coalitions(model.predict, x, own) - y
        for x, y in zip(X[ROWS], Y[ROWS], strict=True)
    ]
    assert_explained(explained, LOSSES[loss](np.array(errors)))
    grouped = pkex.Explainer(model, Z, groups=GROUPS).loss(X[ROWS], Y[ROWS], loss=loss)
    assert grouped.feature_names == ["pair", "x1", "x2"]
    errors = [
        outputs_of_coalitions(model.predict, x, Z, [[0, 3], [1], [2]]) - y
        for x, y in zip(X[ROWS], Y[ROWS], strict=True)
    ]
    assert_explained(grouped, LOSSES[loss](np.array(errors)))


@pytest.mark.parametrize("loss", LOSSES)
def test_neutral_losses_equal_brute_force(loss):
    model = SVR(gamma=0.3).fit(X, Y)
    explanation = pkex.Explainer(model, value_function="neutral").loss(X[ROWS], Y[ROWS], loss=loss)
    errors = []
    for x, y in zip(X[ROWS], Y[ROWS], strict=True):
        squares = np.square(x - model.support_vectors_)
        games = [
            np.exp(-0.3 * squares[:, members].sum(axis=1)) @ model.dual_coef_[0]
            for members in brute_force.coalitions(D)
        ]
        errors.append(np.array(games) + model.intercept_[0] - y)
    assert_explained(explanation, LOSSES[loss](np.array(errors)))


def test_observational_losses_are_losses_of_conditional_means():
    model = SVR().fit(X, Y)
    explainer = pkex.Explainer(model, X[20:40], value_function="observational")
    explanation = explainer.loss(X[ROWS], Y[ROWS])
    interactions = explainer.interactions(X[ROWS], index="Moebius", order=D)
    errors = np.zeros((3, 2**D)) + interactions.base_values[:, None] - Y[ROWS, None]
    for number, members in enumerate(brute_force.coalitions(D)):
        for place, coalition in enumerate(interactions.coalitions):
            if set(coalition) <= set(members):
                errors[:, number] += interactions.values[:, place]
    assert_explained(explanation, np.square(errors))


def test_each_output_has_its_own_loss():
    targets = np.column_stack([Y, -2.0 * X[:, 3]])
    for model in (
        KernelRidge(kernel="rbf"),
        LinearRegression(),
        GaussianProcessRegressor(RBF(), alpha=0.1),
    ):
        model.fit(X, targets)
        for background, rows, game in ((Z, Z, None), (Z, combined(Z), "marginal")):
            explainer = pkex.Explainer(
                model, background, value_function=game, output_names=["a", "b"]
            )
            explanation = explainer.loss(X[ROWS], targets[ROWS])
            errors = [
                outputs_of_coalitions(model.predict, x, rows) - y
                for x, y in zip(X[ROWS], targets[ROWS], strict=True)
            ]
            assert_explained(explanation, np.square(errors))
            assert explanation.output_names == ["a", "b"]
            single = pkex.Explainer(model, background, value_function=game, outputs=1)
            values = single.loss(X[ROWS], targets[ROWS, 1]).values
            np.testing.assert_allclose(values, explanation.values[..., 1], rtol=0, atol=1e-12)


def of_labels(explainer, output, losses_of_outputs, loss):
    """Compare the losses of class labels with brute force; return the explanation."""
    labels = LABELS[ROWS]
    losses = [
        losses_of_outputs(outputs_of_coalitions(output, x, Z), label)
        for x, label in zip(X[ROWS], labels, strict=True)
    ]
    explanation = explainer.loss(X[ROWS], labels, loss=loss)
    assert_explained(explanation, losses)
    return explanation


def test_losses_of_classifiers_equal_brute_force():
    model = LogisticRegression().fit(X, LABELS)
    probabilities = pkex.Explainer(model, Z, target="probability")
    column = {"no": 0, "yes": 1}
    explanation = of_labels(
        probabilities,
        model.predict_proba,
        lambda p, label: -np.log(p[:, column[label]]),
        "log_loss",
    )
    total = explanation.values.sum(axis=1) + explanation.base_values
    expected = log_loss(LABELS[ROWS], model.predict_proba(X[ROWS]), labels=["no", "yes"])
    assert total.mean() == pytest.approx(expected, abs=1e-12)
    single = pkex.Explainer(model, Z, target="probability", outputs="yes")
    values = single.loss(X[ROWS], LABELS[ROWS], loss="log_loss").values
    np.testing.assert_allclose(values, explanation.values, rtol=0, atol=1e-12)

    brier = of_labels(
        probabilities,
        model.predict_proba,
        lambda p, label: np.square(p - np.eye(2)[column[label]]),
        "squared_error",
    )
    total = brier.values[..., 1].sum(axis=1) + brier.base_values[:, 1]
    expected = brier_score_loss(LABELS[ROWS], model.predict_proba(X[ROWS])[:, 1], pos_label="yes")
    assert total.mean() == pytest.approx(expected, abs=1e-12)
    signs = {"no": -1.0, "yes": 1.0}
    of_labels(
        pkex.Explainer(model, Z, target="log-odds"),
        model.decision_function,
        lambda f, label: -np.log(expit(signs[label] * f)),
        "log_loss",
    )
    model = SVC().fit(X, LABELS)
    explanation = of_labels(
        pkex.Explainer(model, Z),
        model.decision_function,
        lambda f, label: np.maximum(0.0, 1.0 - signs[label] * f),
        "hinge",
    )
    total = explanation.values.sum(axis=1) + explanation.base_values
    assert total.mean() == pytest.approx(hinge_loss(LABELS[ROWS], model.decision_function(X[ROWS])))


def test_naive_bayes_has_log_losses_by_default():
    model = make_pipeline(StandardScaler(), GaussianNB()).fit(X, LABELS)
    explanation = pkex.Explainer(model, Z).loss(X[ROWS], LABELS[ROWS], loss="log_loss")
    total = explanation.values.sum(axis=1) + explanation.base_values
    expected = log_loss(LABELS[ROWS], model.predict_proba(X[ROWS]), labels=model.classes_)
    assert total.mean() == pytest.approx(expected, rel=1e-12)


def test_log_loss_of_several_classes():
    model = LogisticRegression().fit(X, CLASSES)
    explanation = pkex.Explainer(model, Z, target="probability").loss(
        X[ROWS], CLASSES[ROWS], loss="log_loss"
    )
    losses = [
        -np.log(outputs_of_coalitions(model.predict_proba, x, Z)[:, label])
        for x, label in zip(X[ROWS], CLASSES[ROWS], strict=True)
    ]
    assert_explained(explanation, losses)
    assert explanation.output_names is None


@pytest.mark.parametrize("game", ["marginal", "neutral"])
def test_pairs_of_points_have_no_limit_of_features(game):
    rng = np.random.default_rng(1)
    wide, n_outputs = rng.normal(size=(40, 30)), 2
    expansion = pkex.KernelExpansion(wide, rng.normal(size=(40, n_outputs)), pkex.kernels.RBF(5.0))
    y = rng.normal(size=(3, n_outputs))
    explanation = pkex.Explainer(expansion, value_function=game).loss(wide[:3] + 0.1, y)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, np.square(expansion.predict(wide[:3] + 0.1) - y), rtol=1e-12)
    # Fifteen pairs of columns are few enough for all coalitions.
    groups = {f"g{j}": [j, 15 + j] for j in range(15)}
    function = pkex.Explainer(expansion, value_function=game, groups=groups)._problem
    losses = RowLosses(function.function, squared_errors, n_outputs, has_output_axis=True)
    rows = np.column_stack([wide[:3] + 0.1, y])
    pairs = function.function.shifted_squares(wide[:3] + 0.1, -y, function.game, Computation())
    expected = CoalitionGames.explain(losses, rows, game=function.game, computation=Computation())
    np.testing.assert_allclose(pairs, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_models_of_sparse_rows_have_the_losses_of_dense_ones():
    dense = np.where(RNG.uniform(size=(40, 30)) < 0.7, 0.0, RNG.normal(size=(40, 30)))
    sparse, y = csr_array(dense), dense.sum(axis=1)
    models = [KernelRidge(kernel="rbf", gamma=0.1).fit(rows, y) for rows in (sparse, dense)]
    for game, background in (("neutral", None), ("marginal", sparse[:5]), (None, sparse[:1])):
        found = pkex.Explainer(models[0], background, value_function=game).loss(sparse[:3], y[:3])
        rows = None if background is None else background.toarray()
        expected = pkex.Explainer(models[1], rows, value_function=game).loss(dense[:3], y[:3])
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-10)


def test_losses_of_documents_have_values_of_words():
    texts, y = ["good wine", "bad wine", "not good", "a bad day"], np.array([1.0, -1.0, 0.0, -2.0])
    model = make_pipeline(TfidfVectorizer(), KernelRidge(kernel="rbf")).fit(texts, y)
    explanation = pkex.Explainer(model).loss(texts, y)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, np.square(model.predict(texts) - y), rtol=0, atol=1e-12)
    assert "absent words" in repr(explanation[0])
    assert "absent" not in repr(explanation.sage())


def test_estimates_of_losses_cover_exact_values():
    model = CalibratedClassifierCV(SVC(), ensemble=False).fit(X, LABELS)
    explainer = pkex.Explainer(model, Z, target="probability")
    exact = explainer.loss(X[:10], LABELS[:10], loss="log_loss")
    for draws in ({"n_permutations": 200}, {"n_coalitions": 400}):
        estimate = explainer.loss(X[:10], LABELS[:10], loss="log_loss", random_state=0, **draws)
        assert isinstance(estimate, pkex.Estimate)
        errors = np.abs(estimate.values - exact.values)
        assert (errors <= 2.5 * estimate.standard_errors + 1e-12).mean() > 0.9
        total = estimate.values.sum(axis=1) + estimate.base_values
        expected = exact.values.sum(axis=1) + exact.base_values
        np.testing.assert_allclose(total, expected, rtol=1e-12)
        sampling = estimate.standard_errors.mean(axis=0)
        assert (estimate.sage().standard_errors > sampling).all()


def test_more_than_twenty_features_are_estimated():
    wide = np.random.default_rng(0).normal(size=(40, 21))
    y = wide[:, 0] * wide[:, 1]
    explainer = pkex.Explainer(SVR().fit(wide, y), wide[:4])
    with pytest.raises(ValueError, match=r"2\^21 coalitions .* n_coalitions=1000"):
        explainer.loss(wide[:2], y[:2])
    # Pairs of points are named only for models that have them.
    product = pkex.Explainer(PoissonRegressor().fit(wide, np.exp(y)), wide[:4])
    with pytest.raises(ValueError, match=r"or group columns by groups=\{...\}$"):
        product.loss(wide[:2], y[:2])
    estimate = explainer.loss(wide[:2], y[:2], n_permutations=20, random_state=0)
    assert estimate.values.shape == estimate.standard_errors.shape == (2, 21)
    # Absent features are drawn independently, and exact squared errors have no limit.
    explainer = pkex.Explainer(SVR().fit(wide, y))
    exact = explainer.loss(wide[:3], y[:3])
    estimate = explainer.loss(wide[:3], y[:3], n_coalitions=2000, random_state=0)
    errors = np.abs(estimate.values - exact.values)
    assert (errors <= 3.0 * estimate.standard_errors).mean() > 0.95
    estimate = explainer.loss(wide[:2], y[:2], loss="absolute_error", n_coalitions=84)
    assert estimate.values.shape == (2, 21)


def test_sums_over_pairs_that_cancel_are_not_used():
    rng = np.random.default_rng(2)
    for d in (5, 21):
        points, coefficients, y = rng.normal(size=(30, d)), rng.normal(size=30), np.zeros(3)
        rows, kernel = points[:3] + 0.1, pkex.kernels.RBF(3.0)
        plain = pkex.KernelExpansion(points, coefficients, kernel)
        large = np.concatenate([coefficients, [1e6, -1e6]])
        twice = pkex.KernelExpansion(points[[*range(30), 7, 7]], large, kernel)
        explainer = pkex.Explainer(twice, value_function="neutral")
        if d == 5:
            expected = pkex.Explainer(plain, value_function="neutral").loss(rows, y)
            values = explainer.loss(rows, y).values
            np.testing.assert_allclose(values, expected.values, rtol=0, atol=1e-8)
        else:
            with pytest.raises(pkex.UnsupportedModelError, match="opposite signs cancel"):
                explainer.loss(rows, y)


# --- means over rows ---

MODEL = SVR().fit(X[:, :D], Y)
EXPLANATION = pkex.Explainer(MODEL, X[:10]).loss(X, Y)


def test_sage_is_the_mean_reduction_of_the_loss():
    sage = EXPLANATION.sage()
    assert isinstance(sage, pkex.Estimate)
    np.testing.assert_allclose(sage.values, -EXPLANATION.values.mean(axis=0), rtol=1e-12)
    errors = EXPLANATION.values.std(axis=0, ddof=1) / np.sqrt(len(X))
    np.testing.assert_allclose(sage.standard_errors, errors, rtol=1e-12)
    reduced = EXPLANATION.base_values.mean() - np.square(MODEL.predict(X) - Y).mean()
    assert sage.values.sum() == pytest.approx(reduced, rel=1e-12)


def test_shares_add_up_to_r2_with_the_jackknifes_standard_errors():
    model = LinearRegression().fit(X, Y)
    explanation = pkex.Explainer(model, X).loss(X, Y)
    shares = explanation.r2_shares()
    assert shares.values.sum() == pytest.approx(r2_score(Y, model.predict(X)), rel=1e-12)
    left_out = [np.delete(np.arange(len(X)), row) for row in range(len(X))]
    ratios = np.array([explanation[rows].r2_shares().values for rows in left_out])
    jackknife = np.sqrt((len(X) - 1) * np.square(ratios - ratios.mean(axis=0)).mean(axis=0))
    np.testing.assert_allclose(shares.standard_errors, jackknife, rtol=0.1)


def test_weights_count_rows():
    times = np.arange(len(X)) % 3
    weighted = pkex.Explainer(MODEL, X[:10]).loss(X, Y, sample_weight=times)
    repeated = pkex.Explainer(MODEL, X[:10]).loss(X.repeat(times, axis=0), Y.repeat(times))
    for name in ("sage", "r2_shares"):
        mean, expected = getattr(weighted, name)(), getattr(repeated, name)()
        np.testing.assert_allclose(mean.values, expected.values, rtol=1e-12)
    some = weighted[times > 0]
    np.testing.assert_allclose(some.sage().values, weighted.sage().values, rtol=1e-12)
    np.testing.assert_allclose(
        some.sage().standard_errors, weighted.sage().standard_errors, rtol=1e-12
    )


def test_outputs_and_slices_have_means_of_their_own():
    targets = np.column_stack([Y, X[:, 3]])
    model = KernelRidge(kernel="rbf").fit(X, targets)
    explanation = pkex.Explainer(model, Z).loss(X, targets)
    for name in ("sage", "r2_shares"):
        whole = getattr(explanation, name)()
        assert whole.values.shape == whole.standard_errors.shape == (D, 2)
        part = getattr(explanation[:, 1, "y1"], name)()
        np.testing.assert_allclose(part.values, whole.values[1, 1], rtol=1e-12)
        np.testing.assert_allclose(part.standard_errors, whole.standard_errors[1, 1], rtol=1e-12)


def test_results_say_that_positive_values_add_to_the_error():
    assert "loss squared_error, positive values add to the error" in repr(EXPLANATION)
    assert "SAGE: reduction of the mean squared_error" in repr(EXPLANATION.sage())
    assert "share of the mean squared_error of the base value" in repr(EXPLANATION.r2_shares())
    page = EXPLANATION.to_html()
    assert "the loss is moved most by" in page
    assert "Positive values add to the error" in page
    page = EXPLANATION.sage().to_html()
    assert "Negative values add to the error" in page
    assert "In this row" not in page
    for drawn in (EXPLANATION, EXPLANATION[0], EXPLANATION.sage()):
        assert drawn._rows.loss_label in drawn.plot().get_xlabel()


def test_reports_of_means_say_which_features_add_to_the_error():
    broken = X.copy()
    broken[:, 0] *= -3.0
    explanation = pkex.Explainer(MODEL, Z).loss(broken, Y)
    sage, shares = explanation.sage(), explanation.r2_shares()
    worst, best = int(np.argmin(sage.values)), int(np.argmax(sage.values))
    assert sage.values[worst] < 0.0 < sage.values[best]
    text = sage[[worst, best]].to_html()
    assert f"{sage.feature_names[worst]} (adds " in text
    assert f"{sage.feature_names[best]} (removes " in text
    assert "How much each feature reduces the mean squared_error" in text
    text = shares.to_html()
    assert (
        f"{sage.feature_names[worst]} (adds {-100.0 * shares.values[worst]:.0f}&nbsp;% of it)"
        in text
    )
    assert "Share of the mean squared_error of the base value that each feature removes" in text
    assert "moves the" not in text
    assert f", sum {tables.number(shares.values.sum())}, " in repr(shares)
    assert f"the values add up to {tables.number(shares.values.sum())}." in text
    assert "(R²)" in repr(shares)
    absolute = pkex.Explainer(MODEL, Z).loss(broken, Y, loss="absolute_error").r2_shares()
    assert "(R²)" not in repr(absolute)


def test_results_of_neutral_losses_warn_of_the_prediction_without_features():
    explainers = {
        game: pkex.Explainer(MODEL, value_function=game) for game in ("neutral", "marginal")
    }
    for game, explainer in explainers.items():
        losses = explainer.loss(X[:5], Y[:5])
        for part in (losses, losses[0], losses.sage(), losses.r2_shares()):
            for text in (repr(part), part.to_html()):
                assert ("Neutral losses start from a prediction" in text) == (game == "neutral")
        assert "Neutral losses" not in repr(explainer(X[:5]))


def test_saved_losses_keep_their_means():
    explanation = pkex.Explainer(MODEL, Z).loss(X, Y, sample_weight=1.0 + np.arange(len(X)))
    document = json.loads(json.dumps(explanation.to_dict()))
    loaded = [pkex.Explanation.from_dict(document), pickle.loads(pickle.dumps(explanation))]
    for again in loaded:
        assert repr(again) == repr(explanation)
        np.testing.assert_array_equal(again.sage().values, explanation.sage().values)
    sage = explanation.sage()
    again = pkex.Estimate.from_dict(json.loads(json.dumps(sage.to_dict())))
    assert repr(again) == repr(sage)
    assert "loss" not in pkex.Explainer(MODEL, Z)(X[:2]).to_dict()


# --- errors ---


def test_targets_with_another_index_than_the_rows_raise():
    rows, targets = pd.DataFrame(X[:4]), pd.Series(Y[:4])
    explainer = pkex.Explainer(MODEL, Z)
    expected = explainer.loss(X[:4], Y[:4]).values
    for y in (targets, targets.to_numpy(), targets[::-1].to_numpy()[::-1]):
        np.testing.assert_array_equal(explainer.loss(rows, y).values, expected)
    with pytest.raises(ValueError, match=r"y has another index than X: 3 instead of 0 in row 0"):
        explainer.loss(rows, targets[::-1])


LOGISTIC = LogisticRegression().fit(X, LABELS)
OF_CLASSES = LogisticRegression().fit(X, CLASSES)
BAYES = GaussianNB().fit(X, LABELS)
PROBABILITY, ODDS = {"target": "probability"}, {"target": "odds"}


@pytest.mark.parametrize(
    ("model", "options", "y", "loss", "message"),
    [
        (MODEL, {}, Y[:3], "mse", r"loss must be one of .*Did you mean 'squared_error'"),
        (MODEL, {}, Y[:2], "squared_error", r"y must have shape \(3,\).*got shape \(2,\)"),
        (MODEL, {}, Y[:6].reshape(3, 2), "squared_error", r"y must have shape \(3,\); got"),
        (MODEL, {}, [1.0, np.nan, 2.0], "squared_error", "y .*row 1"),
        (MODEL, {}, LABELS[:3], "squared_error", "y "),
        (MODEL, {}, Y[:3], "hinge", "loss='hinge' .*not the output of a classifier"),
        (LOGISTIC, {}, LABELS[:3], "log_loss", "requires probabilities or log-odds"),
        (LOGISTIC, {}, LABELS[:3], "squared_error", "decision value.*loss='hinge'"),
        (LOGISTIC, PROBABILITY, LABELS[:3], "hinge", "loss='hinge' requires the decision value"),
        (LOGISTIC, ODDS, LABELS[:3], "hinge", "the odds of .*Explain target='probability' with"),
        (LOGISTIC, ODDS, LABELS[:3], "squared_error", "not for odds. Explain target='probability'"),
        (OF_CLASSES, {}, CLASSES[:3], "squared_error", "decision value. Explain target="),
        (OF_CLASSES, {}, CLASSES[:3], "log_loss", "Explain target='probability'$"),
        (BAYES, {}, LABELS[:3], "hinge", "the log-odds of .*Pass loss='log_loss'"),
        (LOGISTIC, PROBABILITY, ["yes", "no", "maybe"], "log_loss", "class label 'maybe'.*row 2"),
        (LOGISTIC, PROBABILITY, ["yes", None, "no"], "log_loss", "no class label in row 1"),
        (LOGISTIC, PROBABILITY, LABELS[:2], "log_loss", r"y must have shape \(3,\), a class label"),
        (LOGISTIC, {**PROBABILITY, "link": "logit"}, LABELS[:3], "log_loss", "Omit link"),
    ],
)
def test_wrong_targets_and_losses_are_named(model, options, y, loss, message):
    explainer = pkex.Explainer(model, Z, **options)
    with pytest.raises((ValueError, TypeError), match=message):
        explainer.loss(X[:3], y, loss=loss)


def test_weights_are_checked():
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        pkex.Explainer(MODEL, Z).loss(X[:2], Y[:2], sample_weight=[1.0, -1.0])


@pytest.mark.parametrize("name", ["sage", "r2_shares"])
def test_means_of_other_values_are_errors(name):
    output = pkex.Explainer(MODEL, Z)(X[:3])
    loss = pkex.Explainer(MODEL, Z).loss(X[:3], Y[:3])
    with pytest.raises(ValueError, match=rf"explainer\.loss\(X, y\)\.{name}\(\)"):
        getattr(output, name)()
    for wrong, message in (
        (loss[0], "two rows"),
        (loss.centered(), "centered"),
        (loss.sage(), "already"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(wrong, name)()


def test_losses_of_pairs_of_classes_are_not_averaged():
    targets = np.ones((3, 3))
    expansion = pkex.KernelExpansion(X[:5], np.ones((5, 3)), pkex.kernels.RBF())
    names = ["a vs b", "a vs c", "b vs c"]
    explanation = pkex.Explainer(expansion, Z, output_names=names).loss(X[:3], targets)
    with pytest.raises(ValueError, match="not the mean of losses"):
        explanation.by_class()
