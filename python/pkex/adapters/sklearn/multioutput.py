"""Adapters of scikit-learn's estimators with one estimator per target, class or pair."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported
from pkex.adapters.sklearn.estimators import (
    check_fitted,
    own_output,
    pair_names,
)
from pkex.adapters.sklearn.linear import LINEAR_MODELS, linear_function
from pkex.adapters.sklearn.meta_estimators import made_of, parts_of
from pkex.functions.base import Function
from pkex.functions.combination import Combination
from pkex.functions.linear import LinearFunction
from pkex.functions.stack import Stack
from pkex.typing import Float


@register(RegressorChain)
def adapt_chain(model: RegressorChain) -> AdaptedModel:
    """Read linear models, each of the columns and the predictions of those before it."""
    check_fitted(model)
    for estimator in model.estimators_:
        if not isinstance(estimator, LINEAR_MODELS):
            raise unsupported(
                f"RegressorChain of {type(estimator).__name__}",
                ": each of its estimators takes the predictions of those before it as columns, and "
                "what it makes of them is no sum unless it is a linear model, such as Ridge; "
                "MultiOutputRegressor has an estimator of its own for each target",
            )
    parts = parts_of(model, model.estimators_, "predict")
    n_columns = model.n_features_in_
    # Each output's coefficients of the columns, and at last its constant.
    outputs = np.empty((0, n_columns + 1))
    for function in map(linear_function, model.estimators_):
        of_columns, of_those_before = np.split(function.coefficients, [n_columns])
        # Sums over rows are the same on every machine.
        through_others = (of_those_before[:, None] * outputs).sum(axis=0)
        own = np.append(of_columns, function.intercept)
        outputs = np.vstack([outputs, own + through_others])
    places = np.argsort(model.order_)
    chain = LinearFunction(outputs[places, :-1].T, outputs[places, -1])
    # The names of the first one's columns are the model's own.
    return replace(made_of(model, parts, chain, "predict"), output_names=None)


@register(MultiOutputRegressor)
def adapt_multi_output(model: MultiOutputRegressor) -> AdaptedModel:
    """Read the regressor of each target."""
    check_fitted(model)
    return _stacked(model, parts_of(model, model.estimators_, "predict"), "predict")


@register(OneVsRestClassifier)
def adapt_one_vs_rest(model: OneVsRestClassifier) -> AdaptedModel:
    """Read the decision function of each class, or the single one of two classes."""
    check_fitted(model)
    parts = parts_of(model, model.estimators_, "decision_function")
    if len(parts) == 1:
        of_two = made_of(model, parts, parts[0].function, "decision_function")
        return replace(of_two, output_names=pair_names(model.classes_))
    return _stacked(model, parts, "decision_function", tuple(map(str, model.classes_)))


@register(OneVsOneClassifier)
def adapt_one_vs_one(model: OneVsOneClassifier) -> AdaptedModel:
    """Read the decision function of each pair of classes, signed and named as those of SVC.

    The machine of a pair is positive for its second class, SVC's for its first.
    """
    check_fitted(model)
    parts = parts_of(model, model.estimators_, "decision_function")
    if len(parts) == 1:
        function: Function = parts[0].function
    else:
        function = Stack([Combination([part.function], [-1.0]) for part in parts])
    is_single = len(parts) == 1
    return replace(
        made_of(model, parts, function, "decision_function"),
        method=None,
        title=f"decision value of {'the pair' if is_single else 'each pair'} of classes",
        predict=_values_of_pairs(model, parts),
        output_names=pair_names(model.classes_),
        not_explained="only the decision values of pairs of classes are sums over features, one "
        "output for each pair, named 'a vs b'; votes and class labels, one for each class, are "
        "made from them, also by decision_function",
    )


def _values_of_pairs(
    model: OneVsOneClassifier, parts: Sequence[AdaptedModel]
) -> Callable[[Float], Float]:
    """Return the function from rows to the values of pairs that the model makes its votes from.

    It has no method of its own for these. They are its machines' values, and what it makes of them
    is compared with its own decision function.
    """
    pairs = list(itertools.combinations(range(len(model.classes_)), 2))
    own = own_output(model, "decision_function")

    def values_of_pairs(rows: Float) -> Float:
        values = np.stack([np.asarray(part.predict(rows)) for part in parts if part.predict], -1)
        votes = np.zeros((len(rows), len(model.classes_)))
        sums = np.zeros_like(votes)
        for machine, (a, b), value in zip(model.estimators_, pairs, values.T, strict=True):
            is_for_b = np.asarray(machine.predict(rows)) == 1
            votes[:, a] += ~is_for_b
            votes[:, b] += is_for_b
            sums[:, a] -= value
            sums[:, b] += value
        # Confidences decide between classes of as many votes: they stay below 1/3.
        totals = votes + sums / (3.0 * (np.abs(sums) + 1.0))
        if len(pairs) == 1:
            totals = totals[:, 1]
        if not np.allclose(own(rows), totals, rtol=0.0, atol=1e-9):
            raise ValueError("decision_function does not count the votes of estimators_")
        return values[:, 0] if len(pairs) == 1 else -values

    return values_of_pairs


def _stacked(
    model: Any,
    parts: Sequence[AdaptedModel],
    method: str,
    output_names: tuple[str, ...] | None = None,
) -> AdaptedModel:
    function = Stack([part.function for part in parts])
    return replace(made_of(model, parts, function, method), output_names=output_names)
