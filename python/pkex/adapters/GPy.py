"""The adapter for Gaussian process regression of GPy, exact or sparse.

The models predict k(x, Z) w in units of the normalized targets. Z are the training rows, or the
inducing inputs of a sparse model, and w is the Woodbury vector of the posterior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from operator import add, mul
from typing import Any

import GPy
import numpy as np
from GPy.util.normalizer import Standardize

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import (
    EPSILON,
    KernelReader,
    LibraryKernel,
    check_kernel,
    distance_rounding,
    even_indices,
    scaling_rounding,
)
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.variances import (
    add_variance,
    describe_variance,
    noise_of_kernel,
    rounding_of_factor,
)
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.kernel_sum import KernelSum
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

_REGRESSIONS = (GPy.models.GPRegression, GPy.models.SparseGPRegression)


@register(GPy.core.GP)
def adapt_process(model: Any) -> AdaptedModel:
    """Read the mean of the latent function, for one or several outputs with a common kernel."""
    name = type(model).__name__
    if type(model) not in _REGRESSIONS:
        names = " and ".join(kind.__name__ for kind in _REGRESSIONS)
        raise unsupported_model(name, f": the supported models of GPy are {names}")
    if model.mean_function is not None:
        raise unsupported_model(f"{name} with a mean_function", ": subtract it from the targets")
    points = np.array(model._predictive_variable, dtype=np.float64)
    kernel = _Reader(name, points.shape[1]).read(model.kern)
    if kernel is None:
        raise unsupported_model(f"{name} with a kernel of noise alone")
    weights = np.array(model.posterior.woodbury_vector, dtype=np.float64)
    scale, shift = (np.zeros(weights.shape[1]) + unit for unit in _units(model, name))
    is_single = weights.shape[1] == 1
    coefficients, intercept = weights * scale, shift
    expansion = KernelSum(
        points,
        coefficients[:, 0] if is_single else coefficients,
        kernel,
        intercept[0] if is_single else intercept,
    )
    rounding = distance_rounding(kernel, points) + scaling_rounding(kernel, points)
    check_kernel(kernel, LibraryKernel(model.kern.K, model.kern.name), points, rounding, name)

    def predict(rows: Float) -> Float:
        mean: Float = np.asarray(model.predict_noiseless(rows)[0])
        return mean[:, 0] if is_single else mean

    mean = AdaptedModel(
        expansion, title="posterior mean", predict=predict, kernel_rounding=rounding
    )
    scales = np.square(scale[0] if is_single else scale)
    return add_variance(mean, partial(_variance_of, model, kernel, scales))


def _variance_of(
    model: Any, kernel: Kernel, scales: Any, mean: AdaptedModel, predictive: bool
) -> AdaptedModel:
    """Describe the variance k(x, x) − k(x, Z) W k(Z, x) with the Woodbury matrix W.

    An exact model has W = (L Lᵀ)⁻¹. Noise comes from a White kernel and from the likelihood.
    """
    name, posterior = type(model).__name__, model.posterior
    points = np.array(model._predictive_variable, dtype=np.float64)
    rows = points[even_indices(len(points))]
    priors = np.array(model.kern.Kdiag(rows), dtype=np.float64)
    kernel_noise = noise_of_kernel(kernel, priors, rows, name)
    noise = (kernel_noise + float(model.likelihood.variance[0])) * predictive
    options: dict[str, Any] = {"scales": scales, "noise": noise}
    if type(model) is GPy.models.GPRegression:
        factor = np.array(posterior.woodbury_chol, dtype=np.float64)
        rounding = rounding_of_factor(factor, float(priors.max()))
    else:
        factor, middle = np.eye(len(points)), np.array(posterior.woodbury_inv, dtype=np.float64)
        options["middle"] = (middle + middle.T) / 2.0
        # Of GPy's products with the matrix.
        rounding = EPSILON * float(np.abs(middle).sum() * priors.max() ** 2)
    function = PosteriorVariance(points, factor, kernel, **options)

    def variance(rows: Float) -> Float:
        variances = (model.predict if predictive else model.predict_noiseless)(rows)[1]
        without_noise: Float = variances - (0.0 if predictive else kernel_noise) * scales
        return without_noise if function.has_output_axis else without_noise[:, 0]

    title = "predictive variance" if predictive else "variance"
    return describe_variance(mean, function, variance, rounding * scales, title)


def _units(model: Any, name: str) -> tuple[Float, Float]:
    """Return the scale and the shift of the targets."""
    normalizer = model.normalizer
    if normalizer is None:
        return np.ones(1), np.zeros(1)
    if type(normalizer) is not Standardize:
        raise unsupported_model(f"{name} with the normalizer {type(normalizer).__name__}")
    return np.array(normalizer.std), np.array(normalizer.mean)


class _Reader(KernelReader):
    """Reads kernels of GPy."""

    def scale_kernel(self, kernel: Any, pkex_kernel: Kernel) -> KernelPolynomial:
        """Return a kernel of the active columns, times its variance."""
        return float(_numbers(kernel.variance)) * self.on_columns(kernel, pkex_kernel)

    def on_columns(self, kernel: Any, pkex_kernel: Kernel) -> KernelPolynomial:
        """Return a kernel of the active columns."""
        return KernelPolynomial.of(pkex_kernel, kernel.active_dims.tolist())


def _numbers(parameter: Any) -> Any:
    """Return a parameter as one number, or one for each column."""
    values = np.array(parameter, dtype=np.float64).ravel()
    return float(values[0]) if len(values) == 1 else values


def _gaussian(reader: _Reader, kernel: Any) -> KernelPolynomial:
    return reader.scale_kernel(kernel, RBF(_numbers(kernel.lengthscale)))


def _matern(nu: float) -> Callable[[_Reader, Any], KernelPolynomial]:
    return lambda reader, kernel: reader.scale_kernel(
        kernel, Matern(_numbers(kernel.lengthscale), nu=nu)
    )


def _rational_quadratic(reader: _Reader, kernel: Any) -> KernelPolynomial:
    # (1 + r²/2)^(−power), with α = power and r²/2 = (r√α)²/(2α)
    alpha = float(_numbers(kernel.power))
    scale = np.divide(_numbers(kernel.lengthscale), math.sqrt(alpha))
    return reader.scale_kernel(kernel, RationalQuadratic(scale, alpha=alpha))


def _periodic(reader: _Reader, kernel: Any) -> KernelPolynomial:
    # exp(−sin²(π r/p) / (2 ℓ²)) has the length-scale 2 ℓ in pkex
    scale = np.multiply(2.0, _numbers(kernel.lengthscale))
    return reader.scale_kernel(kernel, Periodic(scale, _numbers(kernel.period)))


def _linear(reader: _Reader, kernel: Any) -> KernelPolynomial:
    return reader.on_columns(kernel, Linear(_numbers(kernel.variances)))


def _polynomial(reader: _Reader, kernel: Any) -> KernelPolynomial:
    order = float(_numbers(kernel.order))
    if not order.is_integer():
        raise ValueError(f"its order {order:g} is not an integer")
    gamma, offset = (float(_numbers(parameter)) for parameter in (kernel.scale, kernel.bias))
    return reader.scale_kernel(kernel, Polynomial(int(order), gamma=gamma, coef0=offset))


_Reader.readers = {
    GPy.kern.RBF: _gaussian,
    GPy.kern.ExpQuad: _gaussian,
    GPy.kern.Exponential: _matern(0.5),
    GPy.kern.Matern32: _matern(1.5),
    GPy.kern.Matern52: _matern(2.5),
    GPy.kern.RatQuad: _rational_quadratic,
    GPy.kern.StdPeriodic: _periodic,
    GPy.kern.Linear: _linear,
    GPy.kern.Poly: _polynomial,
    GPy.kern.Bias: lambda reader, kernel: reader.scale_kernel(kernel, Constant()),
    GPy.kern.Add: lambda reader, kernel: reduce(add, map(reader.polynomial, kernel.parts)),
    GPy.kern.Prod: lambda reader, kernel: reduce(mul, map(reader.polynomial, kernel.parts)),
    GPy.kern.White: lambda reader, kernel: ZERO,
}
