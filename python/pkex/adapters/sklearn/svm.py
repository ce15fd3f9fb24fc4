"""Adapters for scikit-learn's support vector machines."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import square_rounding
from pkex.adapters.registry import unsupported_model
from pkex.adapters.sklearn.estimators import (
    ONLY_DECISIONS,
    dense,
    describe_method,
    feature_names,
    pair_names,
    register_estimators,
    stored_rows,
    without_names,
)
from pkex.adapters.sklearn.kernel_functions import (
    MACHINE_KERNELS,
    PAIRWISE,
    Options,
    default_gamma,
    kernel_by_name,
    kernel_function,
)
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.sparse_kernel_sum import collapsed, kernel_sum
from pkex.kernels import Kernel
from pkex.typing import Rows


@register_estimators(SVR, NuSVR)
def adapt_regressor(model: SVR | NuSVR) -> AdaptedModel:
    """Read f(x) = Σ_i dual_coef_i k(x, sv_i) + intercept."""
    return describe_method(
        model, _single_output(model), "predict", kernel_rounding=_rounding(model)
    )


@register_estimators(OneClassSVM)
def adapt_one_class(model: OneClassSVM) -> AdaptedModel:
    """Read the decision function, positive for inliers."""
    return describe_method(
        model,
        _single_output(model),
        "decision_function",
        kernel_rounding=_rounding(model),
        not_explained="only the decision function is a sum to which Shapley values can add up; the "
        "prediction 1 or -1 is its sign",
    )


@register_estimators(SVC, NuSVC)
def adapt_classifier(model: SVC | NuSVC) -> AdaptedModel:
    """Read the decision function of two classes, or the values of all pairs of more classes."""
    _check_classes(model)
    model_copy, is_binary = without_names(model), len(model.classes_) == 2
    # The machine has learned the values of pairs. The default "ovr" turns them into votes and
    # ranks, which are not kernel expansions. A copy that differs in this option only is compared,
    # which covers everything except the votes.
    is_voting = not is_binary and model.decision_function_shape != "ovo"
    if not is_binary:
        model_copy.decision_function_shape = "ovo"
    expansion = _single_output(model) if is_binary else _one_output_per_pair(model)
    return AdaptedModel(
        expansion,
        method="decision_function",
        feature_names=feature_names(model),
        kernel_rounding=_rounding(model),
        predict=model_copy.decision_function,
        output_names=pair_names(model.classes_),
        not_explained=ONLY_DECISIONS,
        no_method=_VOTES if is_voting else "",
        stand_in=model_copy if is_voting else None,
    )


def _check_classes(model: SVC | NuSVC) -> None:
    """Raise an error if libsvm was fitted on fewer classes than `classes_` has.

    libsvm drops rows of weight 0, and numbers the classes of the other rows. scikit-learn takes
    these numbers for places in `classes_`.
    """
    n_fitted, n_classes = len(model.n_support_), len(model.classes_)
    if 0 < n_fitted != n_classes:
        raise UnsupportedModelError(
            f"{type(model).__name__} with a class whose rows all have weight 0 is not supported: "
            f"classes_ has {n_classes} classes, but only {n_fitted} were fitted, so that "
            "scikit-learn confuses their outputs and class labels. Fit it again without the rows "
            "of weight 0"
        )


_VOTES = (
    "for more than two classes it returns votes and ranks, one per class, unless "
    "decision_function_shape='ovo'. Pass the model itself, or its decision_function after "
    "set_params(decision_function_shape='ovo'), to have one output for each pair of classes, named "
    "'a vs b' and positive for a"
)


def _kernel_and_points(model: Any) -> tuple[Kernel, Rows]:
    """Return the kernel and the support vectors."""
    if isinstance(model.kernel, str):
        options = Options(float(model._gamma), model.degree, float(model.coef0))
        return kernel_by_name(model, options, MACHINE_KERNELS), stored_rows(model.support_vectors_)
    if isinstance(model.kernel, Kernel):
        rows = _training_rows(model, repr(model.kernel))
        return model.kernel, rows[model.support_]
    name, options, rows = _called_kernel(model)
    try:
        return PAIRWISE[name](options), rows[model.support_]
    except (ValueError, ZeroDivisionError) as error:
        raise unsupported_model(
            f"{type(model).__name__} with this {name}_kernel", f" ({error})"
        ) from None


# Rows that scikit-learn's machines call the kernel with, if it is a function. Rows with the numbers
# support_ count; support_vectors_ is empty.
_TRAINING_ROWS = "_BaseLibSVM__Xfit"


def _training_rows(model: Any, kernel: str) -> Rows:
    """Return the rows that a model's kernel function is called with."""
    rows = vars(model).get(_TRAINING_ROWS)
    if rows is None:
        raise unsupported_model(
            f"{type(model).__name__} with the kernel function {kernel}",
            ": this version of scikit-learn does not keep the training rows. Fit it with the name "
            "of a kernel, or describe it as a pkex.KernelExpansion",
        )
    return stored_rows(rows)


