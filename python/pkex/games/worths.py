"""Values of games that are known coalition by coalition: of few players, and of any form.

Worths are arrays (n, 2^p) of n games of p players: coalition number S has bit j where j is in it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import coalitions
from pkex.games.indices import SHAPLEY, Quantity
from pkex.typing import Float

__all__ = ["members_of", "numbers_of", "quantity_of", "shapley_matrix"]


def members_of(players: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which columns belong to each coalition, of shape (2^p, d).

    Parameters
    ----------
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    numbers = np.arange(2 ** (int(players.max(initial=-1)) + 1))
    return (numbers[:, None] >> players & 1).astype(np.bool_)


def numbers_of(members: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the numbers of coalitions, given which players belong to them, shape (count, p)."""
    return members @ (1 << np.arange(members.shape[1]))


def quantity_of(worths: Float, quantity: Quantity) -> Float:
    """Return the coefficients Σ_S w_|S| Δ_T v(S) of all coalitions T of a size, S outside of T.

    That is Δ_T of the multilinear extension, integrated over the measure: the weight of S is
    ∫ t^s (1−t)^(p−|T|−s) dμ(t) with s = |S|.

    Parameters
    ----------
    worths : ndarray of shape (n, 2^p)
    quantity : Quantity

    Returns
    -------
    ndarray of shape (n, coalitions)
    """
    n_games = len(worths)
    n_players = worths.shape[1].bit_length() - 1
    n_others = n_players - quantity.size
    sizes = np.array([number.bit_count() for number in range(2**n_others)])
    weights = np.array([_moment(quantity, s, n_others - s) for s in range(n_others + 1)])[sizes]
    # An axis for each player; the last has the lowest bit.
    table = worths.reshape(n_games, *[2] * n_players)
    found = []
    for members in coalitions(n_players, quantity.size):
        change: Float = table
        for player in members.tolist():
            # Of the players that are left, larger ones stand before it.
            axis = n_players - player
            change = np.take(change, 1, axis) - np.take(change, 0, axis)
        found.append(np.einsum("ns,s->n", change.reshape(n_games, -1), weights))
    return np.stack(found, axis=1)


def shapley_matrix(n_players: int) -> Float:
    """Return the matrix from the worths of all coalitions to Shapley values, shape (p, 2^p)."""
    members = members_of(np.arange(n_players)).T
    sizes = members.sum(axis=0)
    moments = np.array([_moment(SHAPLEY, s, n_players - 1 - s) for s in range(n_players)])
    # The weights of coalitions of other players, by whether the player joins them.
    joined, left = np.append(0.0, moments)[sizes], np.append(moments, 0.0)[sizes]
    matrix: Float = np.where(members, joined, -left)
    return matrix


def _moment(quantity: Quantity, s: int, rest: int) -> float:
    """Return ∫ t^s (1−t)^rest dμ(t)."""
    if isinstance(quantity.measure, float):
        t = quantity.measure
        return float(t**s * (1.0 - t) ** rest)
    # Jacobi's polynomial P_m(1−2t) is Σ_k C(m+j+1, m−k) C(m+i, k) (−t)^k (1−t)^(m−k)
    # (Szegő, 4.3.2), and ∫ t^a (1−t)^b dt = a! b! / (a+b+1)!.
    scale, i, j, m = quantity.measure
    total = Fraction(0)
    for k in range(m + 1):
        a, b = i + s + k, j + rest + m - k
        beta = Fraction(math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))
        total += (-1) ** k * math.comb(m + j + 1, m - k) * math.comb(m + i, k) * beta
    return scale * float(total)
