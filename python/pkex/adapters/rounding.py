"""Rounding errors of the libraries' own kernel values, which are larger than pkex's."""

from __future__ import annotations

import math

import numpy as np

from pkex.kernels import Kernel
from pkex.kernels.family import Factor
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.radial import Radial
from pkex.typing import Float

__all__ = ["distance_rounding", "scaling_rounding", "square_rounding"]

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
