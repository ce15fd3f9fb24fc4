"""P-values of relabelled statistics.

A p-value is (b + 1) / (B + 1), b of the B relabelled statistics being at least the observed one:
under the hypothesis at most a share α of them is ≤ α, for every α.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["Relabelled", "Significance"]

# Numbers held at a time.
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class Significance:
    """What a permutation test says.

    Parameters
    ----------
    pvalue : float
        Of the statistic.
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
    feature_pvalues: Float
    familywise_pvalues: Float
    alone_pvalues: Float
    alone_familywise_pvalues: Float
    permuted_values: Float

    @classmethod
    def of(cls, values: Relabelled, alone: Relabelled) -> Significance:
        """Compare the observed with the relabelled, by the same relabellings of both."""
        return cls(
            values.of_sum(),
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

    def of_sum(self) -> float:
        """Return the p-value of the features' sum."""
        sums = self.numbers.sum(axis=1)
        at_least = sums[1:] >= sums[0] - self._tolerance.sum()
        return float(_shares(at_least[:, None])[0])

    def one_by_one(self) -> Float:
        """Return the p-value of each feature by itself; shape (P,)."""
        return _shares(self.numbers[1:] >= self.numbers[0] - self._tolerance)

    def familywise(self) -> Float:
        """Return p-values corrected by the largest of all, for their number; shape (P,).

        Each is standardised by its mean and standard deviation over all relabellings, the observed
        one among them (Westfall and Young 1993): the chance that any of them is ≤ α is at most α.
        """
        observed, permuted = self.numbers[0], self.numbers[1:]
        mean, spread = self.numbers.mean(axis=0), self.numbers.std(axis=0)
        varies = spread > self._tolerance
        corrected = np.ones(len(observed))
        if varies.any():
            centre, unit = mean[varies], spread[varies]
            chunks = np.array_split(permuted, -(-permuted.size // _CHUNK))
            largest = np.concatenate([((c[:, varies] - centre) / unit).max(axis=1) for c in chunks])
            standardised = (observed[varies] - centre) / unit
            corrected[varies] = _shares(largest[:, None] >= standardised - 1e-9)
        return corrected

    @property
    def _tolerance(self) -> Float:
        return 1e-12 * self.scale


def _shares(at_least: NDArray[np.bool_]) -> Float:
    """Return (b + 1) / (B + 1) for each column."""
    b: Float = at_least.sum(axis=0).astype(np.float64)
    return (b + 1.0) / (len(at_least) + 1.0)
