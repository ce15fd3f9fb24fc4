"""HSIC as a sum over pairs of rows, weighted by the centered kernel of the other side."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.compare.kernel.terms import KernelRows
from pkex.compare.pairs.pair_sums import pair_matrix, pair_sums, sums_over_pairs
from pkex.compare.pairs.standard_errors import within_sample
from pkex.execution.computation import Computation
from pkex.kernels.heuristic import evenly_random
from pkex.typing import Float, Report

# Number of rows for the estimation of standard errors.
SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class HSICProblem:
    """An HSIC to compute, with the attributed side and the other side.

    The weight of the ordered pair a, b is `scale` · (l_ab − offsets_a − offsets_b + constant) with
    l = L − L(0). The rows `sample` are used to estimate standard errors.
    """

    attributed_side: KernelRows
    other_side: KernelRows
    offsets: Float
    constant: float
    scale: float
    is_biased: bool
    sample: NDArray[np.intp]
    computation: Computation
    reports: dict[str, Report | None]

    @classmethod
    def of(
        cls,
        attributed_side: KernelRows,
        other_side: KernelRows,
        computation: Computation,
        reports: dict[str, Report | None],
        *,
        is_biased: bool,
    ) -> HSICProblem:
        """Center the kernel of the other side by its row sums.

        The row sums are those of L − L(0), because L close to L(0) would lose digits.
        """
        n, rows = len(other_side.rows), other_side.rows
        centering = computation.compensated().reporting(reports.get("centering"))
        sums = pair_sums(rows, n, other_side.terms, computation=centering).rows[:, 0, 0]
        if is_biased:
            offsets = sums / n
            constant, scale = math.fsum(offsets) / n, 1.0 / (n - 1.0) ** 2
        else:
            offsets = sums / (n - 2.0)
            constant, scale = math.fsum(offsets) / (n - 1.0), 1.0 / (n * (n - 3.0))
        sample = evenly_random(n, SAMPLE)
        return cls(
            attributed_side,
            other_side,
            offsets,
            constant,
            scale,
            is_biased,
            sample,
            computation,
            reports,
        )

    def reorder(self, order: NDArray[np.int64]) -> HSICProblem:
        """Return the problem with its rows in another order."""
        return replace(
            self,
            attributed_side=self.attributed_side.take(order),
            other_side=self.other_side.take(order),
            offsets=self.offsets[order],
            sample=np.argsort(order)[self.sample],
        )

    def sums(
        self, groups: NDArray[np.int64] | None = None, exchanges: bool = False
    ) -> tuple[Float, Float, Float]:
        """Return sums over pairs: rows (n, 2, P), groups (G(G+1)/2, 1 or 64, ·), alone (P,).

        With groups, the sums of groups are those of γ, then of univariate values.
        """
        rows, terms = self.attributed_side.rows, self.attributed_side.terms
        targets, target_terms = self.other_side.rows, self.other_side.terms
        univariate_in_groups = groups is not None
        groups = np.zeros(len(rows), dtype=np.int64) if groups is None else groups
        halves = terms.takes_halves, target_terms.takes_halves
        computation = self.computation.reporting(self.reports.get("sums"))
        sample = (rows, terms.terms, terms.players, terms.absent, groups)
        weighting = targets, target_terms.terms, self.offsets, self.constant, exchanges, halves
        row_sums, group_sums, alone, _ = sums_over_pairs(
            sample, weighting, computation, univariate_in_groups=univariate_in_groups
        )
        return row_sums, group_sums, alone[0]

    def projections(self, rows: Float) -> Float:
        """Return the mean over all c of Γ_ac L̃_ac, both doubly centered, for the sampled rows a.

        It is n Σ_c (Γ_ac − g_c) w_ac, where g are the means of the rows of Γ. The weights of a row
        add up to 0, so constants can be subtracted from g.
        """
        n, sample = len(rows), self.sample
        targets, target_terms = self.other_side.rows, self.other_side.terms
        means = rows[:, 1] / (n if self.is_biased else n - 2.0)
        means = np.ascontiguousarray(means - means.mean(axis=0))
        kernel = _core.Expansion(targets, means, target_terms.terms, target_terms.players)
        products = kernel.explain(
            np.ascontiguousarray(targets[sample]),
            game="neutral",
            method="quadrature",
            summation="compensated",
            n_threads=self.computation.n_threads,
            progress=self.reports["projections"],
        )[:, 0]
        products -= (self.offsets[:, None] * means).sum(axis=0)
        if target_terms.have_self_pairs:
            # Pairs do not include γ(a, a)/2 of both rows; the means add up to 0.
            self_values = target_terms.self_pairs(targets)[0]
            products -= 0.5 * (self_values * means).sum(axis=0)
        diagonal = (self.constant - 2.0 * self.offsets[sample])[:, None]
        if self.is_biased:
            products -= diagonal * self.attributed_side.terms.self_pair()[0]
        else:
            products -= diagonal * means[sample]
        projections: Float = n * self.scale * (rows[sample, 0] - products)
        return projections

    def diagonal_sums(self) -> Float:
        """Return Σ_a w_aa γ_aa and Σ_a w_aa v_aa({j}), which permutations do not change; (2, P)."""
        weight = 0.0
        if self.is_biased:
            weight = self.scale * math.fsum(self.constant - 2.0 * self.offsets)
        sums: Float = weight * self.attributed_side.terms.self_pair()
        return sums

    def second_order(self) -> Float:
        """Return the mean square of Γ L̃ over pairs of independent rows, from the sampled rows."""
        factor = (float(len(self.offsets)) ** 2 * self.scale) ** 2
        means = []
        passes = {"sample": self.attributed_side, "targets of the sample": self.other_side}
        for name, side in passes.items():
            sample = side.take(self.sample)
            computation = self.computation.compensated().reporting(self.reports[name])
            sums = pair_sums(sample.rows, len(sample.rows), sample.terms, computation=computation)
            means.append(within_sample(sums.squares[0], sums.rows[:, 0]))
        product: Float = factor * means[0] * means[1]
        return product

    def weight_matrix(self) -> Float:
        """Return the weights of all pairs of few rows; shape (n, n)."""
        side, computation = self.other_side, self.computation.compensated()
        kernel = pair_matrix(side.rows, side.terms, computation)[:, :, 0]
        offsets = self.offsets
        weights: Float = self.scale * (kernel - offsets[:, None] - offsets + self.constant)
        return weights
