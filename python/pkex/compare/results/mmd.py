"""The result of `pkex.mmd`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pkex.compare.column_changes import ColumnChange, lines_of_changes
from pkex.compare.permutation.pair_dependence import DependenceTest, PairDependence
from pkex.compare.results.conclusion import describe_pairs, significant_pairs
from pkex.compare.results.statistic import StatisticResult
from pkex.compare.results.summary import SMALL_PVALUE
from pkex.compare.results.wording import DIFFERENCE, Wording
from pkex.inputs.documents import Document
from pkex.inputs.integers import as_integer
from pkex.results.options import ReportOptions

if TYPE_CHECKING:
    from pkex.results.report import PageContent

# Largest number of named pairs of columns.
_MAX_PAIRS = 3


def _read_changes(plain: Any) -> tuple[ColumnChange, ...]:
    return tuple(map(ColumnChange.of_plain, plain))


def _read_sizes(plain: Any) -> tuple[int, int]:
    n, m = (as_integer("n_rows", size, "positive integers", least=1) for size in plain)
    return n, m


@dataclass(frozen=True, eq=False, repr=False)
class MMDResult(StatisticResult):
    """The squared maximum mean discrepancy (MMD²) of two samples, attributed to features.

    Returned by `pkex.mmd`; `DriftResult` is a subclass.

    Attributes
    ----------
    statistic : float
        MMD², the sum of the values. The unbiased estimate may be negative.
    shares : ndarray of shape (P,) or None
        The values divided by their sum; they add up to 1. None if the sum is not positive. For the
        biased estimator with permutations, the mean of the permuted values is subtracted first.
    values : ndarray of shape (P,)
        The Shapley value of each feature or group.
    standard_errors : ndarray of shape (P,) or None
        Standard errors of the values; None with row weights; NaN with fewer than four rows in a
        sample.
    alone : ndarray of shape (P,)
        The univariate value of each feature, v({j}). With ``value_function="neutral"``, it is MMD²
        of this feature; with "marginal", it is multiplied by the mean factors of the others. For a
        sum of kernels this holds for each term, so that p-values depend on the value function.
    pvalue : float or None
        P-value of the hypothesis that both samples come from one distribution; None without
        permutations.
    statistic_pvalue, univariate_pvalue : float or None
        The two p-values that `pvalue` combines: of the statistic, and of the largest standardized
        univariate value.
    feature_pvalues, familywise_pvalues : ndarray of shape (P,) or None
        P-values of the values under the same hypothesis, unadjusted and family-wise adjusted.
    alone_pvalues, alone_familywise_pvalues : ndarray of shape (P,) or None
        Univariate p-values, unadjusted and family-wise adjusted. Their hypothesis is that this
        feature has the same distribution in both samples.
    hypothesis, alone_hypothesis, finding : str
        The hypotheses of the p-values, and what a feature with a small univariate p-value does, in
        words.
    permuted_values : ndarray of shape (n_permutations, P) or None
        The values for each permutation.
    feature_names : list of str
    kernel : pkex.kernels.Kernel
    bandwidth : str or None
        The rule that chose the length-scales; None for a kernel passed by the user.
    value_function, estimator : str
        The options of the call.
    notes : tuple of str
        Notes on features whose value and univariate test seem to disagree.
    columns : tuple
        The columns of the tables. Each has a ``name``, a ``type``, what it was ``compared`` as
        ("numbers", "days" or "labels"), the ``levels`` of a categorical column, the median
        ``imputed`` for missing numbers, and the date ``since`` which days count.
    n_rows : tuple of int
        The numbers of rows of the samples, without rows of weight 0.
    n_pairs : int or None
        The number of compared pairs of rows, for the estimators "incomplete" and "block".
    column_changes : tuple
        Visible changes of columns of Y compared with X. Each has a ``name``, the ``new_levels`` and
        ``lost_levels`` with their numbers of rows, the shares of ``missing`` values in X and Y, and
        the rows ``below`` and ``above`` all values of X. They are observed, not tested. Changes
        that are likely for samples of one distribution (probability above 0.001) are left out,
        except new levels and first missing values.
    pair_dependence : tuple or None
        Tests of whether the dependence of two columns is the same in X and Y, the smallest p-value
        first. Each has ``columns``, ``statistic``, ``pvalue`` and ``familywise_pvalue``. They are
        computed when first accessed, or pickled, from at most 2,000 rows of each sample. With more
        than 25 columns, the 300 most dependent pairs are tested; with more than 100 columns, none.
        None without permutations.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> Y[:, 1] += 1.0
    >>> result = pkex.mmd(X, Y, kernel=pkex.kernels.RBF(2.0), n_permutations=99, random_state=0)
    >>> result
    MMDResult: MMD² = 0.10255, p-value 0.01 (all features together 0.01, strongest single \
feature 0.01) (unbiased, marginal values)
    feature     value  univariate p (adjusted)   std err  p (adjusted)  univariate value  \
