"""scikit-learn's kernels by name, and the functions of `sklearn.metrics.pairwise` behind them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel

from pkex.adapters.registry import unsupported
from pkex.errors import UnsupportedModelError
from pkex.kernels import RBF, Chi2, Kernel, Laplacian
from pkex.typing import Float


def rbf(gamma: float) -> Kernel:
    """Return exp(−γ r²)."""
    # γ r² = (r/ℓ)² / 2; the factors are apart because 2γ could overflow.
    return RBF(length_scale=math.sqrt(0.5) / math.sqrt(gamma))


def laplacian(gamma: float) -> Kernel:
    """Return exp(−γ |r|)."""
    return Laplacian(length_scale=1.0 / gamma)


# By the names that scikit-learn has for them in pairwise_kernels.
PAIRWISE: dict[str, Callable[[float], Kernel]] = {"rbf": rbf, "laplacian": laplacian, "chi2": Chi2}
_FUNCTIONS = {"rbf": rbf_kernel, "laplacian": laplacian_kernel, "chi2": chi2_kernel}


def named_kernel(model: Any, known: dict[str, Callable[[float], Kernel]], gamma: float) -> Kernel:
    """Return the kernel that a model names, one of the known ones, with its `gamma`."""
    name, kernel = type(model).__name__, model.kernel
    if not isinstance(kernel, str):
        raise refused_function(model)
    if kernel not in known:
        raise unsupported(f"{name} with kernel {kernel!r}", _instead(kernel, tuple(known)))
    try:
        return known[kernel](gamma)
    except (ValueError, ZeroDivisionError):
        raise unsupported(f"{name} with gamma={gamma!r}", ": it must be positive") from None


def default_gamma(kernel: str, n_features: int) -> float:
    """Return the gamma that scikit-learn's function has where none is given."""
    return 1.0 if kernel == "chi2" else 1.0 / n_features


def called_kernel(model: Any) -> tuple[str, float | None]:
    """Return the name of the kernel function that a model was given, and its gamma if it has one.

    It is one of scikit-learn's own, alone or in a functools.partial with a gamma.

    Raises
    ------
    UnsupportedModelError
        If it is another.
    """
    function: Any = model.kernel
    options: dict[str, Any] = {}
    if isinstance(function, functools.partial) and not function.args:
        function, options = function.func, function.keywords
    for name, own in _FUNCTIONS.items():
        if function is own and options.keys() <= {"gamma"}:
            return name, options.get("gamma")
    raise refused_function(model)


def refused_function(model: Any) -> UnsupportedModelError:
    """Return the error that a model's kernel is a function of which nothing is known."""
    function = model.kernel
    is_partial = isinstance(function, functools.partial)
    named = function.func if is_partial else function
    shown = getattr(named, "__name__", repr(named))
    if is_partial:
        shown = f"{shown} with {', '.join(function.keywords) or 'arguments'}"
    return unsupported(
        f"{type(model).__name__} with the kernel {shown}",
        ": nothing is known of that function. If it is a sum or product of those in pkex.kernels, "
        "describe the model as a pkex.KernelExpansion of its points and coefficients",
    )


def _instead(kernel: str, known: tuple[str, ...]) -> str:
    """Return what to do today about a model with another kernel."""
    if kernel == "linear":
        return (
            ": a linear function needs no kernel methods, the value of a feature is its weight "
            "times its deviation from the background's mean (shap.LinearExplainer)"
        )
    if kernel == "precomputed":
        return ": it knows no features; fit it on rows of these, with kernel='rbf'"
    names = " or ".join(map(repr, known))
    return f": fit it with kernel {names}, or take {APPROXIMATE}"


# What explains any model, if not exactly.
APPROXIMATE = "shap.KernelExplainer, whose values are approximate, for this one"


def square_rounding(points: Float, gamma: float) -> float:
    """Bound the relative error of exp(−γ‖x − y‖²) where the square is ‖x‖² − 2x·y + ‖y‖².

    That is how scikit-learn forms it (but not in its support vector machines); far from the origin
    the terms cancel.
    """
    largest = float(np.einsum("ij,ij->i", points, points).max(initial=0.0))
    return 32.0 * float(np.finfo(np.float64).eps) * gamma * largest
