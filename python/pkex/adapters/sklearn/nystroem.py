"""The adapter for a Nystroem feature map followed by a linear model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.kernel_approximation import Nystroem
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.kernels import EPSILON, square_rounding
from pkex.adapters.registry import adapt, unsupported_model
from pkex.adapters.sklearn.estimators import check_fitted, dense, feature_names, without_names
from pkex.adapters.sklearn.kernel_functions import (
    Options,
    default_gamma,
    kernel_by_name,
)
from pkex.adapters.sklearn.linear import LINEAR_MODELS, adapt_linear, linear_function
from pkex.adapters.sklearn.probabilities import calibrated_probabilities, probabilities_of_linear
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.typing import Float


def nystroem_model(nystroem: Any, linear: Any) -> AdaptedModel:
    """Read a Nystroem feature map and the linear model that was fitted on its features.

    The features are K(x, C) Nᵀ with components C and a normalizing matrix N. So a linear model with
    weights w is a kernel expansion at C with coefficients Nᵀ w.

    Parameters
    ----------
    nystroem : Nystroem
        Fitted, with kernel 'rbf', 'laplacian', 'chi2', 'linear' or 'poly'.
    linear : estimator
        Fitted on the features: a regressor with a linear ``predict``, or a classifier or one-class
        model with a linear ``decision_function``.

    Returns
    -------
    AdaptedModel
        In the columns of the input of `nystroem`, with the outputs of `linear`.

    Raises
    ------
    UnsupportedModelError
        If the kernel or the linear model is unsupported.
    """
    adapted, function = _linear(linear)
    check_fitted(nystroem)
    points, normalization = dense(nystroem.components_), dense(nystroem.normalization_)
    options = _options(nystroem, points.shape[1])
    kernel = kernel_by_name(nystroem, options)
    weights = function.coefficients
    # In extended precision if available, see _rounding.
    coefficients = dense(normalization.T.astype(np.longdouble) @ weights.astype(np.longdouble))
    feature_map, predict = without_names(nystroem), adapted.predict
    return replace(
        adapted,
        expansion=KernelSum(points, coefficients, kernel, function.intercept),
        predict=lambda X: predict and predict(feature_map.transform(X)),
        feature_names=feature_names(nystroem),
        kernel_rounding=_rounding(
            nystroem, points, options.gamma, normalization, weights, coefficients
        ),
    )


def _linear(model: Any) -> tuple[AdaptedModel, LinearFunction]:
    """Read a linear model of scikit-learn, or a linear support vector machine."""
    if isinstance(model, LINEAR_MODELS):
        return adapt_linear(model), linear_function(model)
    adapted = adapt(model) if getattr(model, "kernel", None) == "linear" else None
    expansion = adapted and adapted.function
    if adapted is None or not isinstance(model, _MACHINES):
        raise unsupported_model(f"Nystroem followed by {type(model).__name__}")
    assert isinstance(expansion, KernelSum)
    weights = expansion.points.T.astype(np.longdouble) @ expansion.coefficients
    return adapted, LinearFunction(dense(weights), expansion.intercept)


_MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)


def nystroem_probabilities(nystroem: Any, linear: Any) -> Probabilities:
    """Read the probabilities of a linear or a calibrated classifier of the features."""
    if isinstance(linear, CalibratedClassifierCV):
        feature_map = without_names(nystroem)
        return calibrated_probabilities(
            linear, partial(nystroem_model, nystroem), feature_map.transform
        )
    adapted = nystroem_model(nystroem, linear)
    feature_map, classifier = without_names(nystroem), without_names(linear)
    return probabilities_of_linear(
        linear, adapted, lambda X: classifier.predict_proba(feature_map.transform(X))
    )


def _options(nystroem: Nystroem, n_features: int) -> Options:
    # Parameters override the dictionary, as in Nystroem itself.
    options = dict(nystroem.kernel_params or {})
    parameters = {name: getattr(nystroem, name) for name in ("gamma", "degree", "coef0")}
    options |= {name: value for name, value in parameters.items() if value is not None}
    if options.get("gamma") is None:
        options["gamma"] = default_gamma(nystroem.kernel, n_features)
    return Options(**{name: options[name] for name in parameters if options.get(name) is not None})


def _rounding(
    nystroem: Nystroem,
    points: Float,
    gamma: float,
    normalization: Float,
    weights: Float,
    coefficients: Float,
) -> float:
    """Bound the relative rounding error of the model's output, which is computed from features.

    If the components nearly coincide, `normalization` is huge, and the features and their weighted
    sum have larger terms than the expansion.
    """
    kernel_rounding = square_rounding(points, gamma) if nystroem.kernel == "rbf" else 0.0
    terms = (np.abs(normalization.T) @ np.abs(weights)).sum(axis=0)
    ratio = float(np.max(terms / np.maximum(np.abs(coefficients).sum(axis=0), 1e-300)))
    return kernel_rounding + 32.0 * EPSILON * ratio
