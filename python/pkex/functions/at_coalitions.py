"""What functions are at coalitions of a row.

A coalition is a row with the explained row's entries of players that are present, and those of a
background row else. Its worth is a mean of outputs; where something is made of the outputs before
they are averaged, each of them is needed.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, Option
from pkex.execution.computation import Computation
from pkex.functions.advice import JOINED_COLUMNS
from pkex.functions.base import Function, finite
from pkex.games.coalitions import coalitions
from pkex.games.indices import Quantity
from pkex.games.value_functions import Game
from pkex.games.worths import members_of, numbers_of
from pkex.typing import Float

__all__ = ["MOST_PLAYERS", "Members", "at_any_coalitions", "at_coalitions", "members_or_all"]

# Which players belong to coalitions, of shape (count, players); None for all, by their number.
Members = NDArray[np.bool_] | None

# Players all of whose coalitions are looked at.
MOST_PLAYERS = 16
# Rows that a function is evaluated at together, or all coalitions of one, if they are more.
_BLOCK = 1 << 14


@singledispatch
def at_coalitions(
    function: Function, row: Float, game: Game, members: Members, how: Computation
) -> Float:
    """Return a function's outputs at coalitions of players of a row.

    Classes of which more is known than their values register how.

    Parameters
    ----------
    function : Function
    row : ndarray of shape (d,)
    game : Game
        The interventional one, or the neutral one, in which coalitions have one output each.
    members : ndarray of shape (count, players), optional
        The coalitions; by default all 2^p of p players, in the order of their numbers.
    how : Computation

    Returns
    -------
    ndarray of shape (m, count, outputs)
        For each background row; m is 1 in the neutral game.
    """
    return at_any_coalitions(function, row, game, members, how)


def at_any_coalitions(
    function: Function, row: Float, game: Game, members: Members, how: Computation
) -> Float:
    """Return them of any function, by its values at rows or its parts in the neutral game."""
    if game.background is None:
        return _neutral(function, row, members, how)
    columns = members_or_all(function.n_players, members)[:, function.players]
    others = game.background[0]
    step = max(1, _BLOCK // len(columns))
    blocks = [others[start : start + step, None] for start in range(0, len(others), step)]
    outputs = []
    for block in blocks:
        mixed = np.where(columns, row, block).reshape(-1, len(row))
        outputs.append(function.evaluate(mixed, n_threads=how.n_threads))
    shape = len(others), len(columns), function.n_outputs
    return np.concatenate(outputs).reshape(shape)


def _neutral(function: Function, row: Float, members: Members, how: Computation) -> Float:
    """Return the worths of a neutral game, sums of the Möbius coefficients of their parts."""
    p = function.n_players
    if p > MOST_PLAYERS:
        raise InputError(
            Option("value_function", "neutral"),
            f"of {p} features, behind a link or estimated, is for kernels that are products over "
            f"features; of others it is for up to {MOST_PLAYERS}",
            ["give a background", JOINED_COLUMNS],
        )
    table = np.empty((2**p, function.n_outputs))
    for size in range(p + 1):
        places = (1 << coalitions(p, size)).sum(axis=1)
        own = how.part(size, p + 1)
        table[places] = function.explain(row[None], quantity=Quantity(size, 0.0), how=own)[0]
    for player in range(p):
        halves = table.reshape(-1, 2, 2**player, function.n_outputs)
        halves[:, 1] += halves[:, 0]
    return finite(table if members is None else table[numbers_of(members)])[None]


def members_or_all(n_players: int, members: Members) -> NDArray[np.bool_]:
    """Return which players belong to coalitions, shape (count, players)."""
    return members_of(np.arange(n_players)) if members is None else members
