"""The adapter for Cox's proportional hazards model in lifelines."""

from __future__ import annotations

from typing import Any

import numpy as np
from lifelines import CoxPHFitter, CoxTimeVaryingFitter
from lifelines.fitters import RegressionFitter
from lifelines.fitters.coxph_fitter import SemiParametricPHFitter

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.errors import Option, UnsupportedModelError
from pkex.functions.linear import LinearFunction
from pkex.typing import Float


@register(RegressionFitter)
def adapt_cox(fitter: RegressionFitter) -> AdaptedModel:
    """Read the logarithm of the hazard ratio to a subject at the means, Σ_j β_j (x_j − mean_j)."""
    name = type(fitter).__name__
    model = _semiparametric(fitter, name)
    names = tuple(map(str, model.params_.index))
    coefficients, means = np.array(model.params_), np.array(model._norm_mean)

    def predict(rows: Float) -> Float:
        return np.asarray(model.predict_log_partial_hazard(rows))

    return AdaptedModel(
        LinearFunction(coefficients, center=means),
        method="predict_log_partial_hazard",
        title="log partial hazard",
        predict=predict,
        feature_names=names,
        not_explained=(
            "for the partial hazard pass the model with target='hazard-ratio', and survival "
            "functions are neither sums nor products over features"
        ),
        is_log_hazard_ratio=True,
    )


def _semiparametric(fitter: Any, name: str) -> Any:
    """Return the fitter of coefficients and a baseline by Breslow's method."""
    if isinstance(fitter, CoxTimeVaryingFitter):
        raise unsupported_model(
            name,
            ": its covariates change over time, so a row is an interval and not a subject. The "
            "logarithm of the hazard ratio at a time is "
            "pkex.KernelExpansion([model.params_], [1.0], pkex.kernels.Linear())",
        )
    if type(fitter) not in (CoxPHFitter, SemiParametricPHFitter):
        raise unsupported_model(f"{name} of lifelines")
    model = getattr(fitter, "_model", fitter)
    if not hasattr(model, "params_"):
        raise UnsupportedModelError(f"{name} is not fitted. Call fit first")
    if not isinstance(model, SemiParametricPHFitter):
        raise unsupported_model(
            f"{name} with baseline_estimation_method={fitter.baseline_estimation_method!r}",
            ": fit it with baseline_estimation_method='breslow', the default",
        )
    if model.strata is not None:
        raise unsupported_model(
            f"{name} with strata={model.strata!r}",
            ": hazards of different strata have different baselines, and their ratio depends on "
            "time. Fit a model to each stratum, or include these columns as covariates",
        )
    if model.formula is not None:
        raise unsupported_model(
            f"{name} with formula={model.formula!r}",
            (
                ": fit it without a formula, to a table with the columns of the formula. Pass the "
                "columns of one variable as a group by ",
                Option("groups", python="groups={...}"),
            ),
        )
    return model
