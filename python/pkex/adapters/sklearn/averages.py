"""Adapters for scikit-learn's averages of models: bagging and voting."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, VotingRegressor

from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.sklearn.description import pair_names
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.made_of import made_of, parts_of
from pkex.functions.column_maps import Selection
from pkex.functions.combination import Combination
from pkex.functions.transformed import Transformed


@register(BaggingRegressor)
def adapt_bagging(model: BaggingRegressor) -> AdaptedModel:
    """Read the average of regressors, each of which may know some of the columns only."""
    check_fitted(model)
    return _average(model, parts_of(model, model.estimators_, "predict"), "predict")


@register(BaggingClassifier)
def adapt_bagging_of_classifiers(model: BaggingClassifier) -> AdaptedModel:
    """Read the average of decision functions."""
    check_fitted(model)
    parts = parts_of(model, model.estimators_, "decision_function")
    names = _names(model, parts)
    return replace(
        _average(model, parts, "decision_function"),
        output_names=names,
        not_explained="only the decision function is the average of those of its estimators, which "
        "are sums to which values of features can add up; its labels and probabilities are made "
        "of their votes or probabilities, and are not supported",
    )


def _average(model: Any, parts: Sequence[AdaptedModel], method: str) -> AdaptedModel:
    functions = [
        Transformed(Selection(model.n_features_in_, columns), part.function)
        for part, columns in zip(parts, model.estimators_features_, strict=True)
    ]
    weights = np.full(len(parts), 1.0 / len(parts))
    average = Combination(functions, weights)
    return made_of(model, parts, average, method, of_columns=True)


def _names(model: BaggingClassifier, parts: Sequence[AdaptedModel]) -> tuple[str, ...]:
    """Return the names of outputs by the labels of classes, which the estimators know by number."""
    numbers = range(len(model.classes_))
    known = {
        pair_names(numbers): pair_names(model.classes_),
        tuple(map(str, numbers)): tuple(map(str, model.classes_)),
    }
    found = {part.output_names for part in parts}
    names = known.get(parts[0].output_names or ())
    if names is None or len(found) > 1:
        raise unsupported(
            "BaggingClassifier of estimators that know different classes",
            ": a class is missing in some of the samples that they were fitted on, and what is "
            "averaged are then values of different classes; fit it with more rows in each sample "
            "(max_samples)",
        )
    return names


@register(VotingRegressor)
def adapt_voting(model: VotingRegressor) -> AdaptedModel:
    """Read the weighted average of regressors."""
    check_fitted(model)
    parts = parts_of(model, model.estimators_, "predict")
    weights = np.ones(len(parts))
    if model.weights is not None:
        used = [not isinstance(estimator, str) for _, estimator in model.estimators]
        weights = np.array(list(itertools.compress(model.weights, used)), dtype=np.float64)
    functions = [part.function for part in parts]
    return made_of(model, parts, Combination(functions, weights / weights.sum()), "predict")
