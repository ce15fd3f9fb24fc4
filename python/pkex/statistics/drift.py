"""A reference sample that batches of new rows are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from pkex.execution.progress import Progress, reporting, share
from pkex.games.players import as_players
from pkex.inputs.choices import (
    ESTIMATORS,
    SAMPLED_ESTIMATORS,
    Estimator,
    StatisticsConvention,
    Summation,
    check_choice,
)
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.statistics.batches import about_batch, named_batches, warn_of_few_permutations
from pkex.statistics.detector import Detector
from pkex.statistics.doubtful_columns import warn_of_doubtful_columns
from pkex.statistics.drift_file import read, write
from pkex.statistics.drift_result import DriftResult
from pkex.statistics.drift_test import DriftTest, drawn_seed
from pkex.statistics.drift_timeline import DriftTimeline
from pkex.statistics.permutations import check_fits
from pkex.statistics.statistic_options import Conventions
from pkex.statistics.statistic_summary import described
from pkex.tables.encode import Missing, categorical_columns
from pkex.tables.samples import check_row_count, read_samples

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
        given: str = estimator
        if given in SAMPLED_ESTIMATORS:
            raise ValueError(
                f"estimator={given!r} is for pkex.mmd and pkex.hsic alone, which choose pairs of "
                "rows anew in each call; here take 'unbiased' or 'biased', of a random part of the "
                "rows if there are too many"
            )
        check_choice("estimator", estimator, ESTIMATORS)
        conventions = Conventions(estimator, value_function, summation, n_jobs)
        (table,), encoding = read_samples(
            {"X_reference": X_reference}, categorical, missing, looks_ahead=True
        )
        check_row_count(table.rows, "X_reference", 2)
        seed = drawn_seed(random_state)
        test = DriftTest.of(alpha, n_permutations, batch_size, seed, len(table.rows))
        players = as_players(groups, encoding.names)
        check_fits(test.n_permutations, len(players))
        labels = categorical_columns(categorical, encoding.names)
        warn_of_doubtful_columns(table.rows, encoding.columns, labels, "X_reference")
        self._detector = Detector.of(table, encoding, players, kernel, conventions, test, progress)

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
            return self._detector.compare(X, report)

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
        warn_of_few_permutations(len(named), self.n_permutations, self.alpha)
        results = []
        with reporting(progress) as report:
            for place, (name, batch) in enumerate(named):
                with about_batch(name):
                    part = share(report, place, len(named))
                    results.append(self._detector.compare(batch, part))
        return DriftTimeline(tuple(results), tuple(str(name) for name, _ in named))

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self._detector.test.alpha

    @property
    def n_permutations(self) -> int:
        """The number of relabellings for each batch, 0 for no test."""
        return self._detector.test.n_permutations

    @property
    def batch_size(self) -> int | None:
        """The number of rows that batches are expected to have; None if it was not given."""
        return self._detector.test.batch_size

    @property
    def threshold(self) -> float | None:
        """What MMD² of a batch of `batch_size` rows exceeds with a chance of about alpha.

        By batches that are drawn out of the reference itself; None without `batch_size`. Whether
        there is drift is decided by each batch's own p-value.
        """
        return self._detector.threshold

    @property
    def kernel(self) -> Kernel:
        """The kernel of all comparisons."""
        return self._detector.comparison.kernel

    @property
    def bandwidth(self) -> str | None:
        """How the kernel's length-scales were found; None if it was given."""
        return self._detector.comparison.bandwidth

    @property
    def estimator(self) -> str:
        """The estimator, as given."""
        return self._detector.comparison.conventions.estimator

    @property
    def value_function(self) -> str:
        """The convention, as given."""
        return self._detector.comparison.conventions.value_function

    @property
    def feature_names(self) -> list[str]:
        """The names of the features or groups."""
        return list(self._detector.comparison.players.names)

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
        write(path, self._detector)

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
        drift._detector = read(path)
        return drift

    def __repr__(self) -> str:
        n_rows, features = len(self._detector.reference.rows), len(self.feature_names)
        return (
            f"MMDDrift({n_rows} reference rows, {counted(features, 'feature')}, "
            f"{self.value_function} values, {self.estimator}; {self._detector.test}; "
            f"kernel: {described(self.kernel, self.bandwidth)})"
        )
