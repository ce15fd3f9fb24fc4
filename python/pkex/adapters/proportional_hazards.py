"""Adapters for scikit-survival's linear models: Cox's models, and regressions of survival times."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted
from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis, IPCRidge

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.sklearn.estimators import dense, describe_method
from pkex.functions.exponential import Exponential
from pkex.functions.linear import LinearFunction


@register(CoxPHSurvivalAnalysis)
def adapt_cox(model: CoxPHSurvivalAnalysis) -> AdaptedModel:
    """Read the logarithm of the hazard ratio, Σ_j coef_j x_j."""
    _check(model)
    function = LinearFunction(dense(model.coef_))
    return _log_hazard_ratio(model, function)


@register(CoxnetSurvivalAnalysis)
def adapt_coxnet(model: CoxnetSurvivalAnalysis) -> AdaptedModel:
    """Read the logarithm of the hazard ratio with the last penalty, Σ_j coef_j x_j − offset."""
    _check(model)
    function = LinearFunction(dense(model.coef_)[:, -1], -float(model.offset_[-1]))
    return _log_hazard_ratio(model, function)


@register(IPCRidge)
def adapt_times(model: IPCRidge) -> AdaptedModel:
    """Read the survival time, exp(Σ_j coef_j x_j + intercept)."""
    _check(model)
    function = LinearFunction(dense(model.coef_), float(model.intercept_))
    return describe_method(model, Exponential(function), "predict")


def _log_hazard_ratio(model: Any, function: LinearFunction) -> AdaptedModel:
    return describe_method(
        model,
        function,
        "predict",
        not_explained="survival functions and cumulative hazards are not sums over features",
        is_log_hazard_ratio=True,
    )


def _check(model: Any) -> None:
    """Raise an error unless a model is fitted, and is one of scikit-survival's own classes."""
    if not type(model).__module__.startswith("sksurv."):
        raise unsupported_model(f"{type(model).__name__}, a subclass of scikit-survival's models,")
    check_is_fitted(model, "coef_")
