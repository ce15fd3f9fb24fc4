"""The game of one row: a function from coalitions to their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Text
from pkex.execution.settings import Settings
from pkex.explain.problem import Problem
from pkex.functions.coalitionwise import CoalitionGames
from pkex.functions.linked import as_coalitionwise
from pkex.games.value_functions import Game
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class RowGame:
    """The game of one row: maps coalitions to their values v(S).

    Parameters
    ----------
    function : CoalitionGames
    row : ndarray of shape (1, d)
    game : Game
    settings : Settings
    """

    function: CoalitionGames
    row: Float
    game: Game
    settings: Settings

    @classmethod
    def of(cls, problem: Problem, row: ArrayLike) -> RowGame:
        """Return the game of a row of shape (1, d).

        Raises
        ------
        ValueError
            If absent features are drawn independently.
        """
        check_joint_draws(problem, "take value_function='interventional' or 'neutral'")
        rows = problem.schema.read(row).rows
        return cls(as_coalitionwise(problem.function), rows[:1], problem.game, problem.settings)

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        """Return the values of coalitions, shape (count, outputs).

        Parameters
        ----------
        members : ndarray of bool, shape (count, features)
        """
        with self.settings.computing() as computation:
            values: Float = self.function.coalition_values(
                self.row, self.game, members, computation, lambda _: "the row"
            )[0]
        return values


def check_joint_draws(problem: Problem, fix: Text) -> None:
    """Raise an InputError if each feature is drawn independently, without values of coalitions."""
    if problem.game.is_marginal and not problem.function.draws_rows:
        raise InputError(
            None,
            "the value function 'marginal' draws each absent feature independently, and its "
            "coalitions are not evaluated one by one",
            fix,
        )
