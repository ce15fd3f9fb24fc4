"""Permutation tests of HSIC: exchanges within blocks of eight rows, or permutations of all rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from pkex import _core
from pkex.compare.kernel.terms import KernelRows
from pkex.compare.pairs.hsic_problem import HSICProblem
from pkex.compare.pairs.pair_sums import pair_triangle
from pkex.compare.permutation.permutations import warn_of_few_permutations
from pkex.compare.permutation.significance import PermutedValues, Significance
from pkex.compare.permutation.target_blocks import TargetBlocks, exchanged_sums, rounding_scale
from pkex.execution.blocks import blocks_of
from pkex.kernels.family import FAMILIES
from pkex.typing import Float, Report

# Numbers held at a time while permuting.
_CHUNK = 1 << 20
# Rows are permuted separately if the values of all pairs need at most 64 MB, of which there are
# three copies for a while, and their products take about three seconds of one core. Up to
# _FEW_ROWS, the time does not matter, because exchanges in blocks lose power; up to _VERY_FEW_ROWS,
# rows are always permuted separately.
_MAX_ROWS = 512
_MAX_PAIR_VALUES = 1 << 23
_MAX_PRODUCTS = 1 << 34
_FEW_ROWS = 128
_VERY_FEW_ROWS = 64


def can_permute_rows(n_rows: int, n_players: int, n_permutations: int) -> bool:
    """Return whether the targets of a sample can be permuted row by row.

    The values of all pairs are held, n² P of them, and multiplied for each permutation.
    """
    values = n_rows**2 * n_players
    if n_rows <= _VERY_FEW_ROWS:
        return True
    is_quick = n_rows <= _FEW_ROWS or values * n_permutations <= _MAX_PRODUCTS
    return n_rows <= _MAX_ROWS and values <= _MAX_PAIR_VALUES and is_quick


def significance_in_blocks(
    problem: HSICProblem,
    blocks: TargetBlocks,
    group_sums: Float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Significance:
    """Test by exchanges of targets within blocks, from sums over pairs of groups of blocks."""
    unchanged_share = blocks.unchanged_share(problem.attributed_side.rows, problem.other_side.rows)
    warn_of_few_permutations(n_permutations, unchanged_share)
    return significance_by_exchanges(
        blocks,
        2.0 * problem.scale * group_sums,  # ordered pairs
        problem.diagonal_sums().ravel(),
        n_permutations,
        generator,
        problem.reports["permutations"],
    )


def significance_by_exchanges(
    blocks: TargetBlocks,
    group_sums: Float,
    diagonal: Float | float,
    n_permutations: int,
    generator: np.random.Generator,
    report: Report | None,
) -> Significance:
    """Test by sums (G(G+1)/2, 64, 2P) over pairs of groups, and a term that stays the same."""
    exchanges = np.zeros((n_permutations + 1, blocks.n_groups), dtype=np.uint8)
    exchanges[1:] = blocks.draw_exchanges(n_permutations, generator)
    sums = exchanged_sums(group_sums, exchanges, report) + diagonal
    return _significance_of_sums(sums, rounding_scale(group_sums))


def significance_row_by_row(
    problem: HSICProblem, n_permutations: int, generator: np.random.Generator
) -> Significance:
    """Test by permutations of the targets of few rows, whose pairs all fit into memory."""
    sides = (problem.attributed_side, problem.other_side)
    warn_of_few_permutations(n_permutations, max(map(_unchanged_share, sides)))
    (rows, terms), computation = (sides[0].rows, sides[0].terms), problem.computation.compensated()
    values = pair_triangle(rows, terms, computation, with_alone=True)
    weights = problem.weight_matrix()
    report = problem.reports["permutations"]
    sums = _permuted_sums(weights, values, n_permutations, generator, computation.n_threads, report)
    sums *= 2.0
    sums += problem.diagonal_sums().ravel()
    scale = 2.0 * np.abs(weights[np.triu_indices(len(rows))]) @ np.abs(values)
    return _significance_of_sums(sums, scale)


def _significance_of_sums(sums: Float, scale: Float) -> Significance:
    """Test Shapley values and univariate values, next to each other in sums (1 + B, 2P)."""
    halves = zip(np.split(sums, 2, axis=1), np.split(scale, 2), strict=True)
    return Significance.of(*(PermutedValues(*half) for half in halves))


def _unchanged_share(side: KernelRows) -> Fraction:
    """Return the share of orders of the rows that leave the kernel of all pairs unchanged."""
    _, counts = np.unique(side.rows, axis=0, return_counts=True)
    n_unchanged = math.prod(map(math.factorial, counts.tolist()))
    if _only_compares_equality(side) or len(counts) == 2:
        # Categories of the same frequency can be exchanged.
        n_unchanged *= math.prod(map(math.factorial, np.bincount(counts).tolist()))
    return Fraction(n_unchanged, math.factorial(len(side.rows)))


def _only_compares_equality(side: KernelRows) -> bool:
    """Return whether a kernel only depends on whether rows are equal."""
    terms = side.terms
    families = {FAMILIES[family] for _, factors, _ in terms.terms for family, _, _ in factors}
    has_series = any(series is not None for _, _, series in terms.terms)
    if side.rows.shape[1] > 1 or terms.are_centered or has_series or not families:
        return False
    return all(family.compares_labels for family in families)


def _permuted_sums(
    weights: Float,
    values: Float,
    number: int,
    generator: np.random.Generator,
    n_threads: int,
    progress: Callable[[int, int], None] | None,
) -> Float:
    """Return Σ_{a<b} w_ab γ_ab as observed, and with permuted rows and columns of the weights.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Symmetric.
    values : ndarray of shape (n(n+1)/2, P)
        γ of the pairs a ≤ b, row by row of the triangle; pairs of a row with itself do not count.
    number : int
        The number of permutations.

    Returns
    -------
    ndarray of shape (1 + number, P)
    """
    n = len(weights)
    sums = np.empty((1 + number, values.shape[1]))
    for chunk in blocks_of(1 + number, _CHUNK // n):
        orders = np.tile(np.arange(n, dtype=np.int64), (chunk.stop - chunk.start, 1))
        permuted_orders = orders[1:] if chunk.start == 0 else orders
        permuted_orders[:] = generator.permuted(permuted_orders, axis=1)
        sums[chunk] = _core.permuted_sums(weights, values, orders, n_threads=n_threads)
        if progress is not None:
            progress(chunk.stop, len(sums))
    return sums
