"""The variance of scikit-learn's Gaussian processes.

Of regression (Rasmussen & Williams 2006, algorithm 2.1) it is k(x, x) − ‖L⁻¹ K(X, x)‖² with
L Lᵀ = K + noise, and of the latent function of a classifier (algorithm 3.2, lines 5 and 6)
k(x, x) − ‖L⁻¹ √W K(X, x)‖² with L Lᵀ = I + √W K √W.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import evenly
from pkex.adapters.registry import unsupported
from pkex.adapters.sklearn.covariances import CovarianceReader
from pkex.adapters.sklearn.estimators import without_names
from pkex.adapters.variances import described_variance, noise_of_kernel, rounding_of_factor
from pkex.errors import Option
from pkex.functions.base import Function
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.linear import LinearFunction
from pkex.functions.stack import Stack
from pkex.kernels import Kernel
from pkex.typing import Float


def variance_of_regressor(
    model: Any, mean: AdaptedModel, scales: Any, predictive: bool
) -> AdaptedModel:
    """Return the description whose function is the variance.

    Parameters
    ----------
    model : GaussianProcessRegressor
    mean : AdaptedModel
        That of its mean.
    scales : float or ndarray of shape (outputs,)
        The squared units of the targets.
    predictive : bool
        Whether the noise of a WhiteKernel is added.
    """
    points = np.asarray(model.X_train_, dtype=np.float64)
    kernel, noise = _kernel_and_noise(model, model.kernel_, points)
    function = _variance(points, model.L_, kernel, scales=scales, noise=noise * predictive)
    own = without_names(model)
    # What scikit-learn calls the standard deviation is with that noise, and without alpha.
    taken_off = 0.0 if predictive else noise * np.asarray(scales)

    def variance(rows: Float) -> Float:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            # That variances below 0 by rounding are set to 0.
            _, deviations = own.predict(rows, return_std=True)
        return np.asarray(deviations**2 - taken_off)

    title = "predictive variance" if predictive else "variance"
    rounding = _rounding(model, points) * np.asarray(scales)
    return described_variance(mean, function, variance, rounding, title=title)


def variance_of_classifier(
    model: Any, mean: AdaptedModel, machines: Sequence[Any], predictive: bool
) -> AdaptedModel:
    """Return the description whose function is the variance of the latent functions.

    Parameters
    ----------
    model : GaussianProcessClassifier
    mean : AdaptedModel
        That of the latent means.
    machines : sequence
        That of two classes, or those of each class or pair.
    predictive : bool
        Refused: classes have no noise to add.
    """
    name = type(model).__name__
    if predictive:
        raise unsupported(
            (Option("target", "predictive_variance"), f" of {name}"),
            (
                ": a class has no noise to be added to the latent function; take ",
                Option("target", "variance"),
            ),
        )
    functions, noises, roundings = latent_variances(model, machines)
    is_single = not mean.function.has_output_axis

    def variances(rows: Float) -> Float:
        found = [_own_variance(machine, rows) for machine in machines]
        outputs: Float = np.column_stack(found) - np.array(noises)
        return outputs[:, 0] if is_single else outputs

    function = functions[0] if is_single else Stack(functions)
    return described_variance(
        mean, function, variances, np.array(roundings), title="latent variance"
    )


def latent_variances(
    model: Any, machines: Sequence[Any]
) -> tuple[list[Function], list[float], list[float]]:
    """Return the variances of the latent functions of machines, noise left out, and rounding."""
    functions: list[Function] = []
    noises, roundings = [], []
    for machine in machines:
        points = np.asarray(machine.X_train_, dtype=np.float64)
        kernel, noise = _kernel_and_noise(model, machine.kernel_, points)
        functions.append(_variance(points, machine.L_, kernel, roots=machine.W_sr_))
        noises.append(noise)
        roundings.append(_rounding(machine, points))
    return functions, noises, roundings


def _own_variance(machine: Any, rows: Float) -> Float:
    # As latent_mean_and_variance and predict_proba, of which the first is for two classes only.
    kernel = machine.kernel_(machine.X_train_, rows)
    whitened = solve_triangular(machine.L_, machine.W_sr_[:, None] * kernel, lower=True)
    return np.asarray(machine.kernel_.diag(rows) - np.einsum("ij,ij->j", whitened, whitened))


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
    # No training row matters, and no feature of a new one.
    nothing = np.zeros((points.shape[1], *np.shape(scales)))
    return LinearFunction(nothing, noise * np.asarray(scales), points=points)


def _rounding(machine: Any, points: Float) -> float:
    return rounding_of_factor(machine.L_, float(np.max(machine.kernel_.diag(points))))


def _kernel_and_noise(model: Any, covariance: Any, points: Float) -> tuple[Kernel | None, float]:
    """Return the kernel between new and training rows, and what it lacks of a row with itself.

    That is the noise of a WhiteKernel, alone or multiplied.
    """
    name = type(model).__name__
    kernel = CovarianceReader(name, points.shape[1]).read(covariance)
    rows = points[evenly(len(points))]
    priors = np.asarray(covariance.diag(rows), dtype=np.float64)
    return kernel, noise_of_kernel(kernel, priors, rows, name)
