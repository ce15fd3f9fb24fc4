"""The correlations of SMT's kriging models, in the columns' own units."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pkex.kernels import RBF, Kernel, Laplacian, Periodic, ProductMatern
from pkex.kernels.algebra import ONE, KernelPolynomial
from pkex.typing import Float

__all__ = ["BY_NAME", "OfRates", "kernel_of_rates"]

# From the columns' scales and θ, and for some also ω.
OfRates: TypeAlias = Callable[..., Kernel]


def _periodic(scale: Float, theta: Float, omega: Float) -> Kernel:
    # θ sin²(ω r) = 2 sin²(π r/p) / ℓ²
    return Periodic(np.sqrt(2.0 / theta), scale * math.pi / omega)


# As the option corr has them.
BY_NAME: dict[str, OfRates] = {
    # θ r² = (r/ℓ)² / 2
    "squar_exp": lambda scale, theta: RBF(scale * math.sqrt(0.5) / np.sqrt(theta)),
    "abs_exp": lambda scale, theta: Laplacian(scale / theta),
    "matern32": lambda scale, theta: ProductMatern(scale / theta, nu=1.5),
    "matern52": lambda scale, theta: ProductMatern(scale / theta, nu=2.5),
    "squar_sin_exp": _periodic,
}


def kernel_of_rates(of_rates: OfRates, rates: Float, scales: Float) -> KernelPolynomial:
    """Return a product over the columns.

    Parameters
    ----------
    of_rates : callable
    rates : ndarray of shape (d,) or (2 d,)
        θ, and then ω.
    scales : ndarray of shape (d,)
        By which the model divides the columns.
    """
    parts = rates.reshape(-1, len(scales))
    # A column of rate 0, such as one that is constant, has no part in the kernel.
    used = np.flatnonzero(parts.all(axis=0))
    if not used.size:
        return ONE
    return KernelPolynomial.of(of_rates(scales[used], *parts[:, used]), used.tolist())
