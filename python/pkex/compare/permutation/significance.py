"""P-values of relabelled statistics.

A p-value is (b + 1) / (B + 1), b of the B relabelled statistics being at least the observed one:
under the hypothesis at most a share α of them is ≤ α, for every α.

The p-value of a result combines two: that of the statistic, which sees many small differences and
changes of dependence, and that of the largest standardized value of a single feature alone, which
sees a change of one among many. The smaller of both is compared with the smaller of both that each
relabelling has, among all relabellings: that is exact, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.inputs.arrays import ReadOnlyArrays
from pkex.typing import Float

__all__ = ["Relabelled", "Significance"]

# Numbers held at a time.
_CHUNK = 1 << 20
# Standardized numbers that differ by less are tied.
_TIED = 1e-9


@dataclass(frozen=True, eq=False)
class Significance(ReadOnlyArrays):
    """What a permutation test says.

    Parameters
    ----------
    pvalue : float
        Of the smaller of the two that follow, by the same relabellings.
    statistic_pvalue : float
        Of the statistic.
    univariate_pvalue : float
        Of the largest standardized value of a single feature alone.
    feature_pvalues : ndarray of shape (P,)
        Of each value by itself.
    familywise_pvalues : ndarray of shape (P,)
        Of each value, corrected for there being P of them.
    alone_pvalues, alone_familywise_pvalues : ndarray of shape (P,)
        The same of what each feature is worth alone.
    permuted_values : ndarray of shape (B, P)
        The values after each relabelling.
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
    def of(cls, values: Relabelled, alone: Relabelled) -> Significance:
        """Compare the observed with the relabelled, by the same relabellings of both."""
        of_all = values.of_sums(), alone.of_largest()
        smaller = np.minimum(*of_all)
        return cls(
            float(np.mean(smaller <= smaller[0])),
            float(of_all[0][0]),
            float(of_all[1][0]),
            values.one_by_one(),
            values.familywise(),
            alone.one_by_one(),
            alone.familywise(),
            # A copy: the numbers may be a part of more, which would be kept with it.
            values.numbers[1:].copy(),
        )


@dataclass(frozen=True, eq=False)
class Relabelled:
    """Numbers of P features as observed, and after each of B relabellings.

    Parameters
    ----------
    numbers : ndarray of shape (1 + B, P)
        The observed ones first.
    scale : ndarray of shape (P,)
        What rounding errors are measured on: numbers that differ by less than 1e-12 of it are tied.
    """

    numbers: Float
    scale: Float

    def of_sums(self) -> Float:
        """Return the p-value of the features' sum, as observed and as if each of the others were.

        Returns
        -------
        ndarray of shape (1 + B,)
        """
        return _shares_of_all(self.numbers.sum(axis=1), float(self._tolerance.sum()))

    def of_largest(self) -> Float:
        """Return the same of the largest standardized number of a feature."""
        return _shares_of_all(self._largest(), _TIED)

    def one_by_one(self) -> Float:
        """Return the p-value of each feature by itself; shape (P,)."""
        return _shares(self.numbers[1:] >= self.numbers[0] - self._tolerance)

    def familywise(self) -> Float:
        """Return p-values corrected by the largest of all, for their number; shape (P,).

        Each is standardised by its mean and standard deviation over all relabellings, the observed
        one among them (Westfall and Young 1993): the chance that any of them is ≤ α is at most α.
        """
        corrected = np.ones(self.numbers.shape[1])
        varies, standardized = self._standardized
        if varies.any():
            largest = self._largest()[1:, None]
            corrected[varies] = _shares(largest >= standardized(self.numbers[:1])[0] - _TIED)
        return corrected

    def _largest(self) -> Float:
        """Return the largest standardized number of each relabelling; shape (1 + B,)."""
        varies, standardized = self._standardized
        if not varies.any():
            return np.zeros(len(self.numbers))
        chunks = np.array_split(self.numbers, -(-self.numbers.size // _CHUNK))
        return np.concatenate([standardized(chunk).max(axis=1) for chunk in chunks])

    @property
    def _standardized(self) -> tuple[NDArray[np.bool_], Callable[[Float], Float]]:
        """Which features vary, and what standardizes the numbers of these."""
        mean, spread = self.numbers.mean(axis=0), self.numbers.std(axis=0)
        varies = spread > self._tolerance
        return varies, lambda numbers: (numbers[:, varies] - mean[varies]) / spread[varies]

    @property
    def _tolerance(self) -> Float:
        return 1e-12 * self.scale


def _shares_of_all(numbers: Float, tolerance: float) -> Float:
    """Return for each number the share of all that are at least as large, within a tolerance."""
    smaller = np.searchsorted(np.sort(numbers), numbers - tolerance)
    shares: Float = (len(numbers) - smaller) / len(numbers)
    return shares


def _shares(at_least: NDArray[np.bool_]) -> Float:
    """Return (b + 1) / (B + 1) for each column."""
    b: Float = at_least.sum(axis=0).astype(np.float64)
    return (b + 1.0) / (len(at_least) + 1.0)
