"""Rows that combine the entries of background rows, where these are drawn independently."""

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
    """Return all m^p rows that take each player's entries from any of m rows, and their weights.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    n_players = int(players.max()) + 1
    chosen = np.indices((len(rows),) * n_players).reshape(n_players, -1)
    mixed = np.ascontiguousarray(rows[chosen[players].T, np.arange(len(players))])
    shares = np.array([prod(own) for own in weights[chosen].T.tolist()])
    return mixed, shares / shares.sum()
