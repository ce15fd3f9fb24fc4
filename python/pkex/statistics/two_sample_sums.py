"""Sums over the pairs of two samples, and the MMD² that they make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.statistics.kernel_terms import KernelTerms
from pkex.statistics.pair_sums import PairSums, total
from pkex.statistics.pair_weights import PairWeights
from pkex.statistics.standard_errors import between_samples, within_sample
from pkex.statistics.statistic_values import StatisticValues
from pkex.typing import Float

__all__ = ["TwoSampleSums"]


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

    def mmd(self, weights: PairWeights, terms: KernelTerms) -> StatisticValues:
        """Return MMD² divided among players, without standard errors."""
        own = weights.self_pairs * terms.self_pair()
        return StatisticValues(
            weights.combine(self.values) + own[0], weights.combine(self.alone) + own[1]
        )

    def errors(self, weights: PairWeights) -> Float:
        """Return the standard errors of the values."""
        squares = (
            within_sample(self.squares[0], self.first[0]),
            between_samples(self.squares[1], self.first[1], self.second[1]),
            within_sample(self.squares[2], self.second[0]),
        )
        sizes = len(self.first[0]), len(self.second[0])
        return weights.errors(self.first, self.second, sizes, squares)
