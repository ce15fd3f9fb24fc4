"""The result of `pkex.hsic`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pkex.compare.pairs.normalizer import Normalizer
from pkex.compare.results.statistic import StatisticResult, kernel_parameters
from pkex.compare.results.summary import SMALL_PVALUE
from pkex.compare.results.wording import DEPENDENCE, Wording
from pkex.inputs.arrays import owned
from pkex.inputs.choices import ESTIMATORS, SIDES
from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.kernels import Kernel
from pkex.kernels.kernel_dicts import kernel_from_dict
from pkex.results.options import ReportOptions
from pkex.typing import Float

if TYPE_CHECKING:
    from pkex.results.report import PageContent


@dataclass(frozen=True, eq=False, repr=False)
class HSICResult(StatisticResult):
    """The Hilbert–Schmidt independence criterion (HSIC), attributed to features.

    Returned by `pkex.hsic`.

    Attributes
    ----------
    statistic : float
        HSIC, the sum of the values. The unbiased estimate may be negative.
    shares : ndarray of shape (P,) or None
        As in `MMDResult`.
    values : ndarray of shape (P,)
        The Shapley value of each feature or group.
    standard_errors : ndarray of shape (P,)
        Standard errors of the values; NaN with fewer than four rows.
    alone : ndarray of shape (P,)
        The univariate value of each feature, v({j}). With ``value_function="neutral"``, it is HSIC
        of this feature; with "marginal", it is multiplied by the mean factors of the others. For a
        sum of kernels this holds for each term, so that p-values depend on the value function.
    alone_r2 : ndarray of shape (P,)
        HSIC(x_j, y) / √(HSIC(x_j, x_j) HSIC(y, y)) of each feature; computed when first accessed.
    r2 : float
        HSIC(x, y) / √(HSIC(x, x) HSIC(y, y)): 0 without dependence, at most 1. Computed when first
        accessed, from a copy of the data, which is not pickled.
    pvalue : float or None
        P-value of the hypothesis that X and y are independent; None without permutations.
    statistic_pvalue, univariate_pvalue : float or None
        As in `MMDResult`.
    feature_pvalues, familywise_pvalues : ndarray of shape (P,) or None
        P-values of the values under the same hypothesis, unadjusted and family-wise adjusted.
    alone_pvalues, alone_familywise_pvalues : ndarray of shape (P,) or None
        Univariate p-values, unadjusted and family-wise adjusted. Their hypothesis is that this
        feature and the other side are independent.
    hypothesis, alone_hypothesis, finding : str
        The hypotheses of the p-values, and what a feature with a small univariate p-value does, in
        words.
    permuted_values : ndarray of shape (n_permutations, P) or None
        The values for each permutation.
    feature_names : list of str
        Names of the columns of X; of y with ``attribute="y"``.
    kernel, target_kernel : pkex.kernels.Kernel
        The kernels of X and of y.
    bandwidth, target_bandwidth : str or None
        The rules that chose the length-scales, or "labels: 1 if equal, else 0" for a target of
        class labels; None for a kernel passed by the user.
    value_function, estimator, attribute : str
        The options of the call.
    notes : tuple of str
        Notes on features whose value and univariate test seem to disagree.
    columns : tuple
        The columns of X, as in `MMDResult`.
    n_rows : int
    n_pairs : int or None
        The number of compared pairs of rows, for the estimators "incomplete" and "block".

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> result = pkex.hsic(X, X[:, 0] > 0.0, kernel=pkex.kernels.RBF(2.0))
    >>> result
    HSICResult: HSIC = 0.041666 (biased, marginal values)
    feature     value    std err  univariate value
    x0       0.040638  0.0051408          0.039877
    x1       0.000532  0.0003915          0.000122
    x2       0.000496  0.0003693          0.000110
    p-values: pass n_permutations to pkex.hsic, such as n_permutations=199
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
    normaliser: Normalizer | None = field(repr=False)
    n_pairs: int | None = field(default=None, kw_only=True)

    _label, _origin = "HSIC", "pkex.hsic"

    @cached_property
    def r2(self) -> float:
        """HSIC(x, y) / √(HSIC(x, x) HSIC(y, y)), by the same estimator.

        It is 0 without dependence, 1 if both kernels are equal up to a factor, and NaN if X or y is
        constant. Computed when first accessed, or pickled, in another pass over the pairs.
        """
        return self._normaliser("r2").normalize(self.statistic)

    @cached_property
    def alone_r2(self) -> Float:
        """`r2` of each feature or group without the others, shape (P,).

        The normalized HSIC of an input, R²-HSIC, in sensitivity analysis (Da Veiga 2015):
        HSIC(x_j, y) / √(HSIC(x_j, x_j) HSIC(y, y)), by the same estimator; NaN for a constant
        feature. Computed when first accessed, or pickled, in passes over the pairs.
        """
        indices = self._normaliser("alone_r2").normalize_univariate(self.alone)
        return owned(indices)

    def _normaliser(self, name: str) -> Normalizer:
        # Pickled results contain r2 and alone_r2.
        if self.normaliser is None and self.estimator in ESTIMATORS:
            raise ValueError(
                f"{name} is not in the document of this result. Access result.{name} before "
                "calling to_dict()"
            )
        if self.normaliser is None:
            raise ValueError(
                f"{name} requires all pairs of rows, which estimator={self.estimator!r} does not "
                "compare. Call pkex.hsic with estimator='unbiased' on fewer rows"
            )
        return self.normaliser

    def __copy__(self) -> HSICResult:
        # Not by pickling, which would compute r2 and alone_r2.
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> HSICResult:
        # Results are immutable.
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        if self.normaliser is None:
            return dict(self.__dict__)
        # r2 and alone_r2 instead of the data they are computed from.
        indices = {"r2": self.r2, "alone_r2": self.alone_r2}
        return {**self.__dict__, **indices, "normaliser": None}

    def _plain(self) -> dict[str, Any]:
        indices: dict[str, Any] = {
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
            **indices,
        }

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        bandwidth = "target_bandwidth"
        return {
            **super()._fields(document),
            "target_kernel": document.read("target_kernel_parameters", kernel_from_dict),
            bandwidth: document.text(bandwidth) if document.has(bandwidth) else None,
            "attribute": document.choice("attribute", SIDES),
            "n_rows": document.integer("n_rows", least=1),
            "normaliser": None,
        }

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
    def _side_names(self) -> tuple[str, str]:
        """The names of the attributed side and of the other side."""
        return ("X", "y") if self.attribute == "x" else ("y", "X")

    @property
    def _wording(self) -> Wording:
        return DEPENDENCE.of(*self._side_names)

    def _report(self, options: ReportOptions) -> PageContent:
        # Imported only if needed.
        from pkex.compare.results.report import report_dependence

        kind = type(self).__name__
        names, tables, level = options.comparison(kind, ("X", "y"), SMALL_PVALUE)
        if self.attribute == "y":
            # The table of the attributed columns comes first.
            names, tables = names[::-1], None if tables is None else tables[::-1]
        return report_dependence(self, level, names, tables)
