"""A drift detector: a reference sample, and the comparison of a batch with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.compare.column_changes import column_changes
from pkex.compare.comparison import Comparison, StatisticValues
from pkex.compare.data_warnings import warn_of_duplicate_rows, warn_of_unusual_rows
from pkex.compare.drift.compared_rows import ComparedRows
from pkex.compare.drift.reference import Plan, Reference
from pkex.compare.drift.result import DriftResult
from pkex.compare.drift.test import DriftTest
from pkex.compare.kernel.choice import choose_kernel, settle_constants
from pkex.compare.kernel.sample_kernel import SampleKernel, check_user_kernel
from pkex.compare.pairs.pair_sums import pair_sums
from pkex.compare.pairs.two_sample_sums import PairWeights
from pkex.compare.permutation.pair_dependence import DependenceTest
from pkex.compare.permutation.permutations import warn_of_few_permutations
from pkex.compare.permutation.two_sample_test import significance_of_blocks
from pkex.compare.statistic_options import Conventions
from pkex.errors import InputError, warn
from pkex.execution.progress import Progress, reporting
from pkex.games.players import Players
from pkex.inputs.wording import columns_named
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.factors import has_mixtures
from pkex.kernels.scales import Constants
from pkex.tables.columns import table_labels
from pkex.tables.encode import Encoding
from pkex.tables.labels import Labels
from pkex.tables.samples import check_row_count, encoded
from pkex.tables.table import Table
from pkex.typing import Float, Report


@dataclass(frozen=True, eq=False)
class Detector:
    """A reference sample, and the settings of comparisons with it.

    Parameters
    ----------
    reference : Reference
    labels : Labels
        The labels of its columns.
    constants : Constants
        The columns that are constant in the reference, for the default kernel.
    spans : ndarray of shape (k,) or None
        The largest supported range of each column in reference and batch together.
    test : DriftTest
    threshold : float or None
        The critical value for batches of the expected size.
    """

    reference: Reference
    labels: Labels
    constants: Constants
    spans: Float | None
    test: DriftTest
    threshold: float | None

    @classmethod
    def of(
        cls,
        table: Table,
        encoding: Encoding,
        players: Players,
        kernel: object,
        conventions: Conventions,
        test: DriftTest,
        progress: Progress,
    ) -> Detector:
        """Prepare the comparison with a reference, and sum over its pairs."""
        rows_name, d = "X_reference", len(encoding.names)
        user_kernel = check_user_kernel(kernel, d, X_reference=table.rows)
        later_rows = "batches that have the same value there"
        rows, constants = settle_constants(
            table.rows, encoding, rows_name, user_kernel, later_rows=later_rows
        )
        sample_kernel = choose_kernel(user_kernel, rows, encoding, rows_name, looks_ahead=True)
        _warn_of_unusual(sample_kernel.kernel, rows, rows_name, conventions)
        if test.n_permutations:
            warn_of_duplicate_rows(rows, d, rows_name)
        comparison, spans = batch_comparison(sample_kernel, rows, encoding, players, conventions)
        with reporting(progress) as report:
            reference = Reference.of(test.shuffle(rows), comparison, report)
        labels, threshold = replace(table.labels, rows=None), reference.threshold(test)
        return cls(reference, labels, constants, spans, test, threshold)

    @property
    def comparison(self) -> Comparison:
        """The comparison of rows."""
        return self.reference.comparison

    def compare(self, X: ArrayLike, report: Report | None) -> DriftResult:
        """Compare a batch with the reference."""
        batch, new_levels = self._read_batch(X)
        reference, test, comparison = self.reference, self.test, self.comparison
        encoding, is_tested = comparison.encoding, test.n_permutations > 0
        if is_tested:
            warn_of_duplicate_rows(batch, len(encoding.names), "X")
        _warn_of_unusual(comparison.kernel, batch, "X", comparison.conventions)
        generator = test.generator()
        shuffled_batch = batch[generator.permutation(len(batch))] if is_tested else batch
        fields = comparison.fields(self._values(shuffled_batch, generator, report))
        rows = reference.rows
        return DriftResult(
            **fields,
            n_rows=(len(rows), len(batch)),
            alpha=test.alpha,
            threshold=test.threshold(fields["significance"]),
            rows=ComparedRows(rows, batch.copy(), encoding, new_levels),
            column_changes=column_changes([rows], [batch], encoding, new_levels),
            _dependence=DependenceTest.of(rows, batch, encoding, test.n_permutations, generator),
        )

    def _read_batch(self, X: ArrayLike) -> tuple[Float, dict[int, tuple[Any, ...]]]:
        """Return the rows of a batch, and its categories that are not in the reference."""
        comparison, names = self.comparison, self.comparison.encoding.names
        table_labels(X, "X").check_same(self.labels, "X", "X_reference")
        batch, new_levels = encoded(X, "X", comparison.encoding)
        check_row_count(batch, "X", 2)
        comparison.kernel.check_rows(batch, "X")
        varying_columns = [names[j] for j in self.constants.differing(batch)]
        if varying_columns:
            plural = len(varying_columns) > 1
            warn(
                f"{columns_named(varying_columns)} "
                f"{'are' if plural else 'is'} constant in X_reference and different in X: for the "
                "default kernel any difference from a constant is large"
            )
        batch = self.constants.settled(batch)
        if self.spans is not None:
            _check_distances(batch, self.reference.rows, self.spans, names)
        return batch, new_levels

    def _values(
        self, rows: Float, generator: np.random.Generator, report: Report | None
    ) -> StatisticValues:
        """Return the values of a batch; its rows are in random order if there is a test."""
        reference, test, conventions = self.reference, self.test, self.comparison.conventions
        terms, n, m = self.comparison.terms, len(reference.rows), len(rows)
        plan = Plan.of(n, m, terms.n_players)
        blocks = plan.blocks(n, m) if test.n_permutations else None
        # The batch comes first: it often has few rows, which are compared with many at a time.
        engine_rows = np.concatenate(
            [self.comparison.kernel.engine_rows(rows), reference.engine_rows]
        )
        sums = pair_sums(
            engine_rows,
            m,
            terms,
            None if blocks is None else blocks.groups,
            skips_second=True,
            univariate_in_groups=blocks is not None,
            computation=conventions.computation(report),
        )
        weights = PairWeights.of(conventions.estimator, n, m)
        diagonal, swapped_weights = weights.self_pairs * terms.self_pair(), weights.swapped()
        values = reference.with_batch(sums, m).mmd(weights, diagonal)
        if blocks is None:
            return values
        warn_of_few_permutations(test.n_permutations, blocks.unchanged_share(engine_rows))
        reference_sums = reference.sums_of_blocks(plan)
        # Pairs of the reference's blocks are at the end of the triangle.
        sums.groups[-len(reference_sums) :] += reference_sums
        significance = significance_of_blocks(
            sums.groups, blocks, swapped_weights, diagonal, test.n_permutations, generator
        )
        return replace(values, significance=significance)


def _warn_of_unusual(kernel: Kernel, rows: Float, rows_name: str, conventions: Conventions) -> None:
    sizes, is_biased = {rows_name: len(rows)}, conventions.is_biased
    warn_of_unusual_rows(kernel, rows, sizes, "MMD²", is_biased=is_biased)


def batch_comparison(
    sample_kernel: SampleKernel,
    reference: Float,
    encoding: Encoding,
    players: Players,
    conventions: Conventions,
) -> tuple[Comparison, Float | None]:
    """Return the comparison, and the largest range of each column in reference and batch.

    Only kernels with mixtures, which are expanded for a domain, have limits for numbers.
    """
    domain = Domain.around(reference, ERRORS[-1])
    comparison = Comparison.of(sample_kernel, encoding, players, conventions, domain)
    if not has_mixtures(sample_kernel.terms):
        return comparison, None
    spans = domain.spans.copy()
    spans[encoding.labels] = np.inf
    return comparison, spans


def _check_distances(
    batch: Float, reference: Float, max_spans: Float, names: Sequence[str]
) -> None:
    """Raise an error for rows that are too far from a reference for the kernel's mixtures.

    Parameters
    ----------
    batch, reference : ndarray of shape (m, d) and (n, d)
    max_spans : ndarray of shape (d,)
        The largest range of each column in both together.
    names : sequence of str
        The names of the columns.
    """
    rows = np.concatenate([batch, reference])
    with np.errstate(over="ignore"):
        spans = rows.max(axis=0) - rows.min(axis=0)
    if (spans > max_spans).any():
        name = names[int(np.argmax(spans / max_spans))]
        raise InputError(
            "X",
            "has values that are thousands of times the range of X_reference away from it, where "
            "the expansion of the kernel is not exact; are they codes of missing values?",
            ["replace them", "use pkex.mmd"],
            column=name,
        )
