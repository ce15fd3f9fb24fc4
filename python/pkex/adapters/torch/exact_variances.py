"""Variances of exact Gaussian processes of GPyTorch.

The variance is k(x, x) − ‖L⁻¹ k(X, x)‖² with L Lᵀ = K + N, for the covariances K of the training
points and N of their noise (Rasmussen & Williams 2006, algorithm 2.1). With a MultitaskKernel
K = k(X, X) ⊗ B covers all points and tasks, and k(X, x) ⊗ B_t belongs to a task t and a row.
"""

from __future__ import annotations

from typing import Any

import gpytorch
import numpy as np
import torch
from gpytorch.distributions import MultitaskMultivariateNormal
from gpytorch.likelihoods import (
    FixedNoiseGaussianLikelihood,
    GaussianLikelihood,
    MultitaskGaussianLikelihood,
)

from pkex.adapters.registry import unsupported_model
from pkex.adapters.torch.kernels import TorchKernelReader
from pkex.adapters.torch.tensors import array_of, prediction_mode, resolution_of
from pkex.adapters.variances import rounding_of_factor, unsupported_noise
from pkex.errors import UnsupportedModelError
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import Kernel
from pkex.typing import Float

# Variances of the outputs in the model's units, and the rounding error of the model's own variance.
_Variances = tuple[list[PosteriorVariance], float]
_LIKELIHOODS = (GaussianLikelihood, FixedNoiseGaussianLikelihood, MultitaskGaussianLikelihood)


def noise_of_rows(model: Any, strategies: dict[Any, Any]) -> Float:
    """Return the noise variance of a new row, for each output.

    Raises
    ------
    UnsupportedModelError
        If it is unknown.
    """
    _check_likelihood(model)
    name = type(model).__name__
    if type(model.likelihood) is FixedNoiseGaussianLikelihood:
        raise unsupported_noise(
            f"{name} with FixedNoiseGaussianLikelihood", "the noise of new rows is unknown"
        )
    with prediction_mode(model, strategies):
        prior = strategies[model].train_prior_dist
        shape = list(prior.mean.shape)
        shape[-2 if isinstance(prior, MultitaskMultivariateNormal) else -1] = 1
        noise = model.likelihood._shaped_noise_covar(torch.Size(shape))
        return array_of(noise.diagonal(dim1=-1, dim2=-2)).ravel()


def independent_variances(model: Any, strategies: dict[Any, Any], noise: Float) -> _Variances:
    """Return the variances of outputs, each with its own kernel, plus a noise.

    Raises
    ------
    UnsupportedModelError
        If the likelihood is unsupported or couples tasks.
    """
    (inputs,) = model.train_inputs
    prior, covariance = _noise_of_training(model, strategies)
    shape = tuple(prior.batch_shape)
    if isinstance(prior, MultitaskMultivariateNormal):
        shape = tuple(prior.event_shape[-1:])
        covariance = _task_covariances(covariance, shape[0], type(model).__name__)
    n, d = inputs.shape[-2:]
    points = np.broadcast_to(array_of(inputs), (*shape, n, d)).reshape(-1, n, d)
    covariances = np.broadcast_to(covariance, (*shape, n, n)).reshape(-1, n, n)
    noises = np.broadcast_to(noise, len(points))
    functions, roundings = [], []
    parameters = zip(points, covariances, noises, strict=True)
    for output, (output_points, noise_covariance, output_noise) in enumerate(parameters):
        kernel = TorchKernelReader(type(model).__name__, d, shape, output).read_call(
            model.covar_module
        )
        matrix = kernel(output_points, output_points)
        factor = _factor(matrix + noise_covariance, model)
        roundings.append(_rounding(factor, matrix, inputs))
        functions.append(
            PosteriorVariance(output_points, factor, kernel, noise=float(output_noise))
        )
    return functions, max(roundings)


def coupled_variances(
    model: Any, strategies: dict[Any, Any], parts: list[tuple[Float, Kernel]], noise: Float
) -> _Variances:
    """Return the variances of tasks that share a kernel.

    `parts` has one covariance of tasks, of shape (tasks, tasks), with the kernel it is multiplied
    by.
    """
    if len(parts) > 1:
        raise unsupported_model(
            f"the variance of {type(model).__name__} with a sum of kernels of tasks",
            ", nor is uncertainty of its values. Use a single MultitaskKernel",
        )
    ((task_covariance, kernel),) = parts
    (inputs,) = model.train_inputs
    points, n_tasks = array_of(inputs), len(task_covariance)
    _, covariance = _noise_of_training(model, strategies)
    matrix = np.asarray(np.kron(kernel(points, points), task_covariance), dtype=np.float64)
    factor = _factor(matrix + covariance, model)
    noises, functions = np.broadcast_to(noise, n_tasks), []
    for task, column in enumerate(task_covariance):
        # k(X, x) ⊗ B_t, with the factor B_tt in the kernel.
        roots = np.kron(np.eye(len(points)), column[:, None] / column[task])
        task_kernel, task_noise = float(column[task]) * kernel, float(noises[task])
        functions.append(
            PosteriorVariance(points, factor, task_kernel, roots=roots, noise=task_noise)
        )
    return functions, _rounding(factor, matrix, inputs)


def _check_likelihood(model: Any) -> None:
    kind = type(model.likelihood)
    if kind not in _LIKELIHOODS:
        names = ", ".join(likelihood.__name__ for likelihood in _LIKELIHOODS)
        raise unsupported_model(
            f"the variance of {type(model).__name__} with {kind.__name__}",
            f": supported likelihoods are {names}",
        )


def _noise_of_training(model: Any, strategies: dict[Any, Any]) -> tuple[Any, Float]:
    """Return the prior of the training rows, and the covariance matrix of their noise."""
    _check_likelihood(model)
    with prediction_mode(model, strategies):
        prior = strategies[model].train_prior_dist
        noise = model.likelihood._shaped_noise_covar(prior.mean.shape)
        return prior, array_of(noise.to_dense())


def _task_covariances(covariance: Float, n_tasks: int, name: str) -> Float:
    """Return the noise covariances (tasks, n, n), from the matrix of all points and tasks."""
    n = len(covariance) // n_tasks
    blocks = covariance.reshape(n, n_tasks, n, n_tasks).transpose(1, 3, 0, 2)
    if np.any(blocks[~np.eye(n_tasks, dtype=np.bool_)]):
        raise unsupported_model(f"the variance of {name} with noise that couples tasks")
    return blocks[np.arange(n_tasks), np.arange(n_tasks)]


def _factor(matrix: Float, model: Any) -> Float:
    try:
        return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise UnsupportedModelError(
            f"the covariance matrix of the training rows of {type(model).__name__} is not positive "
            "definite, since rows are nearly equal. Fit the model with more noise"
        ) from None


def _rounding(factor: Float, prior: Float, inputs: Any) -> float:
    """Return the rounding error of the model's own variance."""
    rounding = rounding_of_factor(factor, float(np.diag(prior).max()), resolution_of(inputs))
    # GPyTorch raises smaller variances to this number.
    return max(rounding, float(gpytorch.settings.min_variance.value(inputs.dtype)))
