"""The adapter for the models of BoTorch.

They are models of GPyTorch between two transforms: the input of a model is transformed columns, its
output is transformed outcomes. pkex explains the posterior mean, in the columns and outcomes before
the transforms. A fully Bayesian model has one process for each sample of its parameters. Its mean
is the mean over these processes.

PairwiseGP models a utility by preferences. Its posterior mean is m + k(x, X) K⁻¹ (u − m) with the
most probable utilities u of the points X (Chu and Ghahramani 2005, Preference learning with
Gaussian processes). The difference of the explanations of a and b explains a preference of a to b.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from botorch.models import PairwiseGP
from botorch.models.approximate_gp import ApproximateGPyTorchModel
from botorch.models.fully_bayesian import AbstractFullyBayesianSingleTaskGP
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.kernels import CategoricalKernel
from botorch.models.model import ModelList
from botorch.models.multitask import KroneckerMultiTaskGP, MultiTaskGP
from botorch.utils.transforms import is_ensemble
from gpytorch.models import ExactGP
from sklearn.exceptions import NotFittedError

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.torch.approximate import inducing_points, variational_mean, variational_variance
from pkex.adapters.torch.botorch_transforms import InputReader, outcome_units
from pkex.adapters.torch.exact import (
    adapt_exact,
    exact_means,
    exact_variances,
    n_factored,
    training_points,
)
from pkex.adapters.torch.kernels import READERS, TorchKernelReader
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
from pkex.adapters.variances import add_variance, describe_variance, unsupported_noise
from pkex.functions.base import Function
from pkex.functions.composite import Combination, Stack
from pkex.functions.gaussian_process.variance import variance_of_mixture
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.transformed import Transformed
from pkex.kernels.algebra import KernelPolynomial, similarities
from pkex.typing import Float

# Functions of transformed columns and outcomes, one per output or sample; whether they are a batch;
# and a rounding error.
_Reading = tuple[list[Function], bool, float]
_Reader = Callable[[Any], _Reading]


@register(GPyTorchModel)
@register(ModelList)
@register(AbstractFullyBayesianSingleTaskGP)
@register(KroneckerMultiTaskGP)
@register(MultiTaskGP)
def adapt_model(model: Any) -> AdaptedModel:
    """Read the posterior mean, for one or several outputs."""
    strategies = dict[Any, Any]()
    functions, rounding = _outputs(model, partial(_means, strategies=strategies), 1)
    if is_ensemble(model):
        functions = [Combination(functions, np.full(len(functions), 1.0 / len(functions)))]
    is_single = len(functions) == 1 and not isinstance(model, ModelList)
    function = functions[0] if is_single else stack_functions(functions)
    inputs = _training_points(model)
    rounding += rounding_of_rows(function, inputs)

    def predict_mean(rows: Float) -> Float:
        with prediction_mode(model, strategies):
            posterior = model.posterior(tensor_like(rows, inputs))
            mean = array_of(getattr(posterior, "mixture_mean", posterior.mean))
        return mean if function.has_output_axis else mean[:, 0]

    mean = AdaptedModel(
        function, title="posterior mean", predict=predict_mean, kernel_rounding=rounding
    )
    return add_variance(mean, partial(_variance, model, strategies), _n_factored(model))


def _variance(
    model: Any, strategies: dict[Any, Any], mean: AdaptedModel, predictive: bool
) -> AdaptedModel:
    read_variances = partial(_variances, strategies=strategies, predictive=predictive)
    functions, rounding = _outputs(model, read_variances, 2)
    has_axis = mean.function.has_output_axis
    if is_ensemble(model):
        means, _ = _outputs(model, partial(_means, strategies=strategies), 1)
        functions = [variance_of_mixture(functions, means)]
    has_all_outputs = functions[0].has_output_axis == has_axis
    function = functions[0] if has_all_outputs else Stack(functions)
    inputs = _training_points(model)

    def predict_variance(rows: Float) -> Float:
        with prediction_mode(model, strategies), cholesky_solves():
            posterior = model.posterior(tensor_like(rows, inputs), observation_noise=predictive)
            variance = array_of(getattr(posterior, "mixture_variance", posterior.variance))
        return variance if has_axis else variance[:, 0]

    title = "predictive variance" if predictive else "posterior variance"
    return describe_variance(mean, function, predict_variance, rounding, title)


@register(ExactGP)
def adapt_exact_model(model: Any) -> AdaptedModel:
    """Read an exact model of GPyTorch, or of BoTorch if it is derived from both."""
    return adapt_model(model) if isinstance(model, GPyTorchModel) else adapt_exact(model)


def _training_points(model: Any) -> Any:
    """Return the training or inducing points of a model, or of the first model of a list."""
    if isinstance(model, ModelList):
        return _training_points(model.models[0])
    if isinstance(model, ApproximateGPyTorchModel):
        return inducing_points(model.model)
    return training_points(model)


def _outputs(model: Any, read_functions: _Reader, power: int) -> tuple[list[Function], float]:
    """Return one function of the user's columns per output, and their rounding error.

    Functions are in units of the outcomes to a power. A fully Bayesian model has one function per
    sample.
    """
    name = type(model).__name__
    if isinstance(model, ModelList):
        if any(is_ensemble(part) for part in model.models):
            raise unsupported_model(f"{name} of fully Bayesian models", ": pass one of its models")
        parts = [_outputs(part, read_functions, power) for part in model.models]
        functions = [function for part_functions, _ in parts for function in part_functions]
        if any(function.has_output_axis for function in functions):
            raise unsupported_model(
                f"{name} of models of several tasks", ": use one model per task"
            )
        return functions, max(rounding for _, rounding in parts)
    # `posterior` also leaves models in this mode.
    model.eval()
    functions, is_batch, rounding = read_functions(model)
    if is_batch and model.num_outputs == 1 and not is_ensemble(model):
        raise unsupported_model(
            f"{name} of a batch of training data", ": use a ModelListGP with one model each"
        )
    n_units = len(functions) if is_batch else functions[0].n_outputs
    scales, shifts = outcome_units(getattr(model, "outcome_transform", None), n_units, name)
    if power > 1:
        scales, shifts = scales**power, 0.0 * shifts
        rounding *= float(scales.max())
    outputs: list[Function] = []
    for output, function in enumerate(functions):
        # A single function may have several outputs.
        index = slice(None) if function.has_output_axis else output
        function_in_units = _in_units(function, scales[index], shifts[index])
        batch_shape = (len(functions),) if is_batch else ()
        reader = InputReader(name, function.n_features, batch_shape, output)
        columns = reader.columns(getattr(model, "input_transform", None))
        outputs.append(
            function_in_units if columns is None else Transformed(columns, function_in_units)
        )
    return outputs, rounding


def _means(model: Any, strategies: dict[Any, Any]) -> _Reading:
    """Return the means of a model or of its samples, and the rounding error of its kernels."""
    if isinstance(model, ApproximateGPyTorchModel):
        function, _, rounding = variational_mean(model.model)
        return [function], False, rounding
    if not isinstance(model, ExactGP):
        raise unsupported_model(f"{type(model).__name__}, which is not an ExactGP,")
    if model.covar_module is None:
        raise NotFittedError(
            f"{type(model).__name__} is not fitted: call fit_fully_bayesian_model_nuts first"
        )
    return exact_means(model, strategies)


def _variances(model: Any, strategies: dict[Any, Any], predictive: bool) -> _Reading:
    """Return the variances of a model, and the rounding error of the model's own variances."""
    name = type(model).__name__
    if isinstance(model, ApproximateGPyTorchModel):
        if predictive:
            raise unsupported_noise(name, "the model does not include its likelihood")
        function, rounding = variational_variance(model.model)
        return [function], False, rounding
    if isinstance(model, KroneckerMultiTaskGP):
        raise unsupported_model(
            f"the variance of {name}",
            ", nor is uncertainty of its values: its posterior has other variances than GPyTorch's "
            "for the same process. Use a ModelListGP with one model per task",
        )
    functions, rounding = exact_variances(model, strategies, predictive)
    return [*functions], len(functions) > 1, rounding


