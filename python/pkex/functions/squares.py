"""Squares of kernel expansions as sums of products over pairs of points.

If v(S) = Σ_p α_p ∏_{j∈S} a_pj ∏_{j∉S} b_pj, as in the neutral and marginal games, v(S)² is the sum
over pairs p, q of α_p α_q ∏_{j∈S} a_pj a_qj ∏_{j∉S} b_pj b_qj, for any number of players. Large
coefficients of both signs cancel: such sums are not used if rounding could be visible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.errors import UnsupportedModelError, joined
from pkex.execution.computation import Computation
from pkex.execution.progress import advising
from pkex.functions.packing import Packing
from pkex.games.indices import SHAPLEY
from pkex.games.player_limits import GROUP_COLUMNS, MAX_PLAYERS
from pkex.games.value_functions import Game
from pkex.kernels import Kernel
from pkex.typing import Float

# The largest bound of rounding errors, relative to the squared range of the expansion. The bound
# adds up the errors of all pairs, which have both signs.
_MAX_ROUNDING = 1e-8
_EPSILON = float(np.finfo(np.float64).eps)
# The largest number of pairs, which take some seconds for each row, and of products in a kernel.
_MAX_PAIRS, _MAX_TERMS = 500_000_000, 500
# Nanoseconds for a pair and player, for a coalition, and for a coalition and evaluation.
_OF_PAIR, _OF_COALITION, _OF_VALUE = 0.7, 50.0, 0.05


class PairSquares:
    """The squares of an expansion Σ_i coefficients_i · kernel(x, points_i) in a game.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    coefficients : ndarray of shape (n, outputs)
    kernel : Kernel
        Without power series.
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    game : Game
        Neutral or marginal, or with a single background row.
    """

    def __init__(
        self,
        points: Float,
        coefficients: Float,
        kernel: Kernel,
        players: NDArray[np.int64],
        game: Game,
    ) -> None:
        if game.value_function == "interventional":
            # A single row is drawn jointly and independently at once.
            game = replace(game, value_function="marginal")
        self._game, self._n_points = game, len(points)
        self._n_players = int(players.max()) + 1
        self._packing = Packing(points, coefficients, kernel, players, _core.Expansion.squares)
        n_terms = len(self._packing.terms_at(self._packing.of_game(game)))
        self._n_terms, self._n_evaluations = n_terms, len(points) * n_terms

    @property
    def _n_pairs(self) -> int:
        return self._n_evaluations * (self._n_evaluations + 1) // 2

    @property
    def are_faster(self) -> bool:
        """Whether pairs take less time than the values of all coalitions."""
        if self._n_players > MAX_PLAYERS:
            return True
        coalition_time = _OF_COALITION + _OF_VALUE * self._n_evaluations
        time_of_coalitions = 2**self._n_players * coalition_time
        return bool(_OF_PAIR * self._n_players * self._n_pairs < time_of_coalitions)

    def obstacle(self, size: Float, spread: Float) -> str:
        """Return why sums over pairs are not exact, "" if they are.

        Parameters
        ----------
        size : ndarray of shape (outputs,)
            The largest value of the expansion with absolute coefficients.
        spread : ndarray of shape (outputs,)
            The range of the expansion.
        """
        if self._n_pairs > _MAX_PAIRS or self._n_terms > _MAX_TERMS:
            return (
                f"there are {self._n_points} points times {self._n_terms} products of the kernel: "
                f"{self._n_pairs:.1e} pairs; pkex supports up to {_MAX_PAIRS:.0e} pairs and "
                f"{_MAX_TERMS} products"
            )
        rounding = _EPSILON * np.square(size)
        tolerance = _MAX_ROUNDING * np.square(spread)
        if (rounding <= tolerance).all():
            return ""
        share = float((rounding / np.maximum(np.square(spread), 1e-300)).max())
        return (
            "large coefficients of opposite signs cancel in it, and rounding errors would be up to "
            f"{share:.0e} of the squared range of predictions; pkex accepts up to "
            f"{_MAX_ROUNDING:.0e}"
        )

    def values(self, X: Float, computation: Computation) -> Float:
        """Return the Shapley values of the squares for rows, shape (n, players, outputs)."""
        with advising("a model fitted on fewer rows"):
            return self._packing.quantity(X, self._game, SHAPLEY, computation)


def unsupported_squares(obstacle: str, most_players: int) -> UnsupportedModelError:
    """Return the error for squares with an obstacle, and too many players for all coalitions."""
    return UnsupportedModelError(
        joined(
            f"the squared error is a sum over pairs of the model's points, and {obstacle}. Either ",
            GROUP_COLUMNS,
            f" (up to {most_players} features need no pairs), or estimate values, with standard "
            "errors, by n_coalitions=1000",
        )
    )
