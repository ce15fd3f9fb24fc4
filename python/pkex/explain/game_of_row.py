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
    """Return the function that maps coalitions of the features of a row to v(S).

    Parameters
    ----------
    row : array-like of shape (1, d)

    Returns
    -------
    callable
        Maps booleans of shape (count, features), whether a feature is in a coalition, to values
        of shape (count, outputs).

    Raises
    ------
    ValueError
        If absent features are drawn independently.
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
    """Map from coalitions to v(S) in the game of a row."""

    of_row: RowGame
    settings: Settings

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        with self.settings.computing() as how:
            return self.of_row.worths(members, how)


@dataclass(frozen=True, eq=False)
class _WorthsGiven:
    """Map from coalitions to v(S) in the observational game of a row."""

    function: Conditional
    row: Float
    settings: Settings

    def __call__(self, members: NDArray[np.bool_]) -> Float:
        with self.settings.computing() as how:
            worths: Float = self.function.worths(self.row[None], members, how)[0]
        return worths
