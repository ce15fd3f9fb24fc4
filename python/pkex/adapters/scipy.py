"""The adapter for SciPy's interpolation by radial basis functions.

`RBFInterpolator` returns Σ_i c_i k(ε‖x − x_i‖) plus a polynomial in (x_j − shift_j) / scale_j.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import RBFInterpolator

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import EPSILON
from pkex.adapters.registry import register, unsupported_model
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.composite import Combination
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.functions.polynomials import quadratic_form
from pkex.kernels import RBF, Kernel, RationalQuadratic
from pkex.kernels.polyharmonic import POLYHARMONIC, GrowingKernel
from pkex.typing import Float

# SciPy scales rows by ε before it subtracts them, so that rows far from the origin lose digits.
_ROUNDING = 32.0 * EPSILON


@register(RBFInterpolator)
def adapt_interpolator(model: RBFInterpolator) -> AdaptedModel:
    """Read an interpolator of numbers, or of vectors with one output per component."""
    _check_options(model)
    points = np.asarray(model.y)
    coefficients, polynomial = np.split(
        np.reshape(model._coeffs, (-1, *model.d_shape)), [len(points)]
    )
    degrees = np.sum(model.powers, axis=1)
    try:
        kernel = _KERNELS[model.kernel](abs(model.epsilon))
        constant = np.sum(polynomial[degrees == 0], axis=0)
        function: Function = KernelSum(points, coefficients, kernel, constant)
    except (ValueError, ZeroDivisionError) as error:
        raise UnsupportedModelError(
            f"RBFInterpolator has an unusable epsilon or coefficients: {error}"
        ) from error
    parts = [function]
    if np.any(degrees == 1):
        # Monomials of degree 1 are in the order of the columns.
        slopes = (polynomial[degrees == 1].T / model._scale).T
        parts.append(LinearFunction(slopes, center=model._shift, points=points))
    if np.any(degrees == 2):
        quadratic = _pair_coefficients(model.powers[degrees == 2], polynomial[degrees == 2])
        parts.append(
            quadratic_form(quadratic, center=model._shift, scale=model._scale, points=points)
        )
    function = Combination(parts) if len(parts) > 1 else function
    distance = math.sqrt(points.shape[1]) * float(np.abs(points).max(initial=0.0))
    return AdaptedModel(
        function,
        method="__call__",
        predict=model.__call__,
        kernel_rounding=_ROUNDING * abs(model.epsilon) * distance,
    )


def _check_options(model: RBFInterpolator) -> None:
    """Raise an error for options whose function is not a sum of products over the columns."""
    if type(model) is not RBFInterpolator:
        raise unsupported_model(f"{type(model).__name__}, a subclass of RBFInterpolator,")
    if model.neighbors is not None:
        raise unsupported_model(
            f"RBFInterpolator with neighbors={model.neighbors}",
            ": it is another function in each neighborhood. Omit neighbors",
        )
    if model.kernel not in _KERNELS:
        names = ", ".join(map(repr, _KERNELS))
        raise unsupported_model(
            f"RBFInterpolator with kernel {model.kernel!r}",
            f"; supported are {names}. As a sum of products r⁵ would lose most digits",
        )
    degree = int(np.sum(model.powers, axis=1).max(initial=-1))
    if degree > 2:
        raise unsupported_model(
            f"RBFInterpolator with degree={degree}",
            ": its polynomial multiplies three or more columns. Use degree 2 or below",
        )
    if len(model.d_shape) > 1 or np.issubdtype(model.d_dtype, np.complexfloating):
        raise unsupported_model(
            "RBFInterpolator of complex values or of matrices", ": use real numbers or vectors"
        )


def _pair_coefficients(powers: NDArray[np.int64], coefficients: Float) -> Float:
    """Return the coefficients of monomials u_j u_k at the places j ≤ k, of shape (d, d, …)."""
    n_columns = powers.shape[1]
    table = np.zeros((n_columns, n_columns, *coefficients.shape[1:]))
    for monomial, coefficient in zip(powers, coefficients, strict=True):
        columns = np.flatnonzero(monomial)
        table[columns[0], columns[-1]] = coefficient
    return table


# By name, from ε.
_KERNELS: dict[str, Callable[[float], Kernel]] = {
    # exp(−(εr)²), where (εr)² = (r/ℓ)² / 2
    "gaussian": lambda epsilon: RBF(math.sqrt(0.5) / epsilon),
    # (1 + (εr)²)^(−1/2) and (1 + (εr)²)^(−1), where (εr)² = r²/(2αℓ²)
    "inverse_multiquadric": lambda epsilon: RationalQuadratic(1.0 / epsilon, alpha=0.5),
    "inverse_quadratic": lambda epsilon: RationalQuadratic(math.sqrt(0.5) / epsilon, alpha=1.0),
    **{name: partial(GrowingKernel, name) for name in POLYHARMONIC},
}
