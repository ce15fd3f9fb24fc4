"""Adapters for scikit-survival's support vector machines.

A machine that is fitted on ranks predicts a risk score, minus a sum over its training rows or its
columns. With a regression objective, ``rank_ratio`` below 1, it predicts a survival time, the
exponential of a sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sksurv.svm import (
    FastKernelSurvivalSVM,
    FastSurvivalSVM,
    HingeLossSurvivalSVM,
    MinlipSurvivalAnalysis,
    NaiveSurvivalSVM,
)

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import square_rounding
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.sklearn.estimators import dense, describe_method
from pkex.adapters.sklearn.kernel_functions import Options, default_gamma, kernel_by_name
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.exponential import Exponential
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.kernels import Kernel
from pkex.typing import Float


@register(FastKernelSurvivalSVM)
def adapt_kernel_machine(model: FastKernelSurvivalSVM) -> AdaptedModel:
    """Read −f(x) or exp(f(x)), with f(x) = Σ_i coef_i k(x, x_i) + intercept."""
    _check(model)
    kernel, points, rounding = _kernel_of(model, model.fit_X_)
    sign = _sign(model)
    function = KernelSum(points, sign * dense(model.coef_), kernel, sign * _intercept(model))
    return _describe_prediction(model, function, rounding)


@register(FastSurvivalSVM)
def adapt_linear_machine(model: FastSurvivalSVM) -> AdaptedModel:
    """Read −f(x) or exp(f(x)), with f(x) = Σ_j coef_j x_j + intercept."""
    _check(model)
    sign = _sign(model)
    function = LinearFunction(sign * dense(model.coef_), sign * _intercept(model))
    return _describe_prediction(model, function, 0.0)


@register(NaiveSurvivalSVM)
def adapt_naive_machine(model: NaiveSurvivalSVM) -> AdaptedModel:
    """Read the risk score −Σ_j coef_j x_j."""
    _check(model)
    function = LinearFunction(-dense(model.coef_)[0], -float(np.ravel(model.intercept_)[0]))
    return describe_method(model, function, "predict")


@register(HingeLossSurvivalSVM)
@register(MinlipSurvivalAnalysis)
def adapt_minimal_lipschitz(model: MinlipSurvivalAnalysis) -> AdaptedModel:
    """Read the risk score −Σ_i coef_i k(x, x_i)."""
    _check(model)
    kernel, points, rounding = _kernel_of(model, model.X_fit_)
    function = KernelSum(points, -dense(model.coef_).ravel(), kernel, 0.0)
    return describe_method(model, function, "predict", kernel_rounding=rounding)


def _check(model: Any) -> None:
    """Raise an error unless a machine is fitted, and is one of scikit-survival's own classes."""
    name = type(model).__name__
    if not type(model).__module__.startswith("sksurv."):
        raise unsupported_model(f"{name}, a subclass of scikit-survival's machines,")
    if getattr(model, "coef_", None) is None:
        raise UnsupportedModelError(f"{name} is not fitted. Call fit first")


def _kernel_of(model: Any, training_rows: Any) -> tuple[Kernel, Float, float]:
    """Return the kernel, the training rows, and the relative rounding of the model's kernel."""
    points = dense(training_rows)
    gamma = model.gamma
    if gamma is None and isinstance(model.kernel, str):
        gamma = default_gamma(model.kernel, points.shape[1])
    kernel = kernel_by_name(model, Options(gamma, model.degree, model.coef0))
    rounding = square_rounding(points, gamma) if model.kernel == "rbf" else 0.0
    return kernel, points, rounding


def _sign(model: Any) -> float:
    """Return the sign of the fitted sum in the prediction: risks are large for short survival."""
    return -1.0 if model.rank_ratio == 1 else 1.0


def _intercept(model: Any) -> float:
    return float(getattr(model, "intercept_", 0.0))


def _describe_prediction(model: Any, function: Function, rounding: float) -> AdaptedModel:
    """Describe a risk score by its sum, and a survival time by the exponential of its logarithm."""
    prediction = function if model.rank_ratio == 1 else Exponential(function)
    return describe_method(model, prediction, "predict", kernel_rounding=rounding)
