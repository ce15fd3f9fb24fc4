"""The kernel between many pairs and few, in blocks of the many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.kernels import Kernel
from pkex.models.preferences.preferential import Preferential, number_items
from pkex.typing import Float

# The number of kernel values in a block: about half of a core's cache.
_BLOCK = 1 << 16
# The same for products of blocks.
_LARGE_BLOCK = 1 << 20
# The largest number of values of a table that is kept: 256 MB.
_MAX_KEPT = 1 << 25


@dataclass(frozen=True, eq=False)
class NumberedPairs:
    """Pairs of items, by the numbers of their distinct items and contexts.

    Parameters
    ----------
    pairs : Preferential
        The pairs; their coefficients are ignored.
    items : ndarray of shape (k, d)
        The distinct items.
    left, right : ndarray of int, shape (n,)
    contexts : ndarray of shape (l, c)
        The distinct contexts; one without columns if there are no contexts.
    context : ndarray of int, shape (n,)
    """

    pairs: Preferential
    items: Float
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    contexts: Float
    context: NDArray[np.intp]

    @classmethod
    def of(cls, pairs: Preferential) -> NumberedPairs:
        """Return pairs with their distinct items and contexts."""
        items, left, right = number_items(pairs.left, pairs.right)
        if pairs.contexts is None:
            return cls(pairs, items, left, right, np.empty((1, 0)), np.zeros(len(left), np.intp))
        contexts, context = np.unique(pairs.contexts.rows, axis=0, return_inverse=True)
        return cls(pairs, items, left, right, contexts, context.ravel())

    def distinct(self) -> NDArray[np.intp]:
        """Return a pair of each set of equal or swapped pairs, by number.

        Swapped pairs are linearly dependent. Pairs in different contexts differ.
        """
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        triples = np.column_stack([low, high, self.context])
        return np.unique(triples, axis=0, return_index=True)[1]


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of a kernel between numbered rows and points, kept in a table if they are few."""

    kernel: Kernel
    rows: Float
    points: Float
    table: Float | None

    @classmethod
    def of(cls, kernel: Kernel, rows: Float, points: Float) -> _Values:
        if len(rows) * len(points) > _MAX_KEPT:
            return cls(kernel, rows, points, None)
        table = np.empty((len(rows), len(points)))
        for block in blocks_of(len(rows), _BLOCK // len(points)):
            table[block] = kernel(rows[block], points)
        return cls(kernel, rows, points, table)

    def __getitem__(self, numbers: NDArray[np.intp]) -> Float:
        """Return the values of rows, a new array of shape (rows, points)."""
        if self.table is not None:
            return self.table[numbers]
        return self.kernel(self.rows[numbers], self.points)


@dataclass(frozen=True, eq=False)
class PairKernel:
    """The kernel between n training pairs and m centers; at most one block is in memory.

    Parameters
    ----------
    training : NumberedPairs
    n_centers : int
    to_left, to_right : _Values
        Between the training items and the left or right items of centers.
    to_contexts : _Values, optional
        Between the training contexts and those of centers.
    """

    training: NumberedPairs
    n_centers: int
    to_left: _Values
    to_right: _Values
    to_contexts: _Values | None

    @classmethod
    def of(cls, training: NumberedPairs, centers: Preferential) -> PairKernel:
        """Return the kernel between training pairs and centers."""
        with np.errstate(over="ignore", invalid="ignore"):
            to_left, to_right = (
                _Values.of(centers.kernel, training.items, items)
                for items in (centers.left, centers.right)
            )
            to_contexts, contexts = None, centers.contexts
            if contexts is not None:
                to_contexts = _Values.of(contexts.kernel, training.contexts, contexts.rows)
        return cls(training, len(centers.left), to_left, to_right, to_contexts)

    def blocks(
        self, sample: NDArray[np.intp] | None = None
    ) -> Iterator[tuple[NDArray[np.intp], Float]]:
        """Yield numbers of training pairs, and their kernel, of shape (pairs, m).

        Parameters
        ----------
        sample : ndarray of int, optional
            Some of the training pairs, in larger blocks; by default all of them.
        """
        size = _LARGE_BLOCK
        if sample is None:
            sample, size = np.arange(len(self.training.left)), _BLOCK
        for block in blocks_of(len(sample), size // self.n_centers):
            pairs = sample[block]
            with np.errstate(over="ignore", invalid="ignore"):
                values = self._of_items(pairs)
                if self.to_contexts is not None:
                    values *= self.to_contexts[self.training.context[pairs]]
            yield pairs, values

    def means(self, shares: Float) -> tuple[Float, Float]:
        """Return the means over training pairs of the kernels of pairs and of contexts.

        Parameters
        ----------
        shares : ndarray of shape (n,)
            The weights of pairs, with sum 1.

        Returns
        -------
        tuple of ndarray, each of shape (m,)
        """
        of_pairs, of_contexts = np.zeros((2, self.n_centers))
        for block in blocks_of(len(shares), _BLOCK // self.n_centers):
            pairs = np.arange(block.start, block.stop)
            of_pairs += shares[pairs] @ self._of_items(pairs)
            if self.to_contexts is not None:
                of_contexts += shares[pairs] @ self.to_contexts[self.training.context[pairs]]
        return of_pairs, of_contexts

    def _of_items(self, pairs: NDArray[np.intp]) -> Float:
        """Return the kernel of pairs of items without contexts, shape (pairs, m)."""
        left, right = self.training.left[pairs], self.training.right[pairs]
        direct = self.to_left[left], self.to_right[right]
        crossed = self.to_right[left], self.to_left[right]
        return self.training.pairs.combine_kernels(*direct, *crossed)
