"""Explained rows that are in the background of the observational game themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputWarning, Option, warn
from pkex.games.conditioning import ConditionalBackground
from pkex.games.own_rows import OwnRows

__all__ = ["warn_of_own_rows"]

# Rows and coalitions that are looked at; and a weight, of half of the players known, that is much.
_ROWS, _COALITIONS, _MUCH = 8, 4, 0.2
# Of fewer players there are hardly coalitions that tell a row from others, and leave some out.
_FEWEST = 4


def warn_of_own_rows(
    X: NDArray[Any], conditioning: ConditionalBackground, players: NDArray[np.int64]
) -> None:
    """Warn if rows have much of the weight themselves while half of the players are known.

    Then the players that become known first share what all of them say.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    conditioning : ConditionalBackground
    players : ndarray of shape (d,)
        The number of each column's player.
    """
    p = int(players.max()) + 1
    if p < _FEWEST or conditioning.settings.leave_one_out:
        return
    known = np.unique(OwnRows.of(X, conditioning.rows).explained)
    if not len(known):
        return
    some = X[known[np.unique(np.linspace(0, len(known) - 1, _ROWS).astype(np.intp))]]
    own = OwnRows.of(some, conditioning.rows)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(p), (_COALITIONS, 1)), axis=1)
    coalitions = list((orders < (p + 1) // 2)[:, players])
    shares = [
        own.sums(weights.whole()[own.explained, own.background], len(some))
        for weights in conditioning.weights(some, coalitions)
    ]
    if np.mean(shares) > _MUCH:
        regularization = conditioning.settings.regularization
        without = "value_function=pkex.Observational(leave_one_out=True)"
        warn(
            InputWarning(
                None,
                f"{len(known)} of {len(X)} rows are in the background themselves, and have "
                f"{np.mean(shares):.0%} of the weight while half of the features are known, which "
                "hides the dependence between features",
                [
                    ("leave them out by ", Option("leave_one_out", True, python=without)),
                    "explain rows that are not in the background",
                    (
                        "give a larger ",
                        Option("regularization", python="regularization"),
                        f" than {regularization:g}",
                    ),
                ],
            )
        )
