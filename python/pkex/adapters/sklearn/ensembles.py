"""Adapters of scikit-learn's ensembles: bagging, voting and stacking."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingRegressor,
)

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import unsupported_model
from pkex.adapters.sklearn.estimators import class_names, pair_names, register_estimators
from pkex.adapters.sklearn.linear import LINEAR_MODELS, linear_function, linear_method
from pkex.adapters.sklearn.meta_estimators import adapt_parts, describe_composite
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.column_maps import Selection
from pkex.functions.composite import Combination, Stack
from pkex.functions.linear import LinearFunction
from pkex.functions.transformed import Transformed


@register_estimators(BaggingRegressor)
def adapt_bagging(model: BaggingRegressor) -> AdaptedModel:
    """Read the average of regressors, which may each see only some of the columns."""
    return _average(model, adapt_parts(model, model.estimators_, "predict"), "predict")


@register_estimators(BaggingClassifier)
def adapt_bagging_of_classifiers(model: BaggingClassifier) -> AdaptedModel:
    """Read the average of decision functions."""
    parts = adapt_parts(model, model.estimators_, "decision_function")
    names = _label_names(model, parts)
    return replace(
        _average(model, parts, "decision_function"),
        output_names=names,
        not_explained="only the decision function is the average of those of its estimators, to "
        "which Shapley values can add up; its class labels and probabilities come from votes or "
        "probabilities of its estimators, and are not supported",
    )


def _average(model: Any, parts: Sequence[AdaptedModel], method: str) -> AdaptedModel:
    functions = [
        Transformed(Selection(model.n_features_in_, columns), part.function)
        for part, columns in zip(parts, model.estimators_features_, strict=True)
    ]
    weights = np.full(len(parts), 1.0 / len(parts))
    average = Combination(functions, weights)
    return describe_composite(model, parts, average, method, of_columns=True)


def _label_names(model: BaggingClassifier, parts: Sequence[AdaptedModel]) -> tuple[str, ...]:
    """Return the names of outputs by class labels, which the estimators number."""
    numbers = range(len(model.classes_))
    names_of_numbers = {
        pair_names(numbers): pair_names(model.classes_),
        tuple(map(str, numbers)): tuple(map(str, model.classes_)),
    }
    part_names = {part.output_names for part in parts}
    names = names_of_numbers.get(parts[0].output_names or ())
    if names is None or len(part_names) > 1:
        raise unsupported_model(
            "BaggingClassifier of estimators with different classes",
            ": some of the samples that they were fitted on lack a class. Fit it with more rows in "
            "each sample (max_samples)",
        )
    return names


@register_estimators(VotingRegressor)
def adapt_voting(model: VotingRegressor) -> AdaptedModel:
    """Read the weighted average of regressors."""
    parts = adapt_parts(model, model.estimators_, "predict")
    weights = np.ones(len(parts))
    if model.weights is not None:
        is_present = [not isinstance(estimator, str) for _, estimator in model.estimators]
        weights = np.array(list(itertools.compress(model.weights, is_present)), dtype=np.float64)
    functions = [part.function for part in parts]
    return describe_composite(
        model, parts, Combination(functions, weights / weights.sum()), "predict"
    )


@register_estimators(StackingRegressor, StackingClassifier)
def adapt_stacking(model: Any) -> AdaptedModel:
    """Read the final estimator's linear combination of the outputs of the other estimators."""
    name, final = type(model).__name__, model.final_estimator_
    if not isinstance(final, LINEAR_MODELS):
        raise unsupported_model(
            f"{name} with the final estimator {type(final).__name__}",
            ": only a linear model returns a sum of the outputs of the other estimators. Fit it "
            "with a linear model such as RidgeCV, the default of StackingRegressor",
        )
    n_classes = len(getattr(model, "classes_", ()))
    if n_classes > 2:
        raise unsupported_model(
            f"{name} of {n_classes} classes",
            ": each of its estimators has several outputs, and pkex reads estimators with one "
            "output. Fit a OneVsRestClassifier of it, which has one output per class",
        )
    method = linear_method(final)
    if any(name != method for name in model.stack_method_):
        raise unsupported_model(
            f"{name} with stack_method={model.stack_method!r}",
            ": it combines probabilities or class labels of its estimators. Fit it with "
            "stack_method='decision_function'",
        )
    parts = adapt_parts(model, model.estimators_, method)
    for part, estimator in zip(parts, model.estimators_, strict=True):
        if part.function.has_output_axis:
            raise unsupported_model(f"{name} of {type(estimator).__name__} with several outputs")
    final_function = linear_function(final)
    n_columns = len(parts) + (model.n_features_in_ if model.passthrough else 0)
    if final_function.n_features != n_columns:
        raise UnsupportedModelError(
            f"{name} gives {n_columns} columns to its final estimator, which was fitted on "
            f"{final_function.n_features}: one of its attributes was changed after fitting. Fit it "
            "again"
        )
    function = _combine_outputs(model, parts, final_function)
    adapted = describe_composite(model, parts, function, method)
    is_classifier = isinstance(model, StackingClassifier)
    names = class_names(model.classes_, final_function) if is_classifier else None
    return replace(adapted, output_names=names)


def _combine_outputs(model: Any, parts: Sequence[AdaptedModel], final: LinearFunction) -> Function:
    """Return the final estimator's function of the parts, and of the columns with passthrough."""
    functions = [part.function for part in parts]
    coefficients = final.coefficients.reshape(final.n_features, -1)
    outputs = []
    for weights, intercept in zip(coefficients.T, np.ravel(final.intercept), strict=True):
        terms, part_weights = functions, weights[: len(parts)]
        if model.passthrough:
            terms = [*functions, LinearFunction(weights[len(parts) :])]
            part_weights = np.append(part_weights, 1.0)
        outputs.append(Combination(terms, part_weights, intercept))
    return Stack(outputs) if final.has_output_axis else outputs[0]
