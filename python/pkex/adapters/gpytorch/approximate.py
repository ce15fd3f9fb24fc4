"""The adapter for variational Gaussian processes of GPyTorch.

Their mean is m(x) + k(x, Z) C with inducing points Z (Hensman et al. 2015, Scalable variational
Gaussian process classification). A VariationalStrategy has a mean v of whitened values there, and
C = L⁻ᵀ v with L Lᵀ = K(Z, Z) + jitter; an UnwhitenedVariationalStrategy has one of values, and
C = (L Lᵀ)⁻¹ (v − m(Z)). The likelihood has no part in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gpytorch import variational
from gpytorch.models import ApproximateGP
from gpytorch.settings import skip_posterior_variances
from linear_operator.utils.cholesky import psd_safe_cholesky
from sklearn.exceptions import NotFittedError

from pkex.adapters.gpytorch.kernels import KernelReader
from pkex.adapters.gpytorch.process import (
    Latent,
    LinearMean,
    OwnKernel,
    check_modules,
    checked_rounding,
    function_of,
    side_by_side,
)
from pkex.adapters.gpytorch.tensors import array_of, predicting, tensor_like
from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.targets import of_unknown_variance
from pkex.functions.base import Function
from pkex.typing import Float

__all__ = ["adapt_approximate", "inducing_points", "variational_mean"]

# A latent process: the sum over its points, its prior mean, and the rounding error of its kernel.
_Process = tuple[Latent, LinearMean, float]


@register(ApproximateGP)
def adapt_approximate(model: ApproximateGP) -> AdaptedModel:
    """Read the mean of the latent function, of one or several outputs."""
    function, is_batch, rounding = variational_mean(model)
    like = inducing_points(model)

    def own_mean(rows: Float) -> Float:
        with predicting(model, {}), skip_posterior_variances():
            mean = array_of(model(tensor_like(rows, like)).mean)
        return mean.T if is_batch else mean

    mean = AdaptedModel(
        function,
        explained="mean of the latent function",
        predict=own_mean,
        kernel_rounding=rounding,
    )
    return of_unknown_variance(mean)


def inducing_points(model: Any) -> Any:
    """Return the tensor of inducing points."""
    return _base(model.variational_strategy).inducing_points


def variational_mean(model: Any) -> tuple[Function, bool, float]:
    """Return the mean of a model; whether it has an axis of a batch first; its kernel's rounding.

    Raises
    ------
    NotFittedError
        If it has not been called once.
    UnsupportedModelError
        Naming the part of the model that is not known.
    """
    strategy = model.variational_strategy
    base = _base(strategy)
    name = type(model).__name__
    if type(base) not in _COEFFICIENTS:
        raise unsupported(
            f"{name} with {type(base).__name__}",
            ": VariationalStrategy and UnwhitenedVariationalStrategy are, alone, or within "
            "IndependentMultitaskVariationalStrategy or LMCVariationalStrategy",
        )
    if not base.variational_params_initialized.item():
        raise NotFittedError(
            f"{name} is not trained: its variational distribution is that of the prior, with "
            "random numbers added"
        )
    check_modules(model)
    with predicting(model, {}):
        processes, is_batch = _processes(model, base)
    rounding = max(own for _, _, own in processes)
    if type(strategy) is variational.LMCVariationalStrategy:
        return _mixed(model, processes, array_of(strategy.lmc_coefficients)), False, rounding
    functions = [function_of(model, [latent], mean) for latent, mean, _ in processes]
    if base is strategy:
        function = side_by_side(functions) if is_batch else functions[0]
        return function, is_batch, rounding
    if strategy.task_dim not in (-1, 0):
        raise unsupported(f"{name} with tasks in the axis {strategy.task_dim}", ": the last is")
    if not is_batch:
        functions *= strategy.num_tasks
    return side_by_side(functions), False, rounding


def _base(strategy: Any) -> Any:
    """Return the strategy of the latent processes."""
    wrapped = (
        variational.IndependentMultitaskVariationalStrategy,
        variational.LMCVariationalStrategy,
    )
    return strategy.base_variational_strategy if type(strategy) in wrapped else strategy


def _processes(model: Any, base: Any) -> tuple[list[_Process], bool]:
    """Read all latent processes, and whether they are a batch."""
    inputs = base.inducing_points
    values = base.variational_distribution.mean
    prior = model.forward(inputs)
    batch_shape = np.broadcast_shapes(
        tuple(values.shape[:-1]), tuple(inputs.shape[:-2]), tuple(prior.batch_shape)
    )
    if len(batch_shape) > 1:
        raise unsupported(
            f"{type(model).__name__} with the batch shape {batch_shape}",
            ": a single axis of outputs is",
        )
    m, d = inputs.shape[-2:]
    points = array_of(inputs.expand(*batch_shape, m, d)).reshape(-1, m, d)
    values = array_of(values.expand(*batch_shape, m)).reshape(-1, m)
    covariance = prior.lazy_covariance_matrix.add_jitter(base.jitter_val).to_dense().double()
    factors = array_of(psd_safe_cholesky(covariance).expand(*batch_shape, m, m)).reshape(-1, m, m)
    processes = []
    for output, (own_points, own_values) in enumerate(zip(points, values, strict=True)):
        reader = KernelReader(type(model).__name__, d, batch_shape, output)
        kernel = reader.read(model.covar_module)
        rounding = checked_rounding(kernel, own_points, OwnKernel(model, inputs, output))
        mean = LinearMean.of_module(model.mean_module, reader)
        at_points = mean.constants + own_points @ mean.slopes
        own = _COEFFICIENTS[type(base)](factors[output], own_values, at_points)
        processes.append((Latent(kernel, own_points, own), mean, rounding))
    return processes, bool(batch_shape)


def _whitened(factor: Float, values: Float, mean: Float) -> Float:
    return np.asarray(np.linalg.solve(factor.T, values), dtype=np.float64)


def _unwhitened(factor: Float, values: Float, mean: Float) -> Float:
    whitened = np.linalg.solve(factor, values - mean)
    return np.asarray(np.linalg.solve(factor.T, whitened), dtype=np.float64)


_COEFFICIENTS = {
    variational.VariationalStrategy: _whitened,
    variational.UnwhitenedVariationalStrategy: _unwhitened,
}


def _mixed(model: Any, processes: list[_Process], mixing: Float) -> Function:
    """Return Σ_q a_q f_q, with the row a_q of `mixing` having a number for each task."""
    latents = [
        Latent(latent.kernel, latent.points, np.outer(latent.coefficients, shares))
        for (latent, _, _), shares in zip(processes, mixing, strict=True)
    ]
    mean = LinearMean.of_all([own for _, own, _ in processes])
    return function_of(model, latents, LinearMean(mean.constants @ mixing, mean.slopes @ mixing))
