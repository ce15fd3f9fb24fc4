"""Kernels of other libraries: their rounding errors, and a check of how they were read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import Kernel
from pkex.kernels.family import Factor
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.radial import Radial
from pkex.typing import Float

__all__ = [
    "OwnKernel",
    "check_kernel",
    "distance_rounding",
    "scaling_rounding",
    "shown",
    "square_rounding",
]


# Factors of which rows may be divided before they are subtracted, or distances by a period.
_DIVIDED = {"rbf", "laplacian", "periodic", "matern32", "matern52"}


def scaling_rounding(kernel: Kernel, points: Float, resolution: float) -> float:
    """Bound the relative error of a kernel that divides rows by ℓ before it subtracts them.

    Far from the origin, as measured by ℓ, the difference of the quotients has few digits left; and
    so have distances of many periods. `resolution` is the distance of 1 from the next float.
    """
    farthest = np.abs(points).max(axis=0, initial=0.0)
    with np.errstate(over="ignore"):
        distances = [
            float(np.max(farthest[factor.columns] / _resolved_scales(factor)))
            for term in kernel.terms(points.shape[1])
            for factor in term.factors
            if factor.family in _DIVIDED
        ]
    # A new row may be as far, in each of the features.
    farthest_row = math.sqrt(points.shape[1]) * max(distances, default=0.0)
    return 32.0 * resolution * farthest_row


def _resolved_scales(factor: Factor) -> Float:
    """Return the distances within which factors change, by which rows are divided."""
    scales: Float = factor.parameters[:, 0]
    if factor.family == "periodic":
        # The exponent 2 sin²(πr/p)/ℓ² changes by 2π/(p ℓ²) at most.
        scales = factor.parameters[:, 1] * np.minimum(scales, 1.0) ** 2 / (2.0 * math.pi)
    return scales


def square_rounding(points: Float, gamma: float) -> float:
    """Bound the relative error of exp(−γ‖x − y‖²) where the square is ‖x‖² − 2x·y + ‖y‖².

    Far from the origin the terms cancel.
    """
    largest = float(np.einsum("ij,ij->i", points, points).max(initial=0.0))
    return 32.0 * float(np.finfo(np.float64).eps) * gamma * largest


def distance_rounding(kernel: Kernel, points: Float, resolution: float) -> float:
    """Bound the relative error of a kernel of distances that are formed as `square_rounding` says.

    `resolution` is the distance of 1 from the next float.
    """
    farthest = np.abs(points).max(axis=0, initial=0.0)
    largest, of_root = 1.0, 0.0
    for term in kernel.terms(points.shape[1]):
        for factor in term.factors:
            if factor.family == "categorical":
                continue
            units = farthest[factor.columns] / _resolved_scales(factor)
            square = float(units @ units)
            largest = max(largest, square)
            # Of exp(−r), which has a cusp at 0, the root of the error counts.
            is_cusp = isinstance(factor, Radial) and factor.mixture == MaternMixture(0.5)
            if is_cusp or factor.family == "laplacian":
                of_root = max(of_root, square)
    return 32.0 * resolution * largest + math.sqrt(32.0 * resolution * of_root)


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
