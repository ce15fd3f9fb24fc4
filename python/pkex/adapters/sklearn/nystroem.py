"""The adapter for a Nystroem feature map followed by a linear model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.svm import LinearSVC, LinearSVR

from pkex.adapters.registry import AdaptedModel, unsupported
from pkex.adapters.sklearn.description import dense, expansion_of, feature_names, pair_names
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.kernel_functions import (
    PAIRWISE,
    default_gamma,
    named_kernel,
    square_rounding,
)
from pkex.adapters.sklearn.own_output import without_names
from pkex.typing import Float

# Those whose output is X @ coef_ + intercept_, and nothing done to it.
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
    LinearSVR,
)
_CLASSIFIERS = (
    linear_model.LogisticRegression,
    linear_model.LogisticRegressionCV,
    linear_model.Perceptron,
    linear_model.RidgeClassifier,
    linear_model.RidgeClassifierCV,
    linear_model.SGDClassifier,
    LinearDiscriminantAnalysis,
    LinearSVC,
)
_ONE_CLASS = (linear_model.SGDOneClassSVM,)


def nystroem_model(nystroem: Any, linear: Any) -> AdaptedModel:
    """Read a Nystroem feature map and the linear model that was fitted on its features.

    The features are K(x, C) Nᵀ for the components C and the matrix N that normalises them, so that
    a linear model of weights w is a kernel expansion at C of coefficients Nᵀ w.

    Parameters
    ----------
    nystroem : Nystroem
        Fitted, with kernel 'rbf', 'laplacian' or 'chi2'.
    linear : estimator
        Fitted on what `nystroem` returns: a regressor whose ``predict``, or a classifier or
        one-class model whose ``decision_function`` is linear in its input.

    Returns
    -------
    AdaptedModel
        In terms of the input of `nystroem`, with outputs as those of `linear`.

    Raises
    ------
    UnsupportedModelError
        If the kernel or the linear model is another.
    """
    explained = _explained_method(linear)
    check_fitted(nystroem)
    check_fitted(linear)
    points, normalization = dense(nystroem.components_), dense(nystroem.normalization_)
    gamma = _gamma(nystroem, points.shape[1])
    kernel = named_kernel(nystroem, PAIRWISE, gamma)
    weights, intercept = _weights(linear)
    # In extended precision where there is one: see _rounding.
    coefficients = dense(normalization.T.astype(np.longdouble) @ weights.astype(np.longdouble))
    own_map, own_model = without_names(nystroem), getattr(without_names(linear), explained)
    names = None
    if isinstance(linear, _CLASSIFIERS):
        is_single = coefficients.ndim == 1
        names = pair_names(linear.classes_) if is_single else tuple(map(str, linear.classes_))
    return AdaptedModel(
        expansion_of(linear, points, coefficients, kernel, intercept),
        explained=explained,
        predict=lambda X: own_model(own_map.transform(X)),
        feature_names=feature_names(nystroem),
        output_names=names,
        kernel_rounding=_rounding(nystroem, points, gamma, normalization, weights, coefficients),
        not_explained=""
        if explained == "predict"
        else "only the decision function is linear in kernel values, to which values of features "
        "can add up; class labels and probabilities are made from it",
    )


def _explained_method(linear: Any) -> str:
    if isinstance(linear, _REGRESSORS):
        return "predict"
    if isinstance(linear, _CLASSIFIERS + _ONE_CLASS):
        return "decision_function"
    raise unsupported(f"Nystroem followed by {type(linear).__name__}")


def _gamma(nystroem: Nystroem, n_features: int) -> float:
    # The parameter comes before that of the dictionary, as in Nystroem itself.
    given = nystroem.gamma
    if given is None:
        given = (nystroem.kernel_params or {}).get("gamma")
    return default_gamma(nystroem.kernel, n_features) if given is None else float(given)


def _weights(linear: Any) -> tuple[Float, Float | float]:
    """Return weights (m,) or (m, outputs) and the intercept, with an output axis as the model's."""
    coef = dense(linear.coef_)
    intercept = dense(-linear.offset_ if isinstance(linear, _ONE_CLASS) else linear.intercept_)
    # Classifiers of two classes, and regressors that say so, have one row and no output axis.
    is_flat = coef.ndim == 1 or (len(coef) == 1 and not isinstance(linear, _REGRESSORS))
    if is_flat:
        return coef.ravel(), float(np.ravel(intercept)[0])
    return coef.T, np.broadcast_to(intercept, coef.shape[:1])


def _rounding(
    nystroem: Nystroem,
    points: Float,
    gamma: float,
    normalization: Float,
    weights: Float,
    coefficients: Float,
) -> float:
    """Bound the relative rounding of the model's output, which goes by way of the features.

    Their sums and those of the weighted features have larger terms than the expansion has, where
    the components nearly coincide and the entries of `normalization` are huge.
    """
    own = square_rounding(points, gamma) if nystroem.kernel == "rbf" else 0.0
    terms = (np.abs(normalization.T) @ np.abs(weights)).sum(axis=0)
    ratio = float(np.max(terms / np.maximum(np.abs(coefficients).sum(axis=0), 1e-300)))
    return own + 32.0 * float(np.finfo(np.float64).eps) * ratio
