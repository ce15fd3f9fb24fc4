"""MMD² of large samples, by the pairs of a design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pkex.execution.computation import Computation
from pkex.execution.progress import reporting
from pkex.games.players import as_players
from pkex.kernels import Kernel
from pkex.statistics.block_significance import tested
from pkex.statistics.column_changes import column_changes
from pkex.statistics.common import Conventions, exact_domain, in_units, with_kernel
from pkex.statistics.dependence import DependenceTest
from pkex.statistics.doubtful_columns import warn_of_doubtful_columns
from pkex.statistics.kernel_choice import check_rows
from pkex.statistics.mmd_result import MMDResult
from pkex.statistics.pair_sums import KernelTerms, pair_sums
from pkex.statistics.pair_weights import PairWeights
from pkex.statistics.permutations import Blocks, check_fits
from pkex.statistics.sampled.blocks import BlockSums, OfBlock
from pkex.statistics.sampled.budget import Sampling
from pkex.statistics.sampled.design import Design, n_reference
from pkex.statistics.sampled.estimate_over_design import estimate_over_design
from pkex.statistics.sampled.held_rows import Sample
from pkex.statistics.sampled.means import of_parts_of_reference
from pkex.statistics.sampled.reference import with_rare
from pkex.statistics.significance import Significance
from pkex.tables.encode import Missing, categorical_columns
from pkex.tables.stream import read_sources
from pkex.typing import Float

__all__ = ["sampled_mmd"]

# Slots of both samples together; the smaller sample has an eighth of them at least.
_SLOTS, _LEAST_SLOTS = 64, 8


def sampled_mmd(
    X: Any,
    Y: Any,
    kernel: Kernel | None,
    groups: Mapping[str, int | str | Iterable[int | str]] | None,
    chosen: Conventions,
    sampling: Sampling,
    categorical: Iterable[int | str] | None,
    missing: Missing,
) -> MMDResult:
    """Estimate `pkex.mmd` from the pairs of a design; the arguments are as there, and checked."""
    sources, names, encoding = read_sources({"X": X, "Y": Y}, categorical, missing)
    first, labels = next(iter(sources[0].chunks())), categorical_columns(categorical, names)
    warn_of_doubtful_columns(first, encoding.columns, labels, "X")
    players = as_players(groups, names)
    check_fits(sampling.n_permutations, len(players.names))
    n_rows = sources[0].n_rows, sources[1].n_rows
    unit = _slots(*n_rows)
    Design.check(sampling, n_rows, unit)
    samples = []
    for source, name in zip(sources, "XY", strict=True):
        check = partial(_check_chunk, kernel, name, len(names))
        k = n_reference(source.n_rows, sum(n_rows))
        samples.append(Sample.of(source, check, k, sampling.generator))
    x, y = samples
    changes = column_changes(x.source.chunks(), y.source.chunks(), encoding)
    what, extremes = "a random part of X and Y", np.concatenate([x.extremes, y.extremes])
    reference = np.concatenate([x.reference, y.reference])
    reference = with_rare(reference, extremes, dict(enumerate(names)), what)
    reference, used, bandwidth = with_kernel(reference, names, what, kernel, encoding.labels)
    domain = exact_domain(extremes)
    terms, factor = in_units(KernelTerms.of(used, players.with_copies(encoding.flagged), domain))
    terms = terms.for_estimator("unbiased")
    with reporting(sampling.progress) as report:
        terms, how = chosen.with_means(terms, reference, None)
        slots = unit if sampling.n_permutations else None
        statistic = _OfBlock(used, terms, slots, how.alone())
        found = estimate_over_design(statistic, (x, y), reference, unit, sampling, how, report)
    of_all = found.parts
    if sampling.n_permutations:
        weights = PairWeights.of("unbiased", *found.design.sizes)
        of_all = replace(of_all, significance=_tested(found.groups, weights, unit, sampling))
    fields = of_all.times(factor).fields(
        players.names,
        used,
        bandwidth,
        sampling.estimator,
        chosen.value_function,
        encoding.columns,
    )
    return MMDResult(
        *fields,
        n_rows,
        n_pairs=found.design.n_pairs,
        column_changes=changes,
        _dependence=DependenceTest.of(
            x.reference, y.reference, encoding, sampling.n_permutations, sampling.generator
        ),
    )


def _check_chunk(kernel: object, name: str, n_columns: int, rows: Float) -> None:
    check_rows(kernel, {name: rows}, n_columns)


def _slots(n: int, m: int) -> tuple[int, int]:
    """Return how many slots each sample has, in the proportion of their sizes if that may be."""
    of_first = round(_SLOTS * n / (n + m))
    of_first = max(_LEAST_SLOTS, min(_SLOTS - _LEAST_SLOTS, of_first))
    return of_first, _SLOTS - of_first


@dataclass(frozen=True, eq=False)
class _OfBlock:
    """What a block gives: the unbiased MMD² of its rows, divided among players.

    Parameters
    ----------
    kernel : Kernel
    terms : KernelTerms
    slots : tuple of int, optional
        The number of each sample's slots, if sums over pairs of slots are needed for a test.
    how : Computation
    """

    kernel: Kernel
    terms: KernelTerms
    slots: tuple[int, int] | None
    how: Computation

    def with_parts_of(self, reference: Float, n_threads: int) -> list[OfBlock]:
        """Return the same with the means of each of some parts of the reference."""
        others = of_parts_of_reference(self.terms, reference, n_threads)
        return [replace(self, terms=other, slots=None) for other in others]

    def __call__(self, *rows: Float) -> BlockSums:
        x, y = rows
        n, slots = len(x), None
        if self.slots is not None:
            slots = np.repeat(np.arange(sum(self.slots)), n // self.slots[0])
        pooled = self.kernel.engine_rows(np.concatenate([x, y]))
        sums = pair_sums(pooled, n, self.terms, slots, alone_in_groups=True, how=self.how)
        first, second = sums.rows[:n], sums.rows[n:]
        of_pairs = [first[:, 0].sum(axis=0) / 2.0, first[:, 1].sum(axis=0)]
        of_pairs.append(second[:, 1].sum(axis=0) / 2.0)
        weights = PairWeights.of("unbiased", n, len(y))
        numbers = [weights.combine(of) for of in (np.array(of_pairs), sums.alone)]
        groups = sums.groups if self.slots is not None else np.zeros(0)
        return BlockSums(np.concatenate(numbers), groups)


def _tested(
    groups: Float,
    weights: PairWeights,
    slots: tuple[int, int],
    sampling: Sampling,
) -> Significance:
    """Exchange whole slots of all blocks between the samples, by sums over pairs of slots."""
    in_first = np.repeat([True, False], slots)
    each = np.arange(len(in_first), dtype=np.int64)
    blocks = Blocks(each, each, (each[in_first], each[~in_first]), in_first)
    on_the_diagonal = np.zeros(groups.shape[1] // 2)
    return tested(
        groups,
        blocks,
        weights,
        [on_the_diagonal, on_the_diagonal],
        sampling.n_permutations,
        sampling.generator,
    )
