"""Variances of scikit-learn's Gaussian processes.

The variance of a regressor (Rasmussen & Williams 2006, algorithm 2.1) is k(x, x) − ‖L⁻¹ K(X, x)‖²
with L Lᵀ = K + noise. The variance of a classifier's latent function (algorithm 3.2, lines 5 and 6)
is k(x, x) − ‖L⁻¹ √W K(X, x)‖² with L Lᵀ = I + √W K √W.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import even_indices
from pkex.adapters.sklearn.covariances import CovarianceReader
from pkex.adapters.sklearn.estimators import without_names
from pkex.adapters.variances import (
    describe_variance,
    noise_of_kernel,
    rounding_of_factor,
    unsupported_noise,
)
from pkex.functions.base import Function
from pkex.functions.composite import Stack
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.linear import LinearFunction
from pkex.kernels import Kernel
from pkex.typing import Float


def variance_of_regressor(
    model: Any, scales: Any, mean: AdaptedModel, predictive: bool
) -> AdaptedModel:
    """Describe the variance of a regressor, with the noise of a WhiteKernel if `predictive`.

    `scales` are the squared units of the targets.
    """
    points = np.asarray(model.X_train_, dtype=np.float64)
    kernel, noise = _kernel_and_noise(model, model.kernel_, points)
    function = _variance(points, model.L_, kernel, scales=scales, noise=noise * predictive)
    model_copy = without_names(model)
    # scikit-learn's standard deviation includes this noise, but not alpha.
    excess = 0.0 if predictive else noise * np.asarray(scales)

    def variance(rows: Float) -> Float:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            # A warning that variances below 0 by rounding are set to 0.
            _, deviations = model_copy.predict(rows, return_std=True)
        return np.asarray(deviations**2 - excess)

    title = "predictive variance" if predictive else "variance"
    rounding = _rounding(model, points) * np.asarray(scales)
    return describe_variance(mean, function, variance, rounding, title)


def variance_of_classifier(
    model: Any, machines: Sequence[Any], mean: AdaptedModel, predictive: bool
) -> AdaptedModel:
    """Describe the variances of the latent functions of two classes, or of each class or pair."""
    if predictive:
        raise unsupported_noise(
            type(model).__name__, "the latent function of a classifier has no noise"
        )
    functions, noises, roundings = latent_variances(model, machines)
    is_single = not mean.function.has_output_axis

    def variances(rows: Float) -> Float:
        columns = [_reference_variance(machine, rows) for machine in machines]
        outputs: Float = np.column_stack(columns) - np.array(noises)
        return outputs[:, 0] if is_single else outputs

    function = functions[0] if is_single else Stack(functions)
    return describe_variance(mean, function, variances, np.array(roundings), "latent variance")


def latent_variances(
    model: Any, machines: Sequence[Any]
) -> tuple[list[Function], list[float], list[float]]:
    """Return the variances of latent functions without noise, the noise, and rounding errors."""
    functions: list[Function] = []
    noises, roundings = [], []
    for machine in machines:
        points = np.asarray(machine.X_train_, dtype=np.float64)
        kernel, noise = _kernel_and_noise(model, machine.kernel_, points)
        functions.append(_variance(points, machine.L_, kernel, roots=machine.W_sr_))
        noises.append(noise)
        roundings.append(_rounding(machine, points))
    return functions, noises, roundings


def _reference_variance(machine: Any, rows: Float) -> Float:
    # As in predict_proba, and in latent_mean_and_variance, which supports two classes only.
    kernel = machine.kernel_(machine.X_train_, rows)
    solution = solve_triangular(machine.L_, machine.W_sr_[:, None] * kernel, lower=True)
    return np.asarray(machine.kernel_.diag(rows) - np.einsum("ij,ij->j", solution, solution))


def _variance(
    points: Float,
    factor: Float,
    kernel: Kernel | None,
    *,
    scales: Any = 1.0,
    noise: float = 0.0,
    roots: Float | None = None,
) -> Function:
    """Return the variance given training rows, in the units of the targets."""
    if kernel is not None:
        return PosteriorVariance(points, factor, kernel, scales=scales, noise=noise, roots=roots)
    # Neither the training rows nor the features of a new row matter.
    zeros = np.zeros((points.shape[1], *np.shape(scales)))
    return LinearFunction(zeros, noise * np.asarray(scales), points=points)


def _rounding(machine: Any, points: Float) -> float:
    return rounding_of_factor(machine.L_, float(np.max(machine.kernel_.diag(points))))


def _kernel_and_noise(model: Any, covariance: Any, points: Float) -> tuple[Kernel | None, float]:
    """Return the kernel between new and training rows, and the noise of a WhiteKernel."""
    name = type(model).__name__
    kernel = CovarianceReader(name, points.shape[1]).read(covariance)
    rows = points[even_indices(len(points))]
    priors = np.asarray(covariance.diag(rows), dtype=np.float64)
    return kernel, noise_of_kernel(kernel, priors, rows, name)
