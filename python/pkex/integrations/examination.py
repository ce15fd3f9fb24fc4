"""All errors of the arguments of an explainer, found without preparing one."""

from __future__ import annotations

from typing import Any

import numpy as np

from pkex.adapters import verify
from pkex.adapters.targets import adapted_to
from pkex.errors import Vocabulary
from pkex.execution.threads import check_n_jobs
from pkex.explain.links import apply_link
from pkex.explain.model_columns import ModelColumns
from pkex.explain.outputs import Outputs
from pkex.explain.schema import Schema
from pkex.functions.linked import Link
from pkex.games.players import as_players
from pkex.games.value_functions import check_points, chosen_value_function, game_of_points
from pkex.integrations.arguments import collect_errors


def examine(
    problems: list[Exception],
    model: Any,
    background: Any,
    *,
    value_function: Any = None,
    background_weights: Any = None,
    groups: Any = None,
    outputs: Any = None,
    link: Link = "identity",
    feature_names: Any = None,
    n_jobs: Any = -1,
    vocabulary: Vocabulary | None = None,
) -> Schema | None:
    """Add all errors to a list that `pkex.Explainer` would raise one by one.

    The value of the empty coalition, which may take long, is not computed. Messages are in the
    words of the vocabulary.

    Returns
    -------
    Schema or None
        Names of columns, features and outputs as far as they are known; None if the model is not
        supported.
    """
    function_name = None
    with collect_errors(problems, vocabulary):
        function_name = chosen_value_function(value_function, background, background_weights)
    with collect_errors(problems, vocabulary):
        check_n_jobs(n_jobs)
    n_problems = len(problems)
    with collect_errors(problems, vocabulary):
        adapted_model = adapted_to(model, None)
        verify(adapted_model, model)
        adapted_model = apply_link(adapted_model, link, None)
    if len(problems) > n_problems:
        return None
    if function_name is not None:
        with collect_errors(problems, vocabulary):
            check_points(function_name, background, adapted_model.function.keeps_points)
            if value_function is None and background is None and adapted_model.function.draws_rows:
                game_of_points(adapted_model.function.stored_points())
    of_results, _ = Outputs.chosen(adapted_model, None, None)
    with collect_errors(problems, vocabulary):
        of_results, _ = Outputs.chosen(adapted_model, outputs, None)
    columns, players = ModelColumns.of(adapted_model, None), None
    with collect_errors(problems, vocabulary):
        columns = ModelColumns.of(adapted_model, feature_names)
    n_problems = len(problems)
    with collect_errors(problems, vocabulary):
        if background is not None:
            # Background data name the columns even if their weights are invalid.
            _, columns = columns.read_background(background, None)
            columns.read_background(background, background_weights)
    # Groups may use names of columns from background data that could not be read.
    is_background_read = len(problems) == n_problems or isinstance(background, np.ndarray | list)
    if groups is not None and (columns.known_names or is_background_read):
        with collect_errors(problems, vocabulary):
            players = as_players(groups, columns.names)
    return Schema(columns, players, of_results)
