"""Adapters of scikit-learn's linear models."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn import linear_model
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import LinearSVC, LinearSVR

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import EPSILON
from pkex.adapters.registry import unsupported_model
from pkex.adapters.sklearn.estimators import (
    class_names,
    dense,
    describe_method,
    register_estimators,
)
from pkex.errors import UnsupportedModelError
from pkex.functions.exponential import Exponential
from pkex.functions.linear import LinearFunction
from pkex.typing import Float


def _existing_classes(names: str) -> tuple[Any, ...]:
    """Return the classes of `sklearn.linear_model` that this version of scikit-learn has."""
    return tuple(
        getattr(linear_model, name) for name in names.split() if name in vars(linear_model)
    )


# Models whose `predict` is the exponential of X @ coef_ + intercept_, unless the link of
# TweedieRegressor is the identity.
_GENERALIZED = _existing_classes("GammaRegressor PoissonRegressor TweedieRegressor")
# Models whose `predict` is X @ coef_.T + intercept_. PassiveAggressiveRegressor is deprecated since
# 1.8.
_REGRESSORS = (
    *_existing_classes(
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV HuberRegressor Lars LarsCV Lasso "
        "LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression MultiTaskElasticNet "
        "MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit "
        "OrthogonalMatchingPursuitCV PassiveAggressiveRegressor QuantileRegressor Ridge RidgeCV "
        "SGDRegressor TheilSenRegressor TweedieRegressor"
    ),
    LinearSVR,
)
# Models whose `decision_function` is the same.
_CLASSIFIERS = (
    *_existing_classes(
        "LogisticRegression LogisticRegressionCV PassiveAggressiveClassifier Perceptron "
        "RidgeClassifier RidgeClassifierCV SGDClassifier"
    ),
    LinearDiscriminantAnalysis,
    LinearSVC,
)
# Models whose `decision_function` is X @ coef_ − offset_.
_ONE_CLASS = (linear_model.SGDOneClassSVM,)

LINEAR_MODELS = _REGRESSORS + _CLASSIFIERS + _ONE_CLASS


@register_estimators(*_GENERALIZED)
def adapt_generalized(model: Any) -> AdaptedModel:
    """Read the linear predictor behind a link, which is the logarithm or the identity."""
    if not _has_log_link(model):
        return adapt_linear(model)
    predictor = _function_of_attributes(model, dense(model.coef_), dense(model.intercept_))
    return describe_method(model, Exponential(predictor), "predict")


@register_estimators(*(model for model in LINEAR_MODELS if model not in _GENERALIZED))
def adapt_linear(model: Any) -> AdaptedModel:
    """Read X @ coef_.T + intercept_, with the outputs of the model."""
    function, method = linear_function(model), linear_method(model)
    is_classifier = isinstance(model, _CLASSIFIERS)
    return describe_method(
        model,
        function,
        method,
        output_names=class_names(model.classes_, function) if is_classifier else None,
        not_explained="" if method == "predict" else _ONLY_DECISIONS,
    )


_ONLY_DECISIONS = (
    "only the decision function (for logistic regression, the log-odds) is a sum to which Shapley "
    "values can add up; class labels follow from it"
)


def linear_method(model: Any) -> str:
    """Return the name of the method that is linear in the columns."""
    return "predict" if isinstance(model, _REGRESSORS) else "decision_function"


def linear_function(model: Any) -> LinearFunction:
    """Return the function of a fitted model among the `LINEAR_MODELS`."""
    if isinstance(model, _GENERALIZED) and _has_log_link(model):
        raise unsupported_model(
            f"{type(model).__name__} with the link 'log', as a part of this model,",
            ": it predicts the exponential of a linear function",
        )
    coefficients = dense(model.coef_)
    intercept = dense(-model.offset_ if isinstance(model, _ONE_CLASS) else model.intercept_)
    # A single row belongs to two classes, or to a target that is a column. Sparse coefficients
    # are always a matrix, and only models with a single output have them.
    is_column = isinstance(model, _REGRESSORS) and not hasattr(model.coef_, "toarray")
    if coefficients.ndim == 1 or (len(coefficients) == 1 and not is_column):
        coefficients, intercept = coefficients.ravel(), intercept.reshape(())
    return _function_of_attributes(model, coefficients.T, intercept)


@register_estimators(PLSRegression, PLSCanonical, CCA)
def adapt_partial_least_squares(model: Any) -> AdaptedModel:
    """Read (X − mean) @ coef_.T + intercept_."""
    coefficients, means = dense(model.coef_), dense(model._x_mean)
    if _PREDICTIONS_ARE_SCALED:
        coefficients = coefficients / dense(model._x_std)
    shifts = coefficients * means
    intercept = dense(model.intercept_) - shifts.sum(axis=1)
    # In the model's own output, and in the intercept.
    rounding = 32.0 * EPSILON * np.abs(shifts).sum(axis=1)
    if model._predict_1d:
        coefficients, intercept, rounding = coefficients[0], intercept[0], rounding[0]
    function = _function_of_attributes(model, coefficients.T, intercept)
    return describe_method(model, function, "predict", absolute_rounding=rounding)


# scikit-learn before 1.5 divides by the columns' standard deviations in `predict`, later in `fit`.
_PREDICTIONS_ARE_SCALED = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 5)


def _function_of_attributes(model: Any, coefficients: Float, intercept: Float) -> LinearFunction:
    """Return the function of fitted attributes, if they have the model's number of features."""
    if len(coefficients) != model.n_features_in_:
        raise UnsupportedModelError(
            f"{type(model).__name__}.coef_ has {len(coefficients)} features, and n_features_in_ is "
            f"{model.n_features_in_}: one of them was changed after fitting. Fit the model again"
        )
    return LinearFunction(coefficients, intercept)


def _has_log_link(model: Any) -> bool:
    """Whether a generalized linear model predicts the exponential of a linear function."""
    link = getattr(model, "link", "log")  # other classes have no choice
    return link == "log" or (link == "auto" and model.power > 0)
