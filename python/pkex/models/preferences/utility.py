"""Functions f of two items that are differences of a utility: f(a, b) = u(a) − u(b).

They are sums over pairs of items (l_i, r_i) of the covariance of differences, if u has the
covariance k (Chu and Ghahramani 2005, Preference learning with Gaussian processes, ICML):

    u(x) = Σ_i α_i [k(l_i, x) − k(r_i, x)]

With a context, the terms are multiplied by k_U(u_i, u).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.models.preferences.preferential import Preferential, number_items, rowwise
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class UtilityDifference(Preferential):
    """The function f, with the parameters of `Preferential`."""

    is_of_both: ClassVar[bool] = False

    @staticmethod
    def combine_kernels(left: Float, right: Float, left_right: Float, right_left: Float) -> Float:
        """Return the kernel between pairs; swapped items have exactly the opposite sign."""
        return (left - right_left) - (left_right - right)

    @staticmethod
    def derivatives(
        left: Float, right: Float, left_right: Float, right_left: Float
    ) -> tuple[Float, Float, Float, Float]:
        """Return the derivatives of `combine_kernels` by the logarithms of its arguments."""
        return left, right, -left_right, -right_left

    @cached_property
    def _items(self) -> tuple[Float, NDArray[np.intp], NDArray[np.intp]]:
        """The distinct items, and the numbers of the left and right item of each pair."""
        return number_items(self.left, self.right)

    def evaluate(
        self, left: Float, right: Float, contexts: Float | None, *, n_threads: int
    ) -> Float:
        """Return f for m pairs in contexts, shape (m,)."""
        if contexts is not None:
            return self._by_kernels(left, right, contexts)
        u = self.one_way(self.coefficients, np.arange(self.n_features))
        return u.evaluate(left, n_threads=n_threads) - u.evaluate(right, n_threads=n_threads)

    def one_way(self, coefficients: Float, players: NDArray[np.int64]) -> KernelSum:
        """Return u with other α."""
        items, left, right = self._items
        m = len(items)
        sums = np.bincount(left, coefficients, m) - np.bincount(right, coefficients, m)
        return KernelSum(items, sums, self.kernel).grouped(players)

    def rows_of(self, left: Float, right: Float) -> tuple[Float, Float]:
        """Return the items."""
        return left, right

    def one_way_variance(
        self, factor: Float, roots: Float, scale: float, players: NDArray[np.int64]
    ) -> PosteriorVariance:
        """Return the posterior variance of u."""
        items, left, right = self._items
        differences, pairs = np.zeros((len(roots), len(items))), np.arange(len(roots))
        differences[pairs, left], differences[pairs, right] = roots, -roots
        variance = PosteriorVariance(items, factor, self.kernel, scales=scale, roots=differences)
        return variance.grouped(players)

    def of_items(self, items: Float) -> tuple[Float, Float]:
        """Return the kernel of m items with the pairs, and with themselves, without contexts.

        If u has the covariance k, they are the covariance of f with u, and the variance of u.

        Returns
        -------
        tuple of ndarray of shape (n, m) and (m,)
        """
        cross = self.kernel(self.left, items) - self.kernel(self.right, items)
        return cross, rowwise(self.kernel, items, items)

    def utilities(self, items: Float, coefficients: Float, numbers: NDArray[np.intp]) -> Float:
        """Return u of items, shape (n,).

        Parameters
        ----------
        items : ndarray of shape (n, d)
        coefficients : ndarray of shape (p, k)
        numbers : ndarray of int, shape (n,)
            The column of coefficients of each item.
        """
        values, players = np.empty(len(items)), np.arange(self.n_features)
        for number in np.unique(numbers).tolist():
            mask = numbers == number
            u = self.one_way(coefficients[:, number], players)
            values[mask] = u.evaluate(items[mask], n_threads=1)
        return values
