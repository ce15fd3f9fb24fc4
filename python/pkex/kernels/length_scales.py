"""Checks of length-scales and other parameters of kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from pkex.kernels.factors import Term
from pkex.kernels.family import Factor
from pkex.typing import Float

_P = ParamSpec("_P")


def reject_gamma(init: Callable[_P, None]) -> Callable[_P, None]:
    """Make a constructor raise an error for gamma that names the equivalent length-scale."""

    @wraps(init)
    def constructor(*args: _P.args, **options: _P.kwargs) -> None:
        if "gamma" in options:
            kernel = type(args[0])
            formula = getattr(kernel, "_gamma_formula", "")
            fix = f". Pass length_scale={formula}" if formula else ""
            raise TypeError(f"{kernel.__name__}() has a length_scale instead of gamma{fix}")
        init(*args, **options)

    return constructor


def checked_length_scale(length_scale: ArrayLike) -> float | tuple[float, ...]:
    """Return one length-scale, or one per feature, if they are positive and finite."""
    if hasattr(length_scale, "terms"):
        raise TypeError(
            f"length_scale must be numbers; got the kernel {length_scale!r}. Use it directly: "
            "median_heuristic returns a kernel, not a length-scale"
        )
    return checked_scale(length_scale, "length_scale")


def checked_scale(scale: ArrayLike, name: str) -> float | tuple[float, ...]:
    """Return one number, or one per feature, if these and their reciprocals are positive."""
    try:
        array = np.asarray(scale)
        if array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a number or one number for each feature; got {scale!r}"
        ) from None
    if array.ndim > 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a number or have shape (n_features,); "
            f"got an array of shape {array.shape}"
        )
    with np.errstate(divide="ignore", over="ignore"):
        is_usable = (array > 0.0) & np.isfinite(array) & np.isfinite(1.0 / array)
    if not is_usable.all():
        wrong = float(array[~is_usable][0])
        where = f" for feature {int(np.argmin(is_usable))}" if array.ndim else ""
        raise ValueError(
            f"{name} must be positive and finite, with a finite reciprocal; got {wrong!r}{where}. "
            "To ignore a feature, leave it out with kernel.on(columns)"
        )
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def for_features(
    kernel: object, n_features: int, name: str, scale: float | tuple[float, ...]
) -> Float:
    """Return a parameter of a kernel for each feature, given one number or one per feature.

    Raises
    ------
    ValueError
        If the number of values is not the number of features.
    """
    if isinstance(scale, tuple) and len(scale) != n_features:
        raise ValueError(
            f"{name} of {type(kernel).__name__} has {len(scale)} values; "
            f"expected {n_features}, one for each feature, or a single number for all"
        )
    return np.broadcast_to(np.asarray(scale, dtype=np.float64), n_features).copy()


def over_features(
    kernel: object, family: str, n_features: int, **scales: float | tuple[float, ...]
) -> Term:
    """Return the product of a family's factors over all features.

    Parameters
    ----------
    kernel : Kernel
        The kernel, for messages.
    family : str
    n_features : int
    **scales : float or tuple of float
        The family's parameters, one number or one per feature each.

    Raises
    ------
    ValueError
        If the number of values of a parameter is not the number of features.
    """
    parameters = np.empty((n_features, len(scales)))
    for place, (name, scale) in enumerate(scales.items()):
        parameters[:, place] = for_features(kernel, n_features, name, scale)
    columns = np.arange(n_features, dtype=np.int64)
    return Term(1.0, (Factor(family, columns, parameters),))
