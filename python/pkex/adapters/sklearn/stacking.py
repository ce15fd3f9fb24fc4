"""Adapters for scikit-learn's stackings: a linear model of the outputs of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import StackingClassifier, StackingRegressor

from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.sklearn.description import class_names
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.linear import LINEAR_MODELS, linear_function, linear_method
from pkex.adapters.sklearn.made_of import made_of, parts_of
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.linear import LinearFunction
from pkex.functions.stack import Stack


@register(StackingRegressor)
@register(StackingClassifier)
def adapt_stacking(model: Any) -> AdaptedModel:
    """Read the linear combination that the final estimator makes of the others' outputs."""
    check_fitted(model)
    name, final = type(model).__name__, model.final_estimator_
    if not isinstance(final, LINEAR_MODELS):
        raise unsupported(
            f"{name} with the final estimator {type(final).__name__}",
            ": what it makes of the outputs of others is no sum of these, unless it is a linear "
            "model; fit it with such a one, as RidgeCV, the default of StackingRegressor",
        )
    n_classes = len(getattr(model, "classes_", ()))
    if n_classes > 2:
        raise unsupported(
            f"{name} of {n_classes} classes",
            ": each of its estimators has several outputs then, and one of each is read; fit a "
            "OneVsRestClassifier of it, which is explained with one output for each class",
        )
    method = linear_method(final)
    if any(name != method for name in model.stack_method_):
        raise unsupported(
            f"{name} with stack_method={model.stack_method!r}",
            ": it combines the probabilities or labels of its estimators, which is not supported; "
            "fit it with stack_method='decision_function'",
        )
    parts = parts_of(model, model.estimators_, method)
    for part, estimator in zip(parts, model.estimators_, strict=True):
        if part.function.has_output_axis:
            raise unsupported(f"{name} of {type(estimator).__name__} with several outputs")
    last = linear_function(final)
    n_columns = len(parts) + (model.n_features_in_ if model.passthrough else 0)
    if last.n_features != n_columns:
        raise UnsupportedModelError(
            f"{name} gives its final estimator {n_columns} columns, which was fitted on "
            f"{last.n_features}: one of its attributes was changed after fitting; fit it again"
        )
    adapted = made_of(model, parts, _combined(model, parts, last), method)
    is_classifier = isinstance(model, StackingClassifier)
    names = class_names(model.classes_, last) if is_classifier else None
    return replace(adapted, output_names=names)


def _combined(model: Any, parts: Sequence[AdaptedModel], final: LinearFunction) -> Function:
    """Return the final estimator's function of the parts, and of the columns if they are passed."""
    functions = [part.function for part in parts]
    coefficients = final.coefficients.reshape(final.n_features, -1)
    outputs = []
    for weights, intercept in zip(coefficients.T, np.ravel(final.intercept), strict=True):
        combined, of_parts = functions, weights[: len(parts)]
        if model.passthrough:
            combined = [*functions, LinearFunction(weights[len(parts) :])]
            of_parts = np.append(of_parts, 1.0)
        outputs.append(Combination(combined, of_parts, intercept))
    return Stack(outputs) if final.has_output_axis else outputs[0]