univariate p     p
    x1        0.10385                     0.01  0.026761          0.01           0.10408          \
0.01  0.01
    x0        0.00229                     0.45  0.003118          0.21           0.00064          \
0.25  0.12
    x2       -0.00358                     1.00  0.001486          1.00          -0.00180          \
0.85  1.00
    p: hypothesis that X and Y come from one distribution; adjusted: for the number of features
    univariate p: hypothesis that this feature has the same distribution in both
    kernel: RBF(length_scale=2.0)
    >>> result.values.round(3)
    array([ 0.002,  0.104, -0.004])
    >>> result.alone_familywise_pvalues
    array([0.45, 0.01, 1.  ])
    """

    n_rows: tuple[int, int]
    n_pairs: int | None = field(default=None, kw_only=True)
    column_changes: tuple[ColumnChange, ...] = field(default=(), kw_only=True, repr=False)
    _dependence: DependenceTest | None = field(default=None, kw_only=True, repr=False)

    _label, _origin = "MMD²", "pkex.mmd"
    # The names of the samples in reports.
    _sample_names = ("X", "Y")

    @property
    def pair_dependence(self) -> tuple[PairDependence, ...] | None:
        """Tests of whether the dependence of two columns is the same in both samples.

        The smallest p-value comes first. Computed when first accessed, or pickled; None without
        permutations or with one column.
        """
        return None if self._dependence is None else self._dependence.pairs

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        return {
            **super()._fields(document),
            "n_rows": document.read("n_rows", _read_sizes),
            "column_changes": document.read("column_changes", _read_changes),
        }

    def _report(self, options: ReportOptions) -> PageContent:
        # Imported only if needed.
        from pkex.compare.results.report import report_difference

        kind, names = type(self).__name__, self._sample_names
        names, tables, level = options.comparison(kind, names, self._level)
        for label, table, n_rows in zip("XY", tables or (), self.n_rows, strict=False):
            if not isinstance(table, str) and hasattr(table, "__len__") and len(table) < n_rows:
                raise ValueError(
                    f"{label} has {len(table)} rows, but {n_rows} rows were compared. Pass the "
                    "compared samples in the same order"
                )
        return report_difference(self, level, names, tables or self._samples())

    def _plain(self) -> dict[str, Any]:
        changes = [change.to_dict() for change in self.column_changes]
        return {**super()._plain(), "column_changes": changes}

    def _observations(self) -> list[str]:
        pairs = significant_pairs(self, self._level)
        texts = describe_pairs(pairs[:_MAX_PAIRS])
        if len(pairs) > _MAX_PAIRS:
            texts.append(f"{len(pairs) - _MAX_PAIRS} more")
        lines = [f"dependence differs, adjusted p ≤ {self._level:g}: {'; '.join(texts)}"]
        return [*(lines if pairs else []), *lines_of_changes(self.column_changes)]

    @property
    def _wording(self) -> Wording:
        return DIFFERENCE.of(*self._sample_names)

    @property
    def _level(self) -> float:
        """The level of the conclusion."""
        return SMALL_PVALUE

    def _samples(self) -> tuple[Any, Any] | None:
        """Return the samples; None if the result does not hold them."""
        return None
