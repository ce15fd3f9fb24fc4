"""The games of the variance, computed by the engine: over pairs of evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of
from pkex.games.indices import SHAPLEY, Quantity
from pkex.sensitivity.deviations import Deviations
from pkex.typing import Float

__all__ = ["Worths"]

# v({j}) − v(∅), v(D) − v(D∖j), and what pairs have beside their members.
_FIRST, _TOTAL, _SECOND = Quantity(1, 0.0), Quantity(1, 1.0), Quantity(2, 0.0)


@dataclass(frozen=True, eq=False)
class Worths:
    """Quantities of the game v(S) = Var E[f(X) | X_S], of shape (coalitions, outputs).

    Parameters
    ----------
    shapley, first, total : ndarray of shape (P, outputs)
    second : ndarray of shape (pairs, outputs) or None
    errors : ndarray of shape (outputs,)
        The largest difference between `first` and the same as sums of squares.
    """

    shapley: Float
    first: Float
    total: Float
    second: Float | None
    errors: Float

    @classmethod
    def of(
        cls,
        deviations: Deviations,
        weights: Float,
        players: NDArray[np.int64],
        order: int,
        how: Computation,
    ) -> Worths:
        """Compute them.

        Parameters
        ----------
        deviations : Deviations
        weights : ndarray of shape (evaluations, outputs)
        players : ndarray of int64, shape (d,)
            The number of each column's player.
        order : {1, 2}
        how : Computation
        """
        quantities = [SHAPLEY, _FIRST, _TOTAL, _SECOND][: 2 + order]
        n_players = int(players.max()) + 1
        found = [
            np.zeros((math.comb(n_players, quantity.size), weights.shape[1]))
            for quantity in quantities
        ]
        errors = np.zeros(weights.shape[1])
        groups = list(_outputs_of_evaluations(weights))
        reports = parts_of(how.progress, *(float(len(some)) ** 2 for some, _ in groups))
        for (some, outputs), report in zip(groups, reports, strict=True):
            own, of_outputs = deviations.of_evaluations(some), weights[np.ix_(some, outputs)]
            parts = parts_of(
                report, *(3.0 if quantity == SHAPLEY else 1.0 for quantity in quantities)
            )
            for values, quantity, part in zip(found, quantities, parts, strict=True):
                values[:, outputs] = _core.variance_games(
                    own.means,
                    own.vectors,
                    own.starts,
                    of_outputs,
                    players,
                    size=quantity.size,
                    measure=quantity.measure,
                    summation=how.summation,
                    n_threads=how.n_threads,
                    progress=part,
                )
            errors[outputs] = _errors(own, of_outputs, players, found[1][:, outputs])
        shapley, first, total, *second = found
        return cls(shapley, first, total, second[0] if second else None, errors)


def _outputs_of_evaluations(
    weights: Float,
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the evaluations that some outputs are made of, and these outputs."""
    patterns, places = np.unique(weights != 0.0, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        yield np.flatnonzero(pattern), np.flatnonzero(places == number)


def _errors(
    deviations: Deviations, weights: Float, players: NDArray[np.int64], first: Float
) -> Float:
    """Return how far v of single columns is from the same as sums of squares, of each output."""
    is_alone = np.bincount(players)[players] == 1
    squares = deviations.of_single_columns(weights)[is_alone]
    differences: Float = np.abs(first[players[is_alone]] - squares).max(axis=0, initial=0.0)
    return differences
