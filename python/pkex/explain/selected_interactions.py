"""Interactions of selected features, and of each with all others together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import comb
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, InputTypeError, Option
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.explain.problem import Problem
from pkex.explain.schema import ExplainedRows
from pkex.functions.base import check_finite
from pkex.games.indices import Index, quantities
from pkex.games.selected_pairs import with_singles
from pkex.inputs.integers import whole
from pkex.results.axes import FEATURE
from pkex.typing import Float

# The option `features`: names and numbers of features, or the number of the strongest.
FeatureSelection: TypeAlias = int | Iterable[int | str]

# The indices whose pairs have the uniform measure, as Shapley values do.
_INDICES = ("k-SII", "SII")
# Largest size of all pairs, in bytes.
_MAX_BYTES = 1 << 31
_EXAMPLE = "pass features=10 for the ten strongest, or a list such as features=['age', 'bmi']"


def check_selection(index: Index, order: int) -> None:
    """Raise InputError if interactions of selected features have no such index or order."""
    if index not in _INDICES:
        raise InputError(
            Option("index", index),
            "is not supported with features=..., which computes single features and pairs",
            ["pass index='k-SII' or index='SII'", "leave out features to compute all coalitions"],
        )
    if order != 2:
        raise InputError(
            Option("order", order),
            "is not supported with features=..., which computes single features and pairs",
            ["pass order=2", "leave out features to compute all coalitions"],
        )


def select_features(
    problem: Problem, explained_rows: ExplainedRows, features: FeatureSelection, values: Float
) -> NDArray[np.int64]:
    """Return the numbers of the selected features.

    Parameters
    ----------
    problem : Problem
    explained_rows : ExplainedRows
    features : FeatureSelection
    values : ndarray of shape (n, features, outputs)
        Their Shapley values, whose mean sizes over rows and outputs rank the features.

    Raises
    ------
    InputError, InputTypeError
        If the number is out of range, or the list is empty or has a feature twice.
    KeyError, IndexError, TypeError
        If there is no such feature.
    """
    count = whole(features)
    if count is not None:
        if not 1 <= count <= values.shape[1]:
            raise InputError(
                Option("features", features),
                f"is not a number of features from 1 to {values.shape[1]:,}",
                _EXAMPLE,
            )
        sizes = np.abs(values).sum(axis=(0, 2))
        return np.argsort(-sizes, kind="stable")[:count].astype(np.int64)
    if isinstance(features, str | bytes) or not isinstance(features, Iterable):
        raise InputTypeError(
            Option("features", features), "is neither a number nor a list of features", _EXAMPLE
        )
    axes, keys = problem.schema.axes(explained_rows), list(features)
    selection = [axes.place(FEATURE, key) for key in keys]
    if not selection:
        raise InputError("features", "is empty", _EXAMPLE)
    if len(set(selection)) < len(selection):
        raise InputError("features", f"has a feature twice: {keys!r}", "pass each feature once")
    return np.array(selection, dtype=np.int64)


def compute_selected_values(
    problem: Problem,
    explained_rows: ExplainedRows,
    features: FeatureSelection,
    index: Index,
    computation: Computation,
) -> tuple[NDArray[np.int64], Float, Float | None]:
    """Return the selected features and their coefficients, of all others as one more feature.

    Returns
    -------
    selection : ndarray of int64, shape (k,)
    values : ndarray of shape (n, coalitions, outputs)
    empty_values : ndarray of shape (n, outputs) or None
        The coefficients of the empty coalition where they are not v(∅).
    """
    function, rows, game = problem.function, explained_rows.rows, problem.game
    singles_progress, pairs_progress, empty_progress = parts_of(computation.progress, 1.0, 3.0, 0.1)
    singles = function.explain(rows, game=game, computation=computation.reporting(singles_progress))
    selection = select_features(problem, explained_rows, features, singles)
    _check_size(len(selection), rows.shape[0] * function.n_outputs)
    pairs = function.selected_pairs(
        rows, selection, game=game, computation=computation.reporting(pairs_progress)
    )
    with np.errstate(over="ignore", invalid="ignore"):
        values = check_finite(with_singles(singles, pairs, selection, index))
    first, *_ = quantities(index, 2)
    if first.size > 0:
        return selection, values, None
    empty = function.explain(
        rows, game=game, quantity=first, computation=computation.reporting(empty_progress)
    )
    return selection, values, check_finite(empty[:, 0])


def _check_size(n_selected: int, n_values: int) -> None:
    """Raise InputError if the pairs take too much memory, given the number of values of each."""
    size = 8 * comb(n_selected + 1, 2) * n_values
    if size > _MAX_BYTES:
        raise InputError(
            "features",
            f"selects {n_selected:,} features, whose pairs take {size / 1e9:,.1f} GB; at most "
            f"{_MAX_BYTES / 1e9:.1f} GB are supported",
            ["select fewer features", "explain fewer rows at a time"],
        )


def with_others(
    problem: Problem, explained_rows: ExplainedRows, selection: NDArray[np.int64]
) -> ExplainedRows:
    """Return rows by selected features, and one more that stands for all others.

    As for a group of columns, the feature value of the others is a text.
    """
    data, names = explained_rows.data[:, selection], [explained_rows.features[j] for j in selection]
    n_others = explained_rows.data.shape[1] - len(selection)
    if n_others:
        noun = "column" if problem.schema.players is None else "feature"
        if explained_rows.documents is not None:
            noun = explained_rows.documents.noun
        names.append(f"other {noun}s ({n_others:,})")
        text = np.full((len(data), 1), f"{n_others:,} values", dtype=object)
        data = np.concatenate([data.astype(object), text], axis=1)
    return replace(explained_rows, data=data, features=names, documents=None)
