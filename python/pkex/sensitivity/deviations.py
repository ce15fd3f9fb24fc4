"""Means and deviations of factors, from which all covariances between them are computed.

For column j and evaluation e, with the nodes u_r of a rule and their weights w_r, the numbers
√w_r (φ_ej(u_r) − E φ_ej) are a row, and products of two rows are covariances. Rows of thousands of
nodes lie near a space of few dimensions. They are written in an orthonormal basis of this space,
from pivoted Gram–Schmidt of the rows times the sizes of their weights, block by block: first for
each chunk of nodes, then for all chunks together. Each time, the remainder of a row is at most
1e-13 of the longest row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError
from pkex.execution.backends import check_awaited
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.side_by_side import side_by_side
from pkex.functions.products import Products
from pkex.sensitivity.distributions import Marginal
from pkex.typing import Float

# The largest remainder of a row, relative to the longest row.
_REMAINDER = 1e-13
# The number of rows that enter the basis together.
_STEP = 16
# The number of rows that the basis is extended for together: their remainders fit into the cache.
_BLOCK = 1024
# The number of factors in a chunk of nodes, and the least number of its nodes.
_CHUNK, _MIN_NODES = 1 << 22, 64
# The length of rows above which those of several chunks are shortened together.
_LONG = 1024
# Up to this number of evaluations, columns are computed one by one, as threads would save little.
_FEW = 1 << 10
# The most numbers in memory for all columns that are computed together: 4 GB.
_MAX_TOGETHER = 1 << 29
# The largest number of deviations: 1 GB.
_MAX_DEVIATIONS = 1 << 27
# The tolerance of means and second moments of factors, compared with twice the nodes.
_ERROR = 1e-13
_MAX_NODES = 1 << 16
# The largest number of factors at all nodes of a column; more take minutes.
_MAX_FACTORS = 1 << 27


@dataclass(frozen=True, eq=False)
class Deviations:
    """Means and deviations of the factors of evaluations under the distributions of columns.

    Parameters
    ----------
    means : ndarray of shape (evaluations, columns)
    vectors : ndarray of shape (evaluations, r_1 + … + r_d)
    starts : ndarray of int64, shape (columns + 1,)
        The start of the deviations of each column, and the end of all.
    """

    means: Float
    vectors: Float
    starts: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        products: Products,
        marginals: list[Marginal],
        names: tuple[str, ...],
        computation: Computation,
    ) -> Deviations:
        """Return the means and deviations of all columns, some of which are computed in parallel.

        Raises
        ------
        ValueError
            If no rule for a column is sufficiently exact.
        MemoryError
            If there are too many deviations.
        """

        def compute_column(column: int) -> tuple[Float, Float]:
            rule = _exact_rule(products, column, marginals[column], names[column])
            return _column_deviations(products, column, *rule)

        n = len(products.weights)
        n_together = _MAX_TOGETHER // (4 * max(_CHUNK, _MIN_NODES * n) + 2 * _LONG * n)
        is_parallel = products.allows_threads and n > _FEW
        n_threads = min(computation.n_threads, max(1, n_together)) if is_parallel else 1
        columns = side_by_side(compute_column, range(len(marginals)), n_threads)
        means, vectors, total = [], [], 0
        with closing(columns):
            for column, (column_means, column_vectors) in enumerate(columns):
                means.append(column_means)
                vectors.append(column_vectors)
                total += column_vectors.size
                if total > _MAX_DEVIATIONS:
                    raise MemoryError(
                        f"the deviations of the factors of {column + 1} columns take "
                        f"{total * 8 / 1e9:.1f} GB: for kernels with kinks, such as Laplacian, "
                        "give inputs with fewer distinct values, or a model with fewer points"
                    )
                # Columns that are computed together are ready at about the same time.
                ready = (column // n_threads + 1) * n_threads
                computation.report(min(ready, len(marginals)), len(marginals))
        starts = np.cumsum([0, *(array.shape[1] for array in vectors)]).astype(np.int64)
        return cls(np.stack(means, axis=1), np.concatenate(vectors, axis=1), starts)

    def of_evaluations(self, evaluations: NDArray[np.intp]) -> Deviations:
        """Return the means and deviations of some of the evaluations."""
        return Deviations(self.means[evaluations], self.vectors[evaluations], self.starts)

    def merge_equal(self, weights: Float) -> tuple[Deviations, Float]:
        """Return distinct evaluations, with the sums of weights of equal ones.

        Parameters
        ----------
        weights : ndarray of shape (evaluations, outputs)
        """
        rows = np.concatenate([self.means, self.vectors], axis=1)
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        sums = np.zeros((len(first), weights.shape[1]))
        np.add.at(sums, inverse.reshape(-1), weights)
        return self.of_evaluations(first), sums

    def of_single_columns(self, weights: Float) -> Float:
        """Return Var E[f | X_j] for each column as a sum of squares, of shape (columns, outputs).

        The deviation of E[f | X_j] is the vector Σ_e weights_e ∏_{l≠j} E φ_el · g_ej.
        """
        n, d = self.means.shape
        prefixes, suffixes = np.ones((n, d + 1)), np.ones((n, d + 1))
        np.multiply.accumulate(self.means, axis=1, out=prefixes[:, 1:])
        np.multiply.accumulate(self.means[:, ::-1], axis=1, out=suffixes[:, 1:])
        other_means = prefixes[:, :-1] * suffixes[:, -2::-1]
        squares = np.empty((d, weights.shape[1]))
        for column, (start, end) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            column_weights = weights * other_means[:, [column]]
            sums = np.einsum("er,eo->ro", self.vectors[:, start:end], column_weights)
            squares[column] = (sums**2).sum(axis=0)
        return squares


def _exact_rule(
    products: Products, column: int, marginal: Marginal, name: str
) -> tuple[NDArray[np.float64], Float]:
    """Return an exact rule for a column, or one that agrees with a rule of twice the nodes.

    If factors grow so fast that the tails beyond the rule matter, these are added.
    """
    if marginal.is_exact:
        return marginal.rule()
    if not _have_tails(products, column, marginal):
        return _agreeing_rule(products, column, marginal, name)
    wide_marginal = marginal.with_tails()
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            if not _have_tails(products, column, wide_marginal):
                return _agreeing_rule(products, column, wide_marginal, name)
        except (ValueError, OverflowError) as error:
            raise _growth_error(name) from error
    raise _growth_error(name)


def _growth_error(name: str) -> InputError:
    return InputError(
        "inputs",
        "has a distribution over which the model's output grows so fast that its variance is "
        "infinite, or out of range",
        ["give rows instead, such as a large sample of it", "cut its tails off"],
        column=name,
    )


def _have_tails(products: Products, column: int, marginal: Marginal) -> bool:
    """Whether second moments of factors beyond a rule matter, even if these do not grow there."""
    ends, masses = marginal.tails()
    tail_moment = (products.factors(column, ends) ** 2 * masses).max(initial=0.0)
    entries, weights = marginal.rule()
    mode = np.argmax(weights, keepdims=True)
    # Mostly, the summand of one node is far above the tails already.
    mode_moment = (products.factors(column, entries[mode]) ** 2 * weights[mode]).max(initial=0.0)
    if tail_moment <= _ERROR * mode_moment:
        return False
    moments = _moments(products, column, entries, weights)
    return not tail_moment <= _ERROR * moments[1].max()


def _agreeing_rule(
    products: Products, column: int, marginal: Marginal, name: str
) -> tuple[NDArray[np.float64], Float]:
    """Return a rule that agrees with one of twice the nodes.

    The rules are compared by means and second moments of all factors, relative to the largest
    second moment and its root.
    """
    kinks, widths = products.kinks(column), products.widths(column)
    limit = min(_MAX_NODES, _MAX_FACTORS // max(len(products.weights), 1))
    rule, moments, level = marginal.rule(0, kinks, widths), None, 0
    while len(rule[0]) < limit:
        if moments is None:
            moments = _moments(products, column, *rule)
        level += 1
        finer = marginal.rule(level, kinks, widths)
        finer_moments = _moments(products, column, *finer)
        largest = max(finer_moments[1].max(), 1e-300)
        errors = np.abs(finer_moments - moments).max(axis=1) / [math.sqrt(largest), largest]
        error = float(errors.max())
        if error <= _ERROR:
            return rule
        rule, moments = finer, finer_moments
    raise InputError(
        "inputs",
        f"has a distribution that takes more than {limit} nodes to integrate the model's factors "
        f"to {_ERROR:.0e}, as these change over much shorter distances, or have jumps: a kernel "
        "such as Matern with nu = 0.5 is a sum of ever narrower Gaussians, and wide or "
        "long-tailed distributions have many widths of others",
        ["give rows instead, such as a large sample of it", "cut its tails off"],
        column=name,
    )


def _moments(
    products: Products, column: int, entries: NDArray[np.float64], weights: Float
) -> Float:
    """Return the means and the second moments of factors, of shape (2, evaluations)."""
    moments = np.zeros((2, len(products.weights)))
    for chunk in _chunks(len(products.weights), len(entries)):
        factors = products.factors(column, entries[chunk])
        moments[0] += np.einsum("er,r->e", factors, weights[chunk])
        moments[1] += np.einsum("er,er,r->e", factors, factors, weights[chunk])
    return moments


def _column_deviations(
    products: Products, column: int, entries: NDArray[np.float64], weights: Float
) -> tuple[Float, Float]:
    """Return the means (evaluations,) and the deviations (evaluations, r) of factors."""
    n = len(products.weights)
    sizes = np.abs(products.weights)
    largest = sizes.max(axis=0, initial=0.0)
    sizes = (sizes / np.where(largest > 0.0, largest, 1.0)).max(axis=1, initial=0.0)
    # Relative to one factor, so that the mean of equal factors is exact.
    mode = int(np.argmax(weights))
    reference = products.factors(column, entries[mode : mode + 1])
    corrections = np.zeros(n)
    for chunk in _chunks(n, len(entries)):
        factors = products.factors(column, entries[chunk])
        corrections += np.einsum("er,r->e", factors - reference, weights[chunk])
    means = reference[:, 0] + corrections
    vectors: list[Float] = []
    for chunk in _chunks(n, len(entries)):
        factors = products.factors(column, entries[chunk]) - means[:, None]
        vectors.append(_shorten_rows(factors * np.sqrt(weights[chunk]), sizes))
        if sum(array.shape[1] for array in vectors) > _LONG:
            vectors = [_shorten_rows(np.hstack(vectors), sizes)]
    return means, _shorten_rows(np.hstack(vectors), sizes) if len(vectors) > 1 else vectors[0]


def _chunks(n_evaluations: int, n_nodes: int) -> Iterator[slice]:
    """Yield slices of nodes, until no one waits for the column anymore."""
    for chunk in blocks_of(n_nodes, max(_MIN_NODES, _CHUNK // max(n_evaluations, 1))):
        check_awaited()
        yield chunk


def _shorten_rows(rows: Float, sizes: Float) -> Float:
    """Return shorter rows with the same products.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
    sizes : ndarray of shape (n,)
        The factors of errors of each row.
    """
    lengths = np.einsum("er,er->e", rows, rows) * sizes**2
    tolerance = _REMAINDER**2 * float(lengths.max(initial=0.0))
    basis = np.empty((0, rows.shape[1]))
    # Rows from all over the evaluations, so that the first block has nearly all directions.
    n_blocks = -(-len(rows) // _BLOCK)
    for number in range(n_blocks):
        block = slice(number, None, n_blocks)
        remainders = rows[block] * sizes[block, None]
        remainders -= (remainders @ basis.T) @ basis
        extension = _extend_basis(basis, remainders, tolerance)
        if extension is None:
            return rows
        basis = extension
    result: Float = rows @ basis.T
    return result


def _extend_basis(basis: Float, remainders: Float, tolerance: float) -> Float | None:
    """Return a basis with the directions of remainders; None if it would save little."""
    squares = np.einsum("er,er->e", remainders, remainders)
    while squares.max(initial=0.0) > tolerance:
        check_awaited()
        if 4 * (len(basis) + _STEP) > 3 * basis.shape[1]:
            return None
        farthest = np.argsort(-squares, kind="stable")[:_STEP]
        rows = remainders[farthest[squares[farthest] > tolerance]]
        directions = _orthonormalize(rows, basis, tolerance)
        basis = np.concatenate([basis, directions])
        remainders -= (remainders @ directions.T) @ directions
        squares = np.einsum("er,er->e", remainders, remainders)
    return basis


def _orthonormalize(rows: Float, basis: Float, tolerance: float) -> Float:
    """Return an orthonormal basis of rows, orthogonal to a basis, without short directions."""
    vectors: list[Float] = []
    while len(rows):
        squares = np.einsum("er,er->e", rows, rows)
        longest = int(np.argmax(squares))
        if squares[longest] <= tolerance:
            break
        vector = rows[longest] / np.sqrt(squares[longest])
        # A second time, to remove rounding errors.
        for directions in (basis, np.reshape(vectors, (-1, len(vector)))):
            vector -= (directions @ vector) @ directions
        vector /= np.linalg.norm(vector)
        vectors.append(vector)
        rows = rows - np.outer(rows @ vector, vector)
    return np.reshape(vectors, (-1, basis.shape[1]))
