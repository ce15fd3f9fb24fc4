"""HSIC of large samples, estimated from the pairs of a design."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.compare.comparison import Comparison, exact_domain
from pkex.compare.kernel.sample_kernel import SampleKernel, check_user_kernel
from pkex.compare.kernel.target import Target, as_target
from pkex.compare.kernel.terms import KernelRows, KernelTerms
from pkex.compare.pairs.hsic_problem import HSICProblem
from pkex.compare.permutation.hsic_test import significance_by_exchanges
from pkex.compare.permutation.target_blocks import BLOCK_SIZE, TargetBlocks
from pkex.compare.results.hsic import HSICResult
from pkex.compare.sampled.block_sums import BlockStatistic, BlockSums
from pkex.compare.sampled.design import Design, n_reference
from pkex.compare.sampled.error_of_means import terms_of_parts
from pkex.compare.sampled.estimate_over_design import estimate_over_design
from pkex.compare.sampled.sample import Sample, with_rare_values
from pkex.compare.statistic_options import StatisticOptions
from pkex.execution.computation import Computation
from pkex.execution.progress import reporting
from pkex.inputs.choices import Side
from pkex.inputs.wording import shown
from pkex.kernels import Kernel
from pkex.tables.encode import Encoding
from pkex.tables.labels import check_same_rows, row_labels
from pkex.tables.stream import JoinedStreams, RowStream, is_file, read_sources
from pkex.typing import Float

# Number of groups, whose blocks use the same exchange.
_SLOTS = 8
_UNIT = (_SLOTS * BLOCK_SIZE,)
# The name of the reference in messages.
_PART = "a random part of X"


def sampled_hsic(
    X: Any,
    y: Any,
    kernels: tuple[Kernel | None, Kernel | None],
    attribute: Side,
    options: StatisticOptions,
) -> HSICResult:
    """Estimate `pkex.hsic` from the pairs of a design, with checked options."""
    conventions, is_x = options.conventions, attribute == "x"
    data = _JoinedRows.of(X, y, kernels[1], options)
    names = data.encoding.names
    user_kernel = check_user_kernel(kernels[0], len(names))
    players = options.players(names if is_x else data.target_names)
    sample, reference = data.draw_sample(user_kernel, options)
    x, target = data.of_reference(reference, kernels[1])
    domain = exact_domain(sample.extremes[:, data.columns])
    _, comparison_x = Comparison.prepare(
        x, data.encoding, players, user_kernel, conventions, _PART, domain, is_attributed=is_x
    )
    domain = exact_domain(sample.extremes[:, data.targets])
    comparison_y = Comparison.of(
        target.kernel, target.encoding, players, conventions, domain, is_attributed=not is_x
    )
    sides = (
        _SideOfRows(data.columns, comparison_x.kernel, comparison_x.terms),
        _SideOfRows(data.targets, comparison_y.kernel, comparison_y.terms),
    )
    attributed_side, other_side = sides if is_x else sides[::-1]
    with reporting(options.progress) as report:
        engine_rows = attributed_side.of(reference).rows
        computation = conventions.computation()
        comparison, computation = (comparison_x if is_x else comparison_y).with_means(
            engine_rows, computation, "X" if is_x else "y"
        )
        attributed_side = replace(attributed_side, terms=comparison.terms)
        statistic = _BlockHSIC(
            attributed_side, other_side, bool(options.n_permutations), computation.alone()
        )
        estimate = estimate_over_design(
            statistic,
            (sample,),
            reference,
            _UNIT,
            options,
            computation,
            report,
            together=BLOCK_SIZE,
        )
    values = estimate.values
    if options.n_permutations:
        blocks = _target_blocks(_UNIT[0])
        significance = significance_by_exchanges(
            blocks, estimate.groups, 0.0, options.n_permutations, options.random_state, None
        )
        values = replace(values, significance=significance)
    return HSICResult(
        **comparison_x.fields(values, comparison_y.unit),
        target_kernel=comparison_y.kernel,
        target_bandwidth=comparison_y.bandwidth,
        attribute=attribute,
        n_rows=data.source.n_rows,
        normaliser=None,
        n_pairs=estimate.design.n_pairs,
    )


@dataclass(frozen=True, eq=False)
class _JoinedRows:
    """Rows of data and targets next to each other.

    Parameters
    ----------
    source : RowStream
    columns, targets : ndarray of int
        The columns of the data, and of the targets.
    encoding : Encoding
        Encoding of the data.
    target_names : tuple of str
    target : Target, optional
        The target, if it is in memory; otherwise its kernel is computed from the reference.
    kind : type
        The type of a target in a file.
    """

    source: RowStream
    columns: NDArray[np.intp]
    targets: NDArray[np.intp]
    encoding: Encoding
    target_names: tuple[str, ...]
    target: Target | None = None
    kind: type = float

    @classmethod
    def of(
        cls, X: Any, y: Any, target_kernel: Kernel | None, options: StatisticOptions
    ) -> _JoinedRows:
        """Read data and targets; the target may be a column of the file of X."""
        (source,), names, encoding = read_sources(
            {"X": X}, options.categorical, options.missing, compares_names=False
        )
        if not (is_file(X) and isinstance(y, str)):
            target = as_target(y, target_kernel, source.n_rows, options.missing)
            check_same_rows(row_labels(y), row_labels(X), "y", "X")
            streams = JoinedStreams(source, target.rows)
            columns, targets = np.split(np.arange(streams.n_columns), [source.n_columns])
            return cls(streams, columns, targets, encoding, target.encoding.names, target)
        if y not in names or len(names) < 2:
            raise ValueError(
                f"y must be one of several columns of X; got {y!r}, and X has {shown(names)}"
            )
        targets = np.array([names.index(y)])
        columns = np.delete(np.arange(len(names)), targets)
        feature_names = tuple(name for name in names if name != y)
        kind = source.column_types.get(y, float)
        return cls(source, columns, targets, Encoding.plain(feature_names), (y,), kind=kind)

    def draw_sample(
        self, user_kernel: SampleKernel | None, options: StatisticOptions
    ) -> tuple[Sample, Float]:
        """Return the sample in a random order, and the reference."""
        n, names = self.source.n_rows, self.encoding.names
        Design.check(options, (n,), _UNIT)
        check = None
        if user_kernel is not None:
            check = partial(user_kernel.check_rows, columns=self.columns[: len(names)], name="X")
        sample = Sample.of(self.source, check, n_reference(n, n), options.random_state)
        column_names = dict(zip(self.columns.tolist(), names, strict=False))
        return sample, with_rare_values(sample.reference, sample.extremes, column_names, _PART)

    def of_reference(self, rows: Float, target_kernel: Kernel | None) -> tuple[Float, Target]:
        """Return the data of rows, and the target with its kernel."""
        features = np.ascontiguousarray(rows[:, self.columns])
        if self.target is not None:
            return features, self.target
        return features, as_target(
            rows[:, self.targets].astype(self.kind), target_kernel, len(rows)
        )


@dataclass(frozen=True, eq=False)
class _SideOfRows:
    """The data or the targets, in rows that have both.

    Parameters
    ----------
    columns : ndarray of int
        Their columns.
    kernel : Kernel
    terms : KernelTerms
    """

    columns: NDArray[np.intp]
    kernel: Kernel
    terms: KernelTerms

    def of(self, rows: Float) -> KernelRows:
        """Return the columns in the engine's form."""
        side_rows = np.ascontiguousarray(rows[:, self.columns])
        return KernelRows(self.kernel.engine_rows(side_rows), self.terms)


