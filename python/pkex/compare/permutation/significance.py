"""P-values of permutation tests.

A p-value is (b + 1) / (B + 1), where b of the B permuted statistics are at least the observed one.
Under the hypothesis, the probability that it is ≤ α is at most α, for every α.

The p-value of a result combines two: the p-value of the statistic, which detects many small
differences and changes of dependence, and the p-value of the largest standardized univariate value,
which detects a change of one feature among many. The smaller of the two is compared with the
smaller of the two for each permutation. The combined test is exact as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.arrays import ReadOnlyArrays
from pkex.typing import Float

# Numbers held at a time.
_CHUNK = 1 << 20
# Standardized numbers that differ by less are tied.
_TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Significance(ReadOnlyArrays):
    """P-values of a permutation test.

    Parameters
    ----------
    pvalue : float
        The smaller of the two following p-values, calibrated by the same permutations.
    statistic_pvalue : float
        P-value of the statistic.
    univariate_pvalue : float
        P-value of the largest standardized univariate value.
    feature_pvalues : ndarray of shape (P,)
        P-values of the Shapley values, unadjusted.
    familywise_pvalues : ndarray of shape (P,)
        P-values of the Shapley values, adjusted for their number.
    alone_pvalues, alone_familywise_pvalues : ndarray of shape (P,)
        P-values of the univariate values, unadjusted and adjusted.
    permuted_values : ndarray of shape (B, P)
        Shapley values for each permutation.
    """

    pvalue: float
    statistic_pvalue: float
    univariate_pvalue: float
    feature_pvalues: Float
    familywise_pvalues: Float
    alone_pvalues: Float
    alone_familywise_pvalues: Float
    permuted_values: Float

    @classmethod
    def of(cls, values: PermutedValues, alone: PermutedValues) -> Significance:
        """Compute p-values from Shapley values and univariate values, permuted together."""
        statistic_pvalues, univariate_pvalues = values.sum_pvalues(), alone.largest_pvalues()
        smaller = np.minimum(statistic_pvalues, univariate_pvalues)
        return cls(
            float(np.mean(smaller <= smaller[0])),
            float(statistic_pvalues[0]),
            float(univariate_pvalues[0]),
            values.pvalues(),
            values.familywise_pvalues(),
            alone.pvalues(),
            alone.familywise_pvalues(),
            # A copy, because a view would keep all numbers in memory.
            values.numbers[1:].copy(),
        )


@dataclass(frozen=True, eq=False)
class PermutedValues:
    """Values of P features as observed, and for each of B permutations.

    Parameters
    ----------
    numbers : ndarray of shape (1 + B, P)
        The observed values in the first row.
    scale : ndarray of shape (P,)
        Scale of rounding errors: numbers that differ by less than 1e-12 of it are tied.
    """

    numbers: Float
    scale: Float

    def sum_pvalues(self) -> Float:
        """Return the p-value of each row, of the sum over features; shape (1 + B,)."""
        return _tail_shares(self.numbers.sum(axis=1), float(self._tolerance.sum()))

    def largest_pvalues(self) -> Float:
        """Return the p-value of the largest standardized value for each row; (1 + B,)."""
        return _tail_shares(self._largest(), _TIE_TOLERANCE)

    def pvalues(self) -> Float:
        """Return the unadjusted p-value of each feature; shape (P,)."""
        return _permutation_pvalues(self.numbers[1:] >= self.numbers[0] - self._tolerance)

    def familywise_pvalues(self) -> Float:
        """Return p-values adjusted for the number of features; shape (P,).

        Each value is standardized by its mean and standard deviation over all rows, including the
        observed one, and compared with the largest (Westfall and Young 1993): the probability that
        any p-value is ≤ α is at most α.
        """
        pvalues = np.ones(self.numbers.shape[1])
        varies, standardize = self._standardization
        if varies.any():
            largest = self._largest()[1:, None]
            pvalues[varies] = _permutation_pvalues(
                largest >= standardize(self.numbers[:1])[0] - _TIE_TOLERANCE
            )
        return pvalues

    def _largest(self) -> Float:
        """Return the largest standardized value in each row; shape (1 + B,)."""
        varies, standardize = self._standardization
        if not varies.any():
            return np.zeros(len(self.numbers))
        chunks = np.array_split(self.numbers, -(-self.numbers.size // _CHUNK))
        return np.concatenate([standardize(chunk).max(axis=1) for chunk in chunks])

    @property
    def _standardization(self) -> tuple[NDArray[np.bool_], Callable[[Float], Float]]:
        """A mask of the features that vary, and the function that standardizes their values."""
        mean, spread = self.numbers.mean(axis=0), self.numbers.std(axis=0)
        varies = spread > self._tolerance
        return varies, lambda numbers: (numbers[:, varies] - mean[varies]) / spread[varies]

    @property
    def _tolerance(self) -> Float:
        return 1e-12 * self.scale


def _tail_shares(numbers: Float, tolerance: float) -> Float:
    """Return for each number the share of all that are at least as large, within a tolerance."""
    smaller = np.searchsorted(np.sort(numbers), numbers - tolerance)
    shares: Float = (len(numbers) - smaller) / len(numbers)
    return shares


def _permutation_pvalues(exceeds: NDArray[np.bool_]) -> Float:
    """Return (b + 1) / (B + 1) for each column."""
    b: Float = exceeds.sum(axis=0).astype(np.float64)
    return (b + 1.0) / (len(exceeds) + 1.0)
