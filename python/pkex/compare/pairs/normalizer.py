"""HSIC of each side with itself, for the normalized HSIC."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pkex.compare.kernel.terms import KernelRows
from pkex.compare.pairs.pair_sums import pair_sums
from pkex.compare.statistic_options import Conventions
from pkex.execution.computation import Computation
from pkex.execution.threads import thread_count
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Normalizer:
    """The two sides of an HSIC.

    Parameters
    ----------
    attributed_side, other_side : KernelRows
        With read-only arrays.
    unit : float
        The statistic divided by the statistic for the scaled kernels of these terms.
    conventions : Conventions
    """

    attributed_side: KernelRows
    other_side: KernelRows
    unit: float
    conventions: Conventions

    def normalize(self, statistic: float) -> float:
        """Return the statistic / √(HSIC(x, x) HSIC(y, y)); NaN if a side is constant."""
        return self._ratio(
            statistic, self._side_hsic(self.attributed_side), self._side_hsic(self.other_side)
        )

    def normalize_univariate(self, alone: Float) -> Float:
        """Return the normalized univariate value of each player; shape (P,)."""
        other_hsic = self._side_hsic(self.other_side)
        indices = np.full(len(alone), np.nan)
        for player, value in enumerate(alone.tolist()):
            columns, terms = self.attributed_side.terms.of_player(player)
            if terms.terms:
                side = KernelRows(
                    np.ascontiguousarray(self.attributed_side.rows[:, columns]), terms
                )
                indices[player] = self._ratio(value, self._side_hsic(side), other_hsic)
        return indices

    def _side_hsic(self, side: KernelRows) -> float:
        computation = Computation(n_threads=thread_count(self.conventions.n_jobs))
        return _self_hsic(side, computation, is_biased=self.conventions.is_biased)

    def _ratio(self, statistic: float, attributed_hsic: float, other_hsic: float) -> float:
        if not min(attributed_hsic, other_hsic) > 0.0:
            return math.nan
        return statistic / self.unit / (math.sqrt(attributed_hsic) * math.sqrt(other_hsic))


def _self_hsic(side: KernelRows, computation: Computation, *, is_biased: bool) -> float:
    """Return HSIC(x, x) = Σ (doubly centered k)².

    Centering removes constants, so k − k(x, x), which has a zero diagonal, can replace k.
    """
    n = len(side.rows)
    sums = pair_sums(side.rows, n, side.terms.as_one_player(), computation=computation)
    row_sums, squares = sums.rows[:, 0, 0], 2.0 * float(sums.squares[0, 0])
    total, row_squares = math.fsum(row_sums), math.fsum(row_sums**2)
    if is_biased:
        square_sum = squares - 2.0 * row_squares / n + (total / n) ** 2
        return square_sum / (n - 1.0) ** 2
    square_sum = squares - 2.0 * row_squares / (n - 2.0) + total**2 / ((n - 1.0) * (n - 2.0))
    return square_sum / (n * (n - 3.0))
