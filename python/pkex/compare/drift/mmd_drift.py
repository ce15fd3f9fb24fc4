"""Drift detection: comparison of batches of rows with a reference sample."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from pkex.compare.data_warnings import warn_of_mistyped_columns
from pkex.compare.drift.batches import about_batch, few_permutations_note, name_batches
from pkex.compare.drift.detector import Detector
from pkex.compare.drift.file import read, write
from pkex.compare.drift.result import DriftResult
from pkex.compare.drift.test import DriftTest, draw_seed
from pkex.compare.drift.timeline import DriftTimeline
from pkex.compare.permutation.permutations import check_fits
from pkex.compare.results.summary import describe_kernel
from pkex.compare.statistic_options import Conventions
from pkex.errors import warn
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
from pkex.tables.encode import Missing
from pkex.tables.samples import check_row_count, read_samples


class MMDDrift:
    """Detect drift: compare batches of rows with a reference sample, and attribute the difference.

    Sums over pairs of reference rows are computed once; `predict` computes only the pairs with rows
    of the batch.

    Parameters
    ----------
    X_reference : array-like, DataFrame or sparse matrix of shape (n, d)
        The reference sample, of at least two rows.
    kernel : pkex.kernels.Kernel, optional
        By default a `pkex.kernels.OrthogonalANOVA` of the reference (`mmd` fits it to both
        samples): one kernel for all batches, so that their results are comparable.
    value_function : {"marginal", "neutral"}, default "marginal"
        As in `mmd`, except that the mean factors of absent features are taken over pairs of
        reference rows, and are the same for all batches.
    alpha : float, default 0.05
        The level of the test: the probability of reporting drift where there is none.
    n_permutations : int, default 0
        Number of permutations for the p-value of a batch, at least 1/alpha − 1; 0 for no test. Rows
        are permuted in random blocks. The sums of the reference's blocks are stored, so that each
        p-value costs only the batch's own pairs; they are computed at the first batch of a size.
    batch_size : int, optional
        Expected number of rows of a batch, at most half the reference's. The block sums and
        `threshold` are then computed from the reference at once. Batches of other sizes are
        also accepted.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of the blocks and permutations. Equal seeds give equal results, and a detector returns
        equal results for equal batches.
    estimator, groups, summation, n_jobs
        As in `mmd`.
    progress : bool or callable, default False
        As in `mmd`, for the pass over pairs of reference rows.
    categorical, missing
        As in `mmd`. Categories that are not in the reference differ from all of its categories.
        With ``missing="indicator"``, batches may have missing values where the reference has none.

    Raises
    ------
    ValueError, TypeError
        As `mmd`.

    Warns
    -----
    UserWarning
        If columns of the reference are constant or near-constant; if `kernel` is nearly 0 or 1
        between almost all rows, or one column dominates its distances; or if apparent copies of
        rows make p-values too small.

    Notes
    -----
    A detector is immutable: it can be shared between threads, pickled, and saved without pickle.

    With a `kernel` passed by the user the test is exact: under the hypothesis, the rows of the
    reference and of a batch are exchangeable. The default kernel is centered on the reference
    (each of its rows by means over the others), and ``missing="indicator"`` imputes medians of the
    reference with any kernel. For small references both make the test somewhat liberal; for the
    default kernel the effect grows with the number of columns. The level is over references as well
    as batches: all batches share one reference, so their p-values depend on each other.

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
        name: str = estimator
        if name in SAMPLED_ESTIMATORS:
            raise ValueError(
                f"estimator={name!r} is only supported by pkex.mmd and pkex.hsic, which choose "
                "pairs of rows anew in each call. Pass 'unbiased' or 'biased', with a random "
                "subset of the rows if there are too many"
            )
        check_choice("estimator", estimator, ESTIMATORS)
        conventions = Conventions(estimator, value_function, summation, n_jobs)
        (table,), encoding = read_samples(
            {"X_reference": X_reference}, categorical, missing, looks_ahead=True
        )
        check_row_count(table.rows, "X_reference", 2)
        seed = draw_seed(random_state)
        test = DriftTest.of(alpha, n_permutations, batch_size, seed, len(table.rows))
        players = as_players(groups, encoding.names)
        check_fits(test.n_permutations, len(players))
        warn_of_mistyped_columns(table.rows, encoding, categorical, "X_reference")
        self._detector = Detector.of(table, encoding, players, kernel, conventions, test, progress)

    @with_known_keywords
    def predict(self, X: ArrayLike, *, progress: Progress = False) -> DriftResult:
        """Compare a batch with the reference.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (m, d)
            The batch, of at least two rows; a DataFrame must have the columns of the reference.
        progress : bool or callable, default False
            As in `mmd`.

        Returns
        -------
        DriftResult
            The result of ``mmd(X_reference, X)`` with the detector's kernel and mean factors, and
            the result of the test if the detector has `n_permutations`. With the default kernel,
            each row of the reference is centered by means over the others.

        Raises
        ------
        ValueError, TypeError
            If `X` is not a finite table of at least two rows with the columns of the reference. Or,
            with a Matern or RationalQuadratic kernel, if a value is further from the reference than
            4,096 times the width of the reference.

        Warns
        -----
        UserWarning
            If a column is constant in the reference but not in `X` (default kernel); if there are
            too few distinct permutations for p-values as small as `n_permutations` allows; or if
            apparent copies of rows make p-values too small.
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
            Tables that `predict` accepts; without names they are numbered from 0.
        progress : bool or callable, default False
            As in `mmd`.

        Returns
        -------
        DriftTimeline
            Its p-values are corrected for the number of batches. To detect drift in one of T
            batches at level alpha, `n_permutations` should be at least T/alpha.

        Raises
        ------
        ValueError, TypeError
            If `batches` is empty or a single table, or as `predict`; the message names the batch.

        Warns
        -----
        UserWarning
            If there are too many batches for `n_permutations`, so that no drift can be detected,
            and as `predict`; the message names the batch.
        """
        named_batches = name_batches(batches)
        note = few_permutations_note(len(named_batches), self.n_permutations, self.alpha)
        if note is not None:
            warn(note)
        results = []
        with reporting(progress) as report:
            for place, (name, batch) in enumerate(named_batches):
                with about_batch(name):
                    part = share(report, place, len(named_batches))
                    results.append(self._detector.compare(batch, part))
        return DriftTimeline(tuple(results), tuple(str(name) for name, _ in named_batches))

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self._detector.test.alpha

    @property
    def n_permutations(self) -> int:
        """The number of permutations for each batch; 0 for no test."""
        return self._detector.test.n_permutations

    @property
    def batch_size(self) -> int | None:
        """The expected number of rows of a batch; None if it was not passed."""
        return self._detector.test.batch_size

    @property
    def threshold(self) -> float | None:
        """The critical value of MMD² for batches of `batch_size` rows, at level alpha.

        It is estimated from batches drawn out of the reference; None without `batch_size`. The
        decision about a batch uses the p-value of that batch.
        """
        return self._detector.threshold

    @property
    def kernel(self) -> Kernel:
        """The kernel of all comparisons."""
        return self._detector.comparison.kernel

    @property
    def bandwidth(self) -> str | None:
        """The rule that chose the kernel's length-scales; None for a kernel passed by the user."""
        return self._detector.comparison.bandwidth

    @property
    def estimator(self) -> str:
        """The name of the estimator."""
        return self._detector.comparison.conventions.estimator

    @property
    def value_function(self) -> str:
        """The name of the value function."""
        return self._detector.comparison.conventions.value_function

    @property
    def feature_names(self) -> list[str]:
        """The names of the features or groups."""
        return list(self._detector.comparison.players.names)

    @with_known_keywords
    def save(self, path: str | PathLike[str]) -> None:
        """Write the detector to a file of arrays and JSON, which `load` reads without pickle.

        The file contains the encoded rows of the reference, and names and categories.

        Parameters
        ----------
        path : str or path-like
            The file. It is replaced once all is written. Its format is NumPy's ``.npz``.

        Raises
        ------
        TypeError
            If the kernel is not of a class of `pkex.kernels`, or column names or categories are
            not strings, finite numbers or tuples of these.
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
        """Read a detector from a file that `save` wrote; its results are identical bit by bit.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        MMDDrift
            The detector.

        Raises
        ------
        ValueError
            If the file is not a detector, is damaged or inconsistent, or was written by a newer
            version of pkex.
        OSError
            If the file cannot be read.
        """
        drift = cls.__new__(cls)
        drift._detector = read(path)
        return drift

    def __repr__(self) -> str:
        n_rows, features = len(self._detector.reference.rows), len(self.feature_names)
        return (
            f"MMDDrift({n_rows} reference rows, {counted(features, 'feature')}, "
            f"{self.value_function} values, {self.estimator}; {self._detector.test}; "
            f"kernel: {describe_kernel(self.kernel, self.bandwidth)})"
        )
