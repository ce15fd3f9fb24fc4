"""Two samples in blocks, relabelled: what sums over pairs of blocks say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.compare.pairs.two_sample_sums import PairWeights
from pkex.compare.permutation.permutations import Blocks
from pkex.compare.permutation.quadratic_form import block_form
from pkex.compare.permutation.significance import Relabelled, Significance
from pkex.typing import Float

__all__ = ["relabelled", "significance_of_blocks"]


def significance_of_blocks(
    groups: Float,
    blocks: Blocks,
    weights: PairWeights,
    own: Float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Significance:
    """Relabel blocks at random, and compare what is observed with what comes of it.

    Parameters
    ----------
    groups : ndarray of shape (G(G+1)/2, 2P)
        Sums over pairs of blocks: of the values, and of what players are worth alone.
    blocks : Blocks
    weights : PairWeights
        Of pairs of the first sample, and of the second.
    own : ndarray of shape (2, P)
        What pairs of a row with itself add to both, which no relabelling changes.
    """
    drawn = blocks.relabelled(n_permutations, generator)
    labels = np.concatenate([blocks.in_first[None], drawn])
    of_both = np.split(groups, 2, axis=1)
    return Significance.of(
        *(relabelled(of, labels, weights, d) for of, d in zip(of_both, own, strict=True))
    )


def relabelled(
    groups: Float, labels: NDArray[np.bool_], weights: PairWeights, on_the_diagonal: Float
) -> Relabelled:
    """Weigh sums over pairs of blocks by which blocks are the first sample's."""
    within = weights.first, weights.second
    if weights.first < weights.second:
        # The form subtracts from the sum over all pairs, weighted as those that are not labelled:
        # it cancels least if the larger sample is that.
        labels, within = ~labels, within[::-1]
    return block_form(groups, within, weights.between).relabelled(labels, on_the_diagonal)
