"""Permutation test of two samples, by sums over pairs of blocks of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.compare.pairs.two_sample_sums import PairWeights
from pkex.compare.permutation.blocks import Blocks
from pkex.compare.permutation.quadratic_form import QuadraticForm
from pkex.compare.permutation.significance import PermutedValues, Significance
from pkex.typing import Float


def significance_of_blocks(
    group_sums: Float,
    blocks: Blocks,
    weights: PairWeights,
    diagonal: Float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Significance:
    """Permute blocks between the samples, and test the observed values.

    Parameters
    ----------
    group_sums : ndarray of shape (G(G+1)/2, 2P)
        Sums over pairs of blocks: of the Shapley values, then of the univariate values.
    blocks : Blocks
    weights : PairWeights
    diagonal : ndarray of shape (2, P)
        Contribution of pairs of a row with itself, which permutations do not change.
    """
    permuted_labels = blocks.draw_labels(n_permutations, generator)
    labels = np.concatenate([blocks.in_first[None], permuted_labels])
    halves = zip(np.split(group_sums, 2, axis=1), diagonal, strict=True)
    return Significance.of(*(permuted_values(sums, labels, weights, term) for sums, term in halves))


def permuted_values(
    group_sums: Float, labels: NDArray[np.bool_], weights: PairWeights, diagonal: Float
) -> PermutedValues:
    """Return the values for each assignment of blocks to samples.

    Parameters
    ----------
    group_sums : ndarray of shape (G(G+1)/2, P)
    labels : ndarray of bool, shape (B, G)
        Which blocks belong to the first sample.
    weights : PairWeights
    diagonal : ndarray of shape (P,)
        Added to all values.
    """
    within = weights.first, weights.second
    if weights.first < weights.second:
        # The form subtracts from the sum over all pairs, weighted like pairs of unlabeled blocks.
        # Cancellation is smallest if the larger sample is unlabeled.
        labels, within = ~labels, within[::-1]
    form = QuadraticForm.of_mmd(group_sums, within, weights.between)
    values = form.evaluate(labels)
    values += diagonal
    return PermutedValues(values, form.scale)
