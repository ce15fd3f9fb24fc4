"""Estimates of the values of rows, from the worths of coalitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.games.value_functions import Game
from pkex.typing import Float

__all__ = [
    "BLOCK",
    "Estimator",
    "OfRow",
    "RowGame",
    "check_number_of_draws",
    "estimated",
    "linked",
]

# Coalitions whose worths are computed at a time.
BLOCK = 1 << 11

# Numbers that are drawn: some GB of them.
_MOST_DRAWN = 1 << 27

# From a function and rows to estimates of its values there, and their standard errors, both of
# shape (n, players, outputs).
Estimator: TypeAlias = Callable[[Any, Float, Computation], tuple[Float, Float]]


def check_number_of_draws(name: str, number: int, n_players: int) -> None:
    """Refuse draws of all players that are too many to be held.

    Raises
    ------
    ValueError
        If they are; it says how many are not.
    """
    most = _MOST_DRAWN // n_players // 2 * 2
    if number > most:
        raise InputError(
            name,
            f"must be at most {most:,} of {n_players} features, whose draws are held together; got "
            f"{number:,}. Standard errors fall as one over the root of the number",
            "for smaller ones, take the mean of estimates by several seeds, random_state=0, 1, …",
        )


def linked(function: Function) -> Linked:
    """Return a function as one whose worths are computed one by one."""
    if isinstance(function, Linked):
        return function
    outputs = LinkedOutputs(_unchanged, function.n_outputs, function.has_output_axis)
    return Linked([function], outputs)


def _unchanged(values: Float) -> Float:
    return values


@dataclass(frozen=True)
class RowGame:
    """The game of a row."""

    function: Linked
    row: Float
    name: str
    game: Game

    def worths(self, members: NDArray[np.bool_], how: Computation) -> Float:
        """Return the worths of coalitions, shape (count, outputs)."""
        return self.function.worths(self.row, self.game, members, how, self.name)


# From the game of a row to its values and their standard errors, both (players, outputs).
OfRow: TypeAlias = Callable[[RowGame, Computation], tuple[Float, Float]]


def estimated(
    game: Game, of_row: OfRow, function: Function, rows: Float, how: Computation
) -> tuple[Float, Float]:
    """Return estimates of the values of rows, and their standard errors.

    All rows are estimated from the same draws, so that their results do not depend on each other.

    Returns
    -------
    values, errors : ndarray of shape (n, players, outputs)
    """
    function = linked(function)
    values, errors = np.empty((2, len(rows), function.n_players, function.n_outputs))
    for number, row in enumerate(rows):
        own = RowGame(function, row, f"row {number} of X", game)
        values[number], errors[number] = of_row(own, how.part(number, len(rows)))
    return values, errors
