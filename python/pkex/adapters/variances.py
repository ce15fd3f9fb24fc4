"""What descriptions of variances have in common, whatever the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import EPSILON
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.kernels import Kernel
from pkex.typing import Float

__all__ = ["described_variance", "noise_of_kernel", "rounding_of_factor"]

# In the model's own solution, and in ours.
_ROUNDINGS = 32.0
# Between noise at some rows, as a share of the prior variance.
_SAME = 1e-12


def described_variance(
    mean: AdaptedModel,
    function: Function,
    own: Callable[[Float], Any],
    rounding: Any,
    *,
    title: str = "variance",
) -> AdaptedModel:
    """Return the description of a variance, given that of the mean.

    Parameters
    ----------
    mean : AdaptedModel
    function : Function
    own : callable
        The model's own variance of rows.
    rounding : float or ndarray of shape (outputs,)
        The rounding error of that.
    title : str
        What explanations say that they are of.
    """
    # A single output is named, so that explanations say what they are of.
    names = mean.output_names or (None if function.has_output_axis else (title,))
    return AdaptedModel(
        function,
        title=title,
        predict=own,
        feature_names=mean.feature_names,
        output_names=names,
        kernel_rounding=mean.kernel_rounding,
        absolute_rounding=rounding,
    )


def rounding_of_factor(factor: Float, prior: float, resolution: float = EPSILON) -> float:
    """Return the rounding error of a variance that a triangular factor is solved for.

    It grows with the factor's condition, of which the largest and smallest pivots give an idea.
    """
    pivots = np.abs(np.diag(factor))
    condition = float(pivots.max() / pivots.min())
    return _ROUNDINGS * resolution * condition * prior


def noise_of_kernel(kernel: Kernel | None, priors: Float, rows: Float, name: str) -> float:
    """Return what a kernel that was read lacks of the prior variance at rows: the noise in it.

    Parameters
    ----------
    kernel : Kernel, optional
        None if it is all noise.
    priors : ndarray of shape (n,)
        The model's own, of a row with itself.
    rows : ndarray of shape (n, d)
    name : str
        What the message calls the model.

    Raises
    ------
    UnsupportedModelError
        If it differs from row to row.
    """
    noises = priors.copy()
    if kernel is not None:
        noises -= np.diag(kernel(rows, rows))
    noises[np.abs(noises) <= _SAME * priors] = 0.0
    if np.ptp(noises) > _SAME * priors.max():
        raise UnsupportedModelError(
            f"the variance of {name} with white noise (a WhiteKernel) that is multiplied by a "
            "kernel of dot products is not supported: such noise differs from row to row"
        )
    return float(noises[0])
