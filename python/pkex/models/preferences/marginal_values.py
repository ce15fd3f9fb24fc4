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

from pkex.execution.computation import Computation
from pkex.games.players import Players
from pkex.games.product_game import product_game
from pkex.kernels import Term
from pkex.kernels.restrictions import by_column
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.duels import Duels
from pkex.models.preferences.preferential import Preferential
from pkex.typing import Float

__all__ = ["marginal_values"]

# The number of factors in memory at a time.
_MOST_NUMBERS = 1 << 23


def marginal_values(
    f: Preferential, terms: Sequence[Term], duels: Duels, absent: Absent, computation: Computation
) -> Float:
    """Return the values of players, features of items, shape (n, p).

    Parameters
    ----------
    f : Preferential
    terms : sequence of Term
        The products whose sum is the kernel.
    duels : Duels
    absent : Absent
    computation : Computation
    """
    (n, d), sides = duels.left.shape, (f.left, f.right)
    # All pairs of terms, for the left and the right items.
    pairs = list(product(range(len(terms)), repeat=2))
    means = [[_means(term, own, absent) for own in sides] for term in terms]
    absent_factors = np.concatenate([means[one][0] * means[other][1] for one, other in pairs])
    weights = np.array([terms[one].coefficient * terms[other].coefficient for one, other in pairs])

    def one_way(factors: list[list[Float]], alpha: Float, a: int, b: int) -> Float:
        """Return the values of h(a, b) with coefficients α, shape (d,)."""
        values: Float = product_game(
            np.concatenate([factors[one][0][a] * factors[other][1][b] for one, other in pairs]),
            absent_factors,
            np.outer(weights, alpha).ravel(),
            method=computation.method,
            summation=computation.summation,
            n_jobs=computation.n_threads,
        )
        return values

    values = np.empty((n, len(absent.players)))
    step = max(1, _MOST_NUMBERS // (4 * len(terms) * len(f.left) * d))
    for start in range(0, n, step):
        block = duels[start : start + step]
        items, a, b = block.distinct_items()
        factors = [[_factors(term, own, items, absent.players) for own in sides] for term in terms]
        for row, (left, right) in enumerate(zip(a.tolist(), b.tolist(), strict=True), start):
            alpha = duels.coefficients[:, duels.numbers[row]]
            values[row] = one_way(factors, alpha, left, right) - one_way(
                factors, alpha, right, left
            )
            if computation.progress is not None:
                computation.progress(row + 1, n)
    return values


def _factors(term: Term, points: Float, items: Float, players: Players) -> Float:
    """Return the factors of each player between points and items, shape (items, points, p)."""
    factors = np.ones((len(items), len(points), len(players)))
    for column, values in by_column(term, points, items).items():
        factors[:, :, players.of_column[column]] *= values.T
    return factors


def _means(term: Term, points: Float, absent: Absent) -> Float:
    """Return the mean factors of points over the background, shape (points, p)."""
    means = np.zeros((len(points), len(absent.players)))
    step = max(1, _MOST_NUMBERS // points.size)
    for start in range(0, len(absent.rows), step):
        block = slice(start, start + step)
        factors = _factors(term, points, absent.rows[block], absent.players)
        means += np.einsum("l,lpd->pd", absent.shares[block], factors)
    return means
