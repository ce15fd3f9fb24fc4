"""The adapter for scikit-learn's pipelines: a model in the columns of the first step.

After a vectorizer, it is a model in the columns that reach it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from pkex.adapters.adapted_model import AdaptedModel, Probabilities, describe_in_columns
from pkex.adapters.registry import (
    adapt,
    probabilities_of,
    register,
    register_probabilities,
    unsupported_model,
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
from pkex.adapters.sklearn.vectorizers import describe_with_encoder, vectorization
from pkex.functions.column_maps import ColumnMap
from pkex.functions.transformed import Transformed
from pkex.typing import Float


@register(Pipeline)
def adapt_pipeline(pipeline: Pipeline) -> AdaptedModel:
    """Read the last step, and the map of columns of the steps before it."""
    steps, final_steps = _split_steps(pipeline)
    model = nystroem_model(*final_steps) if len(final_steps) > 1 else adapt(final_steps[0])
    return _describe_pipeline(pipeline, steps, final_steps, model)


@register_probabilities(Pipeline)
def probabilities_of_pipeline(pipeline: Pipeline) -> Probabilities:
    """Read the probabilities of the last step, and the map of columns of the steps before it."""
    steps, final_steps = _split_steps(pipeline)
    probabilities = (
        nystroem_probabilities(*final_steps)
        if len(final_steps) > 1
        else probabilities_of(final_steps[0])
    )
    return probabilities.map(lambda model: _describe_pipeline(pipeline, steps, final_steps, model))


def _split_steps(pipeline: Pipeline) -> tuple[list[Any], list[Any]]:
    """Return the steps before the model, and the model: one step, or Nystroem and one step."""
    steps = [step for _, step in pipeline.steps]
    if steps[-1] is None or isinstance(steps[-1], str):
        raise unsupported_model("a Pipeline without a model as its last step")
    n_last = 2 if len(steps) > 1 and isinstance(steps[-2], Nystroem) else 1
    return steps[:-n_last], steps[-n_last:]


def _describe_pipeline(
    pipeline: Pipeline, steps: list[Any], final_steps: list[Any], model: AdaptedModel
) -> AdaptedModel:
    """Describe a model in the columns of the first step."""
    check_methods(pipeline)
    vectorizer_steps = steps, pipeline[len(steps) :]
    encoder = vectorization(*vectorizer_steps) or table_vectorization(*vectorizer_steps)
    if encoder is not None:
        return describe_with_encoder(model, encoder)
    names = _input_names(pipeline)
    columns, model = _columns_before_model(steps, final_steps[0], model)
    if columns is not None:
        check_columns(Transformed(columns, model.function, names), columns)
        preprocessor, non_numeric = pipeline[: -len(final_steps)], columns.non_numeric

        def map_rows(rows: Float) -> Any:
            return dense(preprocessor.transform(as_fitted_on(rows, names, non_numeric)))

        model = describe_in_columns(model, columns, names, map_rows)
    return describe_wrapper(pipeline, model, _replace_last, names or model.feature_names)


def _columns_before_model(
    steps: list[Any], final_step: Any, model: AdaptedModel
) -> tuple[ColumnMap | None, AdaptedModel]:
    """Return the map of steps, None if they do not change the columns, and the model behind it.

    Products of columns become a part of the model, which must be linear.
    """
    n_fitted = model.function.n_features
    if any(map(multiplies, steps)):
        if not is_linear(model.function):
            raise unsupported_step("PolynomialFeatures")
        monomials = monomials_of(steps)
        check_width(steps[-1], len(monomials.powers), final_step, n_fitted)
        return monomials.columns, replace(model, expansion=monomials.of(model.function))
    columns = chain_maps(steps)
    if columns is not None:
        step = next(step for step in reversed(steps) if column_map(step) is not None)
        check_width(step, len(columns.sources), final_step, n_fitted)
    return columns, model


def _replace_last(pipeline: Pipeline, model: Any) -> None:
    pipeline.steps = [*pipeline.steps[:-1], (pipeline.steps[-1][0], model)]


def _input_names(pipeline: Pipeline) -> tuple[str, ...] | None:
    """Return the column names of the DataFrame that a pipeline was fitted on, None without one."""
    for _, step in pipeline.steps:
        if isinstance(step, Pipeline):
            return _input_names(step)
        if not (step is None or isinstance(step, str)):
            return feature_names(step)
    return None
