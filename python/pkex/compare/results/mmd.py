"""The result of `pkex.mmd`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pkex.compare.column_changes import ColumnChange, lines_of_changes
from pkex.compare.permutation.pair_dependence import DependenceTest, PairDependence
from pkex.compare.results.conclusion import changed_pairs
from pkex.compare.results.documents import read_sizes
from pkex.compare.results.statistic import StatisticResult
from pkex.compare.results.summary import SMALL_PVALUE
from pkex.inputs.documents import Document
from pkex.results.options import ReportOptions
from pkex.results.tables import shortened

if TYPE_CHECKING:
    from pkex.results.report import PageContent

__all__ = ["MMDResult"]

# Pairs of columns that are named.
_MOST_PAIRS = 3


def _read_changes(plain: Any) -> tuple[ColumnChange, ...]:
    return tuple(map(ColumnChange.of_plain, plain))


@dataclass(frozen=True, eq=False, repr=False)
class MMDResult(StatisticResult):
    """The squared maximum mean discrepancy of two samples, divided among features.

    Returned by `pkex.mmd` and `pkex.MMDDrift`.

    Attributes
    ----------
    statistic : float
        MMD², the sum of the values. By the unbiased estimator it may be negative.
    shares : ndarray of shape (P,) or None
        The values as parts of their sum, which add up to 1; None if that is not positive. By the
        biased estimator with permutations, of the values minus their mean over permutations.
    values : ndarray of shape (P,)
        The Shapley value of each feature or group.
    standard_errors : ndarray of shape (P,) or None
        Of the values; None with row weights, for which there are none; NaN with fewer than four
        rows in a sample.
    alone : ndarray of shape (P,)
        The game's value of each feature alone: MMD² of just that feature in the neutral convention,
        times the mean factors of the others in the marginal one (in a sum of kernels each term's,
        so that its p-values depend on the convention, too).
    pvalue : float or None
        Of the hypothesis that both samples come from one distribution; None without permutations.
    statistic_pvalue, univariate_pvalue : float or None
        The two that `pvalue` combines: of the statistic, and of the largest standardized `alone`.
    feature_pvalues, familywise_pvalues : ndarray of shape (P,) or None
        Of the values, under the same hypothesis: one by one, and corrected for their number.
    alone_pvalues, alone_familywise_pvalues : ndarray of shape (P,) or None
        Of each feature by itself, under a hypothesis that concerns only this feature: that it has
        the same distribution in both samples.
    hypothesis, alone_hypothesis, finding : str
        What p-values test, and what a feature with a small one alone does, in words.
    permuted_values : ndarray of shape (n_permutations, P) or None
    feature_names : list of str
    kernel : pkex.kernels.Kernel
    bandwidth : str or None
        How the length-scale was found; None if the kernel was given.
    value_function, estimator : str
        As given.
    notes : tuple of str
        What is easily misread, if there is anything.
    columns : tuple
        What was done with each column of the tables: its ``name``, its ``type``, what it was
        ``compared`` as ("numbers", "days" or "labels"), and the ``levels`` of labels, the median
        ``imputed`` in the place of missing numbers, or the date ``since`` which days count.
    n_rows : tuple of int
        The sizes of the samples, without rows of weight 0.
    n_pairs : int or None
        The number of pairs of rows that an estimator with a budget compared; None of all.
    column_changes : tuple
        Columns of Y in which a person would see a change, X being the reference: each has its
        ``name``, the ``new_levels`` and ``lost_levels`` with their numbers of rows, the shares of
        ``missing`` entries in X and Y, and the rows ``below`` and ``above`` all entries of X.
        Observed, not tested; changes are left out that 1 in 1000 pairs of samples of one
        distribution shows, except new levels and first missing entries.
    pair_dependence : tuple or None
        Tests of whether pairs of columns depend on each other alike in X and Y, the smallest
        p-value first: each has its ``columns``, ``statistic``, ``pvalue`` and
        ``familywise_pvalue``. Computed when first asked for, or pickled, from at most 2,000 rows of
        each sample; of more than 25 columns the 300 pairs that are most dependent in both samples
        together, and none of more than 100 columns. None without permutations.

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
    feature     value   std err     p  family p     alone  alone p  alone family p
    x1        0.10385  0.026761  0.01      0.01   0.10408     0.01            0.01
    x0        0.00229  0.003118  0.12      0.21   0.00064     0.25            0.45
    x2       -0.00358  0.001486  1.00      1.00  -0.00180     0.85            1.00
    p: hypothesis that X and Y have one distribution; alone p: that this feature has one in both; \
family: corrected for the number of features
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

    @property
    def pair_dependence(self) -> tuple[PairDependence, ...] | None:
        """Tests of whether pairs of columns depend on each other alike in both samples.

        The smallest p-value first. Computed when first asked for, or pickled; None without
        permutations or with one column.
        """
        return None if self._dependence is None else self._dependence.pairs

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        return {
            **super()._fields(document),
            "n_rows": document.read("n_rows", read_sizes),
            "column_changes": document.read("column_changes", _read_changes),
        }

    @property
    def label(self) -> str:
        """What the statistic is called."""
        return "MMD²"

    @property
    def hypothesis(self) -> str:
        """The hypothesis of the p-values of the statistic and of the values, in words."""
        return "X and Y have one distribution"

    @property
    def alone_hypothesis(self) -> str:
        """The hypothesis of the p-value of a feature by itself, in words."""
        return "this feature has one in both"

    @property
    def finding(self) -> str:
        """What a feature does whose p-value alone is small, in words."""
        return "differs"

    def _report(self, options: ReportOptions) -> PageContent:
        # Not before a report is asked for.
        from pkex.compare.results.report import report_difference

        kind, names = type(self).__name__, self._sample_names
        names, tables, level = options.comparison(kind, names, self._level)
        for label, table, n_rows in zip("XY", tables or (), self.n_rows, strict=False):
            if not isinstance(table, str) and hasattr(table, "__len__") and len(table) < n_rows:
                raise ValueError(
                    f"{label} has {len(table)} rows, and the result is of {n_rows}: give the "
                    "samples that were compared, in the same order"
                )
        return report_difference(self, level, names, tables or self._samples())

    def _plain(self) -> dict[str, Any]:
        changes = [change.to_dict() for change in self.column_changes]
        return {**super()._plain(), "column_changes": changes}

    def _observations(self) -> list[str]:
        pairs = changed_pairs(self, self._level)
        named = [f"{shortened(a)} and {shortened(b)}" for a, b in pairs[:_MOST_PAIRS]]
        if len(pairs) > _MOST_PAIRS:
            named.append(f"{len(pairs) - _MOST_PAIRS} more")
        lines = [f"dependence differs, family p ≤ {self._level:g}: {'; '.join(named)}"]
        return [*(lines if pairs else []), *lines_of_changes(self.column_changes)]

    # Of the reports of results that know more of themselves.
    _sample_names = ("X", "Y")

    @property
    def _level(self) -> float:
        """The level of the conclusion."""
        return SMALL_PVALUE

    def _samples(self) -> tuple[Any, Any] | None:
        """Return the samples, as tables or as mappings of names to columns; None if unknown."""
        return None
