"""Models that are linear in others: their parts, and how the whole is described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pkex.adapters.registry import AdaptedModel, adapt, unsupported
from pkex.adapters.sklearn.description import feature_names
from pkex.adapters.sklearn.own_output import own_output, quiet
from pkex.functions.base import Function


def parts_of(model: Any, estimators: Iterable[Any], method: str) -> list[AdaptedModel]:
    """Read the models that a model is made of; it uses that method."""
    estimators = list(estimators)
    parts = [adapt(estimator) for estimator in estimators]
    for estimator, part in zip(estimators, parts, strict=True):
        if part.method != method or part.no_method:
            kind = type(estimator).__name__
            why = f"it uses their {method}, and of {kind} the {part.title} is explained"
            if part.no_method:
                # What follows is for those who have that model alone.
                why = f"{kind}.{method} cannot be explained: {part.no_method.partition('. ')[0]}"
            raise unsupported(f"{type(model).__name__} of {kind}", f": {why}")
    return parts


def made_of(
    model: Any,
    parts: Sequence[AdaptedModel],
    function: Function,
    method: str,
    *,
    of_columns: bool = False,
) -> AdaptedModel:
    """Describe a model made of others; `of_columns` if these have columns of their own."""
    return AdaptedModel(
        function,
        method=method,
        predict=own_output(model, method, function.non_numeric),
        feature_names=feature_names(model) or (None if of_columns else parts[0].feature_names),
        output_names=parts[0].output_names,
        kernel_rounding=max(part.kernel_rounding for part in parts),
        not_explained=parts[0].not_explained,
        stand_in=quiet(model),
    )
