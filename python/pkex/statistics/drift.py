"""A reference sample that batches of new rows are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.errors import warn
from pkex.execution.progress import Progress, reporting, share
from pkex.games.players import as_players
from pkex.inputs.choices import Estimator, StatisticsConvention, Summation
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.wording import counted, shown
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.scales import Constants
from pkex.statistics.batches import about_batch, named_batches, warn_of_few_permutations
from pkex.statistics.block_significance import tested
from pkex.statistics.column_changes import column_changes
from pkex.statistics.common import (
    Conventions,
    check_distances,
    has_series,
    in_units,
    largest_spans,
)
from pkex.statistics.compared_rows import ComparedRows
from pkex.statistics.copied_rows import warn_of_copied_rows
from pkex.statistics.dependence import DependenceTest
from pkex.statistics.doubtful_columns import warn_of_doubtful_columns
from pkex.statistics.drift_file import KEPT, Kept, read, write
from pkex.statistics.drift_result import DriftResult
from pkex.statistics.drift_test import DriftTest, Plan, Reference
from pkex.statistics.drift_timeline import DriftTimeline
from pkex.statistics.kernel_choice import chosen_kernel, without_rounding
from pkex.statistics.pair_sums import KernelTerms, PairSums, pair_sums, total
from pkex.statistics.pair_weights import PairWeights
from pkex.statistics.permutations import Blocks, check_fits, warn_of_few_relabellings
from pkex.statistics.significance import Significance
from pkex.statistics.standard_errors import between_samples, within_sample
from pkex.statistics.statistic_result import Parts
from pkex.statistics.statistic_summary import described
from pkex.statistics.unusual_rows import warn_of_unusual_rows
from pkex.tables.columns import table_labels
from pkex.tables.encode import Missing, categorical_columns
from pkex.tables.samples import (
    check_row_count,
    encoded,
    read_samples,
    warn_of_constant_columns,
)
from pkex.typing import Float, Report

__all__ = ["MMDDrift"]


class MMDDrift:
    """Compare batches of rows with a reference sample: how much they differ, and in which features.

    What concerns the reference alone is computed once; `predict` costs the pairs with new rows.

    Parameters
    ----------
    X_reference : array-like, DataFrame or sparse matrix of shape (n, d)
        At least two rows.
    kernel : pkex.kernels.Kernel, optional
        By default a `pkex.kernels.OrthogonalANOVA` of the reference (`mmd` takes that of both
        samples): one kernel for all batches, so that results can be compared.
    value_function : {"marginal", "neutral"}, default "marginal"
        As in `mmd`, but that absent features have their mean factors over the pairs of the
        reference, the same for all batches.
    alpha : float, default 0.05
        The level of the test: the chance of drift being found where there is none.
    n_permutations : int, default 0
        The number of relabellings for a batch's p-value, at least 1/alpha − 1; 0 for no test. Rows
        are permuted in random blocks whose sums over pairs are kept of the reference, so that a
        batch's p-value costs its own pairs. The first batch of a size has them summed.
    batch_size : int, optional
        The number of rows that batches will have, at most half the reference's: the blocks are then
        summed at once, and `threshold` is found from the reference alone. Batches may have other
        sizes all the same.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Of the blocks and permutations; equal seeds give equal results, and a detector gives equal
        ones for equal batches.
    estimator, groups, summation, n_jobs
        As in `mmd`.
    progress : bool or callable, default False
        Of the pass over the pairs of reference rows.
    categorical, missing
        As in `mmd`; levels are those of the reference, and others are unequal to all of them. With
        ``missing="indicator"`` batches may lack entries where the reference has all.

    Raises
    ------
    ValueError, TypeError
        As `mmd`.

    Warns
    -----
    UserWarning
        If columns of the reference are constant, or vary by rounding only, a given kernel is nearly
        0 or 1 between almost all rows, one column makes up nearly all distances in it, or rows that
        seem to be copies make p-values too small.

    Notes
    -----
    A detector never changes; it may be shared between threads, be pickled, and be saved without
    pickle.

    The test is exact for a kernel that is given: under the hypothesis the rows of the reference and
    of a batch are exchangeable. The default kernel is centered on the reference alone, each of its
    rows by means over the others, and ``missing="indicator"`` has its medians, with any kernel: of
    small references both find somewhat too much, the default kernel most with many columns. The
    level is that over references as well as batches: all batches are compared with one reference,
    so that their p-values depend on each other.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> rng = np.random.default_rng(0)
    >>> drift = pkex.MMDDrift(rng.normal(size=(500, 3)))
    >>> batch = rng.normal(size=(100, 3)) + [0.0, 0.0, 1.0]
    >>> result = drift.predict(batch)
    >>> result.feature_names[int(result.values.argmax())]
    'x2'

    With a test:

    >>> drift = pkex.MMDDrift(rng.normal(size=(500, 3)), n_permutations=199, random_state=0)
    >>> drift.predict(batch).is_drift, drift.predict(rng.normal(size=(100, 3))).is_drift
    (True, False)
    """

    @with_known_keywords
    def __init__(
        self,
        X_reference: ArrayLike,
        *,
        kernel: Kernel | None = None,
        alpha: float = 0.05,
        n_permutations: int = 0,
        batch_size: int | None = None,
        random_state: Any = None,
        estimator: Estimator = "unbiased",
        value_function: StatisticsConvention = "marginal",
        groups: Mapping[str, int | str | Iterable[int | str]] | None = None,
        summation: Summation = "compensated",
        n_jobs: int | None = -1,
        progress: Progress = False,
        categorical: Iterable[int | str] | None = None,
        missing: Missing = "error",
    ) -> None:
        self._chosen = Conventions(estimator, value_function, summation, n_jobs)
        rows = self._read(X_reference, kernel, categorical, missing)
        self._players = as_players(groups, self._names)
        self._kernel, self._bandwidth = chosen_kernel(
            kernel,
            rows,
            self._names,
            "X_reference",
            labels=self._encoding.labels,
            looks_ahead=True,
        )
        self._warn_of_unusual("X_reference", rows)
        domain = Domain.around(rows, ERRORS[-1])
        self._spans = largest_spans(self._kernel, domain, self._encoding.labels)
        players = self._players.with_copies(self._encoding.flagged)
        terms, self._unit = in_units(KernelTerms.of(self._kernel, players, domain))
        terms = terms.for_estimator(estimator)
        self._test = DriftTest.of(alpha, n_permutations, batch_size, random_state, len(rows))
        if n_permutations:
            warn_of_copied_rows(rows, len(self._names), "X_reference")
        check_fits(n_permutations, len(self._players))
        rows = self._test.arranged(rows)
        with reporting(progress) as report:
            compared = self._kernel.engine_rows(rows, are_own=self._bandwidth is not None)
            terms, how = self._chosen.with_means(terms, compared, report)
            sums = pair_sums(compared, len(rows), terms, how=how)
        row_sums = sums.rows[:, 0].copy()
        self._reference = Reference(rows, compared, terms, row_sums, sums.alone[0], sums.squares[0])
        self._threshold = self._of_reference_alone()

    def _read(
        self,
        X_reference: ArrayLike,
        kernel: Kernel | None,
        categorical: Iterable[int | str] | None,
        missing: Missing,
    ) -> Float:
        """Return the reference's rows, and keep what batches are read by."""
        (sample,), self._encoding = read_samples(
            {"X_reference": X_reference}, categorical, missing, looks_ahead=True
        )
        self._labels = replace(sample.labels, rows=None)
        rows, self._names = sample.rows, sample.names
        given = categorical_columns(categorical, self._names)
        warn_of_doubtful_columns(rows, self._encoding.columns, given, "X_reference")
        check_row_count(rows, "X_reference", 2)
        table = rows[:, : len(self._names)]
        if not has_series(kernel, len(self._names)):
            warn_of_constant_columns(
                table, self._names, "X_reference", to="batches that have the same value there"
            )
        self._constants = Constants.of(table) if kernel is None else Constants((), ())
        return without_rounding(rows, self._names, "X_reference", self._constants)

    @with_known_keywords
    def predict(self, X: ArrayLike, *, progress: Progress = False) -> DriftResult:
        """Compare a batch with the reference.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (m, d)
            At least two rows; the columns of a DataFrame must be those of the reference.
        progress : bool or callable, default False
            As in `mmd`.

        Returns
        -------
        DriftResult
            That of ``mmd(X_reference, X)`` with the detector's kernel (and mean factors; the rows
            of the reference are centered by the others in the default kernel), and what the test
            says of it if the detector has `n_permutations`.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a finite numeric table of at least two rows with the right columns; or,
            with a Matern or RationalQuadratic kernel, has an entry over 4,096 times as far from
            the reference as that is wide.

        Warns
        -----
        UserWarning
            With the default kernel, if a column that is constant in the reference is not so in `X`;
            if so few relabellings differ that p-values cannot be as small as permutations would
            allow; or if rows that seem to be copies make p-values too small.
        """
        with reporting(progress) as report:
            return self._compared(X, report)

    @with_known_keywords
    def timeline(
        self, batches: Iterable[ArrayLike] | Mapping[str, ArrayLike], *, progress: Progress = False
    ) -> DriftTimeline:
        """Compare many batches with the reference, one after the other.

        Parameters
        ----------
        batches : iterable of tables, dict of str to table, or iterable of (name, table)
            Each as `predict` takes it; without names they are numbered from 0.
        progress : bool or callable, default False
            As in `mmd`.

        Returns
        -------
        DriftTimeline
            With p-values that are corrected for the number of batches; for T batches to be found at
            level alpha, `n_permutations` should be at least T/alpha.

        Raises
        ------
        ValueError, TypeError
            If `batches` is empty or a table, or as `predict`; the message names the batch.

        Warns
        -----
        UserWarning
            If there are too many batches for `n_permutations`, so that no drift can be found, and
            as `predict`; the message names the batch.
        """
        named = named_batches(batches)
        warn_of_few_permutations(len(named), self._test.n_permutations, self._test.alpha)
        results = []
        with reporting(progress) as report:
            for place, (name, batch) in enumerate(named):
                with about_batch(name):
                    results.append(self._compared(batch, share(report, place, len(named))))
        return DriftTimeline(tuple(results), tuple(str(name) for name, _ in named))

    def _compared(self, X: ArrayLike, report: Report | None) -> DriftResult:
        batch, new_levels = self._batch(X)
        reference, test = self._reference, self._test
        n, m = len(reference.rows), len(batch)
        if test.n_permutations:
            warn_of_copied_rows(batch, len(self._names), "X")
        self._warn_of_unusual("X", batch)
        generator, plan = test.generator(), Plan.of(n, m, len(self._players))
        rows = batch[generator.permutation(m)] if test.n_permutations else batch
        blocks = plan.blocks(n, m) if test.n_permutations else None
        pooled = np.concatenate([self._kernel.engine_rows(rows), reference.engine_rows])
        # The batch first: its rows, often few, then meet many at a time.
        sums = pair_sums(
            pooled,
            m,
            reference.terms,
            None if blocks is None else blocks.groups,
            skips_second=True,
            alone_in_groups=blocks is not None,
            how=self._chosen.computation(report),
        )
        parts = self._parts(sums, m)
        if blocks is not None:
            warn_of_few_relabellings(test.n_permutations, blocks.share_of_same(pooled))
            significance = self._tested(sums.groups, blocks, plan, m, generator)
            parts = replace(parts, significance=significance)
        parts = parts.times(self._unit)
        fields = parts.fields(
            self._players.names,
            self._kernel,
            self._bandwidth,
            self._chosen.estimator,
            self._chosen.value_function,
            self._encoding.columns,
        )
        compared = ComparedRows(reference.rows, batch.copy(), self._encoding, new_levels)
        threshold = test.threshold(parts.significance)
        return DriftResult(
            *fields,
            (n, m),
            test.alpha,
            threshold,
            compared,
            column_changes=column_changes([reference.rows], [batch], self._encoding, new_levels),
            _dependence=DependenceTest.of(
                reference.rows, batch, self._encoding, test.n_permutations, generator
            ),
        )

    def _warn_of_unusual(self, name: str, rows: Float) -> None:
        is_biased = self._chosen.estimator == "biased"
        warn_of_unusual_rows(self._kernel, rows, {name: len(rows)}, "MMD²", is_biased=is_biased)

    def _parts(self, sums: PairSums, m: int) -> Parts:
        """Return the values of a batch of m rows, by its pairs and the reference's own."""
        reference, weights = self._reference, self._weights(m)
        within, between = sums.rows[:m, 0], sums.rows[:m, 1]
        totals = np.array([total(reference.row_sums) / 2.0, total(between), total(within) / 2.0])
        of_reference = sums.rows[m:, 0]
        errors = weights.errors(
            (reference.row_sums, of_reference),
            (within, between),
            (len(reference.rows), m),
            (
                within_sample(reference.squares, reference.row_sums),
                between_samples(sums.squares[1], of_reference, between),
                within_sample(sums.squares[0], within),
            ),
        )
        own, own_alone = reference.terms.self_pair(), reference.terms.self_pair_alone()
        single = weights.combine(np.array([reference.alone, sums.alone[1], sums.alone[0]]))
        single += weights.self_pairs * own_alone
        values = weights.combine(totals) + weights.self_pairs * own
        return Parts(values, single, errors)

    def _tested(
        self, groups: Float, blocks: Blocks, plan: Plan, m: int, generator: np.random.Generator
    ) -> Significance:
        """Relabel blocks of the batch and of the reference, whose own sums are added."""
        reference, weights = self._reference, self._weights(m)
        of_reference = reference.sums_of_blocks(plan, self._chosen.computation())
        # Pairs of the reference's blocks are the end of the triangle.
        groups[-len(of_reference) :] += of_reference
        own, own_alone = reference.terms.self_pair(), reference.terms.self_pair_alone()
        diagonals = [weights.self_pairs * own, weights.self_pairs * own_alone]
        batch_first = PairWeights.of(self._chosen.estimator, m, len(reference.rows))
        return tested(groups, blocks, batch_first, diagonals, self._test.n_permutations, generator)

    def _weights(self, m: int) -> PairWeights:
        return PairWeights.of(self._chosen.estimator, len(self._reference.rows), m)

    def _of_reference_alone(self) -> float | None:
        """Return the threshold of batches of the size that was given."""
        test = self._test
        if test.batch_size is None:
            return None
        plan = Plan.of(len(self._reference.rows), test.batch_size, len(self._players))
        return self._unit * self._reference.threshold(
            plan,
            test.batch_size,
            self._chosen.estimator,
            test.rank,
            test.n_permutations,
            test.generator(),
            self._chosen.computation(),
        )

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self._test.alpha

    @property
    def n_permutations(self) -> int:
        """The number of relabellings for each batch, 0 for no test."""
        return self._test.n_permutations

    @property
    def batch_size(self) -> int | None:
        """The number of rows that batches are expected to have; None if it was not given."""
        return self._test.batch_size

    @property
    def threshold(self) -> float | None:
        """What MMD² of a batch of `batch_size` rows exceeds with a chance of about alpha.

        By batches that are drawn out of the reference itself; None without `batch_size`. Whether
        there is drift is decided by each batch's own p-value.
        """
        return self._threshold

    @property
    def kernel(self) -> Kernel:
        """The kernel of all comparisons."""
        return self._kernel

    @property
    def bandwidth(self) -> str | None:
        """How the kernel's length-scales were found; None if it was given."""
        return self._bandwidth

    @property
    def estimator(self) -> str:
        """The estimator, as given."""
        return self._chosen.estimator

    @property
    def value_function(self) -> str:
        """The convention, as given."""
        return self._chosen.value_function

    @property
    def feature_names(self) -> list[str]:
        """The names of the features or groups."""
        return list(self._players.names)

    @with_known_keywords
    def save(self, path: str | PathLike[str]) -> None:
        """Write the detector to a file that is read without running code: arrays and JSON.

        It holds the rows of the reference as they are compared, and names and labels.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced when all is written. Its format is NumPy's ``.npz``.

        Raises
        ------
        TypeError
            If the kernel is of no class of `pkex.kernels`, or columns are labelled by others than
            strings, finite numbers and tuples of these.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import pkex
        >>> rng = np.random.default_rng(0)
        >>> drift, batch = pkex.MMDDrift(rng.normal(size=(50, 2))), rng.normal(size=(20, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     drift.save(f"{folder}/reference.npz")
        ...     again = pkex.MMDDrift.load(f"{folder}/reference.npz")
        >>> again.predict(batch).statistic == drift.predict(batch).statistic
        True
        """
        write(path, Kept(**{name: getattr(self, f"_{name}") for name in KEPT}))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> MMDDrift:
        """Read a detector that `save` has written; its results have the same bits.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        ValueError
            If the file is none of a detector, damaged, contradicts itself, or is written by a newer
            version of pkex.
        OSError
            If it cannot be read.
        """
        drift = cls.__new__(cls)
        kept = read(path)
        for name in KEPT:
            setattr(drift, f"_{name}", getattr(kept, name))
        return drift

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come writable out of a pickle.
        self.__dict__.update(state)
        self._reference.rows.setflags(write=False)

    def _batch(self, X: ArrayLike) -> tuple[Float, dict[int, tuple[Any, ...]]]:
        table_labels(X, "X").check_same(self._labels, "X", "X_reference")
        batch, new_levels = encoded(X, "X", self._encoding)
        check_row_count(batch, "X", 2)
        self._kernel.check_rows(batch, "X")
        differing = [self._names[j] for j in self._constants.differing(batch)]
        if differing:
            plural = len(differing) > 1
            warn(
                f"column{'s' if plural else ''} {shown(differing)} "
                f"{'are' if plural else 'is'} constant in X_reference and not the same in X: to "
                "the default kernel any difference from a constant is a large one"
            )
        batch = self._constants.settled(batch)
        if self._spans is not None:
            check_distances(batch, self._reference.rows, self._spans, self._names)
        return batch, new_levels

    def __repr__(self) -> str:
        n_rows, features = len(self._reference.rows), counted(len(self._players), "feature")
        return (
            f"MMDDrift({n_rows} reference rows, {features}, "
            f"{self._chosen.value_function} values, {self._chosen.estimator}; {self._test}; "
            f"kernel: {described(self._kernel, self._bandwidth)})"
        )
