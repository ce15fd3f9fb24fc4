"""The adapter for scikit-learn's pipelines: a model in the columns of the first step.

After a vectorizer, it is a model in the columns that reach it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from pkex.adapters.adapted_model import AdaptedModel, Probabilities, in_columns
from pkex.adapters.registry import (
    adapt,
    probabilities_of,
    register,
    register_probabilities,
    unsupported,
)
from pkex.adapters.sklearn.estimators import (
    as_fitted_on,
    check_methods,
    dense,
    describe_wrapper,
    feature_names,
)
from pkex.adapters.sklearn.nystroem import nystroem_model, nystroem_probabilities
from pkex.adapters.sklearn.polynomials import is_linear, monomials_of, multiplies
from pkex.adapters.sklearn.step_maps import chain_maps, check_columns, check_width, column_map
from pkex.adapters.sklearn.steps import unsupported_step
from pkex.adapters.sklearn.table_vectorizers import table_vectorization
from pkex.adapters.sklearn.vectorizers import by_encoder, vectorization
from pkex.functions.column_maps import ColumnMap
from pkex.functions.transformed import Transformed
from pkex.typing import Float


@register(Pipeline)
def adapt_pipeline(pipeline: Pipeline) -> AdaptedModel:
    """Read the last step, and the map of columns of the steps before it."""
    before, last = _parted(pipeline)
    model = nystroem_model(*last) if len(last) > 1 else adapt(last[0])
    return _whole(pipeline, before, last, model)


@register_probabilities(Pipeline)
def probabilities_of_pipeline(pipeline: Pipeline) -> Probabilities:
    """Read the probabilities of the last step, and the map of columns of the steps before it."""
    before, last = _parted(pipeline)
    own = nystroem_probabilities(*last) if len(last) > 1 else probabilities_of(last[0])
    return own.changed(lambda model: _whole(pipeline, before, last, model))


def _parted(pipeline: Pipeline) -> tuple[list[Any], list[Any]]:
    """Return the steps before the model, and the model: one step, or Nystroem and one step."""
    steps = [step for _, step in pipeline.steps]
    if steps[-1] is None or isinstance(steps[-1], str):
        raise unsupported("a Pipeline without a model as its last step")
    n_last = 2 if len(steps) > 1 and isinstance(steps[-2], Nystroem) else 1
    return steps[:-n_last], steps[-n_last:]


def _whole(
    pipeline: Pipeline, before: list[Any], last: list[Any], model: AdaptedModel
) -> AdaptedModel:
    """Describe a model in the columns of the first step."""
    check_methods(pipeline)
    own = before, pipeline[len(before) :]
    encoder = vectorization(*own) or table_vectorization(*own)
    if encoder is not None:
        return by_encoder(model, encoder)
    names = _input_names(pipeline)
    columns, model = _columns_before(before, last[0], model)
    if columns is not None:
        check_columns(Transformed(columns, model.function, names), columns)
        steps, non_numeric = pipeline[: -len(last)], columns.non_numeric

        def made(rows: Float) -> Any:
            return dense(steps.transform(as_fitted_on(rows, names, non_numeric)))

        model = in_columns(model, columns, names, made)
    return describe_wrapper(pipeline, model, _put_last, names or model.feature_names)


def _columns_before(
    before: list[Any], last: Any, model: AdaptedModel
) -> tuple[ColumnMap | None, AdaptedModel]:
    """Return the map of steps, None if they do not change the columns, and the model behind it.

    Products of columns become a part of the model, which must be linear.
    """
    n_fitted = model.function.n_features
    if any(map(multiplies, before)):
        if not is_linear(model.function):
            raise unsupported_step("PolynomialFeatures")
        made = monomials_of(before)
        check_width(before[-1], len(made.powers), last, n_fitted)
        return made.columns, replace(model, expansion=made.of(model.function))
    columns = chain_maps(before)
    if columns is not None:
        step = next(step for step in reversed(before) if column_map(step) is not None)
        check_width(step, len(columns.sources), last, n_fitted)
    return columns, model


def _put_last(pipeline: Pipeline, model: Any) -> None:
    pipeline.steps = [*pipeline.steps[:-1], (pipeline.steps[-1][0], model)]


def _input_names(pipeline: Pipeline) -> tuple[str, ...] | None:
    """Return the column names of the DataFrame that a pipeline was fitted on, None without one."""
    for _, step in pipeline.steps:
        if isinstance(step, Pipeline):
            return _input_names(step)
        if not (step is None or isinstance(step, str)):
            return feature_names(step)
    return None
