"""The adapter for the models of BoTorch.

They are those of GPyTorch between two transforms: a model is given transformed columns, and
predicts transformed outcomes. The posterior mean is explained, in the columns and the outcomes that
a user gives. A fully Bayesian model has a process for each sample of its parameters; its mean is
that of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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

from pkex.adapters.adapted_model import AdaptedModel, Variance
from pkex.adapters.registry import register, unsupported
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
    side_by_side,
)
from pkex.adapters.torch.tensors import array_of, exactly, predicting, tensor_like
from pkex.adapters.variances import described_variance
from pkex.errors import Option
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.gaussian_process.mixture import variance_of_mixture
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.stack import Stack
from pkex.functions.transformed import Transformed
from pkex.kernels.algebra import KernelPolynomial, similarities
from pkex.typing import Float

# Functions of transformed columns and outcomes, of outputs or samples; whether they are a batch of
# the model; and a rounding error.
_Read = tuple[list[Function], bool, float]
_Reader = Callable[[Any], _Read]


@register(GPyTorchModel)
@register(ModelList)
@register(AbstractFullyBayesianSingleTaskGP)
@register(KroneckerMultiTaskGP)
@register(MultiTaskGP)
def adapt_model(model: Any) -> AdaptedModel:
    """Read the posterior mean, of one or several outputs."""
    strategies = dict[Any, Any]()
    functions, rounding = _outputs(model, partial(_means, strategies=strategies), 1)
    if is_ensemble(model):
        functions = [Combination(functions, np.full(len(functions), 1.0 / len(functions)))]
    is_single = len(functions) == 1 and not isinstance(model, ModelList)
    function = functions[0] if is_single else side_by_side(functions)
    like = _training_points(model)
    rounding += rounding_of_rows(function, like)

    def own_mean(rows: Float) -> Float:
        with predicting(model, strategies):
            posterior = model.posterior(tensor_like(rows, like))
            mean = array_of(getattr(posterior, "mixture_mean", posterior.mean))
        return mean if function.has_output_axis else mean[:, 0]

    mean = AdaptedModel(
        function, title="posterior mean", predict=own_mean, kernel_rounding=rounding
    )
    variance = partial(_variance, model, mean, strategies)
    return replace(mean, variance=Variance(function, variance, _n_factored(model)))


def _variance(
    model: Any, mean: AdaptedModel, strategies: dict[Any, Any], predictive: bool
) -> AdaptedModel:
    read = partial(_variances, strategies=strategies, predictive=predictive)
    functions, rounding = _outputs(model, read, 2)
    has_axis = mean.function.has_output_axis
    if is_ensemble(model):
        means, _ = _outputs(model, partial(_means, strategies=strategies), 1)
        functions = [variance_of_mixture(functions, means)]
    is_whole = functions[0].has_output_axis == has_axis
    function = functions[0] if is_whole else Stack(functions)
    like = _training_points(model)

    def own_variance(rows: Float) -> Float:
        with predicting(model, strategies), exactly():
            found = model.posterior(tensor_like(rows, like), observation_noise=predictive)
            variance = array_of(getattr(found, "mixture_variance", found.variance))
        return variance if has_axis else variance[:, 0]

    title = "predictive variance" if predictive else "posterior variance"
    return described_variance(mean, function, own_variance, rounding, title=title)


@register(ExactGP)
def adapt_exact_model(model: Any) -> AdaptedModel:
    """Read a model that is GPyTorch's first, and perhaps BoTorch's in the second place."""
    return adapt_model(model) if isinstance(model, GPyTorchModel) else adapt_exact(model)


def _training_points(model: Any) -> Any:
    """Return the tensor of training points, or of inducing points, of a model or its first part."""
    if isinstance(model, ModelList):
        return _training_points(model.models[0])
    if isinstance(model, ApproximateGPyTorchModel):
        return inducing_points(model.model)
    return training_points(model)


def _outputs(model: Any, read: _Reader, power: int) -> tuple[list[Function], float]:
    """Return each output's function of a user's columns, in units of outcomes to a power.

    Or each sample's, of a fully Bayesian model; and the rounding error that belongs to them.
    """
    name = type(model).__name__
    if isinstance(model, ModelList):
        if any(is_ensemble(part) for part in model.models):
            raise unsupported(f"{name} of fully Bayesian models", ": each of them alone is")
        parts = [_outputs(part, read, power) for part in model.models]
        functions = [function for own, _ in parts for function in own]
        if any(function.has_output_axis for function in functions):
            raise unsupported(f"{name} of models of several tasks", ": of models of one each it is")
        return functions, max(rounding for _, rounding in parts)
    # Models are so for predictions from then on, as `posterior` leaves them.
    model.eval()
    functions, is_batch, rounding = read(model)
    if is_batch and model.num_outputs == 1 and not is_ensemble(model):
        raise unsupported(
            f"{name} of a batch of training data", ": take one model for each, as a ModelListGP"
        )
    n_units = len(functions) if is_batch else functions[0].n_outputs
    scales, shifts = outcome_units(getattr(model, "outcome_transform", None), n_units, name)
    if power > 1:
        scales, shifts = scales**power, 0.0 * shifts
        rounding *= float(scales.max())
    explained: list[Function] = []
    for output, function in enumerate(functions):
        # A single function may have several outputs itself.
        own = slice(None) if function.has_output_axis else output
        scaled = _in_units(function, scales[own], shifts[own])
        batch_shape = (len(functions),) if is_batch else ()
        reader = InputReader(name, function.n_features, batch_shape, output)
        columns = reader.columns(getattr(model, "input_transform", None))
        explained.append(scaled if columns is None else Transformed(columns, scaled))
    return explained, rounding


def _means(model: Any, strategies: dict[Any, Any]) -> _Read:
    """Return the means of a model, or of its samples, with the rounding error of its kernels."""
    if isinstance(model, ApproximateGPyTorchModel):
        function, _, rounding = variational_mean(model.model)
        return [function], False, rounding
    if not isinstance(model, ExactGP):
        raise unsupported(f"{type(model).__name__}, which is no ExactGP,")
    if model.covar_module is None:
        raise NotFittedError(
            f"{type(model).__name__} is not fitted: call fit_fully_bayesian_model_nuts first"
        )
    return exact_means(model, strategies)


def _variances(model: Any, strategies: dict[Any, Any], predictive: bool) -> _Read:
    """Return the variances of a model, with their own rounding error."""
    name = type(model).__name__
    if isinstance(model, ApproximateGPyTorchModel):
        if predictive:
            raise unsupported(
                (Option("target", "predictive_variance"), f" of {name}"),
                (": ", Option("target", "variance"), " of it is"),
            )
        function, rounding = variational_variance(model.model)
        return [function], False, rounding
    if isinstance(model, KroneckerMultiTaskGP):
        raise unsupported(
            f"the variance of {name}",
            ", and how sure its values are: its posterior has other variances than GPyTorch's of "
            "the same process; of a ModelListGP with a model for each task they are",
        )
    functions, rounding = exact_variances(model, strategies, predictive)
    return [*functions], len(functions) > 1, rounding


def _n_factored(model: Any) -> int:
    """Return the size of the largest matrix that variances are solved for."""
    if isinstance(model, ModelList):
        return max(_n_factored(part) for part in model.models)
    is_exact = isinstance(model, ExactGP)
    return n_factored(model) if is_exact else int(_training_points(model).shape[-2])


def rounding_of_rows(function: Function, like: Any) -> float:
    """Return the relative change of a function where rows are rounded to the type of a tensor.

    Its columns may be far from 0, compared with their range, which the model's own are not.
    """
    rows = function.probing_rows()
    rounded = array_of(tensor_like(rows, like))
    given, changed = (function.evaluate(own, n_threads=1) for own in (rows, rounded))
    sizes = np.maximum(function.magnitude(rows, n_threads=1), np.finfo(np.float64).tiny)
    return float(np.max(np.abs(given - changed) / sizes))


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
    if reader.only is not None:
        raise reader.unsupported(kernel, reader.reason(kernel))
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
        raise unsupported(f"{name} of a batch", ": each of its models alone is")
    check_modules(model)
    with torch.no_grad():
        # Finds the utilities, if they are not known.
        model.posterior(like[:1])
        inputs = model.transform_inputs(like)
        residuals = model.utility - model.mean_module(inputs)
        weights = torch.cholesky_solve(residuals.unsqueeze(-1), model.covar_chol)
        points, coefficients = array_of(inputs), array_of(weights)[:, 0]
        reader = TorchKernelReader(name, points.shape[1])
        kernel = reader.read_call(model.covar_module)
        rounding = checked_rounding(kernel, points, _Covariance(model, inputs, 0))
    mean = LinearMean.of_module(model.mean_module, reader)
    function = function_of(model, [Latent(kernel, points, coefficients)], mean)
    columns = InputReader(name, points.shape[1]).columns(getattr(model, "input_transform", None))
    if columns is not None:
        function = Transformed(columns, function)

    def own_mean(rows: Float) -> Float:
        with torch.no_grad():
            return array_of(model.posterior(tensor_like(rows, like)).mean)[:, 0]

    rounding += rounding_of_rows(function, like)
    return AdaptedModel(
        function, title="posterior mean", predict=own_mean, kernel_rounding=rounding
    )


class _Covariance(OutputCovariance):
    """The covariance as its module has it: `forward` of such a model is its posterior."""

    def __call__(self, rows: Float, points: Float) -> Float:
        tensors = (tensor_like(table, self.like) for table in (rows, points))
        return array_of(self.model.covar_module(*tensors).to_dense())

    def __repr__(self) -> str:
        return f"of {type(self.model).__name__}.covar_module"
