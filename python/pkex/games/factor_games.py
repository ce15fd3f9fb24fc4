"""Quantities of weighted sums of product games, for arrays of factors.

The engine computes Shapley values of such games. Other quantities are Shapley values of other
product games:

- c_T ∫ ∏_{l∉T} F_l dt is the Shapley value of a member of T in the game whose weight is multiplied
  by c_l of the other members, which do not play.
- A density t^i (1−t)^j is a product of i factors with a = 1, b = 0, and of j with a = 0, b = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from pkex import _core
from pkex.execution.computation import Computation
from pkex.games.coalitions import coalitions, ranks
from pkex.games.indices import Quantity
from pkex.games.means import added
from pkex.typing import Float

# Mantissas, from ½ to 1, whose product is in range, and a power of two that is out of range.
_MANTISSAS, _MAX_POWER = 512, 1 << 14


@dataclass(frozen=True, eq=False)
class FactorGames:
    """The game Σ_e weights_e ∏_{j∈S} a_ej ∏_{j∉S} b_ej.

    Parameters
    ----------
    present : ndarray of shape (evaluations, players)
        The factors a.
    absent : ndarray of shape (evaluations, players) or None
        The factors b; None if they are 1.
    difference : ndarray of shape (evaluations, players)
        c = a − b.
    weights : ndarray of shape (evaluations, outputs)
    """

    present: Float
    absent: Float | None
    difference: Float
    weights: Float

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        arrays = self.present, self.absent, self.difference, self.weights
        return all(array is None or np.isfinite(array).all() for array in arrays)

    def quantity(self, quantity: Quantity, computation: Computation) -> Float:
        """Return the coefficients of all coalitions of a size, shape (coalitions, outputs).

        Raises
        ------
        OverflowError
            If a number, or an intermediate product, is too large for a float.
        """
        if not self.is_finite:
            raise OverflowError("a factor is too large for a float")
        if isinstance(quantity.measure, float):
            return self._at_point(quantity.measure, quantity.size)
        n_players = self.present.shape[1]
        if quantity.size == 0:
            # ∫ ∏_l F_l dμ is the value of an additional player with a = 1, b = 0.
            return self._with_players(1, 0)._integrals(quantity.measure, computation)[n_players:]
        if quantity.size == 1:
            return self._integrals(quantity.measure, computation)
        values = np.empty((math.comb(n_players, quantity.size), self.weights.shape[1]))
        for prefix in combinations(range(n_players - 1), quantity.size - 1):
            start = prefix[-1] + 1
            integrals = self._without_players(list(prefix))._integrals(
                quantity.measure, computation
            )
            players = np.arange(start, n_players)
            members = np.column_stack([np.tile(prefix, (len(players), 1)), players])
            values[ranks(members.astype(np.int64), n_players)] = integrals[start - len(prefix) :]
        return values

    def _without_players(self, members: list[int]) -> FactorGames:
        """Return the games of the other players, weighted by the members' differences."""
        factors = self.difference[:, members].prod(axis=1, keepdims=True)
        return FactorGames(
            np.delete(self.present, members, axis=1),
            None if self.absent is None else np.delete(self.absent, members, axis=1),
            np.delete(self.difference, members, axis=1),
            self.weights * factors,
        )

    def _with_players(self, rising: int, falling: int) -> FactorGames:
        """Return the games with additional players of the factors t, and of 1 − t, at the end."""
        if not rising + falling:
            return self
        shape = len(self.present), rising + falling
        present = np.broadcast_to(np.repeat([1.0, 0.0], [rising, falling]), shape)
        return FactorGames(
            np.hstack([self.present, present]),
            np.hstack([self._absent_factors, 1.0 - present]),
            np.hstack([self.difference, 2.0 * present - 1.0]),
            self.weights,
        )

    @property
    def _absent_factors(self) -> Float:
        return np.ones_like(self.present) if self.absent is None else self.absent

    def _at_point(self, t: float, size: int) -> Float:
        """Return c_T ∏_{l∉T} F_l(t)."""
        near_absent = self._absent_factors + t * self.difference
        factors = near_absent if t <= 0.5 else self.present - (1.0 - t) * self.difference
        values = []
        with np.errstate(over="ignore", invalid="ignore"):
            for members in coalitions(factors.shape[1], size):
                columns = factors.copy()
                columns[:, members] = self.difference[:, members]
                values.append(added(product_of(columns)[:, None] * self.weights))
        coefficients = np.reshape(values, (len(values), self.weights.shape[1]))
        if not np.isfinite(coefficients).all():
            raise OverflowError("a product of factors is too large for a float")
        return coefficients

    def _integrals(self, density: tuple[float, int, int, int], computation: Computation) -> Float:
        """Return c_j ∫ ∏_{l≠j} F_l dμ of each player, for a measure with a density."""
        # The Jacobi polynomial P_m(1−2t) is Σ_k C(m+j+1, m−k) C(m+i, k) (−t)^k (1−t)^(m−k)
        # (Szegő, 4.3.2).
        scale, i, j, m = density
        total = np.zeros((self.present.shape[1], self.weights.shape[1]))
        for k in range(m + 1):
            games = self._with_players(i + k, j + m - k)
            values = _core.product_game(
                np.ascontiguousarray(games.present),
                None if games.absent is None else np.ascontiguousarray(games.absent),
                np.ascontiguousarray(games.difference),
                np.ascontiguousarray(games.weights),
                index="SV",
                method=computation.method,
                summation=computation.summation,
                n_threads=computation.n_threads,
            )
            factor = (-1) ** k * math.comb(m + j + 1, m - k) * math.comb(m + i, k)
            total += scale * factor * values[: len(total)]
        return total


def product_of(factors: Float) -> Float:
    """Return the products of rows, without overflow or underflow of parts of a product.

    Parameters
    ----------
    factors : ndarray of shape (n, k)
    """
    product, exponents = np.ones(len(factors)), np.zeros(len(factors), dtype=np.int64)
    for start in range(0, factors.shape[1], _MANTISSAS):
        mantissas, powers = np.frexp(factors[:, start : start + _MANTISSAS])
        product, power = np.frexp(product * mantissas.prod(axis=1))
        exponents += power + powers.sum(axis=1)
    with np.errstate(over="ignore", under="ignore"):  # callers check their results
        products: Float = np.ldexp(product, np.clip(exponents, -_MAX_POWER, _MAX_POWER))
    return products


def add_quantities(
    values: Float, games: Iterable[FactorGames], quantity: Quantity, computation: Computation
) -> None:
    """Add a quantity of the game of each row to values, shape (n, coalitions, outputs).

    Raises
    ------
    OverflowError
        If a value is too large for a float; the message names the row.
    """
    for number, game in enumerate(games):
        try:
            values[number] += game.quantity(quantity, computation)
        except OverflowError:
            raise OverflowError(
                f"a value of row {number} is too large for a float, or a product of its factors is"
            ) from None
        computation.report(number + 1, len(values))
