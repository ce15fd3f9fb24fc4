"""Bags of rows, and means of kernels over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.kernels import Kernel
from pkex.typing import Float

# Kernel values in memory at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False)
class Bags:
    """Rows in the order of their bags.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    starts : ndarray of int, shape (bags,)
        The first row of each bag.
    mediators : ndarray of shape (bags, p)
        The value of the mediating variable of each bag.
    """

    rows: Float
    starts: NDArray[np.intp]
    mediators: Float

    @classmethod
    def of_rows(cls, rows: Float, mediators: Float, *, are_single: bool) -> Bags:
        """Return bags of rows with equal mediators (n, p), or a bag of each row."""
        if are_single:
            return cls(rows, np.arange(len(rows)), mediators)
        bag_mediators, numbers = np.unique(mediators, axis=0, return_inverse=True)
        # NumPy 2.0.0 returned a column.
        numbers = np.ravel(numbers)
        order = np.argsort(numbers, kind="stable")
        starts = np.searchsorted(numbers[order], np.arange(len(bag_mediators)))
        return cls(rows[order], starts, bag_mediators)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of rows of each bag."""
        return np.diff(self.starts, append=len(self.rows))

    def means(self, of_rows: Float) -> Float:
        """Return means over the rows of each bag, from (n, …) to (bags, …)."""
        sums = np.add.reduceat(of_rows, self.starts, axis=0)
        means: Float = (sums.T / self.sizes).T
        return means

    def spread(self, of_bags: Float) -> Float:
        """Return the transpose of `means`: an equal share for each row of a bag."""
        shares: Float = np.repeat((of_bags.T / self.sizes).T, self.sizes, axis=0)
        return shares

    def mean_kernel(self, kernel: Kernel, points: Float) -> Float:
        """Return the mean of k(x, ·) over the rows of each bag, shape (bags, points)."""
        means = np.empty((len(self.starts), len(points)))
        for block in blocks_of(len(points), _BLOCK // len(self.rows)):
            means[:, block] = self.means(kernel(self.rows, points[block]))
        return means

    def gram(self, kernel: Kernel) -> Float:
        """Return the mean of k over the pairs of rows of two bags, shape (bags, bags)."""
        gram = self.means(self.mean_kernel(kernel, self.rows).T)
        symmetric: Float = (gram + gram.T) / 2.0
        return symmetric

    def select(self, numbers: NDArray[np.intp]) -> Bags:
        """Return the bags with some numbers."""
        sizes = self.sizes[numbers]
        rows = [
            self.rows[start : start + size]
            for start, size in zip(self.starts[numbers], sizes, strict=True)
        ]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return Bags(np.concatenate(rows), starts, self.mediators[numbers])

    def thin(self, max_rows: int, random: np.random.Generator) -> Bags:
        """Return bags with at most about `max_rows` rows in all, drawn without replacement."""
        if len(self.rows) <= max_rows:
            return self
        bag_size = max(1, max_rows // len(self.starts))
        samples = [
            start + np.sort(random.choice(size, min(size, bag_size), replace=False))
            for start, size in zip(self.starts, self.sizes, strict=True)
        ]
        ends = np.cumsum([len(sample) for sample in samples])
        starts = np.concatenate([[0], ends[:-1]])
        return Bags(self.rows[np.concatenate(samples)], starts, self.mediators)
