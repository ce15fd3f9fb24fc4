"""Functions whose game is not a sum of product games: each coalition is evaluated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.functions.base import Members
from pkex.functions.composite import Composite
from pkex.games.indices import SHAPLEY, Quantity, quantity_from_values
from pkex.games.value_functions import NEUTRAL, Game
from pkex.tables.sparse import dense_rows
from pkex.typing import Float, Rows

# Coalitions of a row that are evaluated together, if all are.
_MAX_TOGETHER = 1 << 16

# Maps the number of a row to its name in messages.
RowName: TypeAlias = Callable[[int], str]


def row_names(start: int) -> RowName:
    """Return the names of rows of X from a first one on."""
    return lambda number: f"row {start + number} of X"


class CoalitionGames(ABC):
    """Games that have a value for each coalition, and no formula for all."""

    __slots__ = ()

    n_outputs: int

    @property
    @abstractmethod
    def n_players(self) -> int:
        """The number of players."""

    def explain(
        self,
        X: Rows,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        """Return a quantity of rows, shape (n, coalitions, outputs); see `Function.explain`."""
        game = self._exact_game(X, game, quantity)
        n_coalitions = 2**self.n_players
        step, _ = self.block_sizes(n_coalitions)
        blocks = blocks_of(max(1, X.shape[0]), step)
        n_together = min(n_coalitions, _MAX_TOGETHER)
        ranges = [range(first, first + n_together) for first in range(0, n_coalitions, n_together)]
        results = []
        for block, block_computation in computation.over(blocks):
            rows, names = dense_rows(X[block]), row_names(block.start)
            values = [
                self.coalition_values(rows, game, members, part_computation, names)
                for members, part_computation in block_computation.over(ranges)
            ]
            results.append(quantity_from_values(np.concatenate(values, axis=1), quantity))
        return np.concatenate(results)

    @abstractmethod
    def _exact_game(self, X: Rows, game: Game, quantity: Quantity) -> Game:
        """Return the game of all coalitions; raise an error if there are too many of these."""

    @abstractmethod
    def block_sizes(self, n_coalitions: int) -> tuple[int, int]:
        """Return the largest numbers of rows and of coalitions to evaluate together."""

    @abstractmethod
    def coalition_values(
        self,
        X: Float,
        game: Game,
        members: Members,
        computation: Computation,
        row_name: RowName,
    ) -> Float:
        """Return the values v(S) of coalitions in the games of rows, shape (n, count, outputs).

        Parameters
        ----------
        X : ndarray of shape (n, d)
        game : Game
        members : ndarray of bool, shape (count, players), or range or Orders
        computation : Computation
        row_name : callable
            Maps the number of a row to its name in messages.
        """


class Coalitionwise(Composite, CoalitionGames):
    """A function of others whose game has values for each coalition, and no formula for all."""

    __slots__ = ()

    explain = CoalitionGames.explain
