"""Which pairs of columns depend on each other in one sample otherwise than in another.

Each column has a few features f: of numbers, orthonormal polynomials of the rank within the sample,
close to the leading kernel principal components of ranks; of labels, indicators of frequent levels.
They are standardized within each sample, so that a change of one column alone, such as a shift, is
not a change of dependence. With C the mean over a sample of f(a) f(b)ᵀ, the statistic of a pair of
columns is ‖C_X − C_Y‖², the sum of squares. Products f(a) f(b)ᵀ of rows are permuted between the
samples, in the same random blocks for all pairs.

Where frequencies change between the samples, so do the tails of products. Permutations are right
then only if each sample has enough rows for these tails. So an entry of C counts if the kurtoses of
both features have a product of at most a tenth of the rows, in both samples: numbers need 33 rows,
and indicators of two rare levels about ten rows in which both are expected.

Features are multiples of 2⁻²⁰, so that sums over 4,000 rows are exact in any order.
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
from pkex.tables.encode import Encoding
from pkex.typing import Float

__all__ = ["DependenceTest", "PairDependence"]

# Rows of a sample, columns and pairs of them that are looked at, and numbers held for p-values.
_MOST_ROWS, _MOST_COLUMNS, _MOST_PAIRS, _MOST_NUMBERS = 2000, 100, 300, 10**7
# Weights of polynomials of degree 1, 2 and 3, about those of the principal components.
_WEIGHTS = np.array([1.0, 0.6, 0.3])
# Rows of a sample that a kurtosis of one needs.
_ROWS_FOR_TAILS = 10
# Levels that have an indicator, and rows that each needs in both samples.
_MOST_LEVELS, _LEAST_ROWS = 6, 5
_UNIT = 2.0**-20
# Differences held at a time.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class PairDependence:
    """Whether two columns depend on each other alike in both samples.

    Parameters
    ----------
    columns : tuple of str
        The names of both.
    statistic : float
        ‖C_X − C_Y‖², the squared difference of cross-covariances of standardized features.
    pvalue, familywise_pvalue : float
        Of the hypothesis that the dependence is the same in both samples; corrected for the number
        of pairs.
    """

    columns: tuple[str, str]
    statistic: float
    pvalue: float
    familywise_pvalue: float


class DependenceTest:
    """Test of all pairs of columns; computed when `pairs` is first asked for, or pickled.

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
        """Return the test of at most 2,000 random rows of each sample; None without a test."""
        if not n_permutations or len(encoding.columns) < 2:
            return None
        some = [
            np.sort(generator.choice(len(rows), min(len(rows), _MOST_ROWS), replace=False))
            for rows in (x, y)
        ]
        seed = int(generator.integers(1 << 62))
        return cls((x[some[0]], y[some[1]]), encoding, n_permutations, seed)

    @property
    def described(self) -> str:
        """Say how many pairs were tested, and which."""
        d = len(self._encoding.columns)
        if d > _MOST_COLUMNS:
            return f"none tested, of more than {_MOST_COLUMNS} columns"
        tested, of_all = len(self.pairs), d * (d - 1) // 2
        if tested == of_all:
            return f"{tested} tested"
        which = (
            "the most dependent in both samples together"
            if tested == _MOST_PAIRS
            else "of the others, rows are too few"
        )
        return f"{tested} of {of_all} tested, {which}"

    @cached_property
    def pairs(self) -> tuple[PairDependence, ...]:
        """The tested pairs, the smallest p-value first."""
        assert self._samples is not None, "what is unpickled has its pairs"
        x, y = self._samples
        columns = self._encoding.columns
        if len(columns) > _MOST_COLUMNS:
            return ()
        features = [_features((x, y), places, is_label) for places, is_label in self._columns()]
        enough = _Counted.of(features, (len(x), len(y)))
        chosen = _chosen_pairs(features, enough)
        if not chosen:
            return ()
        n_permutations = min(self._n_permutations, _MOST_NUMBERS // len(chosen))
        generator = np.random.default_rng(self._seed)
        blocks = two_sample_blocks(len(x), len(y), len(chosen), n_permutations, generator)
        labels = np.concatenate([blocks.in_first[None], blocks.permuted(n_permutations, generator)])
        numbers = _statistics(features, chosen, enough, blocks, labels)
        permuted = PermutedValues(numbers, numbers.max(axis=0))
        pvalues, familywise = permuted.pvalues(), permuted.familywise_pvalues()
        order = np.lexsort([-numbers[0], pvalues, familywise])
        return tuple(
            PairDependence(
                (columns[chosen[p][0]].name, columns[chosen[p][1]].name),
                float(numbers[0, p]),
                float(pvalues[p]),
                float(familywise[p]),
            )
            for p in order.tolist()
        )

    def _columns(self) -> list[tuple[list[int], bool]]:
        """Return the encoded columns of each column of the table, and whether it holds labels."""
        d, flagged = len(self._encoding.columns), self._encoding.flagged
        return [
            ([j, *(d + place for place, own in enumerate(flagged) if own == j)], column.is_label)
            for j, column in enumerate(self._encoding.columns)
        ]

    def __getstate__(self) -> dict[str, Any]:
        # The pairs instead of the rows that they are computed from.
        return {**self.__dict__, "pairs": self.pairs, "_samples": None}


def _features(samples: tuple[Float, Float], places: Sequence[int], is_label: bool) -> Float:
    """Return the features of a column in both samples, one after the other; shape (n + m, r)."""
    first, *flags = ([rows[:, place] for rows in samples] for place in places)
    if is_label:
        levels = _frequent_levels(*first)
        of_samples = [_standardized((own[:, None] == levels).astype(float)) for own in first]
    else:
        of_samples = [_standardized(_polynomials(own)) * _WEIGHTS for own in first]
    for flag in flags:
        of_samples = [
            np.column_stack([own, _standardized(missing[:, None])])
            for own, missing in zip(of_samples, flag, strict=True)
        ]
    fine: Float = np.rint(np.concatenate(of_samples) / _UNIT) * _UNIT
    return fine


def _polynomials(entries: Float) -> Float:
    """Return Legendre polynomials of degree 1 to 3 of the ranks, which equal entries share."""
    _, places, counts = np.unique(entries, return_inverse=True, return_counts=True)
    t = ((2.0 * counts.cumsum() - counts) / len(entries) - 1.0)[places]
    return np.column_stack([t, 1.5 * t**2 - 0.5, 2.5 * t**3 - 1.5 * t])


def _frequent_levels(first: Float, second: Float) -> Float:
    """Return the most frequent levels that both samples have in some rows, but one of all."""
    levels, counts = np.unique(np.concatenate([first, second]), return_counts=True)
    levels = levels[np.argsort(-counts, kind="stable")]
    most = min(_MOST_LEVELS, max(1, len(levels) - 1))
    own = [(levels == sample[:, None]).sum(axis=0) for sample in (first, second)]
    frequent: Float = levels[np.minimum(*own) >= _LEAST_ROWS][:most]
    return frequent


def _standardized(features: Float) -> Float:
    """Return features with mean 0 and variance 1; 0 where they do not vary."""
    centered = features - features.mean(axis=0)
    spread = np.sqrt((centered**2).mean(axis=0))
    varies = spread > 1e-9
    scaled: Float = np.where(varies, centered / np.where(varies, spread, 1.0), 0.0)
    return scaled


@dataclass(frozen=True, eq=False)
class _Counted:
    """Which entries of cross-covariances count, for two samples of n and m rows.

    Parameters
    ----------
    sizes : tuple of int
        n and m.
    kurtoses : list of ndarray of shape (2, r)
        Of the features of each column in both samples; infinite where a feature does not vary.
    """

    sizes: tuple[int, int]
    kurtoses: list[Float]

    @classmethod
    def of(cls, features: Sequence[Float], sizes: tuple[int, int]) -> _Counted:
        n = sizes[0]
        return cls(sizes, [np.stack([_kurtoses(own[:n]), _kurtoses(own[n:])]) for own in features])

    def entries(self, a: int, b: int) -> NDArray[np.bool_]:
        """Return which entries of the cross-covariance of two columns count; shape (r, s)."""
        products = self.kurtoses[a][:, :, None] * self.kurtoses[b][:, None, :]
        limits = np.array(self.sizes)[:, None, None] / _ROWS_FOR_TAILS
        of_first, of_second = products <= limits
        count: NDArray[np.bool_] = of_first & of_second
        return count


def _kurtoses(features: Float) -> Float:
    squares = features**2
    variances = squares.mean(axis=0)
    varies = variances > 0.0
    scale = np.where(varies, variances, 1.0)
    kurtoses: Float = np.where(varies, (squares**2).mean(axis=0) / scale**2, np.inf)
    return kurtoses


def _chosen_pairs(features: Sequence[Float], enough: _Counted) -> list[tuple[int, int]]:
    """Return the pairs to test: at most 300, those most dependent in both samples together.

    No permutation changes the mean over all rows, so that the choice does not favor any.
    """
    pairs = [pair for pair in combinations(range(len(features)), 2) if enough.entries(*pair).any()]
    if len(pairs) <= _MOST_PAIRS:
        return pairs
    dependence = []
    for a, b in pairs:
        count = enough.entries(a, b)
        squares = (features[a].T @ features[b])[count] ** 2
        dependence.append(float(squares.sum()) / math.sqrt(count.sum()))
    strongest = np.argsort(-np.array(dependence), kind="stable")[:_MOST_PAIRS]
    return [pairs[p] for p in np.sort(strongest).tolist()]


def _statistics(
    features: Sequence[Float],
    pairs: Sequence[tuple[int, int]],
    enough: _Counted,
    blocks: Blocks,
    labels: NDArray[np.bool_],
) -> Float:
    """Return ‖C_X − C_Y‖² of each pair for each labeling of blocks; shape (1 + B, pairs)."""
    n, m = enough.sizes
    starts = np.cumsum([0, *(own.shape[1] for own in features)])
    # Where the entries of f(a) f(b)ᵀ that count are among the products of all features.
    counted = [np.nonzero(enough.entries(a, b)) for a, b in pairs]
    first = [starts[a] + row for (a, _), (row, _) in zip(pairs, counted, strict=True)]
    second = [starts[b] + column for (_, b), (_, column) in zip(pairs, counted, strict=True)]
    ends = np.cumsum([len(own) for own in first])
    places = np.concatenate(first), np.concatenate(second)
    joined = np.concatenate(features, axis=1)[blocks.order]
    groups = np.split(joined, np.flatnonzero(np.diff(blocks.groups)) + 1)
    sums = np.stack([(rows.T @ rows)[places] for rows in groups])
    mean, numbers = sums.sum(axis=0) / m, np.empty((len(labels), len(pairs)))
    n_labels = max(1, _CHUNK // len(mean))
    for start in range(0, len(labels), n_labels):
        chunk = slice(start, start + n_labels)
        differences = labels[chunk].astype(np.float64) @ sums
        differences *= 1.0 / n + 1.0 / m
        differences -= mean
        for p, own in enumerate(np.split(differences, ends[:-1], axis=1)):
            numbers[chunk, p] = np.einsum("bi,bi->b", own, own)
    return numbers
