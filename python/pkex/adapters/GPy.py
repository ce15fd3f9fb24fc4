"""The adapter for the regressions of GPy, by Gaussian processes, exact or sparse.

They predict k(x, Z) w in units of the normalised targets, where Z are the training rows, or the
inducing inputs of a sparse model, and w is the Woodbury vector of the posterior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from operator import add, mul
from typing import Any

import GPy
import numpy as np
from GPy.util.normalizer import Standardize

from pkex.adapters.fitted_attributes import expansion_of
from pkex.adapters.kernels import OwnKernel, check_kernel, distance_rounding, scaling_rounding
from pkex.adapters.registry import AdaptedModel, Variance, register, unsupported
from pkex.adapters.variances import (
    described_variance,
    evenly,
    noise_of_kernel,
    rounding_of_factor,
)
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import (
    RBF,
    Constant,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
)
from pkex.kernels.algebra import ZERO, KernelPolynomial
from pkex.typing import Float

_ROUNDING = float(np.finfo(np.float64).eps)
_REGRESSIONS = (GPy.models.GPRegression, GPy.models.SparseGPRegression)


@register(GPy.core.GP)
def adapt_process(model: Any) -> AdaptedModel:
    """Read the mean of the latent function, of one or several outputs that share a kernel."""
    name = type(model).__name__
    if type(model) not in _REGRESSIONS:
        known = " and ".join(kind.__name__ for kind in _REGRESSIONS)
        raise unsupported(name, f": of GPy's models {known} are")
    if model.mean_function is not None:
        raise unsupported(f"{name} with a mean_function", ": subtract it from the targets")
    points = np.array(model._predictive_variable, dtype=np.float64)
    polynomial = _read(model.kern, name)
    if not polynomial:
        raise unsupported(f"{name} with a kernel of noise alone")
    try:
        kernel = polynomial.kernel(points.shape[1])
    except ValueError as error:
        raise unsupported(f"{name} with such a kernel", f" ({error})") from None
    weights = np.array(model.posterior.woodbury_vector, dtype=np.float64)
    scale, shift = (np.zeros(weights.shape[1]) + unit for unit in _units(model, name))
    single = weights.shape[1] == 1
    coefficients, intercept = weights * scale, shift
    expansion = expansion_of(
        model,
        points,
        coefficients[:, 0] if single else coefficients,
        kernel,
        intercept[0] if single else intercept,
    )
    resolution = float(np.finfo(np.float64).eps)
    rounding = distance_rounding(kernel, points, resolution)
    rounding += scaling_rounding(kernel, points, resolution)
    check_kernel(kernel, OwnKernel(model.kern.K, model.kern.name), points, rounding, name)

    def own_mean(rows: Float) -> Float:
        mean: Float = np.asarray(model.predict_noiseless(rows)[0])
        return mean[:, 0] if single else mean

    mean = AdaptedModel(
        expansion, title="posterior mean", predict=own_mean, kernel_rounding=rounding
    )
    variance = partial(_variance_of, model, mean, kernel, np.square(scale[0] if single else scale))
    return replace(mean, variance=Variance(expansion, variance))


def _variance_of(
    model: Any, mean: AdaptedModel, kernel: Kernel, scales: Any, predictive: bool
) -> AdaptedModel:
    """Describe the variance, which is k(x, x) − k(x, Z) W k(Z, x) of the Woodbury matrix W.

    Of an exact model W is (L Lᵀ)⁻¹. Noise is that of a White kernel, and of the likelihood.
    """
    name, posterior = type(model).__name__, model.posterior
    points = np.array(model._predictive_variable, dtype=np.float64)
    rows = evenly(points)
    priors = np.array(model.kern.Kdiag(rows), dtype=np.float64)
    in_kernel = noise_of_kernel(kernel, priors, rows, name)
    noise = (in_kernel + float(model.likelihood.variance[0])) * predictive
    options: dict[str, Any] = {"scales": scales, "noise": noise}
    if type(model) is GPy.models.GPRegression:
        factor = np.array(posterior.woodbury_chol, dtype=np.float64)
        rounding = rounding_of_factor(factor, float(priors.max()))
    else:
        factor, middle = np.eye(len(points)), np.array(posterior.woodbury_inv, dtype=np.float64)
        options["middle"] = (middle + middle.T) / 2.0
        # Of the products with it, of which GPy's is made.
        rounding = _ROUNDING * float(np.abs(middle).sum() * priors.max() ** 2)
    function = PosteriorVariance(points, factor, kernel, **options)

    def variance(rows: Float) -> Float:
        found = (model.predict if predictive else model.predict_noiseless)(rows)[1]
        own: Float = found - (0.0 if predictive else in_kernel) * scales
        return own if function.has_output_axis else own[:, 0]

    title = "predictive variance" if predictive else "variance"
    return described_variance(mean, function, variance, rounding * scales, title=title)


def _units(model: Any, name: str) -> tuple[Float, Float]:
    """Return the scale of the targets, and what they are shifted by."""
    normalizer = model.normalizer
    if normalizer is None:
        return np.ones(1), np.zeros(1)
    if type(normalizer) is not Standardize:
        raise unsupported(f"{name} with the normalizer {type(normalizer).__name__}")
    return np.array(normalizer.std), np.array(normalizer.mean)


def _read(kernel: Any, name: str) -> KernelPolynomial:
    """Return a kernel between new rows and points."""
    # By exact type: subclasses are other functions.
    kind = type(kernel)
    if kind is GPy.kern.White:
        return ZERO
    if kind in _COMBINATIONS:
        return reduce(_COMBINATIONS[kind], [_read(part, name) for part in kernel.parts])
    if kind not in _KERNELS:
        names = ", ".join(other.__name__ for other in (*_KERNELS, *_COMBINATIONS, GPy.kern.White))
        raise unsupported(f"{name} with {kind.__name__} in its kernel", f"; known are {names}")
    try:
        own = KernelPolynomial.of(_KERNELS[kind](kernel), kernel.active_dims.tolist())
        # The variances of Linear are those of its columns.
        return own if kind is GPy.kern.Linear else float(_numbers(kernel.variance)) * own
    except ValueError as error:
        raise unsupported(f"{name} with such a {kind.__name__}", f" ({error})") from None


def _numbers(parameter: Any) -> Any:
    """Return a parameter as one number, or one for each column."""
    values = np.array(parameter, dtype=np.float64).ravel()
    return float(values[0]) if len(values) == 1 else values


def _matern(nu: float) -> Callable[[Any], Kernel]:
    return lambda kernel: Matern(_numbers(kernel.lengthscale), nu=nu)


def _gaussian(kernel: Any) -> Kernel:
    return RBF(_numbers(kernel.lengthscale))


def _rational_quadratic(kernel: Any) -> Kernel:
    # (1 + r²/2)^(−power), with α = power and r²/2 = (r√α)²/(2α)
    alpha = float(_numbers(kernel.power))
    scale = np.divide(_numbers(kernel.lengthscale), math.sqrt(alpha))
    return RationalQuadratic(scale, alpha=alpha)


def _periodic(kernel: Any) -> Kernel:
    # exp(−sin²(π r/p) / (2 ℓ²)), which for pkex has the length-scale 2 ℓ
    scale = np.multiply(2.0, _numbers(kernel.lengthscale))
    return Periodic(scale, _numbers(kernel.period))


def _polynomial(kernel: Any) -> Kernel:
    order = float(_numbers(kernel.order))
    if not order.is_integer():
        raise ValueError(f"its order {order:g} is no integer")
    gamma, offset = (float(_numbers(own)) for own in (kernel.scale, kernel.bias))
    return Polynomial(int(order), gamma=gamma, coef0=offset)


_COMBINATIONS: dict[type, Callable[[KernelPolynomial, KernelPolynomial], KernelPolynomial]] = {
    GPy.kern.Add: add,
    GPy.kern.Prod: mul,
}
_KERNELS: dict[type, Callable[[Any], Kernel]] = {
    GPy.kern.RBF: _gaussian,
    GPy.kern.ExpQuad: _gaussian,
    GPy.kern.Exponential: _matern(0.5),
    GPy.kern.Matern32: _matern(1.5),
    GPy.kern.Matern52: _matern(2.5),
    GPy.kern.RatQuad: _rational_quadratic,
    GPy.kern.StdPeriodic: _periodic,
    GPy.kern.Linear: lambda kernel: Linear(_numbers(kernel.variances)),
    GPy.kern.Poly: _polynomial,
    GPy.kern.Bias: lambda kernel: Constant(),
}
