"""Adapters for scikit-learn's support vector machines and kernel ridge regression."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.errors import UnsupportedModelError
from pkex.expansion import KernelExpansion
from pkex.kernels import RBF, Kernel, Laplacian

_Float = NDArray[np.float64]


@register(SVR)
@register(NuSVR)
def adapt_regressor(model: SVR | NuSVR) -> AdaptedModel:
    """Read f(x) = Σ_i dual_coef_i k(x, sv_i) + intercept."""
    _check_fitted(model, "predict")
    return AdaptedModel(
        _single_output(model),
        explained="predict",
        predict=_without_names(model).predict,
        feature_names=_feature_names(model),
    )


@register(OneClassSVM)
def adapt_one_class(model: OneClassSVM) -> AdaptedModel:
    """Read the decision function, positive for inliers."""
    _check_fitted(model, "decision_function")
    return AdaptedModel(
        _single_output(model),
        explained="decision_function",
        predict=_without_names(model).decision_function,
        feature_names=_feature_names(model),
        not_explained="only the decision function is a sum over the support vectors, others are "
        "made from it, the prediction 1 or -1 by its sign",
    )


@register(SVC)
@register(NuSVC)
def adapt_classifier(model: SVC | NuSVC) -> AdaptedModel:
    """Read the decision function of two classes, or those of all pairs of several classes."""
    _check_fitted(model, "decision_function")
    own = _without_names(model)
    output_names = None
    if len(model.classes_) == 2:
        expansion = _single_output(model)
    else:
        # The values of the pairs are what the machine has learnt; the default "ovr" makes votes
        # and ranks of them, which are no kernel expansions.
        own.decision_function_shape = "ovo"
        expansion = _one_output_per_pair(model)
        # str() of the labels: NumPy's own repr would say np.str_('a').
        pairs = itertools.combinations(map(str, model.classes_), 2)
        output_names = tuple(f"{a} vs {b}" for a, b in pairs)
    return AdaptedModel(
        expansion,
        explained="decision_function",
        predict=own.decision_function,
        feature_names=_feature_names(model),
        output_names=output_names,
        not_explained="only the decision function is a sum over the support vectors, to which "
        "values of features can add up; class labels and probabilities are made from it",
    )


@register(KernelRidge)
def adapt_kernel_ridge(model: KernelRidge) -> AdaptedModel:
    """Read f(x) = Σ_i dual_coef_i k(x, x_i), for one or several targets."""
    _check_fitted(model, "predict")
    points = _dense(model.X_fit_)
    gamma = 1.0 / points.shape[1] if model.gamma is None else model.gamma
    return AdaptedModel(
        _expansion(
            model,
            points,
            model.dual_coef_,
            _kernel(model, {"rbf": _rbf, "laplacian": _laplacian}, gamma),
            0.0,
        ),
        explained="predict",
        predict=_without_names(model).predict,
        feature_names=_feature_names(model),
        kernel_rounding=_square_rounding(points, gamma) if model.kernel == "rbf" else 0.0,
    )


def _square_rounding(points: _Float, gamma: float) -> float:
    """Bound the relative error of exp(−γ‖x − y‖²) where the square is ‖x‖² − 2x·y + ‖y‖².

    That is how scikit-learn forms it (but not in its support vector machines); far from the origin
    the terms cancel.
    """
    largest = float(np.einsum("ij,ij->i", points, points).max(initial=0.0))
    return 32.0 * float(np.finfo(np.float64).eps) * gamma * largest


def _single_output(model: Any) -> KernelExpansion:
    return _expansion(
        model,
        _dense(model.support_vectors_),
        _dense(model.dual_coef_)[0],
        _kernel(model, {"rbf": _rbf}, model._gamma),
        float(model.intercept_[0]),
    )


def _one_output_per_pair(model: Any) -> KernelExpansion:
    """Take the coefficients of each pair of classes from libsvm's compact layout.

    Support vectors are sorted by class. A vector of class a takes part in the pairs of a with each
    other class; row r of dual_coef_ holds its coefficients for the r-th of these others, in order:
    for class b that is row b if b < a, and row b − 1 if b > a.
    """
    dual = _dense(model.dual_coef_)
    ends = np.cumsum(model.n_support_)
    of_class = [slice(end - size, end) for end, size in zip(ends, model.n_support_, strict=True)]
    pairs = list(itertools.combinations(range(len(of_class)), 2))
    coefficients = np.zeros((dual.shape[1], len(pairs)))
    for output, (a, b) in enumerate(pairs):
        coefficients[of_class[a], output] = dual[b - 1, of_class[a]]
        coefficients[of_class[b], output] = dual[a, of_class[b]]
    return _expansion(
        model,
        _dense(model.support_vectors_),
        coefficients,
        _kernel(model, {"rbf": _rbf}, model._gamma),
        model.intercept_,
    )


def _expansion(
    model: Any, points: _Float, coefficients: Any, kernel: Kernel, intercept: Any
) -> KernelExpansion:
    try:
        return KernelExpansion(points, coefficients, kernel, intercept)
    except ValueError as error:
        raise UnsupportedModelError(
            f"{type(model).__name__} has unusable fitted attributes: {error}"
        ) from error


def _kernel(model: Any, known: dict[str, Callable[[float], Kernel]], gamma: float) -> Kernel:
    name, kernel = type(model).__name__, model.kernel
    if not isinstance(kernel, str):
        raise unsupported(f"{name} with the kernel {getattr(kernel, '__name__', repr(kernel))}")
    if kernel not in known:
        raise unsupported(f"{name} with kernel {kernel!r}")
    try:
        return known[kernel](gamma)
    except (ValueError, ZeroDivisionError):
        raise unsupported(f"{name} with gamma={gamma!r}", ": it must be positive") from None


def _rbf(gamma: float) -> Kernel:
    # γ r² = (r/ℓ)² / 2; the factors are apart because 2γ could overflow.
    return RBF(length_scale=math.sqrt(0.5) / math.sqrt(gamma))


def _laplacian(gamma: float) -> Kernel:
    return Laplacian(length_scale=1.0 / gamma)


def _check_fitted(model: Any, explained: str) -> None:
    """Raise scikit-learn's NotFittedError, or refuse a model that redefines what is explained.

    A subclass that clips predictions, say, could agree with its parent on every row of the check
    that follows.
    """
    check_is_fitted(model)
    for owner in (model, *type(model).__mro__):
        if explained in vars(owner):
            break
    if owner is model or owner.__module__.partition(".")[0] != "sklearn":
        raise UnsupportedModelError(
            f"{type(model).__name__} replaces scikit-learn's {explained} by its own, and is not "
            "supported; register an adapter with pkex.adapters.register, or describe its function "
            "as a pkex.KernelExpansion"
        )


def _without_names(model: Any) -> Any:
    """Return a shallow copy that accepts plain arrays without a warning about feature names."""
    own = copy.copy(model)
    vars(own).pop("feature_names_in_", None)
    return own


def _feature_names(model: Any) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _dense(array: Any) -> _Float:
    """Return a float64 array of what may be a sparse matrix."""
    dense = array.toarray() if hasattr(array, "toarray") else array
    return np.asarray(dense, dtype=np.float64)
