"""The adapter for exact Gaussian processes of GPyTorch.

The mean is m(x) + k(x, X) α. The prediction strategy has α = (K + noise)⁻¹ (y − m(X)) (Rasmussen &
Williams 2006, equation 2.38). With a MultitaskKernel α has one number per point and task, and
k(x, x_i) is multiplied by the covariance B of the tasks. An LCMKernel is a sum of MultitaskKernels.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from gpytorch import kernels
from gpytorch.distributions import MultitaskMultivariateNormal
from gpytorch.models import ExactGP
from gpytorch.models.exact_prediction_strategies import (
    DefaultPredictionStrategy,
    LinearPredictionStrategy,
)
from gpytorch.settings import skip_posterior_variances
from sklearn.exceptions import NotFittedError

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.torch.exact_variances import (
    coupled_variances,
    independent_variances,
    noise_of_rows,
)
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
from pkex.adapters.torch.tensors import array_of, cholesky_solves, prediction_mode, tensor_like
from pkex.adapters.variances import add_variance, describe_variance
from pkex.functions.base import Function
from pkex.functions.composite import Stack
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import Kernel
from pkex.typing import Float


@register(ExactGP)
def adapt_exact(model: ExactGP) -> AdaptedModel:
    """Read the posterior mean, of one or several outputs."""
    points, strategies = training_points(model), dict[Any, Any]()
    functions, is_batch, rounding = exact_means(model, strategies)

    def predict_mean(rows: Float) -> Float:
        with prediction_mode(model, strategies), skip_posterior_variances():
            mean = array_of(model(tensor_like(rows, points)).mean)
        return mean.T if is_batch else mean

    function = stack_functions(functions) if is_batch else functions[0]
    mean = AdaptedModel(
        function, title="posterior mean", predict=predict_mean, kernel_rounding=rounding
    )
    return add_variance(mean, partial(_variance, model, strategies), n_factored(model))


def _variance(
    model: Any, strategies: dict[Any, Any], mean: AdaptedModel, predictive: bool
) -> AdaptedModel:
    functions, rounding = exact_variances(model, strategies, predictive)
    has_axis = mean.function.has_output_axis
    is_batch = bool(strategies[model].train_prior_dist.batch_shape)

    def predict_variance(rows: Float) -> Float:
        with prediction_mode(model, strategies), cholesky_solves():
            posterior = model(tensor_like(rows, model.train_inputs[0]))
            variance = array_of((model.likelihood(posterior) if predictive else posterior).variance)
        return variance.T if is_batch else variance

    title = "predictive variance" if predictive else "posterior variance"
    function = Stack(functions) if has_axis else functions[0]
    return describe_variance(mean, function, predict_variance, rounding, title)


def exact_variances(
    model: Any, strategies: dict[Any, Any], predictive: bool
) -> tuple[list[PosteriorVariance], float]:
    """Return the variances of the outputs, and the rounding error of the model's own variance."""
    noise = noise_of_rows(model, strategies) if predictive else np.zeros(())
    if kernels.MultitaskKernel not in {type(part) for part in model.covar_module.modules()}:
        return independent_variances(model, strategies, noise)
    (inputs,) = model.train_inputs
    reader = TorchKernelReader(type(model).__name__, inputs.shape[-1])
    parts = _parts(reader, model.covar_module)
    return coupled_variances(model, strategies, parts, noise)


def n_factored(model: Any) -> int:
    """Return the number of rows of the matrix that pkex factorizes for variances."""
    n: int = model.train_inputs[0].shape[-2]
    is_coupled = kernels.MultitaskKernel in {type(part) for part in model.covar_module.modules()}
    return n * model.train_targets.shape[-1] if is_coupled else n


def training_points(model: Any) -> Any:
    """Return the tensor of training points.

    Raises
    ------
    NotFittedError
        If the model has no training data.
    UnsupportedModelError
        If the model has several tensors, such as points and tasks.
    """
    name = type(model).__name__
    if not model.train_inputs or model.train_targets is None:
        raise NotFittedError(f"{name} has no training data yet: call set_train_data first")
    if len(model.train_inputs) > 1:
        raise unsupported_model(
            f"{name} with {len(model.train_inputs)} inputs",
            ": pass one tensor with all columns, and use a MultitaskKernel for tasks",
        )
    return model.train_inputs[0]


def exact_means(model: Any, strategies: dict[Any, Any]) -> tuple[list[Function], bool, float]:
    """Return the means of a model, and add its prediction strategy to `strategies`.

    Returns
    -------
    functions : list of Function
        One per output of a batch, or a single one.
    is_batch : bool
        Whether the model's mean has a batch axis before the axis of rows.
    rounding : float
        Relative rounding error of the model's own kernel values.
    """
    name = type(model).__name__
    points = training_points(model)
    check_modules(model)
    with prediction_mode(model, strategies):
        model(points[..., :1, :])  # makes the prediction strategy
        prior = model.prediction_strategy.train_prior_dist
        batch_shape = tuple(prior.batch_shape)
        is_multitask = isinstance(prior, MultitaskMultivariateNormal)
        if len(batch_shape) + is_multitask > 1:
            raise unsupported_model(
                f"{name} with the batch shape {batch_shape}{' of several tasks' * is_multitask}",
                ": a batch of one axis is",
            )
        if not is_multitask:
            functions, rounding = _independent_means(model, batch_shape, _alpha(model))
            return functions, bool(batch_shape), rounding
        if not prior._interleaved:
            raise unsupported_model(f"{name} with tasks that are not interleaved")
        function, rounding = _task_mean(model, _alpha(model).reshape(-1, prior.event_shape[-1]))
        return [function], False, rounding


