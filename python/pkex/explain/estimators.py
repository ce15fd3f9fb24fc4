"""Estimators of Shapley values from random permutations of features, or random coalitions.

The Shapley value is the mean marginal contribution over all permutations. Each permutation is used
with its reverse, whose error tends to have the opposite sign where features interact (antithetic
sampling; Mitchell et al. 2022). The pairs are independent: their mean is unbiased, and their spread
gives its standard error. For coalitions see `SampledCoalitions`.

All rows share the same draws, so the result of a row does not depend on other rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Function, Members
from pkex.functions.coalitionwise import CoalitionGames, RowName, row_names
from pkex.functions.linked import as_coalitionwise
from pkex.games.orders import Orders
from pkex.games.sampled_coalitions import SampledCoalitions
from pkex.games.value_functions import Game
from pkex.inputs.integers import as_integer
from pkex.typing import Float

# Maps a function and rows to estimates of its Shapley values and their standard errors, both of
# shape (n, players, outputs).
Estimator: TypeAlias = Callable[[Any, Float, Computation], tuple[Float, Float]]

# The largest number of places of permutations that are evaluated together.
_BLOCK = 1 << 14
# Fewest draws for an estimate of their spread, and fewest coalitions per feature.
_MIN_DRAWS, _MIN_DRAWS_PER_FEATURE = 20, 4
# Largest number of drawn numbers: about a gigabyte.
_MAX_DRAWN = 1 << 27


@dataclass(frozen=True, eq=False)
class PermutationEstimator:
    """An estimator from permutations and their reverses.

    Parameters
    ----------
    game : Game
    orders : ndarray of int64, shape (permutations, players)
        The permutations, without their reverses.
    """

    game: Game
    orders: NDArray[np.int64]

    @classmethod
    def draw(
        cls, game: Game, n_players: int, n_permutations: object, generator: np.random.Generator
    ) -> PermutationEstimator:
        """Draw half of the permutations; the others are their reverses."""
        what = (
            f"an even integer of at least {_MIN_DRAWS}, such as 1000: permutations come in pairs, "
            "whose spread gives the standard errors"
        )
        count = _check_number("n_permutations", n_permutations, what, _MIN_DRAWS, n_players)
        numbers = np.tile(np.arange(n_players), (count // 2, 1))
        return cls(game, generator.permuted(numbers, axis=1))

    def __call__(
        self, function: Function | CoalitionGames, rows: Float, computation: Computation
    ) -> tuple[Float, Float]:
        """Return estimates and their standard errors, both (n, players, outputs)."""
        game = as_coalitionwise(function)
        values, errors = np.empty((2, len(rows), game.n_players, game.n_outputs))
        for number, part_computation in computation.over(range(len(rows))):
            row = rows[number : number + 1]
            values[number], errors[number] = self._estimate_row(
                game, row, part_computation, row_names(number)
            )
        return values, errors

    def _estimate_row(
        self, function: CoalitionGames, row: Float, computation: Computation, name: RowName
    ) -> tuple[Float, Float]:
        """Return means over pairs of permutations, and standard errors, both (players, outputs)."""
        count, p = self.orders.shape

        def values(computation: Computation, members: Members) -> Float:
            values: Float = function.coalition_values(row, self.game, members, computation, name)[0]
            return values

        ends = values(computation.reporting(None), np.array([[False] * p, [True] * p]))
        contributions = []
        for block, part_computation in computation.over(blocks_of(count, _BLOCK // (2 * p))):
            orders = Orders(self.orders[block])
            contributions.append(_contributions(orders, ends, partial(values, part_computation)))
        pairs = np.concatenate(contributions)
        return pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / np.sqrt(count)


def _contributions(orders: Orders, ends: Float, values: Callable[[Members], Float]) -> Float:
    """Return mean contributions over each pair, shape (permutations, players, outputs)."""
    n_orders, p = orders.permutations.shape
    # Values of the first features of a permutation, and of its reverse.
    table = np.empty((n_orders, 2, p + 1, ends.shape[1]))
    table[:, :, 0], table[:, :, -1] = ends
    table[:, :, 1:-1] = values(orders).reshape(table[:, :, 1:-1].shape)
    contributions = np.diff(table, axis=2)
    by_place: Float = (contributions[:, 0] + contributions[:, 1, ::-1]) / 2.0
    return np.take_along_axis(by_place, orders.places[:, :, None], axis=1)


@dataclass(frozen=True, eq=False)
class CoalitionEstimator:
    """An estimator from coalitions and their complements.

    Parameters
    ----------
    game : Game
    sample : SampledCoalitions
    """

    game: Game
    sample: SampledCoalitions

    @classmethod
    def draw(
        cls, game: Game, n_players: int, n_coalitions: object, generator: np.random.Generator
    ) -> CoalitionEstimator:
        """Draw half of the coalitions; the others are their complements."""
        minimum = max(_MIN_DRAWS, _MIN_DRAWS_PER_FEATURE * n_players)
        what = (
            f"an even integer of at least {minimum}, such as {max(1000, minimum)}: coalitions come "
            f"with their complements, at least {_MIN_DRAWS} in all and {_MIN_DRAWS_PER_FEATURE} "
            "per feature"
        )
        count = _check_number("n_coalitions", n_coalitions, what, minimum, n_players)
        return cls(game, SampledCoalitions.draw(n_players, count, generator))

    def __call__(
        self, function: Function | CoalitionGames, rows: Float, computation: Computation
    ) -> tuple[Float, Float]:
        """Return estimates and their standard errors, both (n, players, outputs)."""
        game = as_coalitionwise(function)
        step, _ = game.block_sizes(len(self.sample.members))
        results = np.empty((2, len(rows), game.n_players, game.n_outputs))
        for block, part_computation in computation.over(blocks_of(len(rows), step)):
            values = self._values(game, rows[block], part_computation, row_names(block.start))
            results[:, block] = self.sample.estimates(values)
        return results[0], results[1]

    def _values(
        self, function: CoalitionGames, rows: Float, computation: Computation, name: RowName
    ) -> Float:
        """Return the values of the coalitions in the games of rows, (n, count, outputs)."""
        members = self.sample.members
        _, step = function.block_sizes(len(members))
        values = []
        for block, part_computation in computation.over(blocks_of(len(members), step)):
            values.append(
                function.coalition_values(rows, self.game, members[block], part_computation, name)
            )
        return np.concatenate(values, axis=1)


def _check_number(name: str, number: object, what: str, minimum: int, n_players: int) -> int:
    """Return an even number of draws that fit in memory."""
    count = as_integer(name, number, what, least=minimum)
    if count % 2:
        raise InputError(name, f"must be {what}; got {count}")
    maximum = _MAX_DRAWN // n_players // 2 * 2
    if count > maximum:
        raise InputError(
            name,
            f"must be at most {maximum:,} for {n_players} features, because all draws are held in "
            f"memory; got {count:,}",
            "average estimates with several seeds, random_state=0, 1, …, for smaller errors",
        )
    return count
