"""Coalitions of a given size in lexicographic order, and all coalitions by number.

Bit j of the number of a coalition is set if player j is a member.
"""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

_Int = NDArray[np.int64]


def coalitions(n_players: int, size: int) -> _Int:
    """Return all coalitions of `size` players, shape (count, size), with ascending members."""
    count = math.comb(n_players, size)
    if size == 2:
        return np.stack(np.triu_indices(n_players, 1), axis=1).astype(np.int64)
    members = chain.from_iterable(combinations(range(n_players), size))
    return np.fromiter(members, np.int64, count * size).reshape(count, size)


def coalition_at(place: int, n_players: int, size: int) -> tuple[int, ...]:
    """Return the coalition at a place of `coalitions`, without computing all of them.

    C(d−1−p, s−i) coalitions with given first i−1 players have p as their i-th player.
    """
    members: list[int] = []
    player = 0
    while len(members) < size:
        with_player = math.comb(n_players - 1 - player, size - 1 - len(members))
        if place < with_player:
            members.append(player)
        else:
            place -= with_player
        player += 1
    return tuple(members)


def coalition_of_any_size_at(place: int, n_players: int) -> tuple[int, ...]:
    """Return the coalition at a place of the concatenated lists of sizes 1, 2, …."""
    size = 1
    while place >= math.comb(n_players, size):
        place -= math.comb(n_players, size)
        size += 1
    return coalition_at(place, n_players, size)


def ranks(members: _Int, n_players: int) -> _Int:
    """Return the rank of each coalition among all of its size, given ascending members.

    Among the coalitions after {p_1 < … < p_s}, C(d−1−p_i, s−i+1) agree with it up to p_{i−1} and
    have a later i-th player.
    """
    size = members.shape[1]
    last_rank = math.comb(n_players, size) - 1
    numbers = np.full(len(members), last_rank, dtype=np.int64)
    for i in range(size):
        later_coalitions = [
            math.comb(n_players - 1 - player, size - i) for player in range(n_players)
        ]
        numbers -= np.array(later_coalitions, dtype=np.int64)[members[:, i]]
    return numbers


def all_coalitions(players: _Int) -> NDArray[np.bool_]:
    """Return the columns of each coalition as booleans, shape (2^p, d), by number.

    Parameters
    ----------
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    return coalitions_in(range(2 ** (int(players.max(initial=-1)) + 1)), players)


def coalitions_in(numbers: range, players: _Int) -> NDArray[np.bool_]:
    """Return the columns of coalitions with consecutive numbers, shape (len(numbers), d)."""
    members = np.arange(numbers.start, numbers.stop)[:, None] >> players & 1
    return members.astype(np.bool_)


def coalition_numbers(members: NDArray[np.bool_]) -> _Int:
    """Return the numbers of coalitions, given their members as booleans of shape (count, p)."""
    return members @ (1 << np.arange(members.shape[1]))
