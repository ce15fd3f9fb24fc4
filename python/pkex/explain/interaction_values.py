"""Interactions: the coefficients of coalitions for an index and an order."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import ArrayLike

from pkex.execution.computation import Computation
from pkex.execution.progress import Progress, parts_of
from pkex.explain.problem import Problem
from pkex.explain.selected_interactions import (
    FeatureSelection,
    check_selection,
    compute_selected_values,
    with_others,
)
from pkex.functions.base import Function, check_finite
from pkex.games.indices import INDICES, Index, add_supersets, quantities
from pkex.games.value_functions import Game
from pkex.inputs.choices import check_choice
from pkex.inputs.integers import as_integer
from pkex.results.interactions import Interactions
from pkex.results.row_values import same_for_all
from pkex.typing import Float

# Largest size of a result, in bytes.
_MAX_BYTES = 1 << 31


def interactions(
    problem: Problem,
    X: ArrayLike,
    *,
    index: Index,
    order: int,
    features: FeatureSelection | None,
    progress: Progress,
) -> Interactions:
    """Return the interactions of rows for all coalitions of up to `order` features.

    With `features`, the coalitions are of these and one more feature, for all others.
    """
    if problem.settings.method != "quadrature":
        raise ValueError(
            f"method={problem.settings.method!r} computes Shapley values only; make an Explainer "
            "with method='quadrature' for interactions"
        )
    outputs, function = problem.schema.outputs, problem.function
    explained_rows = problem.schema.read(X, keeps_sparse=features is not None)
    check_choice("index", index, INDICES)
    if features is not None:
        check_selection(index, order)
        with problem.settings.computing(progress) as computation:
            selection, values, empty_values = compute_selected_values(
                problem, explained_rows, features, index, computation
            )
        explained_rows = with_others(problem, explained_rows, selection)
    else:
        rows = explained_rows.rows
        check_interactions(index, order, function.n_players, len(rows), function.n_outputs)
        with problem.settings.computing(progress) as computation:
            values, empty_values = interaction_values(
                function, rows, index, int(order), problem.game, computation
            )
    has_axis, base = outputs.axis_names is not None, problem.expected_value
    if empty_values is None:
        empty_values = same_for_all(base, len(values))
    elif not has_axis:
        empty_values = empty_values[..., 0]
    return Interactions(
        values if has_axis else values[..., 0],
        empty_values,
        base,
        explained_rows.data,
        explained_rows.features,
        outputs.axis_names,
        index,
        min(int(order), len(explained_rows.features)),
        row_index=explained_rows.row_index,
        output_name=outputs.name,
        value_function=problem.game.value_function,
    )


def check_interactions(
    index: Index, order: int, n_players: int, n_rows: int, n_outputs: int
) -> None:
    """Raise if the index is unknown, the order is out of range, or the result is too large."""
    check_choice("index", index, INDICES)
    order = as_integer("order", order, "an integer")
    if not 1 <= order <= n_players:
        raise ValueError(
            f"order must be from 1 to the number of features, {n_players}; got {order}"
            f"{', the default: give order=1' if order == 2 else ''}"
        )
    count, size_count, size = 0, 1, 0
    # Stops where a single row is too large: the full count could have any number of digits.
    while size < order and 8 * count * n_outputs <= _MAX_BYTES:
        size_count = size_count * (n_players - size) // (size + 1)
        count, size = count + size_count, size + 1
    n_coefficients = count * n_outputs
    if 8 * n_coefficients * max(n_rows, 1) > _MAX_BYTES:
        more = "more than " if size < order else ""
        rows = _MAX_BYTES // (8 * n_coefficients)
        fix = f"explain at most {rows} rows at a time, " if rows else ""
        raise ValueError(
            f"the result would hold {more}{n_coefficients:,} coefficients a row, "
            f"{8e-9 * n_coefficients * n_rows:,.1f} GB in all, and may hold "
            f"{_MAX_BYTES / 1e9:.1f} GB; {fix}take a lower order than {order}, or join features "
            "by groups=..."
        )


def interaction_values(
    function: Function,
    rows: Float,
    index: Index,
    order: int,
    game: Game,
    computation: Computation,
) -> tuple[Float, Float | None]:
    """Return the coefficients of rows, and of the empty coalition where they are not v(∅).

    Returns
    -------
    values : ndarray of shape (n, coalitions, outputs)
    empty_values : ndarray of shape (n, outputs) or None
    """
    all_quantities = quantities(index, order)
    sizes = [quantity.size for quantity in all_quantities]
    counts = [float(comb(function.n_players, size)) for size in sizes]
    *reports, last_report = parts_of(computation.progress, *counts, 0.2 * counts[-1])
    with np.errstate(over="ignore", invalid="ignore"):
        parts = [
            function.explain(
                rows, game=game, quantity=quantity, computation=computation.reporting(report)
            )
            for quantity, report in zip(all_quantities, reports, strict=True)
        ]
        add_supersets(index, parts, sizes, function.n_players, computation.n_threads, last_report)
    if sizes[0] > 0:
        return check_finite(np.concatenate(parts, axis=1)), None
    return check_finite(np.concatenate(parts[1:], axis=1)), check_finite(parts[0][:, 0])
