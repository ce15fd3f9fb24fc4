"""Pairs of selected columns by the engine of sparse rows, whose time grows with non-zero values.

The engine also accepts dense points of many columns: the pairs with others are one sum for each
selected column, instead of a number for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.functions.sparse_groups import FAMILIES
from pkex.games.value_functions import Game
from pkex.kernels.factors import Term, has_mixtures, has_series
from pkex.tables.sparse import as_sparse_rows
from pkex.typing import Float, Rows

PackedRows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], Float, int]
# With fewer dense columns, all pairs take less time.
_MIN_COLUMNS = 80


def packed_rows(rows: Rows) -> PackedRows:
    """Return rows in the form of the engine."""
    sparse = as_sparse_rows(rows, "X", allow_no_rows=True)
    starts, columns = (part.astype(np.int64) for part in (sparse.indptr, sparse.indices))
    return starts, columns, sparse.data, sparse.shape[1]


def sparse_game(game: Game) -> Any:
    """Return a game in the form of the engine, with sparse background rows."""
    if game.background is None:
        return game.packed
    return game.value_function, packed_rows(game.background[0]), game.background[1]


def are_faster(points: Float, terms: Sequence[Term]) -> bool:
    """Whether the engine of sparse rows takes dense points of this kernel, and less time."""
    if len(points) == 0 or points.shape[1] < _MIN_COLUMNS:
        return False
    if has_series(terms) or has_mixtures(terms):
        return False
    return all(factor.family in FAMILIES for term in terms for factor in term.factors)


def selected_pairs(
    expansion: _core.SparseExpansion,
    X: Rows,
    selection: NDArray[np.int64],
    game: Game,
    computation: Computation,
) -> Float:
    """Return the pairs of selected columns and one more player, as `Function.selected_pairs`."""
    return expansion.selected_pairs(
        packed_rows(X),
        selected=selection,
        game=sparse_game(game),
        summation=computation.summation,
        n_threads=computation.n_threads,
        progress=computation.progress,
    )
