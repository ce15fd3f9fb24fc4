"""All combinations of feature values of background rows, for independent draws per player."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["combined"]


def combined(
    rows: NDArray[Any], weights: Float, players: NDArray[np.int64]
) -> tuple[NDArray[Any], Float]:
    """Return all m^p rows that take each player's feature values from any of m rows, with weights.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    n_players = int(players.max()) + 1
    row_numbers = np.indices((len(rows),) * n_players).reshape(n_players, -1)
    mixed = np.ascontiguousarray(rows[row_numbers[players].T, np.arange(len(players))])
    products = np.array([prod(factors) for factors in weights[row_numbers].T.tolist()])
    return mixed, products / products.sum()