def _task_mean(model: Any, alpha: Float) -> tuple[Function, float]:
    """Return the mean of several tasks; `alpha` has one column per task."""
    kinds = {type(part) for part in model.covar_module.modules()}
    if kernels.MultitaskKernel in kinds:
        return _coupled_mean(model, alpha)
    functions, rounding = _independent_means(model, alpha.shape[1:], alpha.T)
    return stack_functions(functions), rounding


def _alpha(model: Any) -> Float:
    """Return the coefficients of the kernel at the training points."""
    strategy = model.prediction_strategy
    if type(strategy) is DefaultPredictionStrategy:
        return array_of(strategy.mean_cache)
    if type(strategy) is LinearPredictionStrategy:
        # It has the weights of the columns, not of the points.
        matrix = array_of(strategy.lik_train_train_covar.to_dense())
        residuals = array_of(strategy.train_labels - strategy.train_prior_dist.loc)
        return np.asarray(np.linalg.solve(matrix, residuals[..., None])[..., 0], dtype=np.float64)
    name = type(model).__name__
    # An unsupported kernel is the reason, and raises its own error.
    TorchKernelReader(name, model.train_inputs[0].shape[-1]).read_call(model.covar_module)
    raise unsupported_model(f"{name} that predicts with {type(strategy).__name__}")


def _independent_means(
    model: Any, batch_shape: tuple[int, ...], alpha: Float
) -> tuple[list[Function], float]:
    """Return the means of outputs, each with its own kernel."""
    (inputs,) = model.train_inputs
    n, d = inputs.shape[-2:]
    points = array_of(inputs.expand(*batch_shape, n, d)).reshape(-1, n, d)
    coefficients = np.broadcast_to(alpha, (*batch_shape, n)).reshape(-1, n)
    functions, rounding = [], 0.0
    for output, (output_points, weights) in enumerate(zip(points, coefficients, strict=True)):
        reader = TorchKernelReader(type(model).__name__, d, batch_shape, output)
        kernel = reader.read_call(model.covar_module)
        covariance = OutputCovariance(model, inputs, output)
        rounding = max(rounding, checked_rounding(kernel, output_points, covariance))
        mean = LinearMean.of_module(model.mean_module, reader)
        functions.append(function_of([Latent(kernel, output_points, weights)], mean))
    return functions, rounding


def _coupled_mean(model: Any, alpha: Float) -> tuple[Function, float]:
    """Return the mean of tasks that share kernels."""
    (inputs,) = model.train_inputs
    points = array_of(inputs)
    n_tasks, d = alpha.shape[1], points.shape[1]
    reader = TorchKernelReader(type(model).__name__, d)
    parts = _parts(reader, model.covar_module)
    rounding = 0.0
    for task in range(n_tasks):
        terms = [matrix[task, task] * kernel for matrix, kernel in parts]
        kernel = sum(terms[1:], start=terms[0])
        covariance = OutputCovariance(model, inputs, task)
        rounding = max(rounding, checked_rounding(kernel, points, covariance))
    readers = [TorchKernelReader(reader.model_name, d, (n_tasks,), task) for task in range(n_tasks)]
    means = [LinearMean.of_module(model.mean_module, reader) for reader in readers]
    latents = [Latent(kernel, points, alpha @ matrix) for matrix, kernel in parts]
    return function_of(latents, LinearMean.of_all(means)), rounding


def _parts(reader: TorchKernelReader, kernel: Any) -> list[tuple[Float, Kernel]]:
    """Return covariances of tasks, each with the kernel that it is multiplied by.

    The kernel is called with the columns of the reader.
    """
    return _parts_within(reader.in_columns_of(kernel), kernel)


def _parts_within(reader: TorchKernelReader, kernel: Any) -> list[tuple[Float, Kernel]]:
    """Return the parts of a kernel whose `forward` is called; see `_parts`."""
    kind = type(kernel)
    if kind is kernels.MultitaskKernel:
        matrix = array_of(kernel.task_covar_module.covar_matrix.to_dense())
        return [(matrix, reader.read(kernel.data_covar_module))]
    if kind is kernels.LCMKernel:
        return [part for inner in kernel.covar_module_list for part in _parts_within(reader, inner)]
    if kind is kernels.AdditiveKernel:
        return [part for inner in kernel.kernels for part in _parts(reader, inner)]
    if kind is kernels.ScaleKernel:
        scale = reader.number(kernel.outputscale)
        parts = _parts_within(reader, kernel.base_kernel)
        return [(scale * matrix, factor) for matrix, factor in parts]
    raise reader.unsupported_kernel(kernel, reader.reason(kernel))
