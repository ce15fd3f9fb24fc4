"""Means of Gaussian processes as functions, read from the modules of a model.

A mean is m(x) + Σ_q k_q(x, Z_q) C_q, with a linear prior mean m, and kernels k_q at points Z_q with
coefficients C_q of all outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gpytorch
import numpy as np
import torch

from pkex.adapters.kernels import LibraryKernel, check_kernel, distance_rounding, scaling_rounding
from pkex.adapters.registry import unsupported_model
from pkex.adapters.torch.kernels import TorchKernelReader
from pkex.adapters.torch.tensors import array_of, resolution_of, tensor_like
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.composite import Combination, Stack
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.kernels import Kernel
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Latent:
    """The sum k(x, Z) C.

    Parameters
    ----------
    kernel : Kernel
    points : ndarray of shape (n, d)
    coefficients : ndarray of shape (n,) or (n, outputs)
    """

    kernel: Kernel
    points: Float
    coefficients: Float


@dataclass(frozen=True, eq=False)
class LinearMean:
    """The prior mean constants + x · slopes.

    Parameters
    ----------
    constants : ndarray of shape () or (outputs,)
    slopes : ndarray of shape (d,) or (d, outputs)
    """

    constants: Float
    slopes: Float

    @classmethod
    def of_module(cls, module: Any, reader: TorchKernelReader) -> LinearMean:
        """Read the mean of one output.

        Raises
        ------
        UnsupportedModelError
            If the module is not a ZeroMean, ConstantMean, LinearMean or MultitaskMean.
        """
        kind, zeros = type(module), np.zeros(reader.n_features)
        if kind is gpytorch.means.MultitaskMean:
            return cls.of_module(module.base_means[reader.output], reader)
        if kind is gpytorch.means.ZeroMean:
            return cls(np.zeros(()), zeros)
        if kind is gpytorch.means.ConstantMean:
            return cls(np.array(reader.number(module.constant)), zeros)
        if kind is gpytorch.means.LinearMean:
            bias = 0.0 if module.bias is None else reader.number(module.bias, 1)
            return cls(np.array(bias), reader.vector(module.weights))
        raise unsupported_model(
            f"{reader.model_name} with the mean {kind.__name__}",
            ": supported are ZeroMean, ConstantMean, LinearMean and MultitaskMean of these",
        )

    @classmethod
    def of_all(cls, means: Sequence[LinearMean]) -> LinearMean:
        """Return one mean with several outputs."""
        return cls(
            np.array([mean.constants for mean in means]),
            np.stack([mean.slopes for mean in means], axis=-1),
        )


def check_modules(model: Any) -> None:
    """Raise an error if a model lacks the usual names of its modules."""
    for name in ("mean_module", "covar_module"):
        if not isinstance(getattr(model, name, None), torch.nn.Module):
            raise unsupported_model(
                f"{type(model).__name__} without {name}",
                ": name the modules of the model as in GPyTorch's documentation",
            )


def function_of(latents: Sequence[Latent], mean: LinearMean) -> Function:
    """Return the mean of a process."""
    if len(latents) == 1 and not mean.slopes.any():
        (latent,) = latents
        return KernelSum(latent.points, latent.coefficients, latent.kernel, mean.constants)
    parts: list[Function] = [
        KernelSum(part.points, part.coefficients, part.kernel, 0.0 * mean.constants)
        for part in latents
    ]
    if mean.slopes.any():
        parts.append(LinearFunction(mean.slopes, 0.0 * mean.constants, points=latents[0].points))
    return Combination(parts, intercept=mean.constants)


def stack_functions(functions: Sequence[Function]) -> Function:
    """Return functions as outputs of one function, with common points and kernel if possible."""
    expansions = [part for part in functions if isinstance(part, KernelSum)]
    if len(expansions) < len(functions):
        return Stack(functions)
    first = expansions[0]
    is_shared = all(
        part.kernel == first.kernel and np.array_equal(part.points, first.points)
        for part in expansions
    )
    if not is_shared:
        return Stack(functions)
    return KernelSum(
        first.points,
        np.stack([part.coefficients for part in expansions], axis=-1),
        first.kernel,
        np.array([part.intercept for part in expansions]),
    )


@dataclass(frozen=True, eq=False)
class OutputCovariance:
    """The covariance of one output between rows and points, computed by a model's `forward`.

    Parameters
    ----------
    model : gpytorch.models.GP
    like : tensor
        Has the type and device of the model's input.
    output : int
    """

    model: Any
    like: Any
    output: int

    def __call__(self, rows: Float, points: Float) -> Float:
        """Return the covariance matrix of shape (rows, points)."""
        prior = self.model.forward(tensor_like(np.concatenate([rows, points]), self.like))
        # Predictions use this block only.
        is_multitask = isinstance(prior, gpytorch.distributions.MultitaskMultivariateNormal)
        n_tasks = prior.event_shape[-1] if is_multitask else 1
        start = len(rows) * n_tasks
        block = array_of(prior.lazy_covariance_matrix[..., :start, start:].to_dense())
        if is_multitask:
            by_task = block.reshape(len(rows), n_tasks, len(points), n_tasks)
            covariance: Float = by_task[:, self.output, :, self.output]
        else:
            by_output = block.reshape(-1, len(rows), len(points))
            covariance = by_output[self.output % len(by_output)]
        return covariance

    def __repr__(self) -> str:
        return f"of {type(self.model).__name__}.forward"


def checked_rounding(kernel: Kernel, points: Float, covariance: OutputCovariance) -> float:
    """Return the rounding error of a model's own kernel, after a comparison with `kernel`.

    Raises
    ------
    UnsupportedModelError
        If the kernels differ.
    """
    resolution = resolution_of(covariance.like)
    # GPyTorch subtracts the mean of the points before it computes squared distances.
    rounding = distance_rounding(kernel, points - points.mean(axis=0), resolution)
    rounding += scaling_rounding(kernel, points, resolution)
    name = type(covariance.model).__name__
    try:
        check_kernel(kernel, LibraryKernel(covariance, repr(covariance)), points, rounding, name)
    except UnsupportedModelError:
        if rounding < _MAX_ROUNDING:
            raise
        raise UnsupportedModelError(
            f"{name} has length-scales that are so short, compared with the range of the training "
            f"points, that its kernel has rounding errors of {rounding:.0e}. Use torch.float64, or "
            "scale the columns, and fit it again"
        ) from None
    return rounding


# Larger rounding errors would hide that a kernel was read wrongly.
_MAX_ROUNDING = 1e-4
