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
