"""The Tanimoto kernel of fingerprints and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pkex.kernels.base import Kernel
from pkex.kernels.domain import Domain
from pkex.kernels.factors import MixtureFactor, Term
from pkex.kernels.family import Factor, Family, add_family
from pkex.kernels.gaussian_sums import least_squares, pivots
from pkex.kernels.series import Series
from pkex.typing import Float

_FAMILY = add_family(
    Family(
        "overlap",
        lambda x, y, rate: -rate * ((x - y) ** 2 + x * y),
        is_exponential=True,
        is_of_distance=False,
        takes_fractions=False,
    )
)


@dataclass(frozen=True)
class Tanimoto(Kernel):
    """Tanimoto kernel of counts, x·y / (x·x + y·y − x·y); 0 if both rows are 0.

    For rows of 0 and 1, such as fingerprints of molecules, it is the number of columns that are 1
    in both rows divided by the number that are 1 in at least one: Jaccard's index [1]_. Absent
    columns count in neither number, and v(∅) = 0.

    The quotient is an integral of products, N/D = ∫ N e^(−σD) dσ, approximated by some tens of
    products with a relative error of at most 1e-13. This takes seconds per row for hundreds of
    points and columns. Neutral values of rows of 0 and 1 have a closed form, which takes
    milliseconds: pass ``value_function="neutral"`` to `Explainer`.

    References
    ----------
    .. [1] Ralaivola, L., Swamidass, S. J., Saigo, H., Baldi, P. (2005). Graph kernels for chemical
       informatics. Neural Networks 18(8)

    Examples
    --------
    >>> Tanimoto()([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    array([[0.33333333]])
    """

    def terms(self, n_features: int) -> list[Term]:
        """Return the one term, a power series of order 1 times a mixture."""
        columns, ones = np.arange(n_features, dtype=np.int64), np.ones(n_features)
        # [s¹] ∏_j exp(s x_j y_j) = x·y
        overlap = Series(np.array([0.0, 1.0]), "exponential", columns, ones)
        return [Term(1.0, (_Reciprocal(_FAMILY, columns, ones[:, None]),), overlap)]


@dataclass(frozen=True, eq=False)
class _Reciprocal(MixtureFactor):
    """1/D with D = Σ_j (x_j² + y_j² − x_j y_j), a mixture of e^(−σD); 0 if D = 0."""

    @property
    def of_no_column(self) -> float:
        """Value of the function when all columns are absent, 0."""
        return 0.0

    def product(self, left: Float, right: Float) -> Float:
        """Return the function for all pairs of rows, of shape (n, m)."""
        left, right = left[:, self.columns], right[:, self.columns]
        # A matrix product would have bits that depend on the number of rows.
        squares = [np.einsum("ij,ij->i", rows, rows) for rows in (left, right)]
        total = np.add.outer(*squares) - np.einsum("ij,lj->il", left, right)
        reciprocal: Float = np.zeros_like(total)
        np.divide(1.0, total, out=reciprocal, where=total > 0.0)
        return reciprocal

    def unit(self, domain: Domain) -> float:
        """Return 1, the quotient N/D of equal rows."""
        return 1.0

    def parts(self, domain: Domain) -> Iterator[tuple[float, tuple[Factor, ...]]]:
        """Yield coefficients and factors of e^(−σD) that sum to 1/D for D ≥ 1."""
        with np.errstate(over="ignore"):
            largest = float(np.square(domain.largest[self.columns]).sum())
        octaves = math.ceil(math.log2(min(max(largest, 2.0), _LARGEST)))
        for rate, weight in zip(*(a.tolist() for a in _exponentials(octaves)), strict=True):
            yield weight, (Factor(_FAMILY, self.columns, np.full_like(self.parameters, rate)),)


# The largest D, and the relative error of 1/D.
_LARGEST = 2.0**100
_ERROR = 1e-13


@lru_cache(maxsize=64)
def _exponentials(octaves: int) -> tuple[Float, Float]:
    """Return rates σ and weights w with 1/D = Σ w e^(−σD) for D from 1 to 2^octaves.

    The rates are chosen from those of the trapezoidal rule in log σ for ∫ e^(−σD) dσ.
    """
    step = 0.25
    # e^(−σD) is 1 for smaller rates, and 0 for larger ones.
    first, last = -octaves * math.log(2.0) + math.log(1e-15), math.log(40.0)
    rates = np.exp(np.arange(first, last, step))
    matrices = []
    for per_octave, n_integers in ((8, 64), (31, 128)):
        # Integers at first, then equal steps of the logarithm.
        counts = np.arange(1.0, n_integers)
        counts = counts[counts <= 2.0**octaves]
        spread = np.exp2(np.linspace(0.0, octaves, per_octave * octaves + 1))
        counts = np.unique(np.concatenate([counts, spread]))
        # Relative to the tolerance of 1/D.
        matrices.append(np.exp(-np.outer(counts, rates)) * counts[:, None] / _ERROR)
    matrix, check_matrix = matrices
    order = pivots(matrix * rates, np.full(len(matrix), 1.0 / _ERROR))
    for count in range(order.count, len(order.columns) + 1):
        columns = np.sort(order.columns[:count])
        weights = least_squares(matrix[:, columns], np.full(len(matrix), 1.0 / _ERROR))
        sums = np.einsum("ij,j->i", check_matrix[:, columns], weights)
        if np.abs(sums - 1.0 / _ERROR).max() <= 1.0:
            break
    return rates[columns], weights