def _called_kernel(model: Any) -> tuple[str, Options, Rows]:
    """Return the name of a model's kernel function, its options, and the rows it is called with.

    The function does not use the model's own gamma.
    """
    name, options = kernel_function(model)
    rows = _training_rows(model, repr(name))
    if options.get("gamma") is None:
        options = options | {"gamma": default_gamma(name, rows.shape[1])}
    return name, Options(**options), rows


def _rounding(model: Any) -> float:
    """Bound the relative error of kernel values, by libsvm or by a kernel function."""
    if isinstance(model.kernel, str | Kernel):
        return 0.0
    name, options, rows = _called_kernel(model)
    return square_rounding(rows, options.gamma) if name == "rbf" else 0.0


def _check_attributes(model: Any, n_vectors: int) -> None:
    """Raise an error if public attributes differ from those that scikit-learn predicts with."""
    n_support = model._n_support
    # libsvm reads one for each class, at least two, without a check.
    n_classes = max(2, len(getattr(model, "classes_", ())))
    if getattr(n_support, "dtype", None) != np.int32 or n_support.shape != (n_classes,):
        raise UnsupportedModelError(
            f"{type(model).__name__}._n_support is not an array of {n_classes} numbers of vectors: "
            "it was changed after fitting. Fit the model again"
        )
    sign = -1.0 if len(getattr(model, "classes_", ())) == 2 else 1.0
    for attribute in ("dual_coef_", "intercept_"):
        values = dense(getattr(model, attribute))
        private_values = dense(getattr(model, f"_{attribute}"))
        if not np.array_equal(values, sign * private_values):
            raise UnsupportedModelError(
                f"{type(model).__name__}.{attribute} is not {'minus ' if sign < 0.0 else ''}its "
                f"_{attribute}, with which scikit-learn predicts: one of them was changed after "
                "fitting. Fit the model again"
            )
    n_coefficients = model.dual_coef_.shape[1]
    sizes = {"support_vectors_": n_vectors}
    if hasattr(model, "classes_"):
        sizes["n_support_"] = int(np.sum(model.n_support_))
    for attribute, size in sizes.items():
        if size != n_coefficients:
            raise UnsupportedModelError(
                f"{type(model).__name__}.{attribute} has {size} vectors, and dual_coef_ has "
                f"{n_coefficients}: one of them was changed after fitting. Fit the model again"
            )


def _single_output(model: Any) -> Function:
    kernel, points = _kernel_and_points(model)
    _check_attributes(model, points.shape[0])
    coefficients, intercept = dense(model.dual_coef_)[0], float(model.intercept_[0])
    return collapsed(kernel_sum(points, coefficients, kernel, intercept))


def _one_output_per_pair(model: Any) -> Function:
    """Read the coefficients of each pair of classes from libsvm's compact layout.

    Support vectors are sorted by class. A vector of class a takes part in the pairs of a with each
    other class. Row r of dual_coef_ has its coefficients for the r-th of the other classes: row b
    for a class b < a, and row b − 1 for b > a.
    """
    kernel, points = _kernel_and_points(model)
    _check_attributes(model, points.shape[0])
    dual = dense(model.dual_coef_)
    ends = np.cumsum(model.n_support_)
    class_rows = [slice(end - size, end) for end, size in zip(ends, model.n_support_, strict=True)]
    pairs = list(itertools.combinations(range(len(class_rows)), 2))
    coefficients = np.zeros((dual.shape[1], len(pairs)))
    for output, (a, b) in enumerate(pairs):
        coefficients[class_rows[a], output] = dual[b - 1, class_rows[a]]
        coefficients[class_rows[b], output] = dual[a, class_rows[b]]
    return collapsed(kernel_sum(points, coefficients, kernel, model.intercept_))
