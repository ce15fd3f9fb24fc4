"""Probabilities and log-odds of scikit-learn's classifiers, by brute force."""

import pickle

import numpy as np
import pytest
from brute_force import coalitions, imputed, shapley_weights
from classifiers import (
    AFFINE,
    CLASSIFIERS,
    ROWS,
    THREE,
    TWO,
    D,
    X,
    Z,
    fitted,
    platt,
    probabilities,
    process,
)
from coupling import coupled
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.model_selection import PredefinedSplit
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC, SVR

import pkex
from pkex.adapters.sklearn.probability_links import PairwiseCoupling

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

EQUAL = np.full(len(Z), 1.0 / len(Z))


def logit(p):
    return np.log(p / (1.0 - p))


def worths(model, row, link=None):
    """The worths of all coalitions, by the mean of the model's own probabilities."""
    output = probabilities(model)
    found = np.stack([imputed(output, row, Z, EQUAL, members) for members in coalitions(D)])
    return found if link is None else link(found)


@pytest.fixture(params=CLASSIFIERS)
def model(request):
    return fitted(request.param)


def test_probabilities_equal_brute_force_through_predict_proba(model):
    explainer = pkex.Explainer(model.predict_proba, Z)
    assert explainer.output_names == list(map(str, model.classes_))
    for row, found in zip(ROWS, explainer(ROWS), strict=True):
        games = worths(model, row)
        expected = np.tensordot(shapley_weights(D), games, axes=1)
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.base_values, games[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if not name.startswith("isotonic")])
def test_the_logit_of_mean_probabilities_equals_brute_force(name):
    model = fitted(name)
    explainer = pkex.Explainer(model, Z, target="probability", link="logit")
    games = worths(model, ROWS[0], logit)
    found = explainer(ROWS[:1])
    expected = np.tensordot(shapley_weights(D), games, axes=1)
    np.testing.assert_allclose(found.values[0], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(explainer.expected_value, games[0], rtol=0, atol=1e-9)


def test_the_target_and_the_bound_method_are_the_same(model):
    by_target = pkex.Explainer(model, Z, target="probability")
    by_method = pkex.Explainer(model.predict_proba, Z)
    assert repr(by_target) == repr(by_method)
    np.testing.assert_array_equal(by_target.shap_values(ROWS), by_method.shap_values(ROWS))


@pytest.mark.parametrize("name", AFFINE)
def test_log_odds_of_any_number_of_features_are_those_of_predict_proba(name):
    model = fitted(name)
    explanation = pkex.Explainer(model, Z, target="log-odds")(X)
    assert explanation.output_name == " vs ".join(map(str, model.classes_[::-1]))
    total = explanation.values.sum(axis=1) + explanation.base_values
    found = 1.0 / (1.0 + np.exp(-total))
    # libsvm couples even two classes, by an iteration that ends early.
    is_coupled = name in ("SVC", "NuSVC", "one against the other", "GridSearchCV")
    tolerance = 0.005 if is_coupled else 1e-12
    own = probabilities(model)(X)[:, 1]
    np.testing.assert_allclose(found, own, rtol=0, atol=tolerance)
    if not is_coupled:
        values = logit(own[:2])
        np.testing.assert_allclose(total[:2], values, rtol=0, atol=1e-9)


def test_log_odds_are_what_libsvm_couples():
    model = fitted("SVC")
    explanation = pkex.Explainer(model, Z, target="log-odds")(X)
    first = 1.0 / (1.0 + np.exp(explanation.values.sum(axis=1) + explanation.base_values))
    own = probabilities(model)(X)
    np.testing.assert_allclose(coupled(first[:, None]), own, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["sigmoid", "Nystroem"])
def test_log_odds_equal_brute_force(name):
    model = fitted(name)
    output = probabilities(model)
    found = pkex.Explainer(model, Z, target="log-odds").shap_values(ROWS[:1])
    games = [
        imputed(lambda rows: logit(output(rows)[:, 1]), ROWS[0], Z, EQUAL, members)
        for members in coalitions(D)
    ]
    expected = shapley_weights(D) @ np.array(games)
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7])
def test_pairs_are_coupled_by_the_steps_of_libsvm(n_classes):
    rng = np.random.default_rng(0)
    n_pairs = n_classes * (n_classes - 1) // 2
    values = rng.normal(size=(300, n_pairs)) * np.array([[0.1], [2.0], [50.0]]).repeat(100, axis=0)
    slopes, offsets = -rng.uniform(0.5, 2.0, n_pairs), rng.normal(size=n_pairs)
    first = 1.0 / (1.0 + np.exp(-slopes * values + offsets))
    found = PairwiseCoupling(slopes, offsets, -1.0)(values)
    np.testing.assert_allclose(found, coupled(first), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(PairwiseCoupling(slopes, offsets, -1.0)(values, 3), found)


def test_a_calibrated_frozen_classifier_has_log_odds_and_probabilities():
    FrozenEstimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    frozen = CalibratedClassifierCV(FrozenEstimator(SVC().fit(X, TWO))).fit(X, TWO)
    own = frozen.predict_proba(ROWS)
    total = pkex.Explainer(frozen, Z, target="log-odds")(ROWS)
    odds = total.values.sum(axis=1) + total.base_values
    np.testing.assert_allclose(odds, logit(own[:, 1]), rtol=0, atol=1e-9)
    both = pkex.Explainer(frozen.predict_proba, Z)(ROWS)
    np.testing.assert_allclose(both.values.sum(axis=1) + both.base_values, own, rtol=0, atol=1e-12)


def test_groups_and_weights_of_probabilities_equal_brute_force():
    model, groups = fitted("SVC of three"), [[0, 2], [1], [3]]
    weights = np.array([1.0, 0.0, 2.0, 0.5, 1.5])
    output = probabilities(model)
    explainer = pkex.Explainer(
        model.predict_proba, Z, groups={"both": [0, 2]}, background_weights=weights
    )
    games = [
        imputed(output, ROWS[0], Z, weights / 5.0, [j for p in players for j in groups[p]])
        for players in coalitions(3)
    ]
    expected = np.tensordot(shapley_weights(3), np.stack(games), axes=1)
    found = explainer.shap_values(ROWS[:1])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_without_a_background_rows_are_drawn_from_the_models_own_points():
    model = fitted("SVC of three")
    explainer = pkex.Explainer(model.predict_proba)
    assert explainer.value_function == "interventional"
    np.testing.assert_array_equal(explainer.background, model.support_vectors_)
    against = pkex.Explainer(model.predict_proba, model.support_vectors_)
    np.testing.assert_array_equal(explainer.shap_values(ROWS), against.shap_values(ROWS))
    with pytest.raises(
        ValueError, match="background is required: by default, whole rows are drawn"
    ):
        pkex.Explainer(fitted("Pipeline").predict_proba)


def test_neutral_probabilities_are_those_of_neutral_decision_values():
    model = fitted("sigmoid")
    explainer = pkex.Explainer(model.predict_proba, value_function="neutral", outputs="yes")
    (calibrated,) = model.calibrated_classifiers_
    (sigmoid,) = calibrated.calibrators
    inner = pkex.Explainer(calibrated.estimator, value_function="neutral")
    odds = inner.interactions(ROWS, index="Moebius", order=D)
    parts = np.column_stack([np.full(2, inner.expected_value), odds.values])
    members = [set(), *map(set, odds.coalitions)]
    games = np.stack(
        [
            sigmoid.predict(parts[:, [part <= set(chosen) for part in members]].sum(axis=1))
            for chosen in coalitions(D)
        ]
    )
    expected = (shapley_weights(D) @ games).T
    np.testing.assert_allclose(explainer.shap_values(ROWS), expected, rtol=0, atol=1e-12)


def test_interactions_of_probabilities_add_up_to_them():
    model = fitted("SVC of three")
    explainer = pkex.Explainer(model.predict_proba, Z)
    own = probabilities(model)(ROWS)
    for index in ("k-SII", "STII", "FSII"):
        found = explainer.interactions(ROWS, index=index)
        total = found.values.sum(axis=1) + found.base_values
        np.testing.assert_allclose(total, own, rtol=0, atol=1e-12)


def test_an_explainer_of_probabilities_can_be_pickled(model):
    explainer = pkex.Explainer(model.predict_proba, Z, link="identity")
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(again.shap_values(ROWS[:1]), explainer.shap_values(ROWS[:1]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR().fit(X, THREE), "does not support the probabilities of SVR"),
        (RidgeClassifier().fit(X, TWO), "does not support the probabilities of RidgeClassifier"),
        (SGDClassifier(loss="modified_huber").fit(X, TWO), "probability of SGDClassifier"),
        (BaggingClassifier(SVC(), 2).fit(X, TWO), "does not support the probabilities of Bagging"),
        (process(multi_class="one_vs_one").fit(X, THREE), "Fit it with multi_class='one_vs_rest'"),
        (CalibratedClassifierCV(BaggingClassifier(), cv=2).fit(X, TWO), "of BaggingClassifier"),
    ],
    ids=["regressor", "ridge", "huber", "bagging", "pairs", "trees"],
)
def test_what_has_no_probabilities_that_are_known_is_refused(model, message):
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model, Z, target="probability")


