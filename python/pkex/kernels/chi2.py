"""The χ² kernel of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Family, add_family
from pkex.kernels.length_scales import over_features
from pkex.typing import Float

__all__ = ["Chi2"]


def _chi2(x: Float, y: Float, gamma: float) -> Float:
    # Halves, whose sum does not overflow; entries that are both 0 are alike.
    half = 0.5 * x + 0.5 * y
    ratio = np.divide(0.5 * (x - y), half, out=np.zeros_like(half), where=half > 0.0)
    return np.exp(-(gamma * (x - y)) * ratio)


_FAMILY = add_family(Family("chi2", _chi2, is_of_distance=False, takes_negative=False))


@dataclass(frozen=True, init=False)
class Chi2(Kernel):
    """χ² kernel of counts and histograms: ∏_j exp(−γ (x_j − y_j)² / (x_j + y_j)).

    Where both entries are 0 the factor is 1. Entries must not be negative.

    Parameters
    ----------
    gamma : float, default 1.0
        γ, as of scikit-learn's ``chi2_kernel``.

    Raises
    ------
    ValueError
        If `gamma` is not positive and finite.

    Examples
    --------
    >>> Chi2(gamma=0.5)([[0.0, 3.0]], [[0.0, 1.0]])
    array([[0.60653066]])
    """

    gamma: float = 1.0

    def __init__(self, gamma: float = 1.0) -> None:
        given: object = gamma
        if not isinstance(given, Real) or not 0.0 < float(given) < math.inf:
            raise ValueError(f"gamma must be a positive and finite number; got {given!r}")
        object.__setattr__(self, "gamma", float(given))

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        return [over_features(self, _FAMILY, n_features, gamma=self.gamma)]
