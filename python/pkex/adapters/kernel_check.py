"""The check that a kernel was understood: a model's own must have the same values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import Kernel
from pkex.typing import Float

__all__ = ["OwnKernel", "check_kernel", "shown"]

# Between sums of kernel values, all of one sign.
_RELATIVE_TOLERANCE = 1e-10
_LARGEST_ROUNDING = 1e-4
_MIXTURE_TOLERANCE = 2e-12
_CHECKED_POINTS = 50


@dataclass(frozen=True)
class OwnKernel:
    """A model's own kernel, as its library evaluates it.

    Parameters
    ----------
    values : callable
        From rows and points to the values of their kernel, or to the sums of these over the points,
        in a column.
    text : str
        How messages write it.
    """

    values: Callable[[Float, Float], Any]
    text: str


def check_kernel(
    kernel: Kernel, own: OwnKernel, points: Float, rounding: float, model_name: str
) -> None:
    """Compare the kernel with the model's own, summed over some training points at a few rows.

    The coefficients of a Gaussian process with little noise are huge and cancel: its output has
    lost the digits in which a misread kernel would show. Sums of the kernel itself do not cancel.

    Parameters
    ----------
    kernel : Kernel
    own : OwnKernel
    points : ndarray of shape (n, d)
    rounding : float
        The relative rounding error of the model's own values.
    model_name : str
        What messages call its owner.

    Raises
    ------
    UnsupportedModelError
        If they differ by more than rounding errors.
    """
    points = points[np.unique(np.linspace(0, len(points) - 1, _CHECKED_POINTS).astype(np.intp))]
    expansion = KernelSum(points, np.ones(len(points)), kernel)
    rows = expansion.probing_rows()
    sums = expansion.evaluate(rows, n_threads=1)
    own_sums = np.sum(own.values(rows, points), axis=1)
    magnitude = expansion.magnitude(rows, n_threads=1)
    has_signs = any(term.series is not None for term in kernel.terms(points.shape[1]))
    relative = _RELATIVE_TOLERANCE + min(rounding, _LARGEST_ROUNDING)
    tolerance = relative * (magnitude if has_signs else sums)
    # Far from all points a mixture is as exact as near them, which is not so beside its value.
    tolerance += _MIXTURE_TOLERANCE * magnitude
    # Not "greater": NaN must fail too.
    if not np.all(np.abs(sums - own_sums) <= tolerance):
        raise UnsupportedModelError(
            f"{model_name} with the kernel {own.text} is not supported: the kernel has other "
            "values than its parts and parameters say"
        )


def shown(kernel: Any) -> str:
    """Return how messages write a kernel."""
    # scikit-learn writes a constant as the square of its root, of a negative one too.
    with np.errstate(invalid="ignore"):
        return repr(kernel)
