"""The adapter for BoTorch's model of preferences, a Gaussian process of a utility.

Its posterior mean is m + k(x, X) K⁻¹ (u − m) with the utilities u of the points X that are most
probable (Chu and Ghahramani 2005, Preference learning with Gaussian processes). What speaks for a
rather than b is the difference of their explanations.
"""

from __future__ import annotations

from typing import Any

import torch
from botorch.models import PairwiseGP
from sklearn.exceptions import NotFittedError

from pkex.adapters.botorch.models import rounding_of_rows
from pkex.adapters.botorch.transforms import InputReader
from pkex.adapters.gpytorch.kernels import KernelReader
from pkex.adapters.gpytorch.process import (
    Latent,
    LinearMean,
    OutputCovariance,
    check_modules,
    checked_rounding,
    function_of,
)
from pkex.adapters.gpytorch.tensors import array_of, tensor_like
from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.functions.transformed import Transformed
from pkex.typing import Float

__all__ = ["adapt_pairwise"]


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
        reader = KernelReader(name, points.shape[1])
        kernel = reader.read(model.covar_module)
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
