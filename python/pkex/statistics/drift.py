"""A reference sample that batches of new rows are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.errors import warn
from pkex.execution.progress import Progress, reporting
from pkex.explain.axes import FEATURE, Axes
from pkex.games.players import as_players
from pkex.inputs.choices import Estimator, StatisticsConvention, Summation
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.table_columns import table_labels
from pkex.inputs.wording import counted, shown
from pkex.kernels import Kernel
from pkex.kernels.domain import ERRORS, Domain
from pkex.kernels.factors import has_mixtures
from pkex.kernels.scales import Constants
from pkex.statistics.attribution import Parts
from pkex.statistics.common import Conventions, has_series, in_units
from pkex.statistics.encoding import Missing
from pkex.statistics.kernel_choice import chosen_kernel, without_rounding
from pkex.statistics.pair_sums import KernelTerms, pair_sums, total
from pkex.statistics.pair_weights import PairWeights
from pkex.statistics.report import described
from pkex.statistics.results import MMDResult
from pkex.statistics.samples import (
    check_row_count,
    encoded,
    read_samples,
    warn_of_constant_columns,
)
from pkex.statistics.standard_errors import between_samples, within_sample
from pkex.typing import Float

__all__ = ["MMDDrift"]


class MMDDrift:
    """Compare batches of rows with a reference sample: how much they differ, and in which features.

    What concerns the reference alone is computed once; `predict` costs the pairs with new rows.

    Parameters
    ----------
    X_reference : array-like, DataFrame or sparse matrix of shape (n, d)
        At least two rows.
    kernel : pkex.kernels.Kernel, optional
        By default ``pkex.kernels.median_heuristic(X_reference)`` (`mmd` takes that of both
        samples): one kernel for all batches, so that results can be compared.
    value_function : {"marginal", "neutral"}, default "marginal"
        As in `mmd`, but that absent features have their mean factors over the pairs of the
        reference, the same for all batches.
    estimator, groups, summation, n_jobs
        As in `mmd`. Its other options do not exist here: rows are not weighted, and there are no
        permutations, which would have to pair the reference's rows anew for every batch.
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
        If columns of the reference are constant, or vary by rounding only, outliers hide a column
        in the default kernel, the kernel is nearly 0 or 1 between almost all rows, or one column
        makes up nearly all distances in a given kernel.

    Notes
    -----
    A detector never changes; it may be shared between threads, and be pickled.

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
    """

    @with_known_keywords
    def __init__(
        self,
        X_reference: ArrayLike,
        *,
        kernel: Kernel | None = None,
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
        (sample,), self._encoding = read_samples(
            {"X_reference": X_reference}, categorical, missing, looks_ahead=True
        )
        self._labels = replace(sample.labels, rows=None)
        rows, self._names = sample.rows, sample.names
        check_row_count(rows, "X_reference", 2)
        table = rows[:, : len(self._names)]
        if not has_series(kernel, len(self._names)):
            warn_of_constant_columns(
                table, self._names, "X_reference", to="batches that have the same value there"
            )
        self._constants = Constants.of(table) if kernel is None else Constants((), ())
        rows = without_rounding(rows, self._names, "X_reference", self._constants)
        self._players = as_players(groups, self._names)
        self._kernel, self._bandwidth = chosen_kernel(
            kernel, rows, self._names, "X_reference", labels=self._encoding.labels
        )
        domain = Domain.around(rows, ERRORS[-1])
        self._spans = domain.spans if has_mixtures(self._kernel.terms(rows.shape[1])) else None
        players = self._encoding.players(self._players)
        terms, self._unit = in_units(KernelTerms.of(self._kernel, players, domain))
        self._rows = rows.copy()
        self._rows.setflags(write=False)
        with reporting(progress) as report:
            self._terms, how = self._chosen.with_means(terms, rows, report)
            sums = pair_sums(self._rows, len(rows), self._terms, how=how)
        self._row_sums = sums.rows[:, 0].copy()
        self._alone, self._squares = sums.alone[0], sums.squares[0]

    @with_known_keywords
    def predict(self, X: ArrayLike, *, progress: Progress = False) -> MMDResult:
        """Compare a batch with the reference.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (m, d)
            At least two rows; the columns of a DataFrame must be those of the reference.
        progress : bool or callable, default False
            As in `mmd`.

        Returns
        -------
        MMDResult
            That of ``mmd(X_reference, X)`` with the detector's kernel (and mean factors), without
            p-values.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a finite numeric table of at least two rows with the right columns; or,
            with a Matern or RationalQuadratic kernel, has an entry over 4,096 times as far from
            the reference as that is wide.

        Warns
        -----
        UserWarning
            With the default kernel, if a column that is constant in the reference is not so in `X`.
        """
        batch = self._batch(X)
        self._kernel.check_rows(batch, "X")
        n, m = len(self._rows), len(batch)
        with reporting(progress) as report:
            # The batch first: its rows, often few, then meet many at a time.
            sums = pair_sums(
                np.concatenate([batch, self._rows]),
                m,
                self._terms,
                skips_second=True,
                how=self._chosen.computation(report),
            )
        within, between = sums.rows[:m, 0], sums.rows[:m, 1]
        weights = PairWeights.of(self._chosen.estimator, n, m)
        totals = np.array([total(self._row_sums) / 2.0, total(between), total(within) / 2.0])
        of_reference = sums.rows[m:, 0]
        errors = weights.errors(
            (self._row_sums, of_reference),
            (within, between),
            (n, m),
            (
                within_sample(self._squares, self._row_sums),
                between_samples(sums.squares[1], of_reference, between),
                within_sample(sums.squares[0], within),
            ),
        )
        single = weights.combine(np.array([self._alone, sums.alone[1], sums.alone[0]]))
        single += weights.self_pairs * self._terms.self_pair_alone()
        values = weights.combine(totals) + weights.self_pairs * self._terms.self_pair()
        parts = Parts(values, single, errors).times(self._unit)
        return MMDResult(
            parts.values,
            parts.standard_errors,
            parts.alone,
            Axes(self._players.names, present=(FEATURE,)),
            self._kernel,
            self._bandwidth,
            self._chosen.estimator,
            self._chosen.value_function,
            None,
            self._encoding.columns,
            (n, m),
        )

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

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come writable out of a pickle.
        self.__dict__.update(state)
        self._rows.setflags(write=False)

    def _batch(self, X: ArrayLike) -> Float:
        table_labels(X, "X").check_same(self._labels, "X", "X_reference")
        batch = encoded(X, "X", self._encoding)
        check_row_count(batch, "X", 2)
        differing = [self._names[j] for j in self._constants.differing(batch)]
        if differing:
            plural = len(differing) > 1
            warn(
                f"column{'s' if plural else ''} {shown(differing)} "
                f"{'are' if plural else 'is'} constant in X_reference and not the same in X: to "
                "the default kernel any difference from a constant is a large one"
            )
        batch = self._constants.settled(batch)
        self._check_distances(batch)
        return batch

    def _check_distances(self, batch: Float) -> None:
        """Refuse rows between which and the reference the kernel's mixtures are not exact."""
        if self._spans is None:
            return
        both = np.concatenate([batch, self._rows])
        with np.errstate(over="ignore"):
            spans = both.max(axis=0) - both.min(axis=0)
        if (spans > self._spans).any():
            name = self._names[int(np.argmax(spans / self._spans))]
            raise ValueError(
                f"column {name!r} of X has entries thousands of times as far from X_reference as "
                "that is wide, and there the sum of products for the kernel is not exact; are they "
                "codes of missing entries? Replace them, or compare with pkex.mmd"
            )

    def __repr__(self) -> str:
        return (
            f"MMDDrift({len(self._rows)} reference rows, {counted(len(self._players), 'feature')}, "
            f"{self._chosen.value_function} values, {self._chosen.estimator}; "
            f"kernel: {described(self._kernel, self._bandwidth)})"
        )
