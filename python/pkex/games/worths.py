"""Shapley values and interactions from the values of all coalitions, for few players.

Values of coalitions are arrays of shape (n, 2^p) for n games of p players.
Bit j of the number of a coalition is set if player j is a member.
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
    """Return the columns of each coalition as booleans, shape (2^p, d).

    Parameters
    ----------
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    numbers = np.arange(2 ** (int(players.max(initial=-1)) + 1))
    return (numbers[:, None] >> players & 1).astype(np.bool_)


def numbers_of(members: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the numbers of coalitions, given their members as booleans of shape (count, p)."""
    return members @ (1 << np.arange(members.shape[1]))


def quantity_of(worths: Float, quantity: Quantity) -> Float:
    """Return the coefficients Σ_S w_|S| Δ_T v(S) of all coalitions T of a size, over S outside T.

    The coefficient is Δ_T of the multilinear extension, integrated over the measure μ. The weight
    of S is ∫ t^s (1−t)^(p−|T|−s) dμ(t) with s = |S|.

    Parameters
    ----------
    worths : ndarray of shape (n, 2^p)
        The values of all coalitions.
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
    # One axis per player; the last axis has the lowest bit.
    table = worths.reshape(n_games, *[2] * n_players)
    coefficients = []
    for members in coalitions(n_players, quantity.size):
        change: Float = table
        for player in members.tolist():
            # Players with larger numbers have earlier axes; smaller members are removed already.
            axis = n_players - player
            change = np.take(change, 1, axis) - np.take(change, 0, axis)
        coefficients.append(np.einsum("ns,s->n", change.reshape(n_games, -1), weights))
    return np.stack(coefficients, axis=1)


def shapley_matrix(n_players: int) -> Float:
    """Return the matrix that maps values of all coalitions to Shapley values, shape (p, 2^p)."""
    members = members_of(np.arange(n_players)).T
    sizes = members.sum(axis=0)
    moments = np.array([_moment(SHAPLEY, s, n_players - 1 - s) for s in range(n_players)])
    # The weights of coalitions with and without the player.
    joined, left = np.append(0.0, moments)[sizes], np.append(moments, 0.0)[sizes]
    matrix: Float = np.where(members, joined, -left)
    return matrix


def _moment(quantity: Quantity, s: int, rest: int) -> float:
    """Return ∫ t^s (1−t)^rest dμ(t)."""
    if isinstance(quantity.measure, float):
        t = quantity.measure
        return float(t**s * (1.0 - t) ** rest)
    # The Jacobi polynomial P_m(1−2t) is Σ_k C(m+j+1, m−k) C(m+i, k) (−t)^k (1−t)^(m−k)
    # (Szegő, 4.3.2), and ∫ t^a (1−t)^b dt = a! b! / (a+b+1)!.
    scale, i, j, m = quantity.measure
    total = Fraction(0)
    for k in range(m + 1):
        a, b = i + s + k, j + rest + m - k
        beta = Fraction(math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))
        total += (-1) ** k * math.comb(m + j + 1, m - k) * math.comb(m + i, k) * beta
    return scale * float(total)
