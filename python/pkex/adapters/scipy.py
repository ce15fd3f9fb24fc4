"""The adapter for SciPy's interpolation by radial basis functions.

`RBFInterpolator` returns Σ_i c_i k(ε‖x − x_i‖) plus a polynomial in (x_j − shift_j) / scale_j.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.interpolate import RBFInterpolator

from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.expansion import KernelExpansion
from pkex.functions.linear import LinearFunction
from pkex.kernels import RBF, Kernel, RationalQuadratic
from pkex.kernels.polyharmonic import POLYHARMONIC, GrowingKernel

# SciPy scales rows by ε before it subtracts them: of rows far from the origin few digits are left.
_ROUNDING = 32.0 * float(np.finfo(np.float64).eps)


@register(RBFInterpolator)
def adapt_interpolator(model: RBFInterpolator) -> AdaptedModel:
    """Read an interpolator of numbers, or of vectors, whose entries are outputs."""
    _check_known(model)
    points = np.asarray(model.y)
    coefficients, polynomial = np.split(
        np.reshape(model._coeffs, (-1, *model.d_shape)), [len(points)]
    )
    degrees = np.sum(model.powers, axis=1)
    try:
        kernel = _KERNELS[model.kernel](abs(model.epsilon))
        constant = np.sum(polynomial[degrees == 0], axis=0)
        function: Function = KernelExpansion(points, coefficients, kernel, constant)
    except (ValueError, ZeroDivisionError) as error:
        raise UnsupportedModelError(
            f"RBFInterpolator has an unusable epsilon or coefficients: {error}"
        ) from error
    if np.any(degrees == 1):
        # Its monomials of degree 1 are in the order of the columns.
        slopes = (polynomial[degrees == 1].T / model._scale).T
        linear = LinearFunction(slopes, centre=model._shift, points=points)
        function = Combination([function, linear])
    farthest = math.sqrt(points.shape[1]) * float(np.abs(points).max(initial=0.0))
    return AdaptedModel(
        function,
        explained="__call__",
        predict=model.__call__,
        kernel_rounding=_ROUNDING * abs(model.epsilon) * farthest,
    )


def _check_known(model: RBFInterpolator) -> None:
    """Refuse options of which no sum of products over the columns is known."""
    if type(model) is not RBFInterpolator:
        raise unsupported(f"{type(model).__name__}, a subclass of RBFInterpolator,")
    if model.neighbors is not None:
        raise unsupported(
            f"RBFInterpolator with neighbors={model.neighbors}",
            ": it is another function in each neighbourhood; without neighbors it is one",
        )
    if model.kernel not in _KERNELS:
        known = ", ".join(map(repr, _KERNELS))
        raise unsupported(
            f"RBFInterpolator with kernel {model.kernel!r}",
            ": as a sum of products r⁵ would lose most digits, as the difference of far larger "
            f"numbers; known are {known}",
        )
    degree = int(np.sum(model.powers, axis=1).max(initial=-1))
    if degree > 1:
        raise unsupported(
            f"RBFInterpolator with degree={degree}",
            ": its polynomial multiplies columns with each other; degree 1 and below do not",
        )
    if len(model.d_shape) > 1 or np.issubdtype(model.d_dtype, np.complexfloating):
        raise unsupported(
            "RBFInterpolator of complex values or of matrices", ": real numbers and vectors are"
        )


# By name, from ε.
_KERNELS: dict[str, Callable[[float], Kernel]] = {
    # exp(−(εr)²), where (εr)² = (r/ℓ)² / 2
    "gaussian": lambda epsilon: RBF(math.sqrt(0.5) / epsilon),
    # (1 + (εr)²)^(−1/2) and (1 + (εr)²)^(−1), where (εr)² = r²/(2αℓ²)
    "inverse_multiquadric": lambda epsilon: RationalQuadratic(1.0 / epsilon, alpha=0.5),
    "inverse_quadratic": lambda epsilon: RationalQuadratic(math.sqrt(0.5) / epsilon, alpha=1.0),
    **{name: partial(GrowingKernel, name) for name in POLYHARMONIC},
}
