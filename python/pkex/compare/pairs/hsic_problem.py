"""An HSIC to compute: pairs are weighted by the other side's centred kernel, and summed over."""

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

__all__ = ["SAMPLE", "HSICProblem"]

# Rows that standard errors are estimated on.
SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class HSICProblem:
    """An HSIC to compute: the attributed side, and the other one, undivided, with its centring.

    The weight of the ordered pair a, b is `scale` · (l_ab − offsets_a − offsets_b + constant) with
    l = L − L(0); `sample` are the rows that standard errors are estimated on.
    """

    attributed: KernelRows
    other: KernelRows
    offsets: Float
    constant: float
    scale: float
    is_biased: bool
    sample: NDArray[np.intp]
    how: Computation
    reports: dict[str, Report | None]

    @classmethod
    def of(
        cls,
        attributed: KernelRows,
        other: KernelRows,
        how: Computation,
        reports: dict[str, Report | None],
        *,
        is_biased: bool,
    ) -> HSICProblem:
        """Centre the kernel of the other side by its row sums.

        They are those of L − L(0): centring loses the constant, but L near L(0) would lose digits.
        """
        n, of_centring = len(other.rows), how.compensated().reporting(reports["centring"])
        sums = pair_sums(other.rows, n, other.terms, how=of_centring).rows[:, 0, 0]
        if is_biased:
            offsets = sums / n
            constant, scale = math.fsum(offsets) / n, 1.0 / (n - 1.0) ** 2
        else:
            offsets = sums / (n - 2.0)
            constant, scale = math.fsum(offsets) / (n - 1.0), 1.0 / (n * (n - 3.0))
        sample = evenly_random(n, SAMPLE)
        return cls(attributed, other, offsets, constant, scale, is_biased, sample, how, reports)

    def arranged(self, order: NDArray[np.int64]) -> HSICProblem:
        """Return the same problem with its rows in another order."""
        return replace(
            self,
            attributed=self.attributed.some(order),
            other=self.other.some(order),
            offsets=self.offsets[order],
            sample=np.argsort(order)[self.sample],
        )

    def sums(
        self, groups: NDArray[np.int64] | None = None, exchanges: bool = False
    ) -> tuple[Float, Float, Float]:
        """Return sums over pairs: rows (n, 2, P), groups (G(G+1)/2, 1 or 64, ·), alone (P,).

        Groups' sums, if there are groups, are those of the values, then of features alone.
        """
        rows, terms, other = self.attributed.rows, self.attributed.terms, self.other
        alone_in_groups = groups is not None
        groups = np.zeros(len(rows), dtype=np.int64) if groups is None else groups
        of_pairs = self.offsets, self.constant
        halves = terms.takes_halves, other.terms.takes_halves
        how = self.how.reporting(self.reports["sums"])
        sample = (rows, terms.terms, terms.players, terms.absent, groups)
        weighting = (other.rows, other.terms.terms, *of_pairs, exchanges, halves)
        of_rows, of_groups, alone, _ = sums_over_pairs(
            sample, weighting, how, alone_in_groups=alone_in_groups
        )
        return of_rows, of_groups, alone[0]

    def projections(self, rows: Float) -> Float:
        """Return for the sampled rows a the mean over all c of Γ_ac L̃_ac, both doubly centred.

        It is n Σ_c (Γ_ac − g_c) w_ac, g the means of the rows of Γ. The weights of a row add up to
        0, so that g may be taken from any origin.
        """
        n, sample, targets, target = len(rows), self.sample, self.other.rows, self.other.terms
        means = rows[:, 1] / (n if self.is_biased else n - 2.0)
        means = np.ascontiguousarray(means - means.mean(axis=0))
        kernel = _core.Expansion(targets, means, target.terms, target.players)
        products = kernel.explain(
            np.ascontiguousarray(targets[sample]),
            game="neutral",
            method="quadrature",
            summation="compensated",
            n_threads=self.how.n_threads,
            progress=self.reports["projections"],
        )[:, 0]
        products -= (self.offsets[:, None] * means).sum(axis=0)
        if target.have_own_pairs:
            # In pairs they are less by halves of γ of both rows with themselves; the means add up
            # to 0.
            own = target.self_pairs(targets)[0]
            products -= 0.5 * (own * means).sum(axis=0)
        diagonal = (self.constant - 2.0 * self.offsets[sample])[:, None]
        if self.is_biased:
            products -= diagonal * self.attributed.terms.self_pair()[0]
        else:
            products -= diagonal * means[sample]
        projections: Float = n * self.scale * (rows[sample, 0] - products)
        return projections

    def on_the_diagonal(self) -> Float:
        """Return Σ_a w_aa γ_aa, and Σ_a w_aa v_aa({j}), which no relabelling changes; (2, P)."""
        weight = 0.0
        if self.is_biased:
            weight = self.scale * math.fsum(self.constant - 2.0 * self.offsets)
        on_the_diagonal: Float = weight * self.attributed.terms.self_pair()
        return on_the_diagonal

    def second_order(self) -> Float:
        """Return the mean square of Γ L̃ over pairs of independent rows, on some of them."""
        factor = (float(len(self.offsets)) ** 2 * self.scale) ** 2
        means = []
        for side, passes in ((self.attributed, "sample"), (self.other, "targets of the sample")):
            some = side.some(self.sample)
            how = self.how.compensated().reporting(self.reports[passes])
            sums = pair_sums(some.rows, len(some.rows), some.terms, how=how)
            means.append(within_sample(sums.squares[0], sums.rows[:, 0]))
        product: Float = factor * means[0] * means[1]
        return product

    def weight_matrix(self) -> Float:
        """Return the weights of all pairs (n, n); of few rows."""
        kernel = pair_matrix(self.other.rows, self.other.terms, self.how.compensated())[:, :, 0]
        weights: Float = self.scale * (
            kernel - self.offsets[:, None] - self.offsets + self.constant
        )
        return weights