def _n_factored(model: Any) -> int:
    """Return the number of rows of the largest matrix that pkex factorizes for variances."""
    if isinstance(model, ModelList):
        return max(_n_factored(part) for part in model.models)
    is_exact = isinstance(model, ExactGP)
    return n_factored(model) if is_exact else int(_training_points(model).shape[-2])


def rounding_of_rows(function: Function, like: Any) -> float:
    """Return the relative change of a function if rows are rounded to the type of a tensor.

    Before transforms, columns may be far from 0, compared with their range.
    """
    rows = function.probing_rows()
    rounded_rows = array_of(tensor_like(rows, like))
    values = function.evaluate(rows, n_threads=1)
    rounded_values = function.evaluate(rounded_rows, n_threads=1)
    sizes = np.maximum(function.magnitude(rows, n_threads=1), np.finfo(np.float64).tiny)
    return float(np.max(np.abs(values - rounded_values) / sizes))


def _in_units(function: Function, scale: Any, shift: Any) -> Function:
    """Return scale · function + shift."""
    if isinstance(function, KernelSum):
        return KernelSum(
            function.points,
            function.coefficients * scale,
            function.kernel,
            function.intercept * scale + shift,
        )
    return Combination([function], np.asarray(scale)[None], shift)


def _categorical(reader: TorchKernelReader, kernel: Any) -> KernelPolynomial:
    """Read exp(−mean_j [x_j ≠ y_j] / ℓ_j), the product of exp(−1/(d ℓ_j)) where they differ."""
    if reader.place is not None:
        raise reader.unsupported_kernel(kernel, reader.reason(kernel))
    columns = reader.columns
    scales = np.broadcast_to(reader.numbers(kernel.lengthscale), len(columns))
    return similarities(np.exp(-1.0 / (len(columns) * scales)).tolist(), columns)


