"""What kernels of the distance of rows have in common."""

from __future__ import annotations

import math
from numbers import Real

from pkex.kernels.factors import Radial, Term
from pkex.kernels.length_scales import over_features
from pkex.kernels.mixtures import Mixture

__all__ = ["checked_shape", "radial_term"]


def checked_shape(number: object, name: str, least: float, most: float) -> float:
    """Return a shape parameter if it is a number in the range."""
    if not isinstance(number, Real) or not least <= float(number) <= most:
        up_to = "" if most == math.inf else f" and at most {most:g}"
        instead = "" if most == math.inf else "; above, RBF is as good"
        raise ValueError(
            f"{name} must be a number, at least {least:g}{up_to}; got {number!r}{instead}"
        )
    return float(number)


def radial_term(
    kernel: object,
    mixture: Mixture,
    n_features: int,
    length_scale: float | tuple[float, ...],
) -> Term:
    """Return a function of the distance over all features.

    Raises
    ------
    ValueError
        If there is another number of length-scales than of features.
    """
    (scales,) = over_features(kernel, "rbf", n_features, length_scale=length_scale).factors
    return Term(1.0, (Radial("rbf", scales.columns, scales.parameters, mixture),))
