"""Adapters for scikit-learn's support vector machines."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.fitted_attributes import expansion_of
from pkex.adapters.kernels import square_rounding
from pkex.adapters.registry import register, unsupported
from pkex.adapters.sklearn.estimators import (
    by_method,
    check_fitted,
    dense,
    feature_names,
    pair_names,
    without_names,
)
from pkex.adapters.sklearn.kernel_functions import (
    FEW,
    PAIRWISE,
    Options,
    called_kernel,
    default_gamma,
    named_kernel,
)
from pkex.errors import UnsupportedModelError
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import Kernel
from pkex.typing import Float


@register(SVR)
@register(NuSVR)
def adapt_regressor(model: SVR | NuSVR) -> AdaptedModel:
    """Read f(x) = Σ_i dual_coef_i k(x, sv_i) + intercept."""
    check_fitted(model)
    return by_method(model, _single_output(model), "predict", kernel_rounding=_rounding(model))


@register(OneClassSVM)
def adapt_one_class(model: OneClassSVM) -> AdaptedModel:
    """Read the decision function, positive for inliers."""
    check_fitted(model)
    return by_method(
        model,
        _single_output(model),
        "decision_function",
        kernel_rounding=_rounding(model),
        not_explained="only the decision function is a sum over the support vectors, others are "
        "made from it, the prediction 1 or -1 by its sign",
    )


@register(SVC)
@register(NuSVC)
def adapt_classifier(model: SVC | NuSVC) -> AdaptedModel:
    """Read the decision function of two classes, or those of all pairs of several classes."""
    check_fitted(model)
    _check_classes(model)
    own = without_names(model)
    no_method = ""
    if len(model.classes_) == 2:
        expansion = _single_output(model)
    else:
        # The values of the pairs are what the machine has learnt; the default "ovr" makes votes
        # and ranks of them, which are no kernel expansions.
        if model.decision_function_shape != "ovo":
            no_method = _VOTES
        # What is compared is the method of a copy that differs from the model in this option only:
        # of a model of shape "ovr" the support vectors, coefficients, kernel and intercepts are
        # covered, but not how it counts votes.
        own.decision_function_shape = "ovo"
        expansion = _one_output_per_pair(model)
    return AdaptedModel(
        expansion,
        method="decision_function",
        predict=own.decision_function,
        feature_names=feature_names(model),
        kernel_rounding=_rounding(model),
        output_names=pair_names(model.classes_),
        not_explained="only the decision function is a sum over the support vectors, to which "
        "values of features can add up; class labels are made from it",
        no_method=no_method,
        stand_in=own if no_method else None,
    )


def _check_classes(model: SVC | NuSVC) -> None:
    """Refuse a model that has a class of which libsvm knows nothing.

    libsvm drops rows of weight 0, and numbers the classes of the others; scikit-learn takes these
    numbers for places in `classes_`.
    """
    n_known, n_named = len(model.n_support_), len(model.classes_)
    if 0 < n_known != n_named:
        raise UnsupportedModelError(
            f"{type(model).__name__} with a class whose rows all have weight 0 is not supported: "
            f"classes_ has {n_named} classes, but only {n_known} were fitted, and scikit-learn "
            "confuses their outputs and labels. Fit it again without the rows of weight 0"
        )


_VOTES = (
    "of more than two classes it has votes and ranks, one for each class, unless "
    "decision_function_shape='ovo'. Pass the model itself, or its decision_function after "
    "set_params(decision_function_shape='ovo'): the values have one output for each pair of "
    "classes, named 'a vs b' and positive for a"
)


def _kernel_and_points(model: Any) -> tuple[Kernel, Float]:
    """Return the kernel and the support vectors."""
    if isinstance(model.kernel, str):
        options = Options(float(model._gamma), model.degree, float(model.coef0))
        return named_kernel(model, options, FEW), dense(model.support_vectors_)
    name, options, rows = _function(model)
    try:
        return PAIRWISE[name](options), rows[model.support_]
    except (ValueError, ZeroDivisionError) as error:
        raise unsupported(
            f"{type(model).__name__} with this {name}_kernel", f" ({error})"
        ) from None


# What `_compute_kernel` of scikit-learn's machines compares new rows with, of which those numbered
# support_ count, if their kernel is a function. Then support_vectors_ is empty.
_TRAINING_ROWS = "_BaseLibSVM__Xfit"


def _function(model: Any) -> tuple[str, Options, Float]:
    """Return a model's kernel function by name, its options, and the rows that it is called with.

    The gamma of the model itself has no part in it.
    """
    name, given = called_kernel(model)
    rows = vars(model).get(_TRAINING_ROWS)
    if rows is None:
        raise unsupported(
            f"{type(model).__name__} with the function of the kernel {name!r}",
            ": this version of scikit-learn does not keep the rows that it was fitted on",
        )
    rows = dense(rows)
    if given.get("gamma") is None:
        given = given | {"gamma": default_gamma(name, rows.shape[1])}
    return name, Options(**given), rows


def _rounding(model: Any) -> float:
    """Bound the relative error of the kernel's values: libsvm's own, or those of a function."""
    if isinstance(model.kernel, str):
        return 0.0
    name, options, rows = _function(model)
    return square_rounding(rows, options.gamma) if name == "rbf" else 0.0


def _check_attributes(model: Any, n_vectors: int) -> None:
    """Refuse a model whose public attributes are not those that scikit-learn predicts with."""
    counts = model._n_support
    # libsvm reads as many of them as there are classes, or two, whatever they are.
    n_counts = max(2, len(getattr(model, "classes_", ())))
    if getattr(counts, "dtype", None) != np.int32 or counts.shape != (n_counts,):
        raise UnsupportedModelError(
            f"{type(model).__name__}._n_support is not an array of {n_counts} numbers of vectors: "
            "it was changed after fitting; fit the model again"
        )
    sign = -1.0 if len(getattr(model, "classes_", ())) == 2 else 1.0
    for public in ("dual_coef_", "intercept_"):
        ours, own = dense(getattr(model, public)), dense(getattr(model, f"_{public}"))
        if not np.array_equal(ours, sign * own):
            raise UnsupportedModelError(
                f"{type(model).__name__}.{public} is not what scikit-learn predicts with, which is "
                f"{'minus ' if sign < 0.0 else ''}its _{public}: one of them was changed after "
                "fitting; fit the model again"
            )
    n_coefficients = model.dual_coef_.shape[1]
    sizes = {"support_vectors_": n_vectors}
    if hasattr(model, "classes_"):  # which it tells apart
        sizes["n_support_"] = int(np.sum(model.n_support_))
    for attribute, size in sizes.items():
        if size != n_coefficients:
            raise UnsupportedModelError(
                f"{type(model).__name__}.{attribute} is of {size} vectors, and dual_coef_ of "
                f"{n_coefficients}: one of them was changed after fitting; fit the model again"
            )


def _single_output(model: Any) -> KernelSum:
    kernel, points = _kernel_and_points(model)
    _check_attributes(model, len(points))
    coefficients, intercept = dense(model.dual_coef_)[0], float(model.intercept_[0])
    return expansion_of(model, points, coefficients, kernel, intercept)


def _one_output_per_pair(model: Any) -> KernelSum:
    """Take the coefficients of each pair of classes from libsvm's compact layout.

    Support vectors are sorted by class. A vector of class a takes part in the pairs of a with each
    other class; row r of dual_coef_ holds its coefficients for the r-th of these others, in order:
    for class b that is row b if b < a, and row b − 1 if b > a.
    """
    kernel, points = _kernel_and_points(model)
    _check_attributes(model, len(points))
    dual = dense(model.dual_coef_)
    ends = np.cumsum(model.n_support_)
    of_class = [slice(end - size, end) for end, size in zip(ends, model.n_support_, strict=True)]
    pairs = list(itertools.combinations(range(len(of_class)), 2))
    coefficients = np.zeros((dual.shape[1], len(pairs)))
    for output, (a, b) in enumerate(pairs):
        coefficients[of_class[a], output] = dual[b - 1, of_class[a]]
        coefficients[of_class[b], output] = dual[a, of_class[b]]
    return expansion_of(model, points, coefficients, kernel, model.intercept_)
