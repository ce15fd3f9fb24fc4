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
from pkex.integrations.arguments import noted


def examined(
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
    chosen = None
    with noted(problems, vocabulary):
        chosen = chosen_value_function(value_function, background, background_weights)
    with noted(problems, vocabulary):
        check_n_jobs(n_jobs)
    known = len(problems)
    with noted(problems, vocabulary):
        adapted = adapted_to(model, None)
        verify(adapted, model)
        adapted = apply_link(adapted, link, None)
    if len(problems) > known:
        return None
    if chosen is not None:
        with noted(problems, vocabulary):
            check_points(chosen, background, adapted.function.keeps_points)
            if value_function is None and background is None and adapted.function.draws_rows:
                game_of_points(adapted.function.stored_points())
    of_results, _ = Outputs.chosen(adapted, None, None)
    with noted(problems, vocabulary):
        of_results, _ = Outputs.chosen(adapted, outputs, None)
    columns, players = ModelColumns.of(adapted, None), None
    with noted(problems, vocabulary):
        columns = ModelColumns.of(adapted, feature_names)
    known = len(problems)
    with noted(problems, vocabulary):
        if background is not None:
            # Background data name the columns even if their weights are invalid.
            _, columns = columns.read_background(background, None)
            columns.read_background(background, background_weights)
    # Groups may use names of columns from background data that could not be read.
    is_background_read = len(problems) == known or isinstance(background, np.ndarray | list)
    if groups is not None and (columns.known_names or is_background_read):
        with noted(problems, vocabulary):
            players = as_players(groups, columns.names)
    return Schema(columns, players, of_results)
