"""Averages of models: bagging and voting, against brute force."""

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.model_selection
from brute_force import assert_explained
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR
from wrapped_models import (
    BASE,
    ROWS,
    TARGETS,
    THREE,
    TWO,
    D,
    X,
    Y,
    assert_adds_up,
    assert_values,
    brute_force,
    combined,
    scaled,
)

import pkex


@pytest.mark.parametrize(
    "options",
    [{}, {"max_features": 3}, {"max_features": 0.5, "bootstrap": False, "max_samples": 40}],
    ids=str,
)
def test_bagging_is_explained_as_the_average(options):
    model = BaggingRegressor(scaled(), n_estimators=7, random_state=0, **options).fit(X, Y)
    chosen = model.estimators_features_
    parts = [
        brute_force(part, ROWS, columns)
        for part, columns in zip(model.estimators_, chosen, strict=True)
    ]
    assert_values(model, combined(np.full(7, 1 / 7), parts))
    explanation = assert_adds_up(model, model.predict(X))
    unused = np.setdiff1d(np.arange(D), np.concatenate(chosen))
    assert np.all(explanation.values[:, unused] == 0.0)


def test_bagging_of_several_targets_is_explained_as_the_average():
    targets = TARGETS / np.abs(TARGETS).max(axis=0)
    regressor = scaled(KernelRidge(kernel="laplacian"))
    model = BaggingRegressor(regressor, n_estimators=3, max_features=4, random_state=0)
    model.fit(X, targets)
    explanation = assert_adds_up(model, model.predict(X))
    parts = [
        pkex.Explainer(part).shap_values(X[:, columns])
        for part, columns in zip(model.estimators_, model.estimators_features_, strict=True)
    ]
    expected = np.zeros((len(X), D, 3))
    for part, columns in zip(parts, model.estimators_features_, strict=True):
        expected[:, columns] += part / 3
    np.testing.assert_allclose(explanation.values, expected, atol=1e-13)


@pytest.mark.parametrize("is_searched", [False, True])
def test_bagging_in_parallel_starts_no_workers_for_the_check(is_searched, monkeypatch):
    model = BaggingRegressor(scaled(), n_estimators=4, random_state=0)
    model = GridSearchCV(model, {}, cv=2).fit(X, Y) if is_searched else model.fit(X, Y)
    bagging = model.best_estimator_ if is_searched else model
    bagging.n_jobs = 2

    def parallel(*args, n_jobs=None, **kwargs):
        assert n_jobs in (None, 1)
        return original(*args, n_jobs=n_jobs, **kwargs)

    original = sklearn.ensemble._bagging.Parallel
    monkeypatch.setattr(sklearn.ensemble._bagging, "Parallel", parallel)
    assert pkex.Explainer(model)
    assert bagging.n_jobs == 2


def test_bagging_may_give_a_model_a_column_twice():
    model = BaggingRegressor(scaled(), bootstrap_features=True, random_state=0).fit(X, Y)
    assert any(len(set(columns)) < len(columns) for columns in model.estimators_features_)
    assert_explained(pkex.Explainer(model, X[:5]), model.predict, ROWS, X[:5])


# --- bagging of classifiers ---

THREE_OF = {
    "one output per class": (LogisticRegression(), ["a", "b", "c"]),
    "one output per pair": (
        SVC(decision_function_shape="ovo"),
        ["a vs b", "a vs c", "b vs c"],
    ),
}


@pytest.mark.parametrize("options", [{}, {"max_features": 3, "bootstrap": False}], ids=str)
def test_bagging_of_two_classes_is_the_average_of_decision_functions(options):
    model = BaggingClassifier(scaled(SVC()), n_estimators=5, random_state=0, **options)
    model.fit(X, TWO)
    explainer = pkex.Explainer(model, X[:5])
    assert explainer.output_name == "yes vs no"
    assert_explained(explainer, model.decision_function, ROWS, X[:5])
    assert pkex.Explainer(model.decision_function, X[:5])
    with pytest.raises(pkex.UnsupportedModelError, match=r"predict_proba cannot.*average of those"):
        pkex.Explainer(model.predict_proba, X[:5])


@pytest.mark.parametrize("kind", THREE_OF)
def test_bagging_of_several_classes_has_the_outputs_of_its_classifiers(kind):
    member, names = THREE_OF[kind]
    model = BaggingClassifier(scaled(member), n_estimators=3, random_state=0).fit(X, THREE)
    explainer = pkex.Explainer(model, X[:5])
    assert explainer.output_names == names
    assert_explained(explainer, model.decision_function, ROWS, X[:5])


