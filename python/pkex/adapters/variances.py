"""Variances of Gaussian processes, as the adapters of all libraries describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pkex.adapters.adapted_model import AdaptedModel, Variance
from pkex.adapters.kernels import EPSILON
from pkex.adapters.registry import unsupported_model
from pkex.errors import Option, UnsupportedModelError
from pkex.functions.base import Function
from pkex.kernels import Kernel
from pkex.typing import Float

# Rounding errors of the model's own solution and of pkex's.
_ROUNDINGS = 32.0
# Of noise at different rows, relative to the prior variance.
_SAME = 1e-12


def add_variance(
    mean: AdaptedModel, adapt: Callable[[AdaptedModel, bool], AdaptedModel], n_factored: int = 0
) -> AdaptedModel:
    """Add a variance to the description of a mean.

    Parameters
    ----------
    mean : AdaptedModel
    adapt : callable
        Describes the variance, given the mean and whether to add the noise of an observation.
    n_factored : int, default 0
        See `Variance`.
    """
    return replace(mean, variance=Variance(mean.function, partial(adapt, mean), n_factored))


def describe_variance(
    mean: AdaptedModel,
    function: Function,
    predict: Callable[[Float], Any],
    rounding: Any,
    title: str = "variance",
) -> AdaptedModel:
    """Describe a variance.

    Parameters
    ----------
    mean : AdaptedModel
    function : Function
        The variance.
    predict : callable
        The model's own variance at rows.
    rounding : float or ndarray of shape (outputs,)
        Rounding error of the model's own variance.
    title : str
        Name of the variance in explanations.
    """
    # A single output has a name, so that explanations tell a variance from a mean.
    names = mean.output_names or (None if function.has_output_axis else (title,))
    return AdaptedModel(
        function,
        title=title,
        predict=predict,
        feature_names=mean.feature_names,
        output_names=names,
        kernel_rounding=mean.kernel_rounding,
        absolute_rounding=rounding,
    )


def unsupported_noise(name: str, reason: str) -> UnsupportedModelError:
    """Return the error that a model has no predictive variance."""
    return unsupported_model(
        (Option("target", "predictive_variance"), f" of {name}"),
        (f": {reason}; use ", Option("target", "variance")),
    )


def rounding_of_factor(factor: Float, prior: float, resolution: float = EPSILON) -> float:
    """Return the rounding error of a variance computed with a triangular factor.

    It grows with the condition of the factor, estimated from its largest and smallest pivots.
    """
    pivots = np.abs(np.diag(factor))
    condition = float(pivots.max() / pivots.min())
    return _ROUNDINGS * resolution * condition * prior


def noise_of_kernel(kernel: Kernel | None, priors: Float, rows: Float, name: str) -> float:
    """Return the noise in a model's own kernel: its prior variance minus that of `kernel`.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel between new and training rows, None if that is 0.
    priors : ndarray of shape (n,)
        The model's own kernel of each row with itself.
    rows : ndarray of shape (n, d)
    name : str
        Name of the model in messages.

    Raises
    ------
    UnsupportedModelError
        If the noise differs from row to row.
    """
    noises = priors.copy()
    if kernel is not None:
        noises -= np.diag(kernel(rows, rows))
    noises[np.abs(noises) <= _SAME * priors] = 0.0
    if np.ptp(noises) > _SAME * priors.max():
        raise UnsupportedModelError(
            f"the variance of {name} with white noise (a WhiteKernel) that is multiplied by a "
            "kernel of dot products is not supported: such noise differs from row to row. Add the "
            "WhiteKernel to the kernel, and fit the model again"
        )
    return float(noises[0])
