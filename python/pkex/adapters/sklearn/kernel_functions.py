"""scikit-learn's kernels by name, and the functions of `sklearn.metrics.pairwise` behind them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.metrics.pairwise import (
    chi2_kernel,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

from pkex.adapters.registry import unsupported
from pkex.errors import UnsupportedModelError
from pkex.kernels import RBF, Chi2, Kernel, Laplacian, Linear, Polynomial


def rbf(gamma: float) -> Kernel:
    """Return exp(−γ r²)."""
    # γ r² = (r/ℓ)² / 2; the factors are apart because 2γ could overflow.
    return RBF(length_scale=math.sqrt(0.5) / math.sqrt(gamma))


def laplacian(gamma: float) -> Kernel:
    """Return exp(−γ |r|)."""
    return Laplacian(length_scale=1.0 / gamma)


@dataclass(frozen=True)
class Options:
    """The parameters of a kernel that scikit-learn has a name for, with its defaults."""

    gamma: float
    degree: float = 3
    coef0: float = 1.0


def polynomial(options: Options) -> Kernel:
    """Return (γ x·y + c₀)^degree."""
    if options.degree < 1 or options.degree != int(options.degree):
        raise ValueError(f"degree={options.degree!r}: it must be a positive integer")
    return Polynomial(int(options.degree), options.gamma, options.coef0)


# By the names that scikit-learn has for them in pairwise_kernels.
PAIRWISE: dict[str, Callable[[Options], Kernel]] = {
    "rbf": lambda options: rbf(options.gamma),
    "laplacian": lambda options: laplacian(options.gamma),
    "chi2": lambda options: Chi2(options.gamma),
    "linear": lambda options: Linear(),
    "poly": polynomial,
    "polynomial": polynomial,
}
# Those of support vector machines and kernel principal components.
FEW = ("rbf", "poly", "linear")
_FUNCTIONS = {
    "rbf": rbf_kernel,
    "laplacian": laplacian_kernel,
    "chi2": chi2_kernel,
    "linear": linear_kernel,
    "polynomial": polynomial_kernel,
}
# What partials of these functions may be given.
_TAKEN = {"linear": set[str](), "polynomial": {"gamma", "degree", "coef0"}}


def named_kernel(model: Any, options: Options, known: Iterable[str] = tuple(PAIRWISE)) -> Kernel:
    """Return the kernel that a model names, one of the known ones, with its options."""
    name, kernel = type(model).__name__, model.kernel
    if not isinstance(kernel, str):
        raise refused_function(model)
    if kernel not in known:
        raise unsupported(f"{name} with kernel {kernel!r}", _instead(kernel, tuple(known)))
    if kernel != "linear" and not 0.0 < options.gamma < math.inf:
        raise unsupported(f"{name} with gamma={options.gamma!r}", ": it must be positive")
    try:
        return PAIRWISE[kernel](options)
    except (ValueError, ZeroDivisionError) as error:
        raise unsupported(f"{name} with kernel {kernel!r}", f" ({error})") from None


def default_gamma(kernel: str, n_features: int) -> float:
    """Return the gamma that scikit-learn's function has where none is given."""
    return 1.0 if kernel == "chi2" else 1.0 / n_features


def called_kernel(model: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of the kernel function that a model was given, and what options it is given.

    It is one of scikit-learn's own, alone or in a functools.partial with options.

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
        if function is own and options.keys() <= _TAKEN.get(name, {"gamma"}):
            return name, options
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
    if kernel == "precomputed":
        return ": it knows no features; fit it on rows of these, with kernel='rbf'"
    *names, last = map(repr, known)
    why = f"{_NO_PRODUCTS[kernel]}; " if kernel in _NO_PRODUCTS else ""
    return f": {why}fit it with kernel {', '.join(names)} or {last}, or take {APPROXIMATE}"


_NO_PRODUCTS = {
    "cosine": "it divides by the lengths of rows, and is no sum of products over the features",
    "sigmoid": "it is the tanh of a dot product, and no sum of products over the features",
}
# What explains any model, if not exactly.
APPROXIMATE = "shap.KernelExplainer, whose values are approximate, for this one"
