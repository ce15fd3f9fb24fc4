"""The game of one row, and estimates of its Shapley values from values of coalitions."""

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

# Coalitions evaluated at a time.
BLOCK = 1 << 11

# Largest number of drawn numbers: about a gigabyte.
_MOST_DRAWN = 1 << 27

# Maps a function and rows to estimates of its Shapley values and their standard errors, both of
# shape (n, players, outputs).
Estimator: TypeAlias = Callable[[Any, Float, Computation], tuple[Float, Float]]


def check_number_of_draws(name: str, number: int, n_players: int) -> None:
    """Raise ValueError if draws of all players do not fit in memory."""
    most = _MOST_DRAWN // n_players // 2 * 2
    if number > most:
        raise InputError(
            name,
            f"must be at most {most:,} for {n_players} features, because all draws are held in "
            f"memory; got {number:,}",
            "average estimates with several seeds, random_state=0, 1, …, for smaller errors",
        )


def linked(function: Function) -> Linked:
    """Return a function in the form that is evaluated coalition by coalition."""
    if isinstance(function, Linked):
        return function
    outputs = LinkedOutputs(_unchanged, function.n_outputs, function.has_output_axis)
    return Linked([function], outputs)


def _unchanged(values: Float) -> Float:
    return values


@dataclass(frozen=True)
class RowGame:
    """The game of one row: the values v(S) of its coalitions."""

    function: Linked
    row: Float
    name: str
    game: Game

    def worths(self, members: NDArray[np.bool_], how: Computation) -> Float:
        """Return v(S) of coalitions, shape (count, outputs)."""
        return self.function.worths(self.row, self.game, members, how, self.name)


# Maps the game of a row to its Shapley values and standard errors, both (players, outputs).
OfRow: TypeAlias = Callable[[RowGame, Computation], tuple[Float, Float]]


def estimated(
    game: Game, of_row: OfRow, function: Function, rows: Float, how: Computation
) -> tuple[Float, Float]:
    """Return estimates of the Shapley values of rows, and their standard errors.

    All rows share the same draws, so that the result of a row does not depend on other rows.

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
