"""The adapter for scikit-learn's chains of regressors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.multioutput import RegressorChain

from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.linear import LINEAR_MODELS, linear_function
from pkex.adapters.sklearn.made_of import made_of, parts_of
from pkex.functions.linear import LinearFunction


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
    slopes, constants = np.empty((n_columns, 0)), np.empty(0)
    for function in map(linear_function, model.estimators_):
        of_columns, of_those_before = np.split(function.coefficients, [n_columns])
        slopes = np.column_stack([slopes, of_columns + slopes @ of_those_before])
        constants = np.append(constants, function.intercept + constants @ of_those_before)
    places = np.argsort(model.order_)
    chain = LinearFunction(slopes[:, places], constants[places])
    # The names of the first one's columns are the model's own.
    return replace(made_of(model, parts, chain, "predict"), output_names=None)
