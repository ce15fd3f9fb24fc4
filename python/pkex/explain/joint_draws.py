"""Joint posterior draws of the Shapley values of all explained rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError, warn
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.progress import advising
from pkex.execution.settings import Settings
from pkex.explain.estimators import Estimator
from pkex.functions.base import Function
from pkex.functions.conditional import Conditional
from pkex.functions.gaussian_process.draws import missing_variance_note
from pkex.games.conditioning import ConditionalBackground
from pkex.games.value_functions import Game
from pkex.typing import Float

# Mixed rows that functions are drawn at; as many others measure the approximation.
_ROWS = 2000
# Drawn values held in memory at a time.
_MAX_NUMBERS = 1 << 22
# The effect of the variance that draws miss, and alternatives.
_EFFECT = "the spread of the results is too small by about as much"
_FASTER = "fewer samples or fewer rows; standard_deviations are computed without draws"
_FIX = "they are not useful; standard_deviations of exact values are computed without draws"


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Deviations of the values of posterior draws from the values of the posterior mean.

    Each draw is a function that is explained at all rows, so that draws of values are joint.

    Parameters
    ----------
    variance : Function
        The posterior variance.
    rows : ndarray of shape (n, d)
        The explained rows.
    game : Game
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    settings : Settings
    conditioning : ConditionalBackground, optional
        The weighted background rows of the observational value function.
    estimator : callable, optional
        Estimates values and their standard errors. By default values are exact.
    """

    variance: Function
    rows: NDArray[Any]
    game: Game
    players: NDArray[np.int64]
    settings: Settings
    conditioning: ConditionalBackground | None = None
    estimator: Estimator | None = None

    def deviations(
        self, places: NDArray[np.int64], n: int, random: np.random.Generator
    ) -> Iterator[Float]:
        """Yield the deviations of values of draws, in blocks of draws, shape (draws, k).

        Parameters
        ----------
        places : ndarray of shape (k,)
            Flat indices into an array of shape (rows, features, outputs).
        n : int
            Number of draws.
        random : numpy.random.Generator
        """
        functions = self.functions(n, random)
        row_size = (int(self.players.max()) + 1) * len(functions)
        row_numbers, numbers = np.unique(places // row_size, return_inverse=True)
        flat_indices = numbers.reshape(-1) * row_size + places % row_size
        blocks = blocks_of(n, _MAX_NUMBERS // max(1, len(row_numbers) * row_size))
        with self.settings.computing() as computation, advising(_FASTER):
            for draw_numbers, block_computation in computation.over(
                [range(n)[block] for block in blocks]
            ):
                values_by_output = [
                    self._values(
                        function.select(draw_numbers), self.rows[row_numbers], part_computation
                    )
                    for function, part_computation in block_computation.over(functions)
                ]
                values = np.stack(values_by_output, axis=-1)
                yield np.moveaxis(values, 2, 0).reshape(len(draw_numbers), -1)[:, flat_indices]

    def _values(self, function: Function, rows: NDArray[Any], computation: Computation) -> Float:
        """Return values of shape (n, players, outputs)."""
        if self.estimator is not None:
            return self.estimator(function, rows, computation)[0]
        return function.explain(rows, game=self.game, computation=computation)

    def functions(self, n: int, random: np.random.Generator) -> list[Function]:
        """Return, for each output, the deviations of `n` draws as a function with n outputs."""
        draws = self.variance.draws(self._mixed_rows(random), n, random)
        missing = max(output_draws.missing for output_draws in draws)
        if note := missing_variance_note(missing, _EFFECT, _FIX):
            warn(note)
        functions = [output_draws.function.grouped(self.players) for output_draws in draws]
        if self.conditioning is None:
            return functions
        return [Conditional(function, self.conditioning) for function in functions]

    def _mixed_rows(self, random: np.random.Generator) -> NDArray[Any]:
        """Return rows that mix feature values of explained rows and background rows.

        Rows are whole if values depend on whole rows only.
        """
        if self.game.background is None:
            raise UnsupportedModelError(
                "posterior draws need background rows in the columns of X: pass a background"
            )
        rows, weights = self.game.background
        count = 1 + int(self.players.max())
        # Coalition sizes are uniform, as along a permutation.
        present = random.random((_ROWS, count)) < random.random((_ROWS, 1))
        absent = random.choice(len(rows), (_ROWS, count), p=weights)
        if not self.game.is_marginal:
            absent[:] = absent[:, :1]
        if self.conditioning is not None and self.conditioning.settings.embedding == "rows":
            present[:] = present[:, :1]
        present_values = self.rows[random.integers(len(self.rows), size=_ROWS)]
        absent_values = rows[absent[:, self.players], np.arange(len(self.players))]
        return np.where(present[:, self.players], present_values, absent_values)
