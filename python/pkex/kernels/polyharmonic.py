"""Radial basis functions of interpolators that grow with the distance.

They are positive definite only together with polynomials, and not kernels in `pkex.kernels`. With
the coefficients of an interpolator they are a function like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.mixtures import FLAT, Mixture
from pkex.kernels.radial import radial_term
from pkex.typing import Float

# Steps of log v per factor of 2.
_STEPS = 3
# The smallest slope that is considered, relative to the largest.
_MIN_SLOPE = 1e-4


@dataclass(frozen=True)
class _GrowingFunction:
    """A growing function: its value at 0, its decay f(0) − f(s), and its power of s."""

    at_zero: float
    decay: Callable[[Float], Float]
    power: float


def _thin_plate(squares: Float) -> Float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0.0, -0.5 * squares * np.log(squares), 0.0)


# Functions of s = r², by SciPy's names.
POLYHARMONIC = {
    # −r
    "linear": _GrowingFunction(0.0, np.sqrt, 0.5),
    # −√(1 + r²)
    "multiquadric": _GrowingFunction(-1.0, lambda s: s / (1.0 + np.sqrt(1.0 + s)), 0.5),
    # r² log r
    "thin_plate_spline": _GrowingFunction(0.0, _thin_plate, 1.0),
    # r³
    "cubic": _GrowingFunction(0.0, lambda s: -s * np.sqrt(s), 1.5),
}


@dataclass(frozen=True)
class PolyharmonicMixture(Mixture):
    """A function that grows with s, up to a largest distance.

    For example, −√s is −∫ (1 − e^(−vs)) v^(−3/2) dv / (2√π); others have similar integrals after a
    polynomial in s is subtracted (Wendland 2005, Scattered Data Approximation, chapter 8). Up to a
    largest distance, all are sums of 1 − e^(−vs), with weights of both signs.

    Parameters
    ----------
    name : str
        One of `POLYHARMONIC`.
    """

    name: str

    @property
    def at_zero(self) -> float:
        """f(0)."""
        return POLYHARMONIC[self.name].at_zero

    def unit(self, high: float) -> float:
        """Return the largest absolute decay."""
        size = abs(float(self.decay(np.array([high]))[0]))
        return size + 0.5 * high if self.name == "thin_plate_spline" else size

    def value(self, squares: Float) -> Float:
        """Return f(s), to rounding."""
        return self.at_zero - self.decay(squares)

    def decay(self, squares: Float) -> Float:
        """Return f(0) − f(s) without cancellation."""
        return POLYHARMONIC[self.name].decay(squares)

    def size(self, squares: Float, high: float) -> Float:
        """Return the absolute decay, plus a part of the size of the Gaussians near 0.

        The Gaussians are linear in s near 0; if the function grows faster, they cancel.
        """
        linear = _MIN_SLOPE * self.unit(high) * (squares / high)
        size: Float = np.abs(self.decay(squares)) + linear
        # The logarithm of thin plates changes its sign.
        return size + 0.5 * squares if self.name == "thin_plate_spline" else size

    def candidates(self, low: float, high: float) -> tuple[Float, Float]:
        """Return rates for which all distances are small, up to rates for which all are large."""
        first, last = math.log2(0.03 / high), math.log2(2.0 * FLAT / low)
        steps = np.arange(math.floor(first * _STEPS), math.ceil(last * _STEPS), dtype=np.float64)
        rates: Float = np.exp2(steps / _STEPS)
        return rates, rates ** -POLYHARMONIC[self.name].power


@dataclass(frozen=True)
class GrowingKernel(Kernel):
    """A function in `POLYHARMONIC` of ε times the distance between rows.

    Parameters
    ----------
    name : str
    epsilon : float, default 1.0
        ε > 0.
    """

    name: str
    epsilon: float = 1.0

    def terms(self, n_features: int) -> list[Term]:
        """Return the function of the distance."""
        return [radial_term(self, PolyharmonicMixture(self.name), n_features, 1.0 / self.epsilon)]
