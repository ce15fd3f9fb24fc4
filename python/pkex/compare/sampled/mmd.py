"""MMD² of large samples, estimated from the pairs of a design."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pkex.compare.column_changes import column_changes
from pkex.compare.comparison import Comparison, exact_domain
from pkex.compare.data_warnings import warn_of_mistyped_columns
from pkex.compare.kernel.sample_kernel import check_user_kernel
from pkex.compare.kernel.terms import KernelTerms
from pkex.compare.pairs.pair_sums import pair_sums
from pkex.compare.pairs.two_sample_sums import PairWeights
from pkex.compare.permutation.blocks import Blocks
from pkex.compare.permutation.pair_dependence import DependenceTest
from pkex.compare.permutation.significance import Significance
from pkex.compare.permutation.two_sample_test import significance_of_blocks
from pkex.compare.results.mmd import MMDResult
from pkex.compare.sampled.block_sums import BlockStatistic, BlockSums
from pkex.compare.sampled.design import Design, n_reference
from pkex.compare.sampled.error_of_means import terms_of_parts
from pkex.compare.sampled.estimate_over_design import estimate_over_design
from pkex.compare.sampled.sample import Sample, with_rare_values
from pkex.compare.statistic_options import StatisticOptions
from pkex.execution.computation import Computation
from pkex.execution.progress import reporting
from pkex.kernels import Kernel
from pkex.tables.stream import read_sources
from pkex.typing import Float

# Number of slots of both samples together, and smallest number of one sample.
_SLOTS, _MIN_SLOTS = 64, 8


def sampled_mmd(X: Any, Y: Any, kernel: Kernel | None, options: StatisticOptions) -> MMDResult:
    """Estimate `pkex.mmd` from the pairs of a design, with checked options."""
    sources, names, encoding = read_sources({"X": X, "Y": Y}, options.categorical, options.missing)
    first_chunk = next(iter(sources[0].chunks()))
    warn_of_mistyped_columns(first_chunk, encoding, options.categorical, "X")
    user_kernel, players = check_user_kernel(kernel, len(names)), options.players(names)
    n_rows = sources[0].n_rows, sources[1].n_rows
    unit, columns = _slots(*n_rows), slice(len(names))
    Design.check(options, n_rows, unit)
    x, y = (
        Sample.of(
            source,
            None
            if user_kernel is None
            else partial(user_kernel.check_rows, columns=columns, name=name),
            n_reference(source.n_rows, sum(n_rows)),
            options.random_state,
        )
        for source, name in zip(sources, "XY", strict=True)
    )
    changes = column_changes(x.source.chunks(), y.source.chunks(), encoding)
    rows_name, extremes = "a random part of X and Y", np.concatenate([x.extremes, y.extremes])
    reference = np.concatenate([x.reference, y.reference])
    reference = with_rare_values(reference, extremes, dict(enumerate(names)), rows_name)
    domain = exact_domain(extremes)
    reference, comparison = Comparison.prepare(
        reference, encoding, players, user_kernel, options.conventions, rows_name, domain
    )
    with reporting(options.progress) as report:
        computation = options.conventions.computation()
        comparison, computation = comparison.with_means(reference, computation, rows_name)
        slots = unit if options.n_permutations else None
        statistic = _BlockMMD(comparison.kernel, comparison.terms, slots, computation.alone())
        estimate = estimate_over_design(
            statistic, (x, y), reference, unit, options, computation, report
        )
    values = estimate.values
    if options.n_permutations:
        weights = PairWeights.of("unbiased", *estimate.design.sizes)
        values = replace(
            values, significance=_significance(estimate.groups, weights, unit, options)
        )
    return MMDResult(
        **comparison.fields(values),
        n_rows=n_rows,
        n_pairs=estimate.design.n_pairs,
        column_changes=changes,
        _dependence=DependenceTest.of(
            x.reference, y.reference, encoding, options.n_permutations, options.random_state
        ),
    )


def _slots(n: int, m: int) -> tuple[int, int]:
    """Return the numbers of slots of the samples, in proportion to their sizes if possible."""
    n_first = round(_SLOTS * n / (n + m))
    n_first = max(_MIN_SLOTS, min(_SLOTS - _MIN_SLOTS, n_first))
    return n_first, _SLOTS - n_first


@dataclass(frozen=True, eq=False)
class _BlockMMD:
    """The unbiased MMD² of the rows of a block, attributed to players.

    Parameters
    ----------
    kernel : Kernel
    terms : KernelTerms
    slots : tuple of int, optional
        The numbers of slots of the samples, if a test needs sums over pairs of slots.
    computation : Computation
    """

    kernel: Kernel
    terms: KernelTerms
    slots: tuple[int, int] | None
    computation: Computation

    def with_parts_of(self, reference: Float, n_threads: int) -> list[BlockStatistic]:
        """Return statistics with means from disjoint parts of the reference."""
        parts = terms_of_parts(self.terms, reference, n_threads)
        return [replace(self, terms=part, slots=None) for part in parts]

    def __call__(self, *rows: Float) -> BlockSums:
        x, y = rows
        n, slots = len(x), None
        if self.slots is not None:
            slots = np.repeat(np.arange(sum(self.slots)), n // self.slots[0])
        engine_rows = self.kernel.engine_rows(np.concatenate([x, y]))
        sums = pair_sums(
            engine_rows,
            n,
            self.terms,
            slots,
            univariate_in_groups=True,
            computation=self.computation,
        )
        first, second = sums.rows[:n], sums.rows[n:]
        pair_values = [first[:, 0].sum(axis=0) / 2.0, first[:, 1].sum(axis=0)]
        pair_values.append(second[:, 1].sum(axis=0) / 2.0)
        weights = PairWeights.of("unbiased", n, len(y))
        numbers = [weights.combine(values) for values in (np.array(pair_values), sums.alone)]
        groups = sums.groups if self.slots is not None else np.zeros(0)
        return BlockSums(np.concatenate(numbers), groups)


def _significance(
    groups: Float,
    weights: PairWeights,
    slots: tuple[int, int],
    options: StatisticOptions,
) -> Significance:
    """Test by exchanges of whole slots between the samples, from sums over pairs of slots."""
    blocks = Blocks.of(slots, 1, slots, np.arange(sum(slots), dtype=np.int64))
    diagonal = np.zeros((2, groups.shape[1] // 2))
    return significance_of_blocks(
        groups, blocks, weights, diagonal, options.n_permutations, options.random_state
    )
