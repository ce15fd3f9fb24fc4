"""Functions f of two items, skew-symmetric: f(a, b) = −f(b, a).

They are sums over pairs of items (l_i, r_i) of the generalized preferential kernel, the inner
product of (ψ_a ⊗ ψ_b − ψ_b ⊗ ψ_a)/√2 and the same element for the pair (Chau, Gonzalez and
Sejdinovic 2022, Learning inconsistent preferences with Gaussian processes, AISTATS):

    f(a, b) = Σ_i α_i [k(l_i, a) k(r_i, b) − k(l_i, b) k(r_i, a)]

With a context u, the terms are multiplied by k_U(u_i, u).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.kernels import Kernel
from pkex.kernels.factors import has_mixtures
from pkex.kernels.restrictions import are_products
from pkex.typing import Float

# The number of kernel values in memory at a time.
_MAX_NUMBERS = 1 << 22
# The rows between which kernels are evaluated for values of rows at the same place.
_OF_DIAGONAL = 16


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts u_i of pairs, and the kernel k_U between contexts.

    Parameters
    ----------
    rows : ndarray of shape (n, c)
    kernel : Kernel
    """

    rows: Float
    kernel: Kernel


@dataclass(frozen=True, eq=False)
class Preferential:
    """The function f.

    Parameters
    ----------
    left, right : ndarray of shape (n, d)
        The items l_i and r_i.
    coefficients : ndarray of shape (n,)
        α.
    kernel : Kernel
        k.
    contexts : Contexts, optional
    """

    left: Float
    right: Float
    coefficients: Float
    kernel: Kernel
    contexts: Contexts | None = None

    # Whether f is a difference of values of a function of both items, not of one.
    is_of_both: ClassVar[bool] = True

    @property
    def n_features(self) -> int:
        """The number of columns of an item."""
        return int(self.left.shape[1])

    @property
    def kernels(self) -> str:
        """The text of the kernel between pairs in messages."""
        if self.contexts is None:
            return repr(self.kernel)
        return f"{self.kernel!r}, times {self.contexts.kernel} of contexts,"

    def at(self, numbers: NDArray[np.intp]) -> Preferential:
        """Return the sum over some of the pairs."""
        contexts = self.contexts
        if contexts is not None:
            contexts = replace(contexts, rows=contexts.rows[numbers])
        left, right = self.left[numbers], self.right[numbers]
        coefficients = self.coefficients[numbers]
        return replace(self, left=left, right=right, coefficients=coefficients, contexts=contexts)

    def gram(self) -> Float:
        """Return the kernel between the pairs, shape (n, n)."""
        with np.errstate(over="ignore", invalid="ignore"):
            cross = self.kernel(self.left, self.right)
            left, right = self.kernel(self.left), self.kernel(self.right)
            matrix = self.combine_kernels(left, right, cross, cross.T)
            if self.contexts is not None:
                matrix *= self.contexts.kernel(self.contexts.rows)
        return matrix

    @staticmethod
    def combine_kernels(left: Float, right: Float, left_right: Float, right_left: Float) -> Float:
        """Return the kernel between pairs (l, r) and (a, b).

        Parameters
        ----------
        left, right, left_right, right_left : ndarray
            k(l, a), k(r, b), k(l, b) and k(r, a).
        """
        return left * right - left_right * right_left

    @staticmethod
    def derivatives(
        left: Float, right: Float, left_right: Float, right_left: Float
    ) -> tuple[Float, Float, Float, Float]:
        """Return the derivatives of `combine_kernels` by the logarithms of its arguments."""
        direct, crossed = left * right, left_right * right_left
        return direct, direct, -crossed, -crossed

    def variances(self, left: Float, right: Float) -> Float:
        """Return the kernel between each of m pairs and itself, without contexts, shape (m,)."""
        cross = rowwise(self.kernel, left, right)
        of_left, of_right = rowwise(self.kernel, left, left), rowwise(self.kernel, right, right)
        return self.combine_kernels(of_left, of_right, cross, cross)

    def evaluate(
        self, left: Float, right: Float, contexts: Float | None, *, n_threads: int
    ) -> Float:
        """Return f for m pairs in contexts, shape (m,).

        Swapped items have exactly the opposite sign, bit by bit.
        """
        if not are_products(self.kernel.terms(self.n_features)):
            return self._by_kernels(left, right, contexts)
        rows, kernel = join_columns(self.left, self.right), self.of_both
        if self.contexts is not None:
            n_columns = rows.shape[1]
            rows = join_columns(rows, self.contexts.rows)
            kernel = kernel * self.contexts.kernel.on(range(n_columns, rows.shape[1]))
        one_way = KernelSum(rows, self.coefficients, kernel)
        context_columns = [] if contexts is None else [contexts]
        forward, backward = (
            one_way.evaluate(join_columns(*items, *context_columns), n_threads=n_threads)
            for items in ((left, right), (right, left))
        )
        return forward - backward

    def _by_kernels(self, left: Float, right: Float, contexts: Float | None) -> Float:
        """Return f by evaluating kernels that have too many factors for a `KernelSum`."""
        values = np.empty(len(left))
        for block in blocks_of(len(left), _MAX_NUMBERS // len(self.left)):
            terms = self.of_pairs(left[block], right[block])
            if self.contexts is not None and contexts is not None:
                terms *= self.contexts.kernel(self.contexts.rows, contexts[block])
            values[block] = terms.sum(axis=0)
        return values

    @property
    def of_both(self) -> Kernel:
        """The kernel k(l, a) k(r, b) in the columns of both items."""
        d = self.n_features
        return self.kernel.on(range(d)) * self.kernel.on(range(d, 2 * d))

    def one_way(self, coefficients: Float, players: NDArray[np.int64]) -> KernelSum:
        """Return h(a, b) = Σ_i α_i k(l_i, a) k(r_i, b) with other α; f(a, b) is h(a, b) − h(b, a).

        It is a function of the columns of both items. `players` are the numbers of each feature's
        player, in both items.
        """
        rows = join_columns(self.left, self.right)
        try:
            expansion = KernelSum(rows, coefficients, self.of_both)
        except ValueError as error:
            if not has_mixtures(self.kernel.terms(self.n_features)):
                raise
            raise ValueError(
                f"kernel={self.kernel!r} has too many terms in the columns of left and right "
                "items. Use a single Matern or RationalQuadratic, RBF or ProductMatern, or pass "
                "value_function='observational'"
            ) from error
        return expansion.grouped(np.tile(players, 2))

    def rows_of(self, left: Float, right: Float) -> tuple[Float, Float]:
        """Return the rows of both values of `one_way` whose difference is f."""
        return join_columns(left, right), join_columns(right, left)

    def one_way_variance(
        self, factor: Float, roots: Float, scale: float, players: NDArray[np.int64]
    ) -> PosteriorVariance:
        """Return the variance of a function g whose differences have the posterior variance of f.

        They are differences of values at the two rows of `rows_of`, and covariances of f are those
        of these differences.

        Parameters
        ----------
        factor : ndarray of shape (n, n)
            L, lower triangular.
        roots : ndarray of shape (n,)
            The diagonal of R. The posterior covariance of f is scale (κ − κ R L⁻ᵀ L⁻¹ R κ), where
            κ is the kernel between pairs.
        scale : float
        players : ndarray of int64, shape (d,)
            The number of each feature's player.
        """
        # If h has the covariance k k, [h(a, b) − h(b, a)] / √2 has the covariance κ.
        variance = PosteriorVariance(
            join_columns(self.left, self.right),
            factor,
            self.of_both,
            scales=scale / 2.0,
            roots=2.0**0.5 * roots,
        )
        return variance.grouped(np.tile(players, 2))

    def in_contexts(self, contexts: Float) -> Float:
        """Return α_i k_U(u_i, u), the coefficients in each of m contexts u, shape (n, m)."""
        if self.contexts is None:
            return np.repeat(self.coefficients[:, None], len(contexts), axis=1)
        kernel: Float = self.contexts.kernel(self.contexts.rows, contexts)
        return self.coefficients[:, None] * kernel

    def of_pairs(self, left: Float, right: Float) -> Float:
        """Return the coefficients of f as a function of the context, shape (n, m).

        They are α_i times the kernel between (l_i, r_i) and each of m pairs (a, b).
        """
        direct = self.kernel(self.left, left), self.kernel(self.right, right)
        crossed = self.kernel(self.left, right), self.kernel(self.right, left)
        return self.coefficients[:, None] * self.combine_kernels(*direct, *crossed)


def rowwise(kernel: Kernel, rows: Float, other_rows: Float) -> Float:
    """Return the kernel between rows at equal places of two tables, shape (n,)."""
    blocks = blocks_of(len(rows), _OF_DIAGONAL)
    values = [np.diag(kernel(rows[block], other_rows[block])) for block in blocks]
    return np.concatenate([np.empty(0), *values])


def number_items(left: Float, right: Float) -> tuple[Float, NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct items, and the numbers of the left and right item of each pair."""
    items, numbers = np.unique(np.concatenate([left, right]), axis=0, return_inverse=True)
    left_numbers, right_numbers = np.split(numbers.ravel(), 2)
    return items, left_numbers, right_numbers


def join_columns(*tables: Float) -> Float:
    """Return the columns of several tables as one, C-contiguous."""
    return np.ascontiguousarray(np.concatenate(tables, axis=1))
