"""The adapter for scikit-learn's pipelines: a model in terms of the columns of the first step."""

from __future__ import annotations

from typing import Any

from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

from pkex.adapters.mapped import in_columns
from pkex.adapters.registry import AdaptedModel, adapt, register, unsupported
from pkex.adapters.sklearn.columns import chained, check_columns, check_width, column_map
from pkex.adapters.sklearn.description import dense, feature_names
from pkex.adapters.sklearn.fitted import check_own
from pkex.adapters.sklearn.nystroem import nystroem_model
from pkex.adapters.sklearn.own_output import as_fitted_on, passed_on
from pkex.functions.transformed import Transformed
from pkex.typing import Float


@register(Pipeline)
def adapt_pipeline(pipeline: Pipeline) -> AdaptedModel:
    """Read the last step, and the columns that the steps before it make of the input."""
    steps = [step for _, step in pipeline.steps]
    is_nystroem = len(steps) > 1 and isinstance(steps[-2], Nystroem)
    n_last = 2 if is_nystroem else 1
    if steps[-1] is None or isinstance(steps[-1], str):
        raise unsupported("a Pipeline without a model as its last step")
    model = nystroem_model(*steps[-2:]) if is_nystroem else adapt(steps[-1])
    check_own(pipeline)
    columns = chained(steps[:-n_last])
    names = _input_names(pipeline)
    if columns is not None:
        last = next(step for step in reversed(steps[:-n_last]) if column_map(step) is not None)
        check_width(last, columns, steps[-n_last], model.expansion.n_features)
        check_columns(Transformed(columns, model.expansion, names), columns)
        before, non_numeric = pipeline[:-n_last], columns.non_numeric

        def made(rows: Float) -> Any:
            return dense(before.transform(as_fitted_on(rows, names, non_numeric)))

        model = in_columns(model, columns, names, made)
    return passed_on(pipeline, model, _put_last, names or model.feature_names)


def _put_last(pipeline: Pipeline, model: Any) -> None:
    pipeline.steps = [*pipeline.steps[:-1], (pipeline.steps[-1][0], model)]


def _input_names(pipeline: Pipeline) -> tuple[str, ...] | None:
    """Return the column names of the DataFrame that a pipeline was fitted on, if it was."""
    for _, step in pipeline.steps:
        if isinstance(step, Pipeline):
            return _input_names(step)
        if not (step is None or isinstance(step, str)):
            return feature_names(step)
    return None
