"""Adapters for scikit-learn's linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn import linear_model
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import LinearSVC, LinearSVR

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.alternatives import LOG_LINK
from pkex.adapters.fitted_attributes import usable
from pkex.adapters.registry import register, unsupported
from pkex.adapters.sklearn.estimators import by_method, check_fitted, class_names, dense
from pkex.errors import UnsupportedModelError
from pkex.functions.linear import LinearFunction
from pkex.typing import Float


def _existing(*names: str) -> tuple[Any, ...]:
    """Return those classes of linear models that this version of scikit-learn has."""
    return tuple(getattr(linear_model, name) for name in names if hasattr(linear_model, name))


# Those whose `predict` is X @ coef_.T + intercept_, and nothing done to it.
_REGRESSORS = (
    linear_model.ARDRegression,
    linear_model.BayesianRidge,
    linear_model.ElasticNet,
    linear_model.ElasticNetCV,
    linear_model.HuberRegressor,
    linear_model.Lars,
    linear_model.LarsCV,
    linear_model.Lasso,
    linear_model.LassoCV,
    linear_model.LassoLars,
    linear_model.LassoLarsCV,
    linear_model.LassoLarsIC,
    linear_model.LinearRegression,
    linear_model.MultiTaskElasticNet,
    linear_model.MultiTaskElasticNetCV,
    linear_model.MultiTaskLasso,
    linear_model.MultiTaskLassoCV,
    linear_model.OrthogonalMatchingPursuit,
    linear_model.OrthogonalMatchingPursuitCV,
    linear_model.QuantileRegressor,
    linear_model.Ridge,
    linear_model.RidgeCV,
    linear_model.SGDRegressor,
    linear_model.TheilSenRegressor,
    linear_model.TweedieRegressor,  # if its link is the identity
    LinearSVR,
    *_existing("PassiveAggressiveRegressor"),  # on its way out since 1.8
)
# Those whose `decision_function` is that.
_CLASSIFIERS = (
    linear_model.LogisticRegression,
    linear_model.LogisticRegressionCV,
    linear_model.Perceptron,
    linear_model.RidgeClassifier,
    linear_model.RidgeClassifierCV,
    linear_model.SGDClassifier,
    LinearDiscriminantAnalysis,
    LinearSVC,
    *_existing("PassiveAggressiveClassifier"),
)
# Those whose `decision_function` is X @ coef_ − offset_.
_ONE_CLASS = (linear_model.SGDOneClassSVM,)

LINEAR_MODELS = _REGRESSORS + _CLASSIFIERS + _ONE_CLASS


def adapt_linear(model: Any) -> AdaptedModel:
    """Read X @ coef_.T + intercept_, with outputs as the model has them."""
    check_fitted(model)
    function = linear_function(model)
    method = linear_method(model)
    is_classifier = isinstance(model, _CLASSIFIERS)
    return by_method(
        model,
        function,
        method,
        output_names=class_names(model.classes_, function) if is_classifier else None,
        not_explained="" if method == "predict" else _MADE_OF_DECISIONS,
    )


def linear_method(model: Any) -> str:
    """Return the name of the method of a linear model that is linear in its columns."""
    return "predict" if isinstance(model, _REGRESSORS) else "decision_function"


def linear_function(model: Any) -> LinearFunction:
    """Return the function of one of the `LINEAR_MODELS`, which is fitted."""
    if isinstance(model, linear_model.TweedieRegressor):
        _check_link(model)
    coefficients = dense(model.coef_)
    intercept = dense(-model.offset_ if isinstance(model, _ONE_CLASS) else model.intercept_)
    # A single row is that of two classes; or of a target that is a column, unless it is sparse,
    # which only models of a single output make it.
    is_of_column = isinstance(model, _REGRESSORS) and not hasattr(model.coef_, "toarray")
    if coefficients.ndim == 1 or (len(coefficients) == 1 and not is_of_column):
        coefficients, intercept = coefficients.ravel(), intercept.reshape(())
    return _of_attributes(model, coefficients.T, intercept)


_MADE_OF_DECISIONS = (
    "only the decision function (of logistic regression, the log-odds) is a sum to which values of "
    "features can add up; class labels are made from it"
)

for _model_class in LINEAR_MODELS:
    register(_model_class)(adapt_linear)


@register(PLSRegression)
@register(PLSCanonical)
@register(CCA)
def adapt_partial_least_squares(model: Any) -> AdaptedModel:
    """Read (X − mean) @ coef_.T + intercept_, which is linear with an intercept of its own."""
    check_fitted(model)
    coefficients, means = dense(model.coef_), dense(model._x_mean)
    if _PREDICTIONS_ARE_SCALED:
        coefficients = coefficients / dense(model._x_std)
    shifts = coefficients * means
    intercept = dense(model.intercept_) - shifts.sum(axis=1)
    # The model's own, and that of the intercept.
    rounding = 32.0 * np.finfo(np.float64).eps * np.abs(shifts).sum(axis=1)
    if model._predict_1d:
        coefficients, intercept, rounding = coefficients[0], intercept[0], rounding[0]
    function = _of_attributes(model, coefficients.T, intercept)
    return by_method(model, function, "predict", absolute_rounding=rounding)


# Before 1.5 `predict` of scikit-learn divides by the columns' standard deviations, later `fit`.
_PREDICTIONS_ARE_SCALED = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 5)


def _of_attributes(model: Any, coefficients: Float, intercept: Float) -> LinearFunction:
    """Return the function of fitted attributes, of as many features as the model was fitted on."""
    if len(coefficients) != model.n_features_in_:
        raise UnsupportedModelError(
            f"{type(model).__name__}.coef_ is of {len(coefficients)} features, and its "
            f"n_features_in_ is {model.n_features_in_}: one of them was changed after fitting; "
            "fit the model again"
        )
    with usable(model):
        return LinearFunction(coefficients, intercept)


def _check_link(model: linear_model.TweedieRegressor) -> None:
    """Refuse a generalised linear model that predicts the exponential of a linear function."""
    link = model.link
    if link == "auto":
        link = "identity" if model.power <= 0 else "log"
    if link != "identity":
        raise unsupported(f"TweedieRegressor with the link {link!r}", f": {LOG_LINK}")
