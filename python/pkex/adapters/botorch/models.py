"""The adapter for the models of BoTorch.

They are those of GPyTorch between two transforms: a model is given transformed columns, and
predicts transformed outcomes. The posterior mean is explained, in the columns and the outcomes that
a user gives. A fully Bayesian model has a process for each sample of its parameters; its mean is
that of theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from botorch.models.approximate_gp import ApproximateGPyTorchModel
from botorch.models.fully_bayesian import AbstractFullyBayesianSingleTaskGP
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import ModelList
from botorch.models.multitask import KroneckerMultiTaskGP, MultiTaskGP
from botorch.utils.transforms import is_ensemble
from gpytorch.models import ExactGP
from sklearn.exceptions import NotFittedError

from pkex.adapters.botorch.transforms import InputReader, outcome_units
from pkex.adapters.gpytorch.approximate import inducing_points, variational_mean
from pkex.adapters.gpytorch.exact import adapt_exact, exact_means, training_points
from pkex.adapters.gpytorch.process import side_by_side
from pkex.adapters.gpytorch.tensors import array_of, predicting, tensor_like
from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.targets import of_unknown_variance
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.expansion import KernelExpansion
from pkex.functions.transformed import Transformed
from pkex.typing import Float

__all__ = ["adapt_model"]


@register(GPyTorchModel)
@register(ModelList)
@register(AbstractFullyBayesianSingleTaskGP)
@register(KroneckerMultiTaskGP)
@register(MultiTaskGP)
def adapt_model(model: Any) -> AdaptedModel:
    """Read the posterior mean, of one or several outputs."""
    strategies = dict[Any, Any]()
    functions, rounding = _outputs(model, strategies)
    is_single = len(functions) == 1 and not isinstance(model, ModelList)
    function = functions[0] if is_single else side_by_side(functions)
    like = _training_points(model)
    rounding += _rounding_of_rows(function, like)

    def own_mean(rows: Float) -> Float:
        with predicting(model, strategies):
            posterior = model.posterior(tensor_like(rows, like))
            mean = array_of(getattr(posterior, "mixture_mean", posterior.mean))
        return mean if function.has_output_axis else mean[:, 0]

    mean = AdaptedModel(
        function,
        explained="posterior mean",
        predict=own_mean,
        kernel_rounding=rounding,
    )
    return of_unknown_variance(mean)


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


def _outputs(model: Any, strategies: dict[Any, Any]) -> tuple[list[Function], float]:
    """Return each output's function of a user's columns, and the rounding error of kernels."""
    name = type(model).__name__
    if isinstance(model, ModelList):
        read = [_outputs(part, strategies) for part in model.models]
        functions = [function for own, _ in read for function in own]
        if any(function.has_output_axis for function in functions):
            raise unsupported(f"{name} of models of several tasks", ": of models of one each it is")
        return functions, max(rounding for _, rounding in read)
    # Models are so for predictions from then on, as `posterior` leaves them.
    model.eval()
    functions, is_batch, rounding = _processes(model, strategies)
    if is_batch and model.num_outputs == 1 and not is_ensemble(model):
        raise unsupported(
            f"{name} of a batch of training data", ": take one model for each, as a ModelListGP"
        )
    n_units = len(functions) if is_batch else functions[0].n_outputs
    scales, shifts = outcome_units(getattr(model, "outcome_transform", None), n_units, name)
    explained: list[Function] = []
    for output, function in enumerate(functions):
        # A single function may have several outputs itself.
        own = slice(None) if function.has_output_axis else output
        scaled = _in_units(function, scales[own], shifts[own])
        batch_shape = (len(functions),) if is_batch else ()
        reader = InputReader(name, function.n_features, batch_shape, output)
        columns = reader.columns(getattr(model, "input_transform", None))
        explained.append(scaled if columns is None else Transformed(columns, scaled))
    if is_ensemble(model):
        explained = [Combination(explained, np.full(len(explained), 1.0 / len(explained)))]
    return explained, rounding


def _processes(model: Any, strategies: dict[Any, Any]) -> tuple[list[Function], bool, float]:
    """Return the functions of transformed columns and outcomes: outputs, or samples.

    And whether they are a batch of the model, and the rounding error of kernels.
    """
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


def _rounding_of_rows(function: Function, like: Any) -> float:
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
    if isinstance(function, KernelExpansion):
        return KernelExpansion(
            function.points,
            function.coefficients * scale,
            function.kernel,
            function.intercept * scale + shift,
        )
    return Combination([function], np.asarray(scale)[None], shift)
