"""Descriptions of models that are given columns which something else has made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pkex.adapters.registry import AdaptedModel, Variance
from pkex.functions.column_maps import ColumnMap
from pkex.functions.transformed import Transformed
from pkex.typing import Float

__all__ = ["in_columns"]


def in_columns(
    model: AdaptedModel,
    columns: ColumnMap,
    names: tuple[str, ...] | None,
    made: Callable[[Float], Any],
) -> AdaptedModel:
    """Describe a model, and its variance, in terms of the columns that a map is given.

    Parameters
    ----------
    model : AdaptedModel
        In the columns that the map makes.
    columns : ColumnMap
    names : tuple of str, optional
        Of the columns that it is given.
    made : callable
        From rows to what the model is given, by the library's own steps.
    """
    function, predict, variance = model.function, model.predict, model.variance
    of_input = Transformed(columns, function, names)

    def own_output(rows: Float) -> Any:
        return predict and predict(made(rows))

    if variance is not None and variance.of is function:
        adapt_variance = variance.adapt
        variance = Variance(
            of_input,
            lambda predictive: in_columns(adapt_variance(predictive), columns, names, made),
        )
    return replace(
        model,
        expansion=of_input,
        predict=predict and own_output,
        feature_names=names,
        variance=variance,
    )
