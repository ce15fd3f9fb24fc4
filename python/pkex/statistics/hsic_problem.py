"""An HSIC to compute: pairs are weighted by the other side's centred kernel, and summed over."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.kernels.heuristic import evenly_random
from pkex.statistics.pair_sums import KernelTerms, pair_matrix, pair_sums
from pkex.statistics.standard_errors import within_sample
from pkex.statistics.tiles_on_workers import sums_over_pairs
from pkex.typing import Float, Report

__all__ = ["SAMPLE", "HSICProblem"]

# Rows that standard errors are estimated on.
SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class HSICProblem:
    """An HSIC to compute: the attributed side, and the other one with its centring.

    The weight of the ordered pair a, b is `scale` · (l_ab − offsets_a − offsets_b + constant) with
    l = L − L(0); `sample` are the rows that standard errors are estimated on.
    """

    rows: Float
    terms: KernelTerms
    targets: Float
    target_terms: KernelTerms
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
        attributed: tuple[Float, KernelTerms],
        other: tuple[Float, KernelTerms],
        estimator: str,
        how: Computation,
        reports: dict[str, Report | None],
    ) -> HSICProblem:
        """Centre the kernel of the other side by its row sums.

        They are those of L − L(0): centring loses the constant, but L near L(0) would lose digits.
        """
        targets, terms = other
        n = len(targets)
        centring = pair_sums(
            targets, n, terms.joined(), how=how.compensated().reporting(reports["centring"])
        )
        sums = centring.rows[:, 0, 0]
        if estimator == "biased":
            offsets = sums / n
            constant, scale = math.fsum(offsets) / n, 1.0 / (n - 1.0) ** 2
        else:
            offsets = sums / (n - 2.0)
            constant, scale = math.fsum(offsets) / (n - 1.0), 1.0 / (n * (n - 3.0))
        return cls(
            *attributed,
            targets,
            terms,
            offsets,
            constant,
            scale,
            estimator == "biased",
            evenly_random(n, SAMPLE),
            how,
            reports,
        )

    def arranged(self, order: NDArray[np.int64]) -> HSICProblem:
        """Return the same problem with its rows in another order."""
        return replace(
            self,
            rows=self.rows[order],
            targets=self.targets[order],
            offsets=self.offsets[order],
            sample=np.argsort(order)[self.sample],
        )

    def sums(
        self, groups: NDArray[np.int64] | None = None, exchanges: bool = False
    ) -> tuple[Float, Float, Float]:
        """Return sums over pairs: rows (n, 2, P), groups (G(G+1)/2, 1 or 64, ·), alone (P,).

        Groups' sums, if there are groups, are those of the values, then of features alone.
        """
        alone_in_groups = groups is not None
        groups = np.zeros(len(self.rows), dtype=np.int64) if groups is None else groups
        of_pairs, absent = (self.offsets, self.constant), self.terms.absent
        halves = self.terms.takes_halves, self.target_terms.takes_halves
        how = self.how.reporting(self.reports["sums"])
        sample = (self.rows, self.terms.terms, self.terms.players, absent, groups)
        weighting = (self.targets, self.target_terms.terms, *of_pairs, exchanges, halves)
        rows, of_groups, alone, _ = sums_over_pairs(
            sample, weighting, how, alone_in_groups=alone_in_groups
        )
        return rows, of_groups, alone[0]

    def projections(self, rows: Float) -> Float:
        """Return for the sampled rows a the mean over all c of Γ_ac L̃_ac, both doubly centred.

        It is n Σ_c (Γ_ac − g_c) w_ac, g the means of the rows of Γ. The weights of a row add up to
        0, so that g may be taken from any origin.
        """
        n, sample = len(rows), self.sample
        means = rows[:, 1] / (n if self.is_biased else n - 2.0)
        means = np.ascontiguousarray(means - means.mean(axis=0))
        target = self.target_terms.joined()
        kernel = _core.Expansion(self.targets, means, target.terms, target.players)
        products = kernel.explain(
            np.ascontiguousarray(self.targets[sample]),
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
            own = target.self_pairs(self.targets)[0]
            products -= 0.5 * (own * means).sum(axis=0)
        diagonal = (self.constant - 2.0 * self.offsets[sample])[:, None]
        if self.is_biased:
            products -= diagonal * self.terms.self_pair()
        else:
            products -= diagonal * means[sample]
        projections: Float = n * self.scale * (rows[sample, 0] - products)
        return projections

    def on_the_diagonal(self) -> list[Float]:
        """Return Σ_a w_aa γ_aa, and Σ_a w_aa v_aa({j}), which no relabelling changes; 2 × (P,)."""
        weight = 0.0
        if self.is_biased:
            weight = self.scale * math.fsum(self.constant - 2.0 * self.offsets)
        return [weight * self.terms.self_pair(), weight * self.terms.self_pair_alone()]

    def second_order(self) -> Float:
        """Return the mean square of Γ L̃ over pairs of independent rows, on some of them."""
        factor = (float(len(self.rows)) ** 2 * self.scale) ** 2
        means = []
        for side, terms, report in (
            (self.rows, self.terms, self.reports["sample"]),
            (self.targets, self.target_terms.joined(), self.reports["targets of the sample"]),
        ):
            sample = np.ascontiguousarray(side[self.sample])
            how = self.how.compensated().reporting(report)
            sums = pair_sums(sample, len(sample), terms, how=how)
            means.append(within_sample(sums.squares[0], sums.rows[:, 0]))
        product: Float = factor * means[0] * means[1]
        return product

    def weight_matrix(self) -> Float:
        """Return the weights of all pairs (n, n); of few rows."""
        joined, how = self.target_terms.joined(), self.how.compensated()
        kernel = pair_matrix(self.targets, joined, how)[:, :, 0]
        weights: Float = self.scale * (
            kernel - self.offsets[:, None] - self.offsets + self.constant
        )
        return weights
