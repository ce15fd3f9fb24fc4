"""The periodic kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pkex.kernels.base import Kernel
from pkex.kernels.factors import Term
from pkex.kernels.family import Family, add_family
from pkex.kernels.length_scales import (
    checked_length_scale,
    checked_scale,
    converting_gamma,
    over_features,
)
from pkex.typing import Float

__all__ = ["Periodic"]


def _periodic(x: Float, y: Float, scale: float, period: float) -> Float:
    # Remainders are exact, and their difference does not overflow.
    r = np.fmod(x, period) - np.fmod(y, period)
    sine = np.sin(np.pi * (np.fmod(r, period) / period))
    factors: Float = np.exp(-2.0 * (sine / scale) ** 2)
    return factors


_FAMILY = add_family(Family("periodic", _periodic, is_of_distance=False))
_PERIODS = (1e-290, 1e290)


@dataclass(frozen=True, init=False)
class Periodic(Kernel):
    """Periodic kernel: ∏_j exp(−2 sin²(π (x_j − y_j) / p_j) / ℓ_j²).

    It is that of MacKay [1]_. With one feature it is scikit-learn's ``ExpSineSquared``, whose
    ``periodicity`` is p; with several that is another function, of the distance of whole rows. For
    a long period it is nearly RBF(ℓ p / 2π).

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default 1.0
        ℓ, one for all features or one for each: it has no unit, but is relative to the period.
    period : float or array-like of shape (d,), default 1.0
        p, one for all features or one for each, from 1e-290 to 1e290.

    Raises
    ------
    ValueError
        If a length-scale or period is not positive and finite.

    References
    ----------
    .. [1] MacKay, D. J. C. (1998). Introduction to Gaussian processes. In Neural Networks and
       Machine Learning, Springer, 133-165. Equation 47.

    Examples
    --------
    >>> Periodic(period=24.0)([[1.0]], [[25.0], [7.0], [13.0]])
    array([[1.        , 0.36787944, 0.13533528]])
    >>> Periodic(period=24.0).on([0]) * RBF().on([1])
    Periodic(length_scale=1.0, period=24.0).on((0,)) * RBF(length_scale=1.0).on((1,))
    """

    length_scale: float | tuple[float, ...] = 1.0
    period: float | tuple[float, ...] = 1.0

    @converting_gamma
    def __init__(self, length_scale: ArrayLike = 1.0, period: ArrayLike = 1.0) -> None:
        object.__setattr__(self, "length_scale", checked_length_scale(length_scale))
        checked = checked_scale(period, "period")
        periods = np.asarray(checked)
        if not ((periods >= _PERIODS[0]) & (periods <= _PERIODS[1])).all():
            raise ValueError(f"period must be from 1e-290 to 1e290; got {period!r}")
        object.__setattr__(self, "period", checked)

    def terms(self, n_features: int) -> list[Term]:
        """Return the product over all features."""
        scales = {"length_scale": self.length_scale, "period": self.period}
        return [over_features(self, _FAMILY, n_features, **scales)]