def test_log_odds_of_more_than_two_classes_are_refused_with_the_remedy():
    for name in ("SVC of three", "sigmoids", "GaussianProcessClassifier"):
        with pytest.raises(pkex.UnsupportedModelError, match="use target='probability', with link"):
            pkex.Explainer(fitted(name), Z, target="log-odds")
    with pytest.raises(pkex.UnsupportedModelError, match="one sigmoid or one temperature"):
        pkex.Explainer(fitted("sigmoids"), Z, target="log-odds")
    with pytest.raises(ValueError, match=r"needs a model; got its method SVC\.predict_proba"):
        pkex.Explainer(fitted("SVC").predict_proba, Z, target="log-odds")


def test_probabilities_that_were_changed_after_fitting_are_refused():
    model = platt().fit(X, TWO)
    model._probA = model._probA * np.nan
    with pytest.raises(pkex.UnsupportedModelError, match=r"predict_proba|fails"):
        pkex.Explainer(model.predict_proba, Z)
    calibrated = CalibratedClassifierCV(SVC(), ensemble=False, cv=2).fit(X, TWO)
    calibrated.predict_proba = lambda rows: np.full((len(rows), 2), 0.5)
    with pytest.raises(pkex.UnsupportedModelError, match="replaces scikit-learn's predict_proba"):
        pkex.Explainer(calibrated, Z, target="probability")


