"""Sums over the pairs of rows of two samples, and MMD² computed from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pkex.compare.comparison import StatisticValues
from pkex.compare.pairs.pair_sums import PairSums, total
from pkex.compare.pairs.standard_errors import between_samples, mmd_errors, within_sample
from pkex.typing import Float


@dataclass(frozen=True)
class PairWeights:
    """Weights of ordered pairs of rows in MMD².

    Parameters
    ----------
    first, second, between : float
        Weights within each sample, and between the samples.
    self_pairs : float
        Total weight of all pairs of a row with itself.
    """

    first: float
    second: float
    between: float
    self_pairs: float = 0.0

    @classmethod
    def of(cls, estimator: str, n: int, m: int) -> PairWeights:
        """Return the weights for samples of n and m rows."""
        between = 1.0 / (float(n) * m)
        if estimator == "biased":
            return cls(1.0 / n**2, 1.0 / m**2, between, 1.0 / n + 1.0 / m)
        return cls(1.0 / (n * (n - 1.0)), 1.0 / (m * (m - 1.0)), between)

    def swapped(self) -> PairWeights:
        """Return the weights with the second sample first."""
        return replace(self, first=self.second, second=self.first)

    def combine(self, sums: Float) -> Float:
        """Return MMD² from sums over unordered pairs (3, P): first, between, second."""
        within = self.first * sums[0] + self.second * sums[2]
        mmd: Float = 2.0 * (within - self.between * sums[1])
        return mmd


@dataclass(frozen=True, eq=False)
class TwoSampleSums:
    """Sums of γ over the pairs of rows of two samples.

    Parameters
    ----------
    first, second : tuple of two ndarrays of shapes (n, P), (m, P)
        For each row of a sample, sums over its other rows and over the other sample's rows.
    values, alone, squares : ndarray of shape (3, P)
        Sums of γ, univariate values and γ² over pairs within the first sample, between, and within
        the second.
    """

    first: tuple[Float, Float]
    second: tuple[Float, Float]
    values: Float
    alone: Float
    squares: Float

    @classmethod
    def of(cls, sums: PairSums, n: int) -> TwoSampleSums:
        """Return the sums of a first sample of n rows, and a second one."""
        first = sums.rows[:n, 0], sums.rows[:n, 1]
        second = sums.rows[n:, 1], sums.rows[n:, 0]
        values = np.array([total(first[0]) / 2.0, total(first[1]), total(second[0]) / 2.0])
        return cls(first, second, values, sums.alone, sums.squares)

    def mmd(
        self, weights: PairWeights, diagonal: Float, *, has_errors: bool = True
    ) -> StatisticValues:
        """Return MMD² attributed to players.

        Parameters
        ----------
        weights : PairWeights
        diagonal : ndarray of shape (2, P)
            Contribution of pairs of a row with itself to Shapley values and univariate values.
        has_errors : bool, default True
            Whether to compute standard errors, which requires equal row weights.
        """
        return StatisticValues(
            weights.combine(self.values) + diagonal[0],
            weights.combine(self.alone) + diagonal[1],
            self._errors(weights) if has_errors else None,
        )

    def _errors(self, weights: PairWeights) -> Float:
        n, m = len(self.first[0]), len(self.second[0])
        # Ratios of the averages within a sample by these weights and by the unbiased estimator.
        ratios = weights.first * n * (n - 1.0), weights.second * m * (m - 1.0)
        return mmd_errors(
            (
                ratios[0] * self.first[0] / (n - 1.0) - self.first[1] / m,
                ratios[1] * self.second[0] / (m - 1.0) - self.second[1] / n,
            ),
            (n, m),
            (
                ratios[0] ** 2 * within_sample(self.squares[0], self.first[0]),
                between_samples(self.squares[1], self.first[1], self.second[1]),
                ratios[1] ** 2 * within_sample(self.squares[2], self.second[0]),
            ),
        )