@dataclass(frozen=True, eq=False)
class _BlockHSIC:
    """The unbiased HSIC of the rows of a block, attributed to players.

    Parameters
    ----------
    attributed_side, other_side : _SideOfRows
    is_tested : bool
        Whether a test needs sums over pairs of slots.
    computation : Computation
    """

    attributed_side: _SideOfRows
    other_side: _SideOfRows
    is_tested: bool
    computation: Computation

    def with_parts_of(self, reference: Float, n_threads: int) -> list[BlockStatistic]:
        """Return statistics with means from disjoint parts of the reference."""
        rows, terms = self.attributed_side.of(reference).rows, self.attributed_side.terms
        parts = terms_of_parts(terms, rows, n_threads)
        sides = [replace(self.attributed_side, terms=part) for part in parts]
        return [replace(self, attributed_side=side, is_tested=False) for side in sides]

    def __call__(self, *samples: Float) -> BlockSums:
        (rows,) = samples
        problem = HSICProblem.of(
            self.attributed_side.of(rows),
            self.other_side.of(rows),
            self.computation,
            {},
            is_biased=False,
        )
        groups = _target_blocks(len(rows)).groups if self.is_tested else None
        row_sums, group_sums, alone = problem.sums(groups, exchanges=self.is_tested)
        # Sums over ordered pairs.
        numbers = [problem.scale * row_sums[:, 0].sum(axis=0), 2.0 * problem.scale * alone]
        group_sums = 2.0 * problem.scale * group_sums if self.is_tested else np.zeros(0)
        return BlockSums(np.concatenate(numbers), group_sums)


def _target_blocks(n_rows: int) -> TargetBlocks:
    """Return the rows of a block of the design as groups of blocks that exchange targets."""
    places = np.arange(n_rows, dtype=np.int64)
    return TargetBlocks(places, places * _SLOTS // n_rows, _SLOTS)
