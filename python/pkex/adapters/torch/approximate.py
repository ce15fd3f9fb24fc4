"""The adapter for variational Gaussian processes of GPyTorch.

With inducing points Z and L Lᵀ = K(Z, Z) + jitter the mean is m(x) + k(x, Z) L⁻ᵀ v, and the
variance is k(x, x) − wᵀ (1 − S) w with w = L⁻¹ k(Z, x) (Hensman et al. 2015, Scalable variational
Gaussian process classification). A VariationalStrategy has the mean v and the covariance S of
whitened values at Z. An UnwhitenedVariationalStrategy has the mean and covariance of the values,
which are whitened here: v ↦ L⁻¹ (v − m(Z)), S ↦ L⁻¹ S L⁻ᵀ. The likelihood is not used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from gpytorch import variational
from gpytorch.models import ApproximateGP
from gpytorch.settings import skip_posterior_variances
from linear_operator.utils.cholesky import psd_safe_cholesky
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.torch.kernels import TorchKernelReader
from pkex.adapters.torch.process import (
    Latent,
    LinearMean,
    OutputCovariance,
    check_modules,
    checked_rounding,
    function_of,
    stack_functions,
)
from pkex.adapters.torch.tensors import array_of, prediction_mode, resolution_of, tensor_like
from pkex.adapters.variances import (
    add_variance,
    describe_variance,
    rounding_of_factor,
    unsupported_noise,
)
from pkex.functions.base import Function
from pkex.functions.composite import Combination, Stack
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import Kernel
from pkex.typing import Float

_STRATEGIES = (variational.VariationalStrategy, variational.UnwhitenedVariationalStrategy)


@dataclass(frozen=True, eq=False)
class _Process:
    """A latent process.

    Parameters
    ----------
    kernel : Kernel
    points : ndarray of shape (m, d)
    factor : ndarray of shape (m, m)
        L, lower triangular.
    values : ndarray of shape (m,)
        v, whitened.
    covariance : ndarray of shape (m, m)
        S, of whitened values.
    mean : LinearMean
    rounding : float
        Rounding error of the model's own kernel.
    jitter : float
        Number that the model adds to its prior variance.
    """

    kernel: Kernel
    points: Float
    factor: Float
    values: Float
    covariance: Float
    mean: LinearMean
    rounding: float
    jitter: float

    def rounding_of_variance(self, resolution: float) -> float:
        """Return the rounding error of the model's own variance, given the error of its tensors."""
        prior = np.diag(self.kernel(self.points, self.points)).max()
        return rounding_of_factor(self.factor, float(prior), resolution)

    def latent(self) -> Latent:
        """Return k(x, Z) L⁻ᵀ v."""
        coefficients = np.linalg.solve(self.factor.T, self.values)
        return Latent(self.kernel, self.points, np.asarray(coefficients, dtype=np.float64))

    def variance(self, scales: ArrayLike = 1.0) -> PosteriorVariance:
        """Return the variance, in squared units."""
        middle = np.eye(len(self.points)) - self.covariance
        return PosteriorVariance(
            self.points,
            self.factor,
            self.kernel,
            scales=scales,
            noise=self.jitter,
            middle=(middle + middle.T) / 2.0,
        )


@register(ApproximateGP)
def adapt_approximate(model: ApproximateGP) -> AdaptedModel:
    """Read the mean of the latent function, for one or several outputs."""
    function, is_batch, rounding = variational_mean(model)
    inputs = inducing_points(model)

    def predict_mean(rows: Float) -> Float:
        with prediction_mode(model, {}), skip_posterior_variances():
            mean = array_of(model(tensor_like(rows, inputs)).mean)
        return mean.T if is_batch else mean

    mean = AdaptedModel(
        function,
        title="mean of the latent function",
        predict=predict_mean,
        kernel_rounding=rounding,
    )
    return add_variance(mean, partial(_variance, model, is_batch), inputs.shape[-2])


def _variance(model: Any, is_batch: bool, mean: AdaptedModel, predictive: bool) -> AdaptedModel:
    if predictive:
        raise unsupported_noise(type(model).__name__, "the model does not include its likelihood")
    function, rounding = variational_variance(model)
    inputs = inducing_points(model)

    def predict_variance(rows: Float) -> Float:
        with prediction_mode(model, {}):
            variance = array_of(model(tensor_like(rows, inputs)).variance)
        return variance.T if is_batch else variance

    return describe_variance(
        mean, function, predict_variance, rounding, "variance of the latent function"
    )


def inducing_points(model: Any) -> Any:
    """Return the tensor of inducing points."""
    return _base_strategy(model.variational_strategy).inducing_points


