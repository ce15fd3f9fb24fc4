"""Games of a variance, coalition by coalition: of few players, and under any kernel.

v(S) is computed by the formula of the variance. Nothing cancels but the prior and what is known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.functions.gaussian_process.latent import BLOCK, LatentVariance
from pkex.games.value_functions import Game
from pkex.games.worths import members_of
from pkex.typing import Float, Report

__all__ = ["empty_worth", "worths_of"]


def worths_of(
    variance: LatentVariance,
    X: Float,
    game: Game,
    players: NDArray[np.int64],
    report: Report | None,
) -> Float:
    """Return the worths of all coalitions in the games of rows, shape (n, 2^players).

    Parameters
    ----------
    variance : LatentVariance
    X : ndarray of shape (n, d)
    game : Game
        The neutral or the interventional one.
    players : ndarray of shape (d,)
        The number of each column's player.
    report : callable, optional
        Is told of the progress.
    """
    members = members_of(players)
    step = max(1, BLOCK // _n_rows(game))
    # What is computed together does not depend on how many rows are explained.
    starts = range(0, len(members), step)
    worths = np.empty((len(X), len(members)))
    for number, row in enumerate(X):
        for done, start in enumerate(starts):
            some = slice(start, start + step)
            worths[number, some] = _worths_of_row(variance, row, members[some], game)
            if report is not None:
                report(number * len(starts) + done + 1, len(X) * len(starts))
    return worths


def empty_worth(variance: LatentVariance, game: Game) -> float:
    """Return the worth of the empty coalition."""
    nothing = np.zeros(variance.points.shape[1])
    return float(_worths_of_row(variance, nothing, nothing[None] > 0.0, game)[0])


def _n_rows(game: Game) -> int:
    return 1 if game.background is None else len(game.background[0])


def _worths_of_row(
    variance: LatentVariance, row: Float, members: NDArray[np.bool_], game: Game
) -> Float:
    """Return the worths of coalitions of columns in the game of a row."""
    if game.background is None:
        return variance.of_columns(row, members)
    rows, weights = game.background
    mixed = np.where(members[:, None], row, rows).reshape(-1, len(row))
    variances = variance.at(mixed).reshape(len(members), len(rows))
    worths: Float = np.einsum("sl,l->s", variances, weights)
    return worths
