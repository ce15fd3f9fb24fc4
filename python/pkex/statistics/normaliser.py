"""HSIC of something with itself, for the normalised index."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pkex.execution.computation import Computation
from pkex.execution.threads import thread_count
from pkex.statistics.pair_sums import KernelTerms, pair_sums
from pkex.typing import Float

__all__ = ["Normaliser", "self_hsic"]


@dataclass(frozen=True, eq=False)
class Normaliser:
    """The two sides of an HSIC, the one that is attributed first.

    Parameters
    ----------
    sides : tuple of two (ndarray of shape (n, ·), KernelTerms)
        Arrays that nobody else can write to.
    unit : float
        What the statistic is divided by if the sides' kernels are as these terms.
    estimator : str
    n_jobs : int or None
    """

    sides: tuple[tuple[Float, KernelTerms], tuple[Float, KernelTerms]]
    unit: float
    estimator: str
    n_jobs: int | None

    def normalised(self, statistic: float) -> float:
        """Divide by the geometric mean of each side's HSIC with itself; NaN if one is constant."""
        return self._ratio(statistic, *map(self._with_itself, self.sides))

    def normalised_alone(self, alone: Float) -> Float:
        """Divide what each player of the first side is worth alone by the same means; (P,)."""
        (rows, terms), other = self.sides
        of_other = self._with_itself(other)
        indices = np.full(len(alone), np.nan)
        for player, worth in enumerate(alone.tolist()):
            columns, own = terms.of_player(player)
            if own.terms:
                side = np.ascontiguousarray(rows[:, columns]), own
                indices[player] = self._ratio(worth, self._with_itself(side), of_other)
        return indices

    def _with_itself(self, side: tuple[Float, KernelTerms]) -> float:
        return self_hsic(*side, self.estimator, Computation(n_threads=thread_count(self.n_jobs)))

    def _ratio(self, statistic: float, one: float, other: float) -> float:
        if not min(one, other) > 0.0:
            return math.nan
        return statistic / self.unit / (math.sqrt(one) * math.sqrt(other))


def self_hsic(rows: Float, terms: KernelTerms, estimator: str, how: Computation) -> float:
    """Return HSIC(x, x) = Σ (doubly centred k)², biased or unbiased as HSIC is.

    A constant drops out of both kinds of centring, so that k − k(x, x) does as well as k: it has a
    zero diagonal.
    """
    n = len(rows)
    sums = pair_sums(rows, n, terms.joined(), how=how)
    row_sums, squares = sums.rows[:, 0, 0], 2.0 * float(sums.squares[0, 0])
    total, of_rows = math.fsum(row_sums), math.fsum(row_sums**2)
    if estimator == "biased":
        centred = squares - 2.0 * of_rows / n + (total / n) ** 2
        return centred / (n - 1.0) ** 2
    centred = squares - 2.0 * of_rows / (n - 2.0) + total**2 / ((n - 1.0) * (n - 2.0))
    return centred / (n * (n - 3.0))
