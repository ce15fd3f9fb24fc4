"""The adapter of kernel densities."""

from __future__ import annotations

import math

import numpy as np
from sklearn.neighbors import KernelDensity

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import unsupported_model
from pkex.adapters.sklearn.estimators import feature_names, register_estimators, without_names
from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import RBF
from pkex.typing import Float

# Far from where exp() loses digits or overflows.
_MAX_LOGARITHM = 600.0


@register_estimators(KernelDensity)
def adapt_kernel_density(model: KernelDensity) -> AdaptedModel:
    """Read the density Σ_i w_i exp(−‖x − x_i‖² / 2h²) / ((2π)^{d/2} h^d Σ_i w_i).

    pkex explains this definition, without the approximation that `rtol` and `atol` allow.
    """
    if model.kernel != "gaussian":
        raise unsupported_model(f"KernelDensity with kernel {model.kernel!r}")
    if model.metric != "euclidean":
        raise unsupported_model(f"KernelDensity with metric {model.metric!r}")
    points = np.asarray(model.tree_.data, dtype=np.float64)
    width = float(model.bandwidth_)
    model_copy = without_names(model)
    model_copy.rtol = model_copy.atol = 0.0

    def density(X: Float) -> Float:
        # scikit-learn also takes the logarithm of weights of 0.
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(model_copy.score_samples(X)))

    return AdaptedModel(
        KernelSum(points, _coefficients(model, points, width), RBF(width), 0.0),
        title="exp(score_samples)",
        predict=density,
        feature_names=feature_names(model),
        not_explained="only the density is a sum to which Shapley values can add up; score_samples "
        "is its logarithm",
    )


def _coefficients(model: KernelDensity, points: Float, width: float) -> Float:
    n, d = points.shape
    logarithm = -d * (0.5 * math.log(2.0 * math.pi) + math.log(width))
    if abs(logarithm) > _MAX_LOGARITHM:
        raise UnsupportedModelError(
            f"KernelDensity with bandwidth {width:.3g} for {d} features has densities of the order "
            f"of exp({logarithm:.0f}), which {'over' if logarithm > 0.0 else 'under'}flow. "
            "Rescale the features, and fit it again"
        )
    weights = model.tree_.sample_weight
    weights = np.full(n, 1.0) if weights is None else np.asarray(weights, dtype=np.float64)
    return weights * (math.exp(logarithm) / math.fsum(weights))
