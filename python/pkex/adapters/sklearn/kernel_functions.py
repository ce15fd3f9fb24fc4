"""scikit-learn's kernels by name, and the functions of `sklearn.metrics.pairwise`."""

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

from pkex.adapters.registry import unsupported_model
from pkex.errors import UnsupportedModelError
from pkex.kernels import RBF, Chi2, Kernel, Laplacian, Linear, Polynomial


def rbf(gamma: float) -> Kernel:
    """Return exp(−γ r²)."""
    # γ r² = (r/ℓ)² / 2, without 2γ, which could overflow.
    return RBF(length_scale=math.sqrt(0.5) / math.sqrt(gamma))


def laplacian(gamma: float) -> Kernel:
    """Return exp(−γ |r|)."""
    return Laplacian(length_scale=1.0 / gamma)


@dataclass(frozen=True)
class Options:
    """The parameters of a kernel, with scikit-learn's defaults."""

    gamma: float
    degree: float = 3
    coef0: float = 1.0


def polynomial(options: Options) -> Kernel:
    """Return (γ x·y + c₀)^degree."""
    if options.degree < 1 or options.degree != int(options.degree):
        raise ValueError(f"degree={options.degree!r}: it must be a positive integer")
    return Polynomial(int(options.degree), options.gamma, options.coef0)


# By the names in scikit-learn's pairwise_kernels.
PAIRWISE: dict[str, Callable[[Options], Kernel]] = {
    "rbf": lambda options: rbf(options.gamma),
    "laplacian": lambda options: laplacian(options.gamma),
    "chi2": lambda options: Chi2(options.gamma),
    "linear": lambda options: Linear(),
    "poly": polynomial,
    "polynomial": polynomial,
}
# The kernels of support vector machines and kernel principal components.
MACHINE_KERNELS = ("rbf", "poly", "linear")
_FUNCTIONS = {
    "rbf": rbf_kernel,
    "laplacian": laplacian_kernel,
    "chi2": chi2_kernel,
    "linear": linear_kernel,
    "polynomial": polynomial_kernel,
}
# Options of these functions in a functools.partial; gamma for the others.
_OPTIONS = {"linear": set[str](), "polynomial": {"gamma", "degree", "coef0"}}


def kernel_by_name(model: Any, options: Options, names: Iterable[str] = tuple(PAIRWISE)) -> Kernel:
    """Return the kernel that a model names, if the name is among `names`."""
    name, kernel = type(model).__name__, model.kernel
    if not isinstance(kernel, str):
        raise unsupported_function(model)
    if kernel not in names:
        raise unsupported_model(
            f"{name} with kernel {kernel!r}", _alternative(kernel, tuple(names))
        )
    if kernel != "linear" and not 0.0 < options.gamma < math.inf:
        raise unsupported_model(f"{name} with gamma={options.gamma!r}", ": it must be positive")
    try:
        return PAIRWISE[kernel](options)
    except (ValueError, ZeroDivisionError) as error:
        raise unsupported_model(f"{name} with kernel {kernel!r}", f" ({error})") from None


def default_gamma(kernel: str, n_features: int) -> float:
    """Return the default gamma of scikit-learn's function."""
    return 1.0 if kernel == "chi2" else 1.0 / n_features


def kernel_function(model: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a model's kernel function, and the options in its functools.partial.

    Raises
    ------
    UnsupportedModelError
        If it is not a function of scikit-learn.
    """
    function: Any = model.kernel
    options: dict[str, Any] = {}
    if isinstance(function, functools.partial) and not function.args:
        function, options = function.func, function.keywords
    for name, library_function in _FUNCTIONS.items():
        if function is library_function and options.keys() <= _OPTIONS.get(name, {"gamma"}):
            return name, options
    raise unsupported_function(model)


def unsupported_function(model: Any) -> UnsupportedModelError:
    """Return the error that a model's kernel is an unsupported function."""
    function = model.kernel
    is_partial = isinstance(function, functools.partial)
    inner = function.func if is_partial else function
    text = getattr(inner, "__name__", repr(inner))
    if is_partial:
        text = f"{text} with {', '.join(function.keywords) or 'arguments'}"
    return unsupported_model(
        f"{type(model).__name__} with the kernel {text}",
        ": if the function is a sum or product of kernels in pkex.kernels, describe the model as a "
        "pkex.KernelExpansion of its points and coefficients",
    )


def _alternative(kernel: str, names: tuple[str, ...]) -> str:
    """Return an alternative for a model with another kernel."""
    if kernel == "precomputed":
        return ": the model has not seen features; fit it on rows of features, with kernel='rbf'"
    *alternatives, last = map(repr, names)
    reason = f"{_NO_PRODUCTS[kernel]}; " if kernel in _NO_PRODUCTS else ""
    return f": {reason}fit it with kernel {', '.join(alternatives)} or {last}, or use {APPROXIMATE}"


_NO_PRODUCTS = {
    "cosine": "it divides by the lengths of rows, and is not a sum of products over features",
    "sigmoid": "it is the tanh of a dot product, and not a sum of products over features",
}
# Explains any model, though not exactly.
APPROXIMATE = "shap.KernelExplainer, whose values are approximate, for this model"
