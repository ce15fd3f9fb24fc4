"""Background data: objects of shap that hold it, and combinations of its feature values."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputTypeError
from pkex.tables.sparse import as_sparse_rows, is_sparse
from pkex.typing import Float, Rows, SparseRows


def unwrap_background(
    background: Any,
) -> tuple[Any, ArrayLike | None, tuple[str, ...] | None]:
    """Return the rows, weights and column names of background data, perhaps an object of shap.

    Supported objects are the summaries that `shap.kmeans` returns, and the maskers Independent and
    Partition.
    """
    if not any(base.__module__.partition(".")[0] == "shap" for base in type(background).__mro__):
        return background, None, None
    name = type(background).__name__
    if name == "DenseData":
        if any(len(group) > 1 for group in background.groups):
            raise InputTypeError(
                "background",
                "is a DenseData with groups of columns",
                "pass its data and weights, and the groups by groups={'name': [columns]}",
            )
        return background.data, background.weights, _names(background.group_names)
    if name in ("Independent", "Partition"):
        return background.data, None, _names(getattr(background, "feature_names", None))
    raise InputTypeError(
        "background",
        "must be rows: an array, a DataFrame, the result of shap.kmeans, or one of the maskers "
        f"shap.maskers.Independent and Partition; got shap's {name}",
    )


def _names(names: Any) -> tuple[str, ...] | None:
    """Return the column names of a DataFrame; None if shap has numbered the columns."""
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    columns = tuple(str(name) for name in names)
    return None if columns == tuple(map(str, range(len(columns)))) else columns


def combine_rows(rows: Rows, weights: Float, players: NDArray[np.int64]) -> tuple[Rows, Float]:
    """Return all m^p rows that take each player's feature values from any of m rows, with weights.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (m, d)
    weights : ndarray of shape (m,)
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    n_players = int(players.max()) + 1
    row_numbers = np.indices((len(weights),) * n_players).reshape(n_players, -1)
    if is_sparse(rows):
        by_player = zip(row_numbers, _split_by_player(rows, players), strict=True)
        combinations = as_sparse_rows(
            sum(player_rows[numbers] for numbers, player_rows in by_player), "background"
        )
    else:
        combinations = np.ascontiguousarray(rows[row_numbers[players].T, np.arange(len(players))])
    products = np.array([prod(factors) for factors in weights[row_numbers].T.tolist()])
    return combinations, products / products.sum()


def _split_by_player(rows: SparseRows, players: NDArray[np.int64]) -> Iterator[SparseRows]:
    """Yield the rows with the columns of each player, and 0 in others."""
    for player in range(int(players.max()) + 1):
        player_rows = rows.copy()
        player_rows.data = np.where(players[rows.indices] == player, rows.data, 0.0)
        yield player_rows