def variational_mean(model: Any) -> tuple[Function, bool, float]:
    """Return the mean, whether it has a batch axis first, and the rounding error of the kernel.

    Raises
    ------
    NotFittedError
        If the model is not trained.
    UnsupportedModelError
        If a part of the model is unsupported.
    """
    strategy = model.variational_strategy
    base = _base_strategy(strategy)
    name = type(model).__name__
    if type(base) not in _STRATEGIES:
        raise unsupported_model(
            f"{name} with {type(base).__name__}",
            ": supported are VariationalStrategy and UnwhitenedVariationalStrategy, alone or in "
            "IndependentMultitaskVariationalStrategy or LMCVariationalStrategy",
        )
    if not base.variational_params_initialized.item():
        raise NotFittedError(
            f"{name} is not trained: its variational distribution is still the prior with random "
            "numbers added. Train it first"
        )
    processes, is_batch = _read_processes(model, base)
    rounding = max(process.rounding for process in processes)
    if type(strategy) is variational.LMCVariationalStrategy:
        return _mix_processes(processes, array_of(strategy.lmc_coefficients)), False, rounding
    functions = [function_of([process.latent()], process.mean) for process in processes]
    if base is strategy:
        function = stack_functions(functions) if is_batch else functions[0]
        return function, is_batch, rounding
    if strategy.task_dim not in (-1, 0):
        raise unsupported_model(f"{name} with task_dim={strategy.task_dim}", ": use task_dim=-1")
    if not is_batch:
        functions *= strategy.num_tasks
    return stack_functions(functions), False, rounding


def variational_variance(model: Any) -> tuple[Function, float]:
    """Return the variance of a model, and the rounding error of the model's own variance."""
    strategy = model.variational_strategy
    base = _base_strategy(strategy)
    processes, is_batch = _read_processes(model, base)
    resolution = resolution_of(base.inducing_points)
    rounding = max(process.rounding_of_variance(resolution) for process in processes)
    if type(strategy) is variational.LMCVariationalStrategy:
        shares = np.square(array_of(strategy.lmc_coefficients))
        parts = [
            process.variance(scales) for process, scales in zip(processes, shares, strict=True)
        ]
        return Combination(parts, intercept=np.full(shares.shape[1], strategy.jitter_val)), rounding
    functions: list[Function] = [process.variance() for process in processes]
    if base is strategy:
        return Stack(functions) if is_batch else functions[0], rounding
    return Stack(functions if is_batch else functions * strategy.num_tasks), rounding


def _base_strategy(strategy: Any) -> Any:
    """Return the strategy of the latent processes."""
    wrappers = (
        variational.IndependentMultitaskVariationalStrategy,
        variational.LMCVariationalStrategy,
    )
    return strategy.base_variational_strategy if type(strategy) in wrappers else strategy


def _read_processes(model: Any, base: Any) -> tuple[list[_Process], bool]:
    """Return the latent processes, and whether they are a batch."""
    check_modules(model)
    with prediction_mode(model, {}):
        return _processes(model, base)


def _processes(model: Any, base: Any) -> tuple[list[_Process], bool]:
    inputs, distribution = base.inducing_points, base.variational_distribution
    prior = model.forward(inputs)
    batch_shape = np.broadcast_shapes(
        tuple(distribution.mean.shape[:-1]), tuple(inputs.shape[:-2]), tuple(prior.batch_shape)
    )
    if len(batch_shape) > 1:
        raise unsupported_model(
            f"{type(model).__name__} with the batch shape {batch_shape}",
            ": a batch of one axis is",
        )

    def flatten_batch(tensor: Any, n_axes: int) -> Float:
        shape = tuple(tensor.shape[-n_axes:])
        return array_of(tensor.expand(*batch_shape, *shape)).reshape(-1, *shape)

    m, d = inputs.shape[-2:]
    # A delta distribution has no covariance.
    matrix = getattr(distribution, "covariance_matrix", torch.zeros(m, m))
    prior_covariance = prior.lazy_covariance_matrix.add_jitter(base.jitter_val).to_dense().double()
    factors = flatten_batch(psd_safe_cholesky(prior_covariance), 2)
    parameters = zip(
        flatten_batch(inputs, 2),
        flatten_batch(distribution.mean, 1),
        flatten_batch(matrix, 2),
        strict=True,
    )
    processes = []
    for output, (points, values, covariance) in enumerate(parameters):
        reader = TorchKernelReader(type(model).__name__, d, batch_shape, output)
        kernel = reader.read_call(model.covar_module)
        rounding = checked_rounding(kernel, points, OutputCovariance(model, inputs, output))
        mean = LinearMean.of_module(model.mean_module, reader)
        state, jitter = (factors[output], values, covariance), base.jitter_val
        if type(base) is variational.UnwhitenedVariationalStrategy:
            state = _whiten(*state, mean.constants + points @ mean.slopes)
            jitter = 0.0
        processes.append(_Process(kernel, points, *state, mean, rounding, jitter))
    return processes, bool(batch_shape)


def _whiten(
    factor: Float, values: Float, covariance: Float, prior_mean: Float
) -> tuple[Float, Float, Float]:
    """Return the factor, and the mean and covariance of whitened values."""
    half = np.linalg.solve(factor, covariance)
    v, matrix = np.linalg.solve(factor, values - prior_mean), np.linalg.solve(factor, half.T)
    return factor, np.asarray(v, np.float64), np.asarray(matrix, np.float64)


def _mix_processes(processes: list[_Process], mixing: Float) -> Function:
    """Return Σ_q a_q f_q, where row a_q of `mixing` has one number per task."""
    latents = [process.latent() for process in processes]
    task_latents = [
        replace(latent, coefficients=np.outer(latent.coefficients, shares))
        for latent, shares in zip(latents, mixing, strict=True)
    ]
    mean = LinearMean.of_all([process.mean for process in processes])
    return function_of(task_latents, LinearMean(mean.constants @ mixing, mean.slopes @ mixing))
