"""Tests of whether the dependence of two columns differs between two samples.

Each column has a few features f. For numbers, they are orthonormal polynomials of the rank within
the sample, close to the leading kernel principal components of ranks; for labels, indicators of
frequent levels. They are standardized within each sample, so that a change of a single column, such
as a shift, is not a change of dependence. Let C be the mean of f(a) f(b)ᵀ over a sample. The
statistic of a pair of columns is ‖C_X − C_Y‖², the sum of squares. Products f(a) f(b)ᵀ of rows are
permuted between the samples, in the same random blocks for all pairs.

If frequencies differ between the samples, so do the tails of products. Then permutations are valid
only if each sample has enough rows for these tails. So an element of C is used if the product of
the kurtoses of both features is at most a tenth of the rows, in both samples. Numbers require 33
rows, and indicators of two rare levels about ten rows in which both are expected.

Features are multiples of 2⁻²⁰, so sums over 4,000 rows are exact in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.permutation.blocks import Blocks, two_sample_blocks
from pkex.compare.permutation.significance import PermutedValues
from pkex.execution.blocks import blocks_of
from pkex.tables.encode import Encoding
from pkex.typing import Float

# Largest numbers of rows of a sample, of columns, of pairs, and of numbers held for p-values.
_MAX_ROWS, _MAX_COLUMNS, _MAX_PAIRS, _MAX_NUMBERS = 2000, 100, 300, 10**7
# Weights of polynomials of degree 1, 2 and 3, similar to those of the principal components.
_WEIGHTS = np.array([1.0, 0.6, 0.3])
# Number of rows of a sample per unit of kurtosis.
_ROWS_FOR_TAILS = 10
# Largest number of levels with indicators, and smallest number of rows of each in both samples.
_MAX_LEVELS, _MIN_ROWS = 6, 5
_UNIT = 2.0**-20
# Differences held at a time.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class PairDependence:
    """Test of whether the dependence of two columns is the same in both samples.

    Parameters
    ----------
    columns : tuple of str
        The names of both.
    statistic : float
        ‖C_X − C_Y‖², the squared difference of cross-covariances of standardized features.
    pvalue, familywise_pvalue : float
        P-values of this hypothesis, unadjusted and adjusted for the number of pairs.
    """

    columns: tuple[str, str]
    statistic: float
    pvalue: float
    familywise_pvalue: float


class DependenceTest:
    """Test of all pairs of columns; computed when `pairs` is first accessed, or pickled.

    Parameters
    ----------
    samples : tuple of two ndarrays of shape (n, k) and (m, k)
        Encoded rows.
    encoding : Encoding
    n_permutations : int
    seed : int
    """

    def __init__(
        self, samples: tuple[Float, Float], encoding: Encoding, n_permutations: int, seed: int
    ) -> None:
        self._samples: tuple[Float, Float] | None = samples
        self._encoding, self._n_permutations, self._seed = encoding, n_permutations, seed

    @classmethod
    def of(
        cls,
        x: Float,
        y: Float,
        encoding: Encoding,
        n_permutations: int,
        generator: np.random.Generator,
    ) -> DependenceTest | None:
        """Return the test of at most 2,000 random rows of a sample; None without permutations."""
        if not n_permutations or len(encoding.columns) < 2:
            return None
        row_indices = [
            np.sort(generator.choice(len(rows), min(len(rows), _MAX_ROWS), replace=False))
            for rows in (x, y)
        ]
        seed = int(generator.integers(1 << 62))
        return cls((x[row_indices[0]], y[row_indices[1]]), encoding, n_permutations, seed)

    @property
    def description(self) -> str:
        """The number of tested pairs, and their choice, in words."""
        d = len(self._encoding.columns)
        if d > _MAX_COLUMNS:
            return f"none tested, as there are more than {_MAX_COLUMNS} columns"
        n_tested, n_pairs = len(self.pairs), d * (d - 1) // 2
        if n_tested == n_pairs:
            return f"{n_tested} tested"
        reason = (
            "the most dependent in both samples together"
            if n_tested == _MAX_PAIRS
            else "the others have too few rows or a constant column"
        )
        return f"{n_tested} of {n_pairs} tested, {reason}"

    @cached_property
    def pairs(self) -> tuple[PairDependence, ...]:
        """The tested pairs, the smallest p-value first."""
        assert self._samples is not None, "pairs are computed before pickling"
        x, y = self._samples
        columns = self._encoding.columns
        if len(columns) > _MAX_COLUMNS:
            return ()
        features = [_features((x, y), places, is_label) for places, is_label in self._columns()]
        elements = _ReliableElements.of(features, (len(x), len(y)))
        pairs = _choose_pairs(features, elements)
        if not pairs:
            return ()
        n_permutations = min(self._n_permutations, _MAX_NUMBERS // len(pairs))
        generator = np.random.default_rng(self._seed)
        blocks = two_sample_blocks(len(x), len(y), len(pairs), n_permutations, generator)
        permuted_labels = blocks.draw_labels(n_permutations, generator)
        labels = np.concatenate([blocks.in_first[None], permuted_labels])
        statistics = _statistics(features, pairs, elements, blocks, labels)
        permuted_values = PermutedValues(statistics, statistics.max(axis=0))
        pvalues = permuted_values.pvalues()
        familywise_pvalues = permuted_values.familywise_pvalues()
        order = np.lexsort([-statistics[0], pvalues, familywise_pvalues])
        return tuple(
            PairDependence(
                (columns[pairs[p][0]].name, columns[pairs[p][1]].name),
                float(statistics[0, p]),
                float(pvalues[p]),
                float(familywise_pvalues[p]),
            )
            for p in order.tolist()
        )

    def _columns(self) -> list[tuple[list[int], bool]]:
        """Return the encoded columns of each column of the table, and whether it is categorical."""
        d = len(self._encoding.columns)
        flags = {j: [flag] for flag, j in enumerate(self._encoding.flagged, d)}
        return [
            ([j, *flags.get(j, [])], column.is_label)
            for j, column in enumerate(self._encoding.columns)
        ]

    def __getstate__(self) -> dict[str, Any]:
        # The pairs instead of the rows that they are computed from.
        return {**self.__dict__, "pairs": self.pairs, "_samples": None}


def _features(samples: tuple[Float, Float], places: Sequence[int], is_label: bool) -> Float:
    """Return the features of a column in both samples, one after the other; shape (n + m, r)."""
    values, *flags = ([rows[:, place] for rows in samples] for place in places)
    if is_label:
        levels = _frequent_levels(*values)
        features = [_standardize((sample[:, None] == levels).astype(float)) for sample in values]
    else:
        features = [_standardize(_polynomials(sample)) * _WEIGHTS for sample in values]
    for flag in flags:
        features = [
            np.column_stack([sample, _standardize(missing[:, None])])
            for sample, missing in zip(features, flag, strict=True)
        ]
    rounded_features: Float = np.rint(np.concatenate(features) / _UNIT) * _UNIT
    return rounded_features


def _polynomials(entries: Float) -> Float:
    """Return Legendre polynomials of degree 1 to 3 of the ranks; ties have equal ranks."""
    _, places, counts = np.unique(entries, return_inverse=True, return_counts=True)
    t = ((2.0 * counts.cumsum() - counts) / len(entries) - 1.0)[places]
    return np.column_stack([t, 1.5 * t**2 - 0.5, 2.5 * t**3 - 1.5 * t])


def _frequent_levels(x: Float, y: Float) -> Float:
    """Return the most frequent levels in both samples, without one of all levels."""
    levels, counts = np.unique(np.concatenate([x, y]), return_counts=True)
    levels = levels[np.argsort(-counts, kind="stable")]
    n_levels = min(_MAX_LEVELS, max(1, len(levels) - 1))
    frequencies = [(levels == sample[:, None]).sum(axis=0) for sample in (x, y)]
    frequent: Float = levels[np.minimum(*frequencies) >= _MIN_ROWS][:n_levels]
    return frequent


def _standardize(features: Float) -> Float:
    """Return features with mean 0 and variance 1; 0 if they are constant."""
    deviations = features - features.mean(axis=0)
    spread = np.sqrt((deviations**2).mean(axis=0))
    varies = spread > 1e-9
    standardized: Float = np.where(varies, deviations / np.where(varies, spread, 1.0), 0.0)
    return standardized


@dataclass(frozen=True, eq=False)
class _ReliableElements:
    """The elements of cross-covariances that a test may use, for two samples of n and m rows.

    Parameters
    ----------
    sizes : tuple of int
        n and m.
    kurtoses : list of ndarray of shape (2, r)
        Kurtoses of the features of each column in both samples; infinite for constant features.
    """

    sizes: tuple[int, int]
    kurtoses: list[Float]

    @classmethod
    def of(cls, features: Sequence[Float], sizes: tuple[int, int]) -> _ReliableElements:
        n = sizes[0]
        kurtoses = [(_kurtoses(of_column[:n]), _kurtoses(of_column[n:])) for of_column in features]
        return cls(sizes, [np.stack(samples) for samples in kurtoses])

    def mask(self, a: int, b: int) -> NDArray[np.bool_]:
        """Return a mask of the usable elements of the cross-covariance of two columns; (r, s)."""
        products = self.kurtoses[a][:, :, None] * self.kurtoses[b][:, None, :]
        limits = np.array(self.sizes)[:, None, None] / _ROWS_FOR_TAILS
        mask: NDArray[np.bool_] = np.all(products <= limits, axis=0)
        return mask


def _kurtoses(features: Float) -> Float:
    squares = features**2
    variances = squares.mean(axis=0)
    varies = variances > 0.0
    scale = np.where(varies, variances, 1.0)
    kurtoses: Float = np.where(varies, (squares**2).mean(axis=0) / scale**2, np.inf)
    return kurtoses


def _choose_pairs(features: Sequence[Float], elements: _ReliableElements) -> list[tuple[int, int]]:
    """Return the pairs to test: at most 300, the most dependent in both samples together.

    Permutations do not change the mean over all rows, so the choice does not affect the test.
    """
    pairs = [pair for pair in combinations(range(len(features)), 2) if elements.mask(*pair).any()]
    if len(pairs) <= _MAX_PAIRS:
        return pairs
    dependence = []
    for a, b in pairs:
        mask = elements.mask(a, b)
        squares = (features[a].T @ features[b])[mask] ** 2
        dependence.append(float(squares.sum()) / math.sqrt(mask.sum()))
    strongest = np.argsort(-np.array(dependence), kind="stable")[:_MAX_PAIRS]
    return [pairs[p] for p in np.sort(strongest).tolist()]


def _statistics(
    features: Sequence[Float],
    pairs: Sequence[tuple[int, int]],
    elements: _ReliableElements,
    blocks: Blocks,
    labels: NDArray[np.bool_],
) -> Float:
    """Return ‖C_X − C_Y‖² of each pair for each labeling of blocks; shape (1 + B, pairs)."""
    n, m = elements.sizes
    starts = np.cumsum([0, *(of_column.shape[1] for of_column in features)])
    # Positions of the usable elements of f(a) f(b)ᵀ among the products of all features.
    indices = [np.nonzero(elements.mask(a, b)) for a, b in pairs]
    rows = [starts[a] + row for (a, _), (row, _) in zip(pairs, indices, strict=True)]
    columns = [starts[b] + column for (_, b), (_, column) in zip(pairs, indices, strict=True)]
    ends = np.cumsum([len(row) for row in rows])
    positions = np.concatenate(rows), np.concatenate(columns)
    arranged_features = np.concatenate(features, axis=1)[blocks.order]
    groups = np.split(arranged_features, np.flatnonzero(np.diff(blocks.groups)) + 1)
    sums = np.stack([(group.T @ group)[positions] for group in groups])
    mean, statistics = sums.sum(axis=0) / m, np.empty((len(labels), len(pairs)))
    for chunk in blocks_of(len(labels), _CHUNK // len(mean)):
        differences = labels[chunk].astype(np.float64) @ sums
        differences *= 1.0 / n + 1.0 / m
        differences -= mean
        for p, of_pair in enumerate(np.split(differences, ends[:-1], axis=1)):
            statistics[chunk, p] = np.einsum("bi,bi->b", of_pair, of_pair)
    return statistics
