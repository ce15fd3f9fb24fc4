"""Models made of other models: what holds for all of them."""

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.model_selection
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, SVR
from wrapped_models import ROWS, TARGETS, THREE, TWO, X, Y, scaled

import pkex


@pytest.mark.parametrize(
    "model",
    [
        VotingRegressor([("a", SVR()), ("b", KNeighborsRegressor())]),
        BaggingRegressor(KNeighborsRegressor(), n_estimators=2),
        TransformedTargetRegressor(KNeighborsRegressor(), transformer=MaxAbsScaler()),
        GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [3]}, cv=2),
        RegressorChain(SVR()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_unsupported_model_inside_is_named(model):
    target = TARGETS if isinstance(model, RegressorChain) else Y - Y.min()
    name = "RegressorChain of SVR" if isinstance(model, RegressorChain) else "KNeighborsRegressor"
    with pytest.raises(pkex.UnsupportedModelError, match=f"^{name} is not supported"):
        pkex.Explainer(model.fit(X / np.abs(X).max(axis=0), target))


# name: (unfitted model, target, its method)
MADE_OF_OTHERS = {
    "MultiOutputRegressor": (MultiOutputRegressor(scaled()), TARGETS, "predict"),
    "OneVsRestClassifier": (OneVsRestClassifier(scaled(SVC())), THREE, "decision_function"),
    "OneVsOneClassifier": (OneVsOneClassifier(scaled(SVC())), THREE, "decision_function"),
    "BaggingRegressor": (BaggingRegressor(scaled(), n_estimators=2), Y, "predict"),
    "BaggingClassifier": (
        BaggingClassifier(scaled(SVC()), n_estimators=2),
        TWO,
        "decision_function",
    ),
    "VotingRegressor": (VotingRegressor([("a", scaled())]), Y, "predict"),
    "TransformedTargetRegressor": (TransformedTargetRegressor(scaled()), Y, "predict"),
    "GridSearchCV": (GridSearchCV(scaled(), {}, cv=2), Y, "predict"),
}


@pytest.fixture(params=MADE_OF_OTHERS)
def made(request):
    model, target, method = MADE_OF_OTHERS[request.param]
    return sklearn.base.clone(model).fit(X, target), method


def test_unfitted_models_are_reported_as_such(made):
    with pytest.raises(NotFittedError, match="not fitted"):
        pkex.Explainer(sklearn.base.clone(made[0]))


def test_an_explainer_of_one_job_is_made_by_one_thread(made, monkeypatch):
    def count(n_jobs):
        assert n_jobs == 1
        return 1

    for module in ("functions.base", "execution.settings"):
        monkeypatch.setattr(f"pkex.{module}.thread_count", count)
    for value_function in ("interventional", "marginal"):
        explainer = pkex.Explainer(made[0], X[:3], value_function=value_function, n_jobs=1)
        assert explainer(ROWS).values.shape[0] == len(ROWS)


def test_missing_and_infinite_entries_are_refused(made):
    explainer = pkex.Explainer(made[0])
    for value, message in ((np.nan, "missing value"), (np.inf, "infinite value")):
        rows = ROWS.copy()
        rows[2, 3] = value
        with pytest.raises(ValueError, match=rf"X has .*{message}.*in row 2, column 3"):
            explainer(rows)


def test_models_fitted_on_frames_keep_their_names(made):
    model, method = made
    frame = pd.DataFrame(X, columns=list("abcde"))
    target = next(t for m, t, _ in MADE_OF_OTHERS.values() if type(m) is type(model))
    again = sklearn.base.clone(model).fit(frame, target)
    if isinstance(model, OneVsOneClassifier):
        assert pkex.Explainer(again)(frame).feature_names == list("abcde")
    else:
        explainer = pkex.Explainer(getattr(again, method))
        assert explainer(frame).feature_names == list("abcde")
        total = explainer(frame).values.sum(axis=1) + explainer.expected_value
        np.testing.assert_allclose(total, getattr(again, method)(frame), rtol=1e-10)


def test_models_that_compute_something_else_are_refused(made):
    model, method = made

    class Other(type(model)):
        pass

    setattr(Other, method, lambda self, X: np.zeros(len(X)))
    model.__class__ = Other
    with pytest.raises(pkex.UnsupportedModelError, match=f"Other replaces scikit-learn's {method}"):
        pkex.Explainer(model)


def test_models_changed_after_fitting_are_refused(made):
    model, _ = made
    inner = model
    for name in ("best_estimator_", "regressor_", "estimators_"):
        inner = getattr(inner, name, inner)
    pipelines = inner if isinstance(inner, list | tuple) else [inner]
    pipelines[-1][-1].intercept_ = pipelines[-1][-1].intercept_ + 1.0
    with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting"):
        pkex.Explainer(model)
