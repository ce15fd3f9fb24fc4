"""Stackings whose final estimator is linear: against brute force, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from brute_force import assert_explained
from linear_models import TARGETS, THREE, TWO, D, X, Y
from sklearn.ensemble import RandomForestRegressor, StackingClassifier, StackingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import pkex

RNG = np.random.default_rng(1)
ROWS, BACKGROUND = RNG.normal(size=(3, D)), X[:6]
REGRESSORS = [
    ("a", SVR()),
    ("b", make_pipeline(StandardScaler(), SVR(gamma=0.7))),
    ("c", SGDRegressor(random_state=0)),
]
CLASSIFIERS = [("a", SVC()), ("b", LinearSVC()), ("c", GridSearchCV(SVC(), {"C": [1, 2]}, cv=2))]


def checked_explainer(model, output):
    """The explainer of a model, after a comparison of its values with brute force."""
    explainer = pkex.Explainer(model, BACKGROUND)
    assert_explained(explainer, output, ROWS, BACKGROUND)
    return explainer


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("final", [None, SGDRegressor(random_state=0)], ids=str)
def test_stacked_regressors_equal_brute_force(final, passthrough):
    model = StackingRegressor(REGRESSORS, final, passthrough=passthrough, cv=2).fit(X, Y)
    checked_explainer(model, model.predict)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("final", [LogisticRegression(), RidgeClassifier()], ids=str)
@pytest.mark.parametrize("method", ["decision_function", "auto"])
def test_stacked_classifiers_equal_brute_force(final, passthrough, method):
    # Of all these methods, "auto" finds the decision function.
    model = StackingClassifier(
        CLASSIFIERS, final, stack_method=method, passthrough=passthrough, cv=2
    ).fit(X, np.where(TWO, "yes", "no"))
    assert checked_explainer(model, model.decision_function).output_name == "yes vs no"


def test_stackings_of_several_classes_are_explained_one_vs_rest():
    stacking = StackingClassifier([("a", LinearSVC())], stack_method="decision_function", cv=2)
    model = OneVsRestClassifier(stacking).fit(X, THREE)
    checked_explainer(model, model.decision_function)


def test_a_dropped_member_has_no_part():
    members = [*REGRESSORS[:1], ("b", "drop"), *REGRESSORS[2:]]
    model = StackingRegressor(members, cv=2).fit(X, Y)
    checked_explainer(model, model.predict)


def test_members_that_were_fitted_before_are_read():
    members = [(name, model.fit(X, Y)) for name, model in REGRESSORS]
    model = StackingRegressor(members, cv="prefit").fit(X, Y)
    checked_explainer(model, model.predict)


def test_names_are_those_of_the_frame():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = StackingRegressor(REGRESSORS, passthrough=True, cv=2).fit(frame, Y)
    explanation = pkex.Explainer(model, frame)(frame)
    assert explanation.feature_names == list("abcde")
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(frame), rtol=0, atol=1e-12)


# what the message says: (unfitted model, target)
REFUSED = {
    "with the final estimator RandomForestRegressor is not.*linear model": (
        StackingRegressor(REGRESSORS, RandomForestRegressor(n_estimators=2), cv=2),
        Y,
    ),
    "stack_method='auto' is not.*probabilities.*stack_method='decision_function'": (
        StackingClassifier([("a", LogisticRegression()), ("b", SVC())], cv=2),
        TWO,
    ),
    "stack_method='predict' is not": (
        StackingClassifier(CLASSIFIERS, stack_method="predict", cv=2),
        TWO,
    ),
    "of 3 classes is not supported: .*several outputs.*OneVsRestClassifier of it": (
        StackingClassifier([("a", LinearSVC())], stack_method="decision_function", cv=2),
        THREE,
    ),
    "RandomForestRegressor is not supported": (
        StackingRegressor([("a", RandomForestRegressor(n_estimators=2))], cv=2),
        Y,
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_other_stackings_are_refused_by_what_is_in_the_way(message):
    model, target = REFUSED[message]
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.fit(X, target), X)


def test_options_changed_after_fitting_are_refused():
    model = StackingRegressor(REGRESSORS, cv=2).fit(X, Y)
    model.passthrough = True
    with pytest.raises(pkex.UnsupportedModelError, match=r"8 columns .* fitted on 3: .*changed"):
        pkex.Explainer(model, X)


def test_a_stacking_of_several_outputs_is_one_of_each():
    model = MultiOutputRegressor(StackingRegressor(REGRESSORS, Ridge(), cv=2)).fit(X, TARGETS)
    assert checked_explainer(model, model.predict).output_names == ["y0", "y1"]
