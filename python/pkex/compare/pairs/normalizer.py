"""HSIC of something with itself, for the normalised index."""

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

__all__ = ["Normaliser"]


@dataclass(frozen=True, eq=False)
class Normaliser:
    """The two sides of an HSIC.

    Parameters
    ----------
    attributed, other : KernelRows
        Of arrays that nobody else can write to.
    unit : float
        What the statistic is divided by if the sides' kernels are as these terms.
    conventions : Conventions
    """

    attributed: KernelRows
    other: KernelRows
    unit: float
    conventions: Conventions

    def normalised(self, statistic: float) -> float:
        """Divide by the geometric mean of each side's HSIC with itself; NaN if one is constant."""
        return self._ratio(
            statistic, self._with_itself(self.attributed), self._with_itself(self.other)
        )

    def normalised_alone(self, alone: Float) -> Float:
        """Divide what each player of the first side is worth alone by the same means; (P,)."""
        of_other = self._with_itself(self.other)
        indices = np.full(len(alone), np.nan)
        for player, worth in enumerate(alone.tolist()):
            columns, own = self.attributed.terms.of_player(player)
            if own.terms:
                side = KernelRows(np.ascontiguousarray(self.attributed.rows[:, columns]), own)
                indices[player] = self._ratio(worth, self._with_itself(side), of_other)
        return indices

    def _with_itself(self, side: KernelRows) -> float:
        how = Computation(n_threads=thread_count(self.conventions.n_jobs))
        return _self_hsic(side, how, is_biased=self.conventions.is_biased)

    def _ratio(self, statistic: float, one: float, other: float) -> float:
        if not min(one, other) > 0.0:
            return math.nan
        return statistic / self.unit / (math.sqrt(one) * math.sqrt(other))


def _self_hsic(side: KernelRows, how: Computation, *, is_biased: bool) -> float:
    """Return HSIC(x, x) = Σ (doubly centred k)², biased or unbiased as HSIC is.

    A constant drops out of both kinds of centring, so that k − k(x, x) does as well as k: it has a
    zero diagonal.
    """
    n = len(side.rows)
    sums = pair_sums(side.rows, n, side.terms.joined(), how=how)
    row_sums, squares = sums.rows[:, 0, 0], 2.0 * float(sums.squares[0, 0])
    total, of_rows = math.fsum(row_sums), math.fsum(row_sums**2)
    if is_biased:
        centred = squares - 2.0 * of_rows / n + (total / n) ** 2
        return centred / (n - 1.0) ** 2
    centred = squares - 2.0 * of_rows / (n - 2.0) + total**2 / ((n - 1.0) * (n - 2.0))
    return centred / (n * (n - 3.0))
