"""Values of the features of items, with each absent feature drawn independently.

For a product kernel, the value function of h(a, b) = Σ_i α_i k(l_i, a) k(r_i, b) is

    v(S) = Σ_i α_i ∏_{j∈S} k_j(l_ij, a_j) k_j(r_ij, b_j) ∏_{j∉S} E k_j(l_ij, X_j) E k_j(r_ij, X'_j)

a sum of product games, whose absent factors take time proportional to the number of items, not of
pairs. For a sum of products, it is the sum over all pairs of products.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.gaussian_process.covariances import pair_games
from pkex.games.players import Players
from pkex.games.product_game import product_game
from pkex.kernels import Term
from pkex.kernels.restrictions import column_products
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.duels import Duels
from pkex.models.preferences.preferential import Preferential
from pkex.typing import Float

# The number of factors in memory at a time.
_MAX_NUMBERS = 1 << 23
# Training pairs whose values are computed together.
_PAIRS = 256


def marginal_values(
    f: Preferential, terms: Sequence[Term], duels: Duels, absent: Absent, computation: Computation
) -> Float:
    """Return the values of the features of items, shape (n, d).

    Parameters
    ----------
    f : Preferential
    terms : sequence of Term
        The products whose sum is the kernel.
    duels : Duels
    absent : Absent
    computation : Computation
    """
    n, d = duels.left.shape
    games = MarginalGames(f, terms, absent, computation)
    values = np.empty((n, len(absent.players)))
    step = _MAX_NUMBERS // (4 * len(terms) * len(f.left) * d)
    for block in blocks_of(n, step):
        items, a, b = duels[block].distinct_items()
        factors = games.factors(items)
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        for row, (left, right) in enumerate(pairs, block.start):
            alpha = duels.coefficients[:, duels.numbers[row]]
            forward, backward = (
                games.one_way(factors, alpha, *items) for items in ((left, right), (right, left))
            )
            values[row] = forward - backward
            computation.report(row + 1, n)
    return values


class MarginalGames:
    """The games of the training pairs, and of functions drawn from the prior.

    Parameters
    ----------
    f : Preferential
    terms : sequence of Term
        The products whose sum is the kernel.
    absent : Absent
    computation : Computation
    """

    def __init__(
        self, f: Preferential, terms: Sequence[Term], absent: Absent, computation: Computation
    ) -> None:
        self._sides, self._terms, self._absent = (f.left, f.right), terms, absent
        self._computation = computation
        # All pairs of terms, for the left and the right items.
        self._pairs = list(product(range(len(terms)), repeat=2))
        means = [[_means(term, points, absent) for points in self._sides] for term in terms]
        self._absent_factors = np.stack([means[i][0] * means[k][1] for i, k in self._pairs])
        self._weights = np.array(
            [terms[i].coefficient * terms[k].coefficient for i, k in self._pairs]
        )

    def factors(self, items: Float) -> list[list[Float]]:
        """Return the factors of each term for left and right sides, each (items, points, p)."""
        players = self._absent.players
        return [
            [_factors(term, points, items, players) for points in self._sides]
            for term in self._terms
        ]

    def one_way(self, factors: list[list[Float]], alpha: Float, a: int, b: int) -> Float:
        """Return the values of h(a, b), shape (p,), or (p, outputs) for α of shape (n, outputs)."""
        return self._values(factors, alpha, a, b, slice(None))

    def of_points(self, factors: list[list[Float]], a: int, b: int) -> Float:
        """Return the values of each training pair's part of f(a, b), with α = 1, shape (n, p)."""
        blocks = []
        for block in blocks_of(len(self._sides[0]), _PAIRS):
            alpha = np.eye(len(self._sides[0][block]))
            forward, backward = (
                self._values(factors, alpha, *pair, block) for pair in ((a, b), (b, a))
            )
            blocks.append((forward - backward).T)
        return np.concatenate(blocks)

    def _values(
        self, factors: list[list[Float]], alpha: Float, a: int, b: int, block: slice
    ) -> Float:
        present = [factors[i][0][a, block] * factors[k][1][b, block] for i, k in self._pairs]
        weights = np.concatenate([weight * alpha for weight in self._weights])
        values: Float = product_game(
            np.concatenate(present),
            np.concatenate(self._absent_factors[:, block]),
            weights,
            method=self._computation.method,
            summation=self._computation.summation,
            n_jobs=self._computation.n_threads,
        )
        return values

    def prior_covariance(self, left: Float, right: Float) -> Float:
        """Return the covariance of the values of a pair of items (d,) under the prior, (p, p).

        The prior covariance is the kernel between pairs.
        """
        covariance = np.zeros((len(self._absent.players), len(self._absent.players)))
        items, rows = np.stack([left, right]), self._absent.rows
        item_factors = [_factors(term, items, items, self._absent.players) for term in self._terms]
        # Each item with an absent one, and two absent ones: mean factors.
        to_rows = [_means(term, items, self._absent) for term in self._terms]
        shares = self._absent.shares
        means = [shares @ _means(term, rows, self._absent) for term in self._terms]
        for (i, k), weight in zip(self._pairs, self._weights, strict=True):
            absent = means[i] * means[k]
            for sign, (a, b) in ((1.0, (0, 1)), (-1.0, (1, 0))):
                games = pair_games(
                    (item_factors[i][0, a] * item_factors[k][1, b])[:, None, None],
                    (to_rows[i][0] * to_rows[k][1])[:, None, None],
                    (to_rows[i][a] * to_rows[k][b])[:, None, None],
                    absent[:, None, None],
                    np.ones((1, 1)),
                )
                covariance += sign * weight * games
        symmetric: Float = (covariance + covariance.T) / 2.0
        return symmetric


def _factors(term: Term, points: Float, items: Float, players: Players) -> Float:
    """Return the factors of each player between points and items, shape (items, points, p)."""
    factors = np.ones((len(items), len(points), len(players)))
    for column, values in column_products(term, points, items).items():
        factors[:, :, players.of_column[column]] *= values.T
    return factors


def _means(term: Term, points: Float, absent: Absent) -> Float:
    """Return the mean factors of points over the background, shape (points, p)."""
    means = np.zeros((len(points), len(absent.players)))
    for block in blocks_of(len(absent.rows), _MAX_NUMBERS // points.size):
        factors = _factors(term, points, absent.rows[block], absent.players)
        means += np.einsum("l,lpd->pd", absent.shares[block], factors)
    return means
