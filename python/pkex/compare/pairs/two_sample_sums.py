"""Sums over the pairs of two samples, and the MMD² that they make."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pkex.compare.comparison import StatisticValues
from pkex.compare.pairs.pair_sums import PairSums, total
from pkex.compare.pairs.standard_errors import between_samples, mmd_errors, within_sample
from pkex.typing import Float

__all__ = ["PairWeights", "TwoSampleSums"]


@dataclass(frozen=True)
class PairWeights:
    """The weights of ordered pairs in MMD²: within each sample, and between the samples.

    Parameters
    ----------
    first, second, between : float
    self_pairs : float
        The weight of all pairs of a row with itself together, in the values.
    """

    first: float
    second: float
    between: float
    self_pairs: float = 0.0

    @classmethod
    def of(cls, estimator: str, n: int, m: int) -> PairWeights:
        """Return the weights for samples of n and m rows; floats, for n² may not fit an int."""
        between = 1.0 / (float(n) * m)
        if estimator == "biased":
            return cls(1.0 / n**2, 1.0 / m**2, between, 1.0 / n + 1.0 / m)
        return cls(1.0 / (n * (n - 1.0)), 1.0 / (m * (m - 1.0)), between)

    def exchanged(self) -> PairWeights:
        """Return the weights with the second sample first."""
        return replace(self, first=self.second, second=self.first)

    def combine(self, sums: Float) -> Float:
        """Weigh sums over unordered pairs (3, P): within the first, between, within the second."""
        within = self.first * sums[0] + self.second * sums[2]
        combined: Float = 2.0 * (within - self.between * sums[1])
        return combined


@dataclass(frozen=True, eq=False)
class TwoSampleSums:
    """γ summed over the pairs of rows of two samples.

    Parameters
    ----------
    first, second : tuple of two ndarrays of shapes (n, P), (m, P)
        For each row of a sample, over its other rows and over the rows of the other sample.
    values, alone, squares : ndarray of shape (3, P)
        γ, what players are worth alone and γ², over pairs within the first sample, between, within
        the second.
    """

    first: tuple[Float, Float]
    second: tuple[Float, Float]
    values: Float
    alone: Float
    squares: Float

    @classmethod
    def of(cls, sums: PairSums, n: int) -> TwoSampleSums:
        """Return the sums of n rows and of the others."""
        first = sums.rows[:n, 0], sums.rows[:n, 1]
        second = sums.rows[n:, 1], sums.rows[n:, 0]
        values = np.array([total(first[0]) / 2.0, total(first[1]), total(second[0]) / 2.0])
        return cls(first, second, values, sums.alone, sums.squares)

    def mmd(self, weights: PairWeights, own: Float, *, has_errors: bool = True) -> StatisticValues:
        """Return MMD² divided among players.

        Parameters
        ----------
        weights : PairWeights
        own : ndarray of shape (2, P)
            What pairs of a row with itself add to the values, and to players alone.
        has_errors : bool, default True
            Whether standard errors are those of these weights.
        """
        return StatisticValues(
            weights.combine(self.values) + own[0],
            weights.combine(self.alone) + own[1],
            self._errors(weights) if has_errors else None,
        )

    def _errors(self, weights: PairWeights) -> Float:
        n, m = len(self.first[0]), len(self.second[0])
        # The biased estimator's averages within a sample are those of the unbiased, times these.
        shrunk = weights.first * n * (n - 1.0), weights.second * m * (m - 1.0)
        return mmd_errors(
            (
                shrunk[0] * self.first[0] / (n - 1.0) - self.first[1] / m,
                shrunk[1] * self.second[0] / (m - 1.0) - self.second[1] / n,
            ),
            (n, m),
            (
                shrunk[0] ** 2 * within_sample(self.squares[0], self.first[0]),
                between_samples(self.squares[1], self.first[1], self.second[1]),
                shrunk[1] ** 2 * within_sample(self.squares[2], self.second[0]),
            ),
        )
