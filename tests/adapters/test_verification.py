"""When an Explainer is made, the very model that was passed is compared, by its own method."""

import numpy as np
import pytest
import sklearn.model_selection
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, VotingRegressor
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    SelectPercentile,
    f_regression,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

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
    with pytest.raises(pkex.UnsupportedModelError, match="predict returns another class"):
        pkex.Explainer(model)


def test_the_check_leaves_the_model_as_it_is():
    model = searched(Pipeline([("scale", StandardScaler()), ("machine", SVC())])).fit(X, THREE)
    before = model.best_estimator_.steps[-1][1]
    assert pkex.Explainer(model).shap_values(X[:2]).shape == (2, 3, 3)
    assert model.best_estimator_.steps[-1][1] is before
    assert before.decision_function_shape == "ovr"
    assert model.decision_function(X[:2]).shape == (2, 3)


# --- attributes changed after fitting ---


def times(attribute, factor, place=...):
    def tamper(model):
        changed = np.array(getattr(model, attribute), copy=True)
        changed[place] *= factor
        setattr(model, attribute, changed)

    return tamper


def shorten(attribute):
    return lambda model: setattr(model, attribute, getattr(model, attribute)[1:])


NARROW = {"gamma": 1e5, "epsilon": 1e-3}
GP = GaussianProcessRegressor(2.0 * RBF() + WhiteKernel(0.1), alpha=1e-3, optimizer=None)


@pytest.mark.parametrize(
    ("model", "target", "tamper", "named"),
    [
        (SVR(**NARROW), Y, times("dual_coef_", 2.0, (0, 30)), "SVR.dual_coef_ is not.*_dual_coef_"),
        (SVR(**NARROW), Y, times("_dual_coef_", 2.0, (0, 30)), "SVR.dual_coef_ is not"),
        (SVR(), Y, times("_intercept_", 1.5), "SVR.intercept_ is not"),
        (SVC(), TWO, times("dual_coef_", -1.0), "SVC.dual_coef_ is not.*minus its _dual"),
        (SVC(), THREE, times("intercept_", 1.5), "SVC.intercept_ is not"),
        (NuSVR(), Y, times("dual_coef_", 1.5), "NuSVR.dual_coef_ is not"),
        (OneClassSVM(), None, times("dual_coef_", 2.0), "OneClassSVM.dual_coef_ is not"),
        (SVC(), THREE, times("_n_support", 2), "SVC.n_support_ has"),
        (GP, Y, times("alpha_", 1.0001), r"Regressor.alpha_ does not.*kernel_, X_train_"),
        (GP, Y, times("alpha_", 2.0, 7), "alpha_ does not"),
        (GP, Y, times("X_train_", 2.0), "alpha_ does not"),
        (GP, Y, times("y_train_", 2.0), "alpha_ does not"),
        (GP, Y, times("L_", 2.0), "alpha_ does not"),
        (GP, Y, shorten("L_"), "alpha_ does not"),
        (GP, Y, shorten("y_train_"), "alpha_ does not"),
        (GP, Y, lambda model: model.kernel_.set_params(k1__k2__length_scale=2.0), "alpha_ does"),
    ],
)
def test_an_attribute_changed_after_fitting_is_named(model, target, tamper, named):
    model = clone(model).fit(X, target)
    assert pkex.Explainer(model)
    tamper(model)
    with pytest.raises(pkex.UnsupportedModelError, match=f"{named}.*changed after fitting"):
        pkex.Explainer(model)


@pytest.mark.parametrize("machine", [SVR(), SVC()], ids=repr)
def test_support_vectors_that_do_not_fit_their_coefficients_are_named(machine):
    model = machine.fit(X, Y if isinstance(machine, SVR) else TWO)
    model.support_vectors_ = model.support_vectors_[1:]
    with pytest.raises(pkex.UnsupportedModelError, match="support_vectors_ has"):
        pkex.Explainer(model)


def test_support_vectors_that_were_moved_are_explained_as_the_model_predicts_with_them():
    model = SVR().fit(X, Y)
    before = model.predict(X)
    model.support_vectors_[0] += 1.0
    explanation = pkex.Explainer(model)(X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, model.predict(X), atol=1e-10)
    assert np.abs(total - before).max() > 1e-3


def test_the_kernel_that_a_gaussian_process_was_given_is_not_the_one_that_it_has():
    model = clone(GP).fit(X, Y)
    values = pkex.Explainer(model).shap_values(X)
    model.set_params(kernel=RBF(5.0), alpha=1.0)
    np.testing.assert_array_equal(pkex.Explainer(model).shap_values(X), values)


@pytest.mark.parametrize(
    "model",
    [
        GaussianProcessRegressor(RBF(10.0), optimizer=None),
        GaussianProcessRegressor(
            RBF() + WhiteKernel(), alpha=np.linspace(1e-8, 1.0, len(X)), optimizer=None
        ),
        GaussianProcessRegressor(2.0 * RBF(0.1), normalize_y=True, optimizer=None),
        GaussianProcessRegressor(None, alpha=1e-6, optimizer=None),
    ],
    ids=["smooth", "noisy", "normalised", "without a kernel"],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gaussian_processes_as_they_were_fitted_are_no_reason_to_refuse(model, dtype):
    repeated = X.astype(dtype)
    repeated[10:20] = repeated[0]
    for target in (Y, 1e6 * Y + 1e9, np.column_stack([Y, 1e6 * Y])):
        assert pkex.Explainer(clone(model).fit(repeated, target))


@pytest.mark.parametrize(
    ("selector", "option"),
    [
        (SelectKBest(f_regression, k=2), {"k": 1}),
        (SelectPercentile(f_regression, percentile=67), {"percentile": 34}),
        (SelectFromModel(Ridge(), threshold="mean"), {"threshold": 1e-9}),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("between", [[], [StandardScaler()], ["passthrough"]], ids=repr)
def test_a_selector_changed_after_fitting_is_named(selector, option, between):
    model = make_pipeline(clone(selector), *between, SVR()).fit(X, Y)
    assert pkex.Explainer(model)
    model[0].set_params(**option)
    named = rf"{type(selector).__name__} makes . columns?, .*{next(iter(option))}.*after fitting"
    with pytest.raises(pkex.UnsupportedModelError, match=named):
        pkex.Explainer(model)
