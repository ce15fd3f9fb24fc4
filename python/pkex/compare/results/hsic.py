"""The result of `pkex.hsic`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pkex.compare.pairs.normalizer import Normaliser
from pkex.compare.results.documents import hsic_fields, kernel_parameters
from pkex.compare.results.statistic import StatisticResult
from pkex.compare.results.summary import SMALL_PVALUE
from pkex.inputs.arrays import owned
from pkex.inputs.choices import ESTIMATORS
from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.kernels import Kernel
from pkex.results.options import ReportOptions
from pkex.typing import Float

if TYPE_CHECKING:
    from pkex.results.report import PageContent

__all__ = ["HSICResult"]


@dataclass(frozen=True, eq=False, repr=False)
class HSICResult(StatisticResult):
    """The Hilbert–Schmidt independence criterion, divided among features.

    Returned by `pkex.hsic`.

    Attributes
    ----------
    statistic : float
        HSIC, the sum of the values. By the unbiased estimator it may be negative.
    shares : ndarray of shape (P,) or None
        As of `MMDResult`.
    values : ndarray of shape (P,)
        The Shapley value of each feature or group.
    standard_errors : ndarray of shape (P,)
        Of the values; NaN with fewer than four rows.
    alone : ndarray of shape (P,)
        The game's value of each feature alone: its HSIC in the neutral convention, times the mean
        factors of the others in the marginal one (in a sum of kernels each term's, so that its
        p-values depend on the convention, too).
    alone_r2 : ndarray of shape (P,)
        HSIC(x_j, y) / √(HSIC(x_j, x_j) HSIC(y, y)) of each feature alone; as `r2`, computed when
        first asked for.
    r2 : float
        HSIC(x, y) / √(HSIC(x, x) HSIC(y, y)): 0 without dependence, at most 1. Computed when first
        asked for; the result keeps a copy of the data for that, but a pickle of it does not.
    pvalue : float or None
        Of the hypothesis that X and y are independent; None without permutations.
    statistic_pvalue, univariate_pvalue : float or None
        As of `MMDResult`.
    feature_pvalues, familywise_pvalues : ndarray of shape (P,) or None
        Of the values, under the same hypothesis: one by one, and corrected for their number.
    alone_pvalues, alone_familywise_pvalues : ndarray of shape (P,) or None
        Of each feature by itself, under a hypothesis that concerns only this feature: that it and
        the other side are independent.
    hypothesis, alone_hypothesis, finding : str
        What p-values test, and what a feature with a small one alone does, in words.
    permuted_values : ndarray of shape (n_permutations, P) or None
    feature_names : list of str
        Of the columns of X, or those of y with ``attribute="y"``.
    kernel, target_kernel : pkex.kernels.Kernel
        Of X and of y.
    bandwidth, target_bandwidth : str or None
        How length-scales were found, or that the target holds labels; None if the kernel was given.
    value_function, estimator, attribute : str
        As given.
    notes : tuple of str
        What is easily misread, if there is anything.
    columns : tuple
        What was done with each column of X, as in `MMDResult`.
    n_rows : int
    n_pairs : int or None
        The number of pairs of rows that an estimator with a budget compared; None of all.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> result = pkex.hsic(X, X[:, 0] > 0.0, kernel=pkex.kernels.RBF(2.0))
    >>> result
    HSICResult: HSIC = 0.041666 (biased, marginal values)
    feature     value    std err     alone
    x0       0.040638  0.0051408  0.039877
    x1       0.000532  0.0003915  0.000122
    x2       0.000496  0.0003693  0.000110
    kernel: RBF(length_scale=2.0)
    >>> result.target_kernel, result.target_bandwidth
    (Categorical(similarity=0.0), 'labels: 1 if equal, else 0')
    >>> round(result.r2, 2), result.alone_r2.round(2)
    (0.44, array([0.72, 0.  , 0.  ]))
    """

    target_kernel: Kernel
    target_bandwidth: str | None
    attribute: str
    n_rows: int
    normaliser: Normaliser | None = field(repr=False)
    n_pairs: int | None = field(default=None, kw_only=True)

    @cached_property
    def r2(self) -> float:
        """HSIC(x, y) / √(HSIC(x, x) HSIC(y, y)), by the same estimator.

        0 without dependence, and 1 if both kernels are the same up to a factor; NaN if X or y is
        constant. Computed when first asked for, or pickled, in another pass over the pairs.
        """
        return self._normaliser("r2").normalised(self.statistic)

    @cached_property
    def alone_r2(self) -> Float:
        """`r2` of each feature or group alone, shape (P,): which share of it is dependence.

        The normalised HSIC per input, R²-HSIC, of sensitivity analysis (Da Veiga 2015):
        HSIC(x_j, y) / √(HSIC(x_j, x_j) HSIC(y, y)), by the same estimator; NaN for a constant
        feature. Computed when first asked for, or pickled, in passes over the pairs.
        """
        indices = self._normaliser("alone_r2").normalised_alone(self.alone)
        return owned(indices)

    def _normaliser(self, name: str) -> Normaliser:
        # Unpickled results know their indices.
        if self.normaliser is None and self.estimator in ESTIMATORS:
            raise ValueError(
                f"{name} is not in the document of this result: it is written if it was asked for "
                "before to_dict()"
            )
        if self.normaliser is None:
            raise ValueError(
                f"{name} is computed from all pairs of rows, which estimator={self.estimator!r} "
                "does not compare; call pkex.hsic with estimator='unbiased' on fewer rows"
            )
        return self.normaliser

    def __copy__(self) -> HSICResult:
        # Not by way of what is pickled: indices are computed when asked for, of a copy too.
        same = object.__new__(type(self))
        same.__dict__.update(self.__dict__)
        return same

    def __deepcopy__(self, memo: dict[int, Any]) -> HSICResult:
        # Nothing that a result holds can be changed.
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        if self.normaliser is None:
            return dict(self.__dict__)
        # The indices instead of the data that they would be computed from.
        indices = {"r2": self.r2, "alone_r2": self.alone_r2}
        return {**self.__dict__, **indices, "normaliser": None}

    def _plain(self) -> dict[str, Any]:
        known: dict[str, Any] = {
            name: plain_numbers(name, vars(self)[name])
            for name in ("r2", "alone_r2")
            if name in vars(self)
        }
        return {
            **super()._plain(),
            "target_kernel": repr(self.target_kernel),
            "target_kernel_parameters": kernel_parameters(self.target_kernel),
            "target_bandwidth": self.target_bandwidth,
            "attribute": self.attribute,
            **known,
        }

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        return {**super()._fields(document), **hsic_fields(document)}

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        result = super()._of_document(document)
        if "r2" in document:
            result.__dict__["r2"] = float(document.numbers("r2", missing=True))
        if "alone_r2" in document:
            indices = document.numbers("alone_r2", "feature", missing=True)
            result.__dict__["alone_r2"] = owned(indices)
        return result

    @property
    def label(self) -> str:
        """What the statistic is called."""
        return "HSIC"

    @property
    def hypothesis(self) -> str:
        """The hypothesis of the p-values of the statistic and of the values, in words."""
        return "X and y are independent"

    @property
    def alone_hypothesis(self) -> str:
        """The hypothesis of the p-value of a feature by itself, in words."""
        return f"this feature and {self._other_side} are"

    @property
    def finding(self) -> str:
        """What a feature does whose p-value alone is small, in words."""
        return f"depends on {self._other_side}"

    def _report(self, options: ReportOptions) -> PageContent:
        # Not before a report is asked for.
        from pkex.compare.results.report import report_dependence

        kind = type(self).__name__
        names, tables, level = options.comparison(kind, ("X", "y"), SMALL_PVALUE)
        if self.attribute == "y":
            # The table whose columns have values comes first.
            names, tables = names[::-1], None if tables is None else tables[::-1]
        return report_dependence(self, level, names, tables)

    @property
    def _other_side(self) -> str:
        return "y" if self.attribute == "x" else "X"
