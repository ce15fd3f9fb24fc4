"""Adapters of scikit-learn's estimators with one estimator per target, class or pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.utils.multiclass import _ovr_decision_function

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import unsupported_model
from pkex.adapters.sklearn.estimators import method_of_arrays, pair_names, register_estimators
from pkex.adapters.sklearn.linear import LINEAR_MODELS, linear_function
from pkex.adapters.sklearn.meta_estimators import adapt_parts, describe_composite
from pkex.functions.composite import Combination, Stack
from pkex.functions.linear import LinearFunction
from pkex.typing import Float


@register_estimators(MultiOutputRegressor)
def adapt_multi_output(model: MultiOutputRegressor) -> AdaptedModel:
    """Read the regressor of each target."""
    return _stack_parts(model, adapt_parts(model, model.estimators_, "predict"), "predict")


@register_estimators(OneVsRestClassifier)
def adapt_one_vs_rest(model: OneVsRestClassifier) -> AdaptedModel:
    """Read the decision function of each class, or the single one of two classes."""
    parts = adapt_parts(model, model.estimators_, "decision_function")
    if len(parts) == 1:
        adapted = describe_composite(model, parts, parts[0].function, "decision_function")
        return replace(adapted, output_names=pair_names(model.classes_))
    return _stack_parts(model, parts, "decision_function", tuple(map(str, model.classes_)))


def _stack_parts(
    model: Any,
    parts: Sequence[AdaptedModel],
    method: str,
    output_names: tuple[str, ...] | None = None,
) -> AdaptedModel:
    function = Stack([part.function for part in parts])
    return replace(describe_composite(model, parts, function, method), output_names=output_names)


@register_estimators(OneVsOneClassifier)
def adapt_one_vs_one(model: OneVsOneClassifier) -> AdaptedModel:
    """Read the decision value of each pair of classes, with the sign and name that SVC gives it.

    The machine of a pair is positive for its second class, SVC for its first.
    """
    parts = adapt_parts(model, model.estimators_, "decision_function")
    is_single = len(parts) == 1
    function = parts[0].function
    if not is_single:
        function = Stack([Combination([part.function], [-1.0]) for part in parts])
    return replace(
        describe_composite(model, parts, function, "decision_function"),
        method=None,
        title=f"decision value of {'the pair' if is_single else 'each pair'} of classes",
        predict=_pair_values(model, parts),
        output_names=pair_names(model.classes_),
        not_explained="only the decision values of pairs of classes are sums over features, with "
        "one output per pair, named 'a vs b'; votes and class labels, one per class, follow from "
        "them, also in decision_function",
    )


def _pair_values(
    model: OneVsOneClassifier, parts: Sequence[AdaptedModel]
) -> Callable[[Float], Float]:
    """Return the function from rows to the values of pairs that the model turns into votes.

    The model has no method for these values. They are its machines' values, and the votes that
    follow from them are compared with its own decision function.
    """
    decide = method_of_arrays(model, "decision_function")

    def pair_values(rows: Float) -> Float:
        values = np.stack([np.asarray(part.predict(rows)) for part in parts if part.predict], -1)
        labels = np.stack([machine.predict(rows) for machine in model.estimators_], axis=-1)
        votes = _ovr_decision_function(labels, values, len(model.classes_))
        if len(parts) == 1:
            votes = votes[:, 1]
        if not np.allclose(decide(rows), votes, rtol=0.0, atol=1e-9):
            raise ValueError("decision_function does not count the votes of estimators_")
        return values[:, 0] if len(parts) == 1 else -values

    return pair_values


@register_estimators(RegressorChain)
def adapt_chain(model: RegressorChain) -> AdaptedModel:
    """Read linear models, each of the columns and of the predictions of the models before it."""
    for estimator in model.estimators_:
        if not isinstance(estimator, LINEAR_MODELS):
            raise unsupported_model(
                f"RegressorChain of {type(estimator).__name__}",
                ": its estimators take predictions of other estimators as columns, which is "
                "supported for linear models such as Ridge. MultiOutputRegressor has an "
                "independent estimator for each target",
            )
    parts = adapt_parts(model, model.estimators_, "predict")
    n_columns = model.n_features_in_
    # Coefficients of the columns for each output, with the constant as the last number.
    outputs = np.empty((0, n_columns + 1))
    for function in map(linear_function, model.estimators_):
        column_weights, output_weights = np.split(function.coefficients, [n_columns])
        # Sums over rows are the same on every machine.
        indirect = (output_weights[:, None] * outputs).sum(axis=0)
        direct = np.append(column_weights, function.intercept)
        outputs = np.vstack([outputs, direct + indirect])
    places = np.argsort(model.order_)
    chain = LinearFunction(outputs[places, :-1].T, outputs[places, -1])
    # The first estimator has the names of the model's columns.
    return replace(describe_composite(model, parts, chain, "predict"), output_names=None)
