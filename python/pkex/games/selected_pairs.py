"""Pairs of some players, and of each of them with all others together.

The coefficient of a pair is c_i c_j ∫ ∏_{l∉{i,j}} F_l dt, its Shapley interaction index (SII). For
chosen players C, the others are one more player, whose pair with i is the sum Σ_{j∉C} I_ij.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import coalitions, ranks
from pkex.games.means import added
from pkex.typing import Float


def pairs_with_others(pairs: Float, selected: NDArray[np.int64], n_players: int) -> Float:
    """Return the pairs of selected players and one more that stands for all others.

    Parameters
    ----------
    pairs : ndarray of shape (n, pairs, outputs)
        The coefficients of all pairs of players, in lexicographic order.
    selected : ndarray of int64, shape (k,)
    n_players : int

    Returns
    -------
    ndarray of shape (n, C(k + 1, 2), outputs)
        In lexicographic order, in which the others are the last player.
    """
    k = len(selected)
    others = np.setdiff1d(np.arange(n_players), selected)
    values = np.zeros((len(pairs), k * (k + 1) // 2, pairs.shape[2]))
    first, second = coalitions(k + 1, 2).T
    are_selected = second < k
    members = np.stack([selected[first[are_selected]], selected[second[are_selected]]], axis=1)
    values[:, are_selected] = pairs[:, ranks(np.sort(members, axis=1), n_players)]
    for player, place in zip(selected, np.flatnonzero(~are_selected), strict=True):
        if len(others):
            members = np.stack([np.full(len(others), player), others], axis=1)
            player_pairs = pairs[:, ranks(np.sort(members, axis=1), n_players)]
            values[:, place] = added(player_pairs.swapaxes(0, 1))
    return values


def with_singles(values: Float, pairs: Float, selected: NDArray[np.int64], index: str) -> Float:
    """Return the coefficients of selected players and all others, and of their pairs.

    Parameters
    ----------
    values : ndarray of shape (n, players, outputs)
        The Shapley values of all players.
    pairs : ndarray of shape (n, C(k + 1, 2), outputs)
        As `pairs_with_others` returns them.
    selected : ndarray of int64, shape (k,)
        Without other players, none stands for them.
    index : {"k-SII", "SII"}
        The k-SII of a player is its Shapley value less half of each of its pairs.

    Returns
    -------
    ndarray of shape (n, singles + pairs, outputs)
    """
    k, n_players = len(selected), values.shape[1]
    others = np.setdiff1d(np.arange(n_players), selected)
    singles = [values[:, player] for player in selected]
    members = coalitions(k + 1, 2)
    if len(others):
        singles.append(added(values[:, others].swapaxes(0, 1)))
    else:
        is_of_selected = members[:, 1] < k
        members, pairs = members[is_of_selected], pairs[:, is_of_selected]
    coefficients = np.stack(singles, axis=1)
    if index == "k-SII":
        for place in range(coefficients.shape[1]) if len(members) else ():
            player_pairs = pairs[:, (members == place).any(axis=1)]
            coefficients[:, place] -= 0.5 * added(player_pairs.swapaxes(0, 1))
    return np.concatenate([coefficients, pairs], axis=1)