# what the message says: (unfitted model, target)
REFUSED = {
    "BaggingClassifier of Pipeline is not.*votes and ranks.*unless decision_function_shape='ovo'": (
        BaggingClassifier(scaled(SVC()), n_estimators=2),
        THREE,
    ),
    "with different classes is not supported: some of the samples that they": (
        # Which takes no weights of rows, so that each is fitted on its own sample alone.
        BaggingClassifier(scaled(LogisticRegression()), 4, max_samples=6, random_state=2),
        THREE,
    ),
    "BaggingClassifier of GaussianProcessClassifier is not supported": (
        BaggingClassifier(GaussianProcessClassifier(optimizer=None), n_estimators=2),
        TWO,
    ),
    "DecisionTreeClassifier is not supported": (BaggingClassifier(n_estimators=2), TWO),
    "VotingClassifier is not supported: it votes or averages": (
        VotingClassifier([("a", SVC())]),
        TWO,
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_averages_of_others_are_refused_by_what_is_in_the_way(message):
    model, target = REFUSED[message]
    with pytest.raises(pkex.UnsupportedModelError, match=message):
        pkex.Explainer(model.fit(BASE, target))


# --- voting ---


@pytest.mark.parametrize("weights", [None, [1, 5, 0.5]])
def test_voting_is_explained_as_the_weighted_average(weights):
    members = [("a", scaled()), ("b", "drop"), ("c", scaled(SVR(gamma=0.7)))]
    model = VotingRegressor(members, weights=weights).fit(X, Y)
    parts = [brute_force(part, ROWS) for part in model.estimators_]
    share = np.array([0.5, 0.5] if weights is None else [1 / 1.5, 0.5 / 1.5])
    assert_values(model, combined(share, parts))
    assert_adds_up(model, model.predict(X))


def test_models_of_different_kernels_and_steps_are_averaged():
    members = [
        ("svr", make_pipeline(RobustScaler(), SVR())),
        ("ridge", make_pipeline(QuantileTransformer(n_quantiles=20), KernelRidge(kernel="rbf"))),
        ("laplacian", scaled(KernelRidge(kernel="laplacian"))),
        ("search", GridSearchCV(scaled(), {"svr__C": [1, 2]}, cv=2)),
        ("bag", BaggingRegressor(scaled(), n_estimators=3, max_features=2, random_state=0)),
        ("target", TransformedTargetRegressor(scaled(), transformer=StandardScaler())),
    ]
    model = VotingRegressor(members).fit(X, Y)
    explanation = assert_adds_up(model, model.predict(X))
    parts = [pkex.Explainer(part).shap_values(X) for part in model.estimators_]
    np.testing.assert_allclose(explanation.values, np.mean(parts, axis=0), atol=1e-13)


CODED = np.column_stack([np.arange(70) % 3, np.arange(70) % 4 + 10, BASE[:, 1:3]])


def coded(column, model=None):
    encode = ColumnTransformer([("code", OneHotEncoder(), [column])], remainder="passthrough")
    return make_pipeline(encode, SVR() if model is None else model)


@pytest.mark.parametrize(
    "model",
    [
        VotingRegressor([("a", coded(0)), ("b", SVR())]),
        VotingRegressor([("a", SVR()), ("b", coded(0)), ("c", coded(1))]),
        VotingRegressor([("a", coded(0)), ("b", VotingRegressor([("a", SVR())]))]),
        VotingRegressor([("a", make_pipeline("passthrough", coded(1))), ("b", scaled())]),
        BaggingRegressor(coded(1), n_estimators=3, random_state=0),
    ],
    ids=["one encodes", "each another", "nested", "chained", "all encode"],
)
def test_models_of_which_some_encode_a_column_are_explained(model, monkeypatch):
    model.fit(CODED, Y)
    assert_explained(pkex.Explainer(model, CODED[:5]), model.predict, CODED[20:22], CODED[:5])
    own = type(model).predict
    monkeypatch.setattr(type(model), "predict", lambda self, rows: own(self, rows) + 1e-6)
    with pytest.raises(pkex.UnsupportedModelError, match="for a row for which"):
        pkex.Explainer(model)