READERS[CategoricalKernel] = _categorical


@register(PairwiseGP)
def adapt_pairwise(model: Any) -> AdaptedModel:
    """Read the posterior mean of the utility."""
    name, like = type(model).__name__, model.datapoints
    if like is None or model.comparisons is None:
        raise NotFittedError(f"{name} has no comparisons yet: call set_train_data first")
    if model.batch_shape:
        raise unsupported_model(f"{name} of a batch", ": pass one of its models")
    check_modules(model)
    with torch.no_grad():
        # Finds the utilities, if they are missing.
        model.posterior(like[:1])
        inputs = model.transform_inputs(like)
        residuals = model.utility - model.mean_module(inputs)
        weights = torch.cholesky_solve(residuals.unsqueeze(-1), model.covar_chol)
        points, coefficients = array_of(inputs), array_of(weights)[:, 0]
        reader = TorchKernelReader(name, points.shape[1])
        kernel = reader.read_call(model.covar_module)
        rounding = checked_rounding(kernel, points, _PairwiseCovariance(model, inputs, 0))
    mean = LinearMean.of_module(model.mean_module, reader)
    function = function_of([Latent(kernel, points, coefficients)], mean)
    columns = InputReader(name, points.shape[1]).columns(getattr(model, "input_transform", None))
    if columns is not None:
        function = Transformed(columns, function)

    def predict_mean(rows: Float) -> Float:
        with torch.no_grad():
            return array_of(model.posterior(tensor_like(rows, like)).mean)[:, 0]

    rounding += rounding_of_rows(function, like)
    return AdaptedModel(
        function, title="posterior mean", predict=predict_mean, kernel_rounding=rounding
    )


class _PairwiseCovariance(OutputCovariance):
    """The covariance of the module, since `forward` of a PairwiseGP is its posterior."""

    def __call__(self, rows: Float, points: Float) -> Float:
        tensors = (tensor_like(table, self.like) for table in (rows, points))
        return array_of(self.model.covar_module(*tensors).to_dense())

    def __repr__(self) -> str:
        return f"of {type(self.model).__name__}.covar_module"
