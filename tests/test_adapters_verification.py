"""When an Explainer is made, the very model that was passed is compared, by its own method."""

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import pkex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + np.sin(X[:, 1])
TWO = Y > 0.0
THREE = np.array(list("abc"))[np.digitize(Y, [-0.5, 0.5])]


def searched(model):
    return GridSearchCV(model, {}, cv=2)


# name: (model, target, the method of the outermost that it is explained by)
MADE = {
    "Pipeline": (make_pipeline(StandardScaler(), SVR()), Y, "predict"),
    "Pipeline of one step": (make_pipeline(SVR()), Y, "predict"),
    "Pipeline of Nystroem": (make_pipeline(Nystroem(n_components=9), Ridge()), Y, "predict"),
    "Pipeline of three": (make_pipeline(StandardScaler(), SVC()), THREE, "decision_function"),
    "search": (searched(SVR()), Y, "predict"),
    "search of a Pipeline": (searched(make_pipeline(StandardScaler(), SVR())), Y, "predict"),
    "search of two": (searched(SVC()), TWO, "decision_function"),
    "search of three": (searched(SVC()), THREE, "decision_function"),
    "Pipeline of a search of three": (
        make_pipeline(StandardScaler(), searched(make_pipeline(SVC()))),
        THREE,
        "decision_function",
    ),
    "Pipeline of an average": (
        make_pipeline(StandardScaler(), BaggingRegressor(SVR(), n_estimators=3)),
        Y,
        "predict",
    ),
    "transformed target": (
        TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
        Y,
        "predict",
    ),
    "several outputs": (MultiOutputRegressor(SVR()), np.c_[Y, -Y], "predict"),
    "one vs rest": (OneVsRestClassifier(SVC()), THREE, "decision_function"),
    "one vs one of two": (OneVsOneClassifier(SVC()), TWO, "decision_function"),
    "one vs one of three": (OneVsOneClassifier(SVC()), THREE, "decision_function"),
    "bagging": (BaggingRegressor(SVR(), n_estimators=3), Y, "predict"),
    "voting": (VotingRegressor([("a", SVR()), ("b", SVR(C=2.0))]), Y, "predict"),
}


@pytest.mark.parametrize("name", MADE)
def test_models_made_of_others_are_compared_by_their_own_method(name, monkeypatch):
    model, target, method = MADE[name]
    model.fit(X, target)
    assert pkex.Explainer(model)
    owner = next(base for base in type(model).__mro__ if method in vars(base))
    own = getattr(owner, method)

    def changed(self, rows):
        output = own.__get__(self)(rows)
        return output + 1e-6 if self.__class__ is type(model) else output

    # As if this version of scikit-learn computed something else there.
    monkeypatch.setattr(owner, method, changed)
    with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting, or a subclass"):
        pkex.Explainer(model)


def test_the_threshold_classifier_is_compared_by_its_own_method(monkeypatch):
    threshold_class = getattr(sklearn.model_selection, "FixedThresholdClassifier", None)
    if threshold_class is None:
        pytest.skip("newer than this scikit-learn")
    model = threshold_class(SVC()).fit(X, TWO)
    assert pkex.Explainer(model)
    monkeypatch.setattr(
        threshold_class,
        "decision_function",
        lambda self, rows: self.estimator_.decision_function(rows) + 1e-6,
        raising=False,
    )
    with pytest.raises(pkex.UnsupportedModelError, match="changed after fitting, or a subclass"):
        pkex.Explainer(model)


def test_labels_of_a_gaussian_process_are_compared_with_its_latent_mean(monkeypatch):
    model = GaussianProcessClassifier(optimizer=None).fit(X, TWO)
    assert pkex.Explainer(model)
    monkeypatch.setattr(GaussianProcessClassifier, "predict", lambda self, rows: rows[:, 0] > 0.0)
    with pytest.raises(pkex.UnsupportedModelError, match="predict returns the class that"):
        pkex.Explainer(model)


def test_the_check_leaves_the_model_as_it_is():
    model = searched(Pipeline([("scale", StandardScaler()), ("machine", SVC())])).fit(X, THREE)
    before = model.best_estimator_.steps[-1][1]
    assert pkex.Explainer(model).shap_values(X[:2]).shape == (2, 3, 3)
    assert model.best_estimator_.steps[-1][1] is before
    assert before.decision_function_shape == "ovr"
    assert model.decision_function(X[:2]).shape == (2, 3)
