"""The adapter for scikit-learn's kernel density estimate."""

from __future__ import annotations

import math

import numpy as np
from sklearn.neighbors import KernelDensity

from pkex.adapters.attributes import expansion_of
from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.sklearn.description import feature_names
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.own_output import without_names
from pkex.errors import UnsupportedModelError
from pkex.kernels import RBF
from pkex.typing import Float

# Far from where exp() loses digits or overflows.
_LARGEST_LOGARITHM = 600.0


@register(KernelDensity)
def adapt_kernel_density(model: KernelDensity) -> AdaptedModel:
    """Read the density Σ_i w_i exp(−‖x − x_i‖² / 2h²) / ((2π)^{d/2} h^d Σ_i w_i).

    It is explained as it is defined, not as `rtol` and `atol` allow scikit-learn to approximate it.
    """
    check_fitted(model)
    if model.kernel != "gaussian":
        raise unsupported(f"KernelDensity with kernel {model.kernel!r}")
    if model.metric != "euclidean":
        raise unsupported(f"KernelDensity with metric {model.metric!r}")
    points = np.asarray(model.tree_.data, dtype=np.float64)
    width = float(model.bandwidth_)
    own = without_names(model)
    own.rtol = own.atol = 0.0

    def density(X: Float) -> Float:
        # scikit-learn takes the logarithm of weights of 0, too.
        with np.errstate(divide="ignore"):
            return np.asarray(np.exp(own.score_samples(X)))

    return AdaptedModel(
        expansion_of(model, points, _coefficients(model, points, width), RBF(width), 0.0),
        title="exp(score_samples)",
        predict=density,
        feature_names=feature_names(model),
        not_explained="the density itself is a sum over the training rows, to which values of "
        "features can add up; score_samples is its logarithm",
    )


def _coefficients(model: KernelDensity, points: Float, width: float) -> Float:
    n, d = points.shape
    logarithm = -d * (0.5 * math.log(2.0 * math.pi) + math.log(width))
    if abs(logarithm) > _LARGEST_LOGARITHM:
        raise UnsupportedModelError(
            f"KernelDensity with bandwidth {width:.3g} for {d} features is not supported: its "
            f"densities are of the order of exp({logarithm:.0f}), too "
            f"{'large' if logarithm > 0.0 else 'small'} for a float; rescale the features"
        )
    given = model.tree_.sample_weight
    weights = np.full(n, 1.0) if given is None else np.asarray(given, dtype=np.float64)
    return weights * (math.exp(logarithm) / math.fsum(weights))
