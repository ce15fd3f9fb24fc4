"""How sure values of the observational game are, under the posterior of a Gaussian process.

There v(S) = Σ_l w_Sl f(x_S, z_l), so that the values Σ_S A_jS v(S), with the matrix A from worths
to values, have under the prior the covariances

    Σ_ll' U_lᵀ (⊗_j M_j) U_l',  U_l = (w_Sl A_jS)_Sj,  M_j = [[k_j(z_l, z_l'), k_j(z_l, x)],
                                                             [k_j(x, z_l'),   1]],

as a product kernel between two mixed rows has, for each column, a factor that depends on whether it
is of x in the one and in the other. The Kronecker product is applied factor by factor. The value of
player j in the game of k(·, p) is Σ_S A_jS k_S(x, p) Σ_l w_Sl k_{S^c}(z_l, p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pkex.games.worths import shapley_matrix
from pkex.kernels import Term
from pkex.typing import Float, Report

__all__ = ["GivenBackground"]

# Numbers of tables of coalitions that are there at a time.
_MOST_NUMBERS = 1 << 20

# From a term and two tables to the factors of players between all their rows, (players, n, m).
_Factors = Callable[[Term, Float, Float], Float]


@dataclass(frozen=True, eq=False)
class GivenBackground:
    """Background rows, and how they count beside a row in each coalition.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    weights : ndarray of shape (2^players, m)
    factors : callable
    """

    rows: Float
    weights: Float
    factors: _Factors

    @property
    def _n_players(self) -> int:
        return len(self.weights).bit_length() - 1

    def prior_part(self, x: Float, terms: list[Term], report: Report | None) -> Float:
        """Return the covariances of the values of a row under the prior, (players, players)."""
        p, m = self._n_players, len(self.rows)
        matrix = shapley_matrix(p)
        step = max(1, _MOST_NUMBERS // matrix.size)
        blocks = [slice(start, start + step) for start in range(0, m, step)]
        found = np.zeros((p, p))
        for number, term in enumerate(terms):
            to_rows = self.factors(term, x[None], self.rows)[:, 0]
            for place, row in enumerate(self.rows):
                between = self.factors(term, row[None], self.rows)[:, 0]
                own = sum(
                    _multiplied(
                        self.weights.T[some, :, None] * matrix.T,
                        between[:, some],
                        to_rows[:, some],
                        to_rows[:, place],
                    )
                    for some in blocks
                )
                found += term.coefficient * ((matrix * self.weights[:, place]) @ own)
                if report is not None:
                    report(number * m + place + 1, len(terms) * m)
        return (found + found.T) / 2.0

    def values_of_points(self, x: Float, points: Float, terms: list[Term]) -> Float:
        """Return the values in the games of k(·, p) of points p, shape (points, players)."""
        worths = np.zeros((len(points), len(self.weights)))
        step = max(1, _MOST_NUMBERS // self.weights.size)
        for term in terms:
            for start in range(0, len(points), step):
                some = slice(start, start + step)
                present = self.factors(term, points[some], x[None])
                absent = self.factors(term, points[some], self.rows)
                worths[some] += term.coefficient * self._mean_products(present, absent)
        values: Float = worths @ shapley_matrix(self._n_players).T
        return values

    def _mean_products(self, present: Float, absent: Float) -> Float:
        """Return Σ_l w_Sl ∏_{j∈S} present_j ∏_{j∉S} absent_jl of points, shape (n, coalitions)."""
        products = np.ones((1, *absent.shape[1:]))
        for own, others in zip(present, absent, strict=True):
            # Of the coalitions so far, without the player and with it.
            products = np.concatenate([products * others, products * own])
        means: Float = np.einsum("snl,sl->ns", products, self.weights)
        return means


def _multiplied(maps: Float, between: Float, from_row: Float, to_row: Float) -> Float:
    """Return the sum over background rows l' of (⊗_j M_j) U_l', shape (coalitions, players).

    Parameters
    ----------
    maps : ndarray of shape (m, coalitions, players)
        U of each l'.
    between, from_row : ndarray of shape (players, m)
        k_j(z_l, z_l') and k_j(x, z_l').
    to_row : ndarray of shape (players,)
        k_j(z_l, x).
    """
    m, n_coalitions, n_columns = maps.shape
    for j in range(len(between)):
        # Coalitions without the player, and with it, in the order of their numbers.
        table = maps.reshape(m, -1, 2, (1 << j) * n_columns)
        absent, present = table[:, :, 0], table[:, :, 1]
        s, q = between[j, :, None, None], from_row[j, :, None, None]
        maps = np.stack([s * absent + to_row[j] * present, q * absent + present], axis=2)
    total: Float = maps.reshape(m, n_coalitions, n_columns).sum(axis=0)
    return total
