"""Searches, frozen models, thresholds and calibration: the model beneath, against brute force."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.model_selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from wrapped_models import (
    ROWS,
    THREE,
    TWO,
    X,
    Y,
    assert_adds_up,
    assert_values,
    brute_force,
    scaled,
)

import pkex

# --- searches ---

GRID = {"svr__C": [0.1, 5.0], "svr__gamma": [0.05, 0.5]}
SEARCHES = [
    GridSearchCV(scaled(), GRID, cv=3),
    RandomizedSearchCV(scaled(), GRID, n_iter=2, cv=3, random_state=0),
    HalvingGridSearchCV(scaled(), GRID, cv=3, random_state=0),
    HalvingRandomSearchCV(scaled(), GRID, cv=3, random_state=0, min_resources=30),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_search_is_explained_as_its_best_estimator(search):
    search.fit(X, Y)
    assert_values(search, brute_force(search.best_estimator_, ROWS))
    assert_adds_up(search, search.predict(X))
    np.testing.assert_array_equal(
        pkex.Explainer(search.predict, value_function="neutral").shap_values(ROWS),
        pkex.Explainer(search, value_function="neutral").shap_values(ROWS),
    )


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_a_search_without_refit_says_what_to_do(search):
    unfitted = sklearn.base.clone(search).set_params(refit=False)
    with pytest.raises(pkex.UnsupportedModelError, match=r"refit=False.*refit=True.*best_params_"):
        pkex.Explainer(unfitted.fit(X, Y))
    with pytest.raises(NotFittedError):
        pkex.Explainer(sklearn.base.clone(search))


def test_a_search_inside_a_pipeline_is_explained_in_terms_of_the_input():
    pipeline = make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1, 10]}, cv=3))
    pipeline.fit(X, THREE)
    alone = Pipeline([("s", pipeline[0]), ("m", pipeline[-1].best_estimator_)])
    explanation = pkex.Explainer(pipeline)(X)
    np.testing.assert_array_equal(explanation.values, pkex.Explainer(alone).shap_values(X))
    assert explanation.output_names == ["a vs b", "a vs c", "b vs c"]


def test_the_names_of_a_search_fitted_on_a_frame_are_kept():
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(scaled(), {"svr__C": [1, 2]}, cv=3).fit(frame, Y)
    assert pkex.Explainer(search)(X).feature_names == list("abcde")


def test_the_labels_and_probabilities_of_a_search_are_refused_with_what_to_pass():
    search = GridSearchCV(scaled(SVC()), {"svc__C": [1, 2]}, cv=3).fit(X, TWO)
    assert_adds_up(search.decision_function, search.decision_function(X))
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"GridSearchCV.predict cannot.*its decision_function"
    ):
        pkex.Explainer(search.predict)


# --- frozen models, thresholds, calibration ---


def test_a_frozen_model_is_explained_as_itself():
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator(scaled().fit(X, Y))
    assert_values(frozen, brute_force(frozen.estimator, ROWS))
    assert_adds_up(frozen, frozen.predict(X))
    assert pkex.Explainer(frozen.predict, value_function="neutral")


def test_frozen_models_and_steps_that_compute_something_else_are_refused():
    class Other(pytest.importorskip("sklearn.frozen").FrozenEstimator):
        def predict(self, X):
            return np.zeros(len(X))

        def transform(self, X):
            return np.clip(self.estimator.transform(X), -50.0, 50.0)

    scaler, machine = scaled().fit(X, Y)
    for model in (Other(machine), make_pipeline(Other(scaler), machine)):
        message = "Other, a subclass of FrozenEstimator, is not supported"
        with pytest.raises(pkex.UnsupportedModelError, match=message):
            pkex.Explainer(model)


def test_frozen_steps_of_a_pipeline_are_read():
    FrozenEstimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    plain = scaled().fit(X, Y)
    frozen = make_pipeline(FrozenEstimator(plain[0]), FrozenEstimator(plain[1])).fit(X, Y)
    np.testing.assert_array_equal(
        pkex.Explainer(frozen).shap_values(X), pkex.Explainer(plain).shap_values(X)
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [("FixedThresholdClassifier", {"threshold": 0.3}), ("TunedThresholdClassifierCV", {"cv": 3})],
)
def test_a_threshold_classifier_is_explained_by_the_decision_function_beneath(name, options):
    threshold_class = getattr(sklearn.model_selection, name, None)
    if threshold_class is None:
        pytest.skip("newer than this scikit-learn")
    model = threshold_class(scaled(SVC()), **options).fit(X, TWO)
    assert_values(model, brute_force(model.estimator_, ROWS))
    assert_adds_up(model, model.decision_function(X))
    message = f"{name}.predict cannot be explained: the threshold.*or its decision_function"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.predict, value_function="neutral")
    with pytest.raises(NotFittedError):
        pkex.Explainer(threshold_class(SVC()), value_function="neutral")


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
def test_a_calibrated_classifier_is_explained_before_calibration(target):
    model = CalibratedClassifierCV(scaled(SVC()), ensemble=False, cv=3).fit(X, target)
    beneath = model.calibrated_classifiers_[0].estimator
    np.testing.assert_array_equal(
        pkex.Explainer(model).shap_values(X), pkex.Explainer(beneath).shap_values(X)
    )
    if target is TWO:
        assert_adds_up(model, beneath.decision_function(X))
    message = r"predict cannot be explained: .*before calibration.*whose decision_function before"
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.predict)


def test_a_calibrated_frozen_classifier_is_explained_before_calibration():
    FrozenEstimator = pytest.importorskip("sklearn.frozen").FrozenEstimator
    beneath = scaled(SVC()).fit(X, TWO)
    model = CalibratedClassifierCV(FrozenEstimator(beneath), method="isotonic").fit(X, TWO)
    assert_values(model, brute_force(beneath, ROWS))


def test_several_calibrated_classifiers_are_refused_with_the_remedy():
    model = CalibratedClassifierCV(scaled(SVC()), cv=3, ensemble=True).fit(X, TWO)
    with pytest.raises(
        pkex.UnsupportedModelError, match=r"of 3 classifiers is not.*probabilities.*ensemble=False"
    ):
        pkex.Explainer(model)