def test_a_logit_of_a_probability_of_0_is_refused_with_its_place():
    model = fitted("isotonic")
    with pytest.raises(ValueError, match=r"values between 0 and 1, but the value of coalition"):
        pkex.Explainer(model.predict_proba, Z, link="logit")(X)
    with pytest.raises(ValueError, match="link='logit' requires values between 0 and 1"):
        pkex.Explainer(fitted("SVC"), Z, link="logit")(X)


@pytest.mark.parametrize(
    ("method", "quantiles", "seed"), [("isotonic", [0.5], 35), ("sigmoid", [0.3, 0.7], 46)]
)
def test_steps_within_rounding_of_decision_values_are_refused(method, quantiles, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, size=(200, 4)).astype(float)
    latent = rows[:, 0] + rows[:, 1] * rows[:, 2] + 0.5 * rng.normal(size=200)
    y = np.digitize(latent, np.quantile(latent, quantiles))
    model = CalibratedClassifierCV(SVC(kernel="linear"), method=method, cv=3).fit(rows, y)
    with pytest.raises(pkex.UnsupportedModelError, match="step within the rounding error"):
        pkex.Explainer(model.predict_proba, rows[10:14])(rows)


def test_isotonic_probabilities_of_many_rows_are_not_taken_for_steps():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 4))
    model = CalibratedClassifierCV(SVC(C=10.0), method="isotonic", cv=3)
    model.fit(rows, rows[:, 0] + rng.normal(size=1000) > 0.0)
    explanation = pkex.Explainer(model.predict_proba, rows[:20])(rows[:200])
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict_proba(rows[:200]), rtol=0, atol=1e-9)


def test_folds_without_a_class_and_pairs_that_are_calibrated_are_refused_with_the_reason():
    folds = PredefinedSplit(np.where(THREE == 2, 1, np.arange(len(X)) % 2))
    part = CalibratedClassifierCV(SVC(), cv=folds).fit(X, THREE)
    with pytest.raises(pkex.UnsupportedModelError, match="fitted on 2 of 3 classes"):
        pkex.Explainer(part.predict_proba, Z)
    of_pairs = CalibratedClassifierCV(OneVsOneClassifier(SVC()), cv=2).fit(X, THREE)
    with pytest.raises(pkex.UnsupportedModelError, match="OneVsOneClassifier with pairs of"):
        pkex.Explainer(of_pairs.predict_proba, Z)


def test_an_ensemble_without_predict_proba_is_told_of_it():
    ensemble = fitted("sigmoids")
    with pytest.raises(pkex.UnsupportedModelError, match=r"pass model\.predict_proba or target="):
        pkex.Explainer(ensemble, Z)
    machine = fitted("SVC")
    with pytest.raises(pkex.UnsupportedModelError, match="its predict_proba is also supported"):
        pkex.Explainer(machine.predict, Z)
    with pytest.raises(pkex.UnsupportedModelError, match="predict_proba with outputs=1"):
        pkex.Explainer(lambda rows: machine.predict_proba(rows)[:, 1], Z)
    with pytest.raises(ValueError, match=r"target=.mean. needs a model; got its method SVC\.pred"):
        pkex.Explainer(machine.predict_proba, Z, target="mean")


def test_what_is_not_read_of_a_calibration_is_the_first_reason():
    model = CalibratedClassifierCV(SVC(), ensemble=False, cv=2).fit(X, TWO)
    model.method = "magic"
    with pytest.raises(pkex.UnsupportedModelError, match="with method='magic'"):
        pkex.Explainer(model.predict_proba, Z)


@pytest.mark.parametrize("transform", [None, np.sqrt])
def test_neutral_probabilities_of_a_process_are_refused_as_of_no_variance(transform):
    process = fitted("GaussianProcessClassifier")
    options = {"value_function": "neutral", "transform": transform}
    with pytest.raises(
        ValueError, match="'neutral' is not available for the probability of Gaussian"
    ):
        pkex.Explainer(process.predict_proba, **options)
