"""Permutation tests of HSIC: by exchanges in octets of rows, or row by row."""

from __future__ import annotations

import numpy as np

from pkex.compare.kernel.terms import KernelRows
from pkex.compare.pairs.hsic_problem import HSICProblem
from pkex.compare.pairs.pair_sums import pair_triangle
from pkex.compare.permutation.octets import Octets, exchanged_sums, rounding_scale
from pkex.compare.permutation.permutations import (
    permuted_sums,
    share_of_same_orders,
    warn_of_few_relabellings,
)
from pkex.compare.permutation.significance import Relabelled, Significance
from pkex.kernels.family import FAMILIES
from pkex.typing import Float, Report

__all__ = ["significance_by_exchanges", "significance_in_octets", "significance_row_by_row"]


def significance_in_octets(
    problem: HSICProblem,
    octets: Octets,
    groups: Float,
    n_permutations: int,
    generator: np.random.Generator,
) -> Significance:
    """Let groups of octets of rows exchange their targets, by sums over pairs of groups."""
    same = octets.share_of_same(problem.attributed.rows, problem.other.rows)
    warn_of_few_relabellings(n_permutations, same)
    return significance_by_exchanges(
        octets,
        # Of ordered pairs.
        2.0 * problem.scale * groups,
        problem.on_the_diagonal().ravel(),
        n_permutations,
        generator,
        problem.reports["relabelling"],
    )


def significance_by_exchanges(
    octets: Octets,
    groups: Float,
    on_the_diagonal: Float | float,
    n_permutations: int,
    generator: np.random.Generator,
    report: Report | None,
) -> Significance:
    """Test by the sums (G(G+1)/2, 64, 2P) over pairs of groups, and what no exchange changes."""
    exchanges = np.zeros((n_permutations + 1, octets.n_groups), dtype=np.uint8)
    exchanges[1:] = octets.relabelled(n_permutations, generator)
    sums = exchanged_sums(groups, exchanges, report) + on_the_diagonal
    return _of_both(sums, rounding_scale(groups))


def significance_row_by_row(
    problem: HSICProblem, n_permutations: int, generator: np.random.Generator
) -> Significance:
    """Permute the targets of few rows, all pairs of which fit into memory."""
    sides = (problem.attributed, problem.other)
    same = max(share_of_same_orders(side.rows, _are_labels(side)) for side in sides)
    warn_of_few_relabellings(n_permutations, same)
    (rows, terms), how = (sides[0].rows, sides[0].terms), problem.how.compensated()
    values = pair_triangle(rows, terms, how, with_alone=True)
    weights = problem.weight_matrix()
    report = problem.reports["relabelling"]
    sums = permuted_sums(weights, values, n_permutations, generator, how.n_threads, report)
    sums *= 2.0
    sums += problem.on_the_diagonal().ravel()
    scale = 2.0 * np.abs(weights[np.triu_indices(len(rows))]) @ np.abs(values)
    return _of_both(sums, scale)


def _of_both(sums: Float, scale: Float) -> Significance:
    """Test relabelled values (1 + B, 2P), each feature's, then each alone, of rounding scales."""
    of_both = zip(np.split(sums, 2, axis=1), np.split(scale, 2), strict=True)
    return Significance.of(*(Relabelled(*of) for of in of_both))


def _are_labels(side: KernelRows) -> bool:
    """Whether a kernel says no more of rows than whether they are equal."""
    terms = side.terms
    families = {FAMILIES[family] for _, factors, _ in terms.terms for family, _, _ in factors}
    compare_labels = [family.compares_labels for family in families]
    has_series = any(series is not None for _, _, series in terms.terms)
    if side.rows.shape[1] > 1 or terms.are_centered or has_series:
        return False
    return bool(compare_labels) and all(compare_labels)
