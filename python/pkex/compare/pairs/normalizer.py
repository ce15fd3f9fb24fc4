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
    attributed, other : KernelRows
        With read-only arrays.
    unit : float
        The statistic divided by the statistic for the scaled kernels of these terms.
    conventions : Conventions
    """

    attributed: KernelRows
    other: KernelRows
    unit: float
    conventions: Conventions

    def normalized(self, statistic: float) -> float:
        """Return the statistic / √(HSIC(x, x) HSIC(y, y)); NaN if a side is constant."""
        return self._ratio(
            statistic, self._with_itself(self.attributed), self._with_itself(self.other)
        )

    def normalized_univariate(self, alone: Float) -> Float:
        """Return the normalized univariate value of each player; shape (P,)."""
        of_other = self._with_itself(self.other)
        indices = np.full(len(alone), np.nan)
        for player, value in enumerate(alone.tolist()):
            columns, own = self.attributed.terms.of_player(player)
            if own.terms:
                side = KernelRows(np.ascontiguousarray(self.attributed.rows[:, columns]), own)
                indices[player] = self._ratio(value, self._with_itself(side), of_other)
        return indices

    def _with_itself(self, side: KernelRows) -> float:
        computation = Computation(n_threads=thread_count(self.conventions.n_jobs))
        return _self_hsic(side, computation, is_biased=self.conventions.is_biased)

    def _ratio(self, statistic: float, one: float, other: float) -> float:
        if not min(one, other) > 0.0:
            return math.nan
        return statistic / self.unit / (math.sqrt(one) * math.sqrt(other))


def _self_hsic(side: KernelRows, computation: Computation, *, is_biased: bool) -> float:
    """Return HSIC(x, x) = Σ (doubly centered k)².

    Centering removes constants, so k − k(x, x), which has a zero diagonal, can replace k.
    """
    n = len(side.rows)
    sums = pair_sums(side.rows, n, side.terms.joined(), computation=computation)
    row_sums, squares = sums.rows[:, 0, 0], 2.0 * float(sums.squares[0, 0])
    total, of_rows = math.fsum(row_sums), math.fsum(row_sums**2)
    if is_biased:
        centered = squares - 2.0 * of_rows / n + (total / n) ** 2
        return centered / (n - 1.0) ** 2
    centered = squares - 2.0 * of_rows / (n - 2.0) + total**2 / ((n - 1.0) * (n - 2.0))
    return centered / (n * (n - 3.0))
