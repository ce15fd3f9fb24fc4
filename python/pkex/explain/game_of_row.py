"""The game of one row, evaluated at chosen coalitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option
from pkex.execution.settings import Settings
from pkex.explain.problem import Problem
from pkex.explain.row_game import RowGame, linked
from pkex.functions.conditional import Conditional
from pkex.typing import Float

__all__ = ["check_draws_rows", "game_of_row"]


def game_of_row(problem: Problem, row: ArrayLike) -> Callable[[NDArray[np.bool_]], Float]:
    """Return the function from coalitions of features of a row to their worths.

    Parameters
    ----------
    row : array-like of shape (1, d)

    Returns
    -------
    callable
        From an array of shape (count, features), whether a feature is in a coalition, to one
        of shape (count, outputs).

    Raises
    ------
    ValueError
        If the game draws each feature on its own.
    """
    check_draws_rows(problem, "take value_function='interventional' or 'neutral'")
    explained = problem.schema.read(row)
    first, function = explained.rows[0], problem.function
    if isinstance(function, Conditional):
        return _WorthsGiven(function, first, problem.settings)
    return _Worths(RowGame(linked(function), first, "the row", problem.game), problem.settings)


def check_draws_rows(problem: Problem, instead: str) -> None:
    """Refuse a game that draws each feature independently and has no values of coalitions."""
    if problem.game.is_marginal and not problem.function.draws_rows:
        raise InputError(
            Option("value_function", "marginal"),
            "draws each absent feature independently, and its coalitions are not evaluated "
            "one by one",
            instead,
        )


@dataclass(frozen=True, eq=False)
class _Worths:
    """The function from coalitions of a row's game to their worths."""

    of_row: RowGame
    settings: Settings

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        with self.settings.computing() as how:
            return self.of_row.worths(members, how)


@dataclass(frozen=True, eq=False)
class _WorthsGiven:
    """Likewise of a row's observational game."""

    function: Conditional
    row: Float
    settings: Settings

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        with self.settings.computing() as how:
            worths: Float = self.function.worths(self.row[None], members, how)[0]
        return worths
