"""Base class of the results of MMD and HSIC."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from pkex.compare.permutation.significance import Significance
from pkex.compare.results.columns import parse_columns
from pkex.compare.results.summary import (
    COLUMNS,
    SMALL_PVALUE,
    describe_kernel,
    disagreement_notes,
    features_table,
    legend,
)
from pkex.compare.results.wording import Wording
from pkex.inputs.arrays import ReadOnlyArrays
from pkex.inputs.choices import ESTIMATORS, SAMPLED_ESTIMATORS, STATISTICS_CONVENTIONS
from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.kernels import Kernel
from pkex.kernels.kernel_dicts import kernel_from_dict, kernel_to_dict
from pkex.results.axes import FEATURE, Axes
from pkex.results.options import PlotOptions
from pkex.results.plots import draw_statistic
from pkex.results.result import Result
from pkex.results.summary import Summary
from pkex.results.tables import number
from pkex.tables.encode import Column, Encoding
from pkex.typing import Float

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd

# Attributes of documents, in this order, without those that subclasses add.
_DOCUMENT_FIELDS = (
    *("statistic", "pvalue", "statistic_pvalue", "univariate_pvalue"),
    *("values", "standard_errors", "feature_pvalues", "familywise_pvalues"),
    *("alone", "alone_pvalues", "alone_familywise_pvalues"),
    *("shares", "permuted_values", "feature_names", "notes"),
    *("value_function", "estimator", "n_rows", "kernel", "bandwidth"),
)
_RESULT_PVALUES = ("pvalue", "statistic_pvalue", "univariate_pvalue")


@dataclass(frozen=True, eq=False, repr=False)
class StatisticResult(ReadOnlyArrays, Result):
    """A statistic attributed to features: base class of `MMDResult` and `HSICResult`.

    Arrays have one value per feature or group, and are read-only.
    """

    values: Float
    standard_errors: Float | None
    alone: Float
    _axes: Axes = field(repr=False)
    kernel: Kernel
    bandwidth: str | None
    estimator: str
    value_function: str
    significance: Significance | None = field(repr=False)
    columns: tuple[Column, ...] = field(repr=False)

    _kinds = ("bar",)
    # The name of the statistic, the function or class that computes it, and whether data frames
    # have a column of shares.
    _label: ClassVar[str]
    _origin: ClassVar[str]
    _has_share_column: ClassVar[bool] = False

    @property
    def feature_names(self) -> list[str]:
        """The names of the features or groups."""
        return list(self._axes.features)

    @property
    def statistic(self) -> float:
        """The statistic, which is the sum of the values."""
        return math.fsum(self.values)

    @property
    def shares(self) -> Float | None:
        """The values divided by their sum; they add up to 1. None if the sum is not positive.

        With the biased estimator, features without effect have positive values, which can add up to
        a large share. With permutations, the mean of the permuted values is subtracted first.
        """
        values = self._values_without_bias()
        statistic = float(values.sum())
        return values / statistic if statistic > 0.0 else None

    def _values_without_bias(self) -> Float:
        """Return the values; for the biased estimator, minus the mean of the permuted values."""
        permuted_values = self.permuted_values
        if self.estimator != "biased" or permuted_values is None:
            return self.values
        difference: Float = self.values - permuted_values.mean(axis=0)
        return difference

    @property
    def pvalue(self) -> float | None:
        """The p-value of the result; None without permutations.

        It is the smaller of `statistic_pvalue` and `univariate_pvalue`, calibrated by the same
        permutations.
        """
        return None if self.significance is None else self.significance.pvalue

    @property
    def statistic_pvalue(self) -> float | None:
        """The p-value of the statistic; None without permutations."""
        return None if self.significance is None else self.significance.statistic_pvalue

    @property
    def univariate_pvalue(self) -> float | None:
        """The p-value of the largest standardized value in `alone`; None without permutations.

        It is the smallest of `alone_familywise_pvalues`.
        """
        return None if self.significance is None else self.significance.univariate_pvalue

    @property
    def feature_pvalues(self) -> Float | None:
        """The unadjusted p-value of each Shapley value; None without permutations."""
        return None if self.significance is None else self.significance.feature_pvalues

    @property
    def familywise_pvalues(self) -> Float | None:
        """P-values of the Shapley values, family-wise adjusted; None without permutations.

        Under the hypothesis, the probability that any of them is at most α is at most α.
        """
        return None if self.significance is None else self.significance.familywise_pvalues

    @property
    def permuted_values(self) -> Float | None:
        """The values for each permutation, shape (n_permutations, P); None without."""
        return None if self.significance is None else self.significance.permuted_values

    @property
    def alone_pvalues(self) -> Float | None:
        """The unadjusted univariate p-value of each feature; None without permutations.

        Its hypothesis concerns this feature only.
        """
        return None if self.significance is None else self.significance.alone_pvalues

    @property
    def alone_familywise_pvalues(self) -> Float | None:
        """Univariate p-values, family-wise adjusted; None without permutations.

        The probability that any feature whose hypothesis holds has a p-value of at most α is at
        most α, for any behavior of the other features (Westfall and Young 1993), if these features
        satisfy the hypothesis jointly.
        """
        return None if self.significance is None else self.significance.alone_familywise_pvalues

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on features whose Shapley value and univariate test seem to disagree."""
        if self.significance is None:
            return ()
        is_neutral = self.value_function == "neutral"
        return disagreement_notes(
            self._axes.features, self.significance, self._wording, is_neutral=is_neutral
        )

    @property
    def label(self) -> str:
        """The name of the statistic."""
        return self._label

    @property
    def hypothesis(self) -> str:
        """The hypothesis of the p-values of the statistic and of the Shapley values, in words."""
        return self._wording.hypothesis

    @property
    def alone_hypothesis(self) -> str:
        """The hypothesis of a univariate p-value, in words."""
        return self._wording.alone_hypothesis

    @property
    def finding(self) -> str:
        """What a feature with a small univariate p-value does, in words."""
        return self._wording.does

    @property
    def _wording(self) -> Wording:
        """The words of hypotheses and conclusions."""
        raise NotImplementedError

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        """Return the values, for NumPy and for selectors: a copy unless ``copy=False``."""
        if copy is not False:
            return np.array(self.values, dtype=dtype)
        array = np.asarray(self.values, dtype=dtype)
        if array is not self.values:
            raise ValueError(f"the values cannot be converted to {dtype} without a copy")
        return array

    def _plain(self) -> dict[str, Any]:
        plain = {name: _plain(name, getattr(self, name)) for name in _DOCUMENT_FIELDS}
        if (n_pairs := self._n_pairs()) is not None:
            plain["n_pairs"] = n_pairs
        return {
            **plain,
            "kernel_parameters": kernel_parameters(self.kernel),
            "columns": [column.to_dict() for column in self.columns],
        }

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        return cls(**cls._fields(document))

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        """Return the fields of the class, read from a document."""
        names = document.texts("feature_names", FEATURE)
        errors = "standard_errors"
        return {
            "values": document.numbers("values", FEATURE),
            errors: document.numbers(errors, FEATURE, missing=True)
            if document.has(errors)
            else None,
            "alone": document.numbers("alone", FEATURE),
            "_axes": Axes(names, present=(FEATURE,)),
            "kernel": document.read("kernel_parameters", kernel_from_dict),
            "bandwidth": document.text("bandwidth") if document.has("bandwidth") else None,
            "estimator": document.choice("estimator", (*ESTIMATORS, *SAMPLED_ESTIMATORS)),
            "value_function": document.choice("value_function", STATISTICS_CONVENTIONS),
            "significance": _significance(document) if document.has("pvalue") else None,
            "columns": document.read("columns", parse_columns),
            "n_pairs": document.integer("n_pairs", least=1) if document.has("n_pairs") else None,
        }

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        import pandas as pd

        if errors and self.standard_errors is None:
            raise ValueError("to_frame(errors=True): this result has no standard errors")
        columns = self._table_columns()
        if self._has_share_column and self.shares is not None:
            columns = {"value": self.values, "share": self.shares, **columns}
        if errors is False:
            columns.pop(COLUMNS["standard_errors"], None)
        frame = pd.DataFrame(columns, index=pd.Index(self._axes.features, name="feature"))
        return frame.sort_values("value", ascending=False, kind="stable")

    def _table_columns(self) -> dict[str, Float]:
        """Return the columns of tables by their titles."""
        columns = {title: getattr(self, name) for name, title in COLUMNS.items()}
        return {title: column for title, column in columns.items() if column is not None}

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        options.check_single_output(type(self).__name__)
        pvalues = self.alone_familywise_pvalues
        return draw_statistic(
            options.ax,
            options.max_features,
            names=self._axes.features,
            values=self.values,
            standard_errors=self.standard_errors,
            alone=self.alone,
            is_filled=None if pvalues is None else pvalues <= SMALL_PVALUE,
            fill_label=f"family-wise adjusted p ≤ {SMALL_PVALUE}",
            permuted_values=self.permuted_values,
            title=self._title(),
        )

    def _title(self) -> str:
        title = f"{self.label} = {self.statistic:.3g}"
        return title if self.pvalue is None else f"{title}, p = {self.pvalue:.3g}"

    def _headline(self) -> str:
        n_pairs = self._n_pairs()
        pairs = "" if n_pairs is None else f", {n_pairs:,} pairs"
        pvalue = "" if self.pvalue is None else f", {self._pvalues()}"
        return (
            f"{type(self).__name__}: {self.label} = {number(self.statistic)}{pvalue} "
            f"({self.estimator}{pairs}, {self.value_function} values)"
        )

    def _pvalues(self) -> str:
        """Return the p-value and the two p-values that it combines, in words."""
        pvalues = self.pvalue, self.statistic_pvalue, self.univariate_pvalue
        pvalue, statistic_pvalue, univariate_pvalue = (number(p) for p in pvalues)
        if len(self.values) == 1:
            return f"p-value {pvalue}"
        return (
            f"p-value {pvalue} (all features together {statistic_pvalue}, "
            f"strongest single feature {univariate_pvalue})"
        )

    @property
    def _missing_pvalues(self) -> str:
        """How to get p-values; empty if there are some, or weighted rows, which have none."""
        if self.significance is not None or self.standard_errors is None:
            return ""
        return f"pass n_permutations to {self._origin}, such as n_permutations=199"

    def _n_pairs(self) -> int | None:
        """Return the number of pairs of an estimator with a budget."""
        return getattr(self, "n_pairs", None)

    def _summary(self, n_lines: int) -> Summary:
        """Return the statistic, a table of the strongest features, the kernel and the notes."""
        columns = Encoding(self.columns).describe()
        lines = [] if self.significance is None else legend(self._wording)
        lines += [f"p-values: {advice}"] if (advice := self._missing_pvalues) else []
        lines.append(f"kernel: {describe_kernel(self.kernel, self.bandwidth)}")
        lines += [] if columns is None else [f"columns: {columns}"]
        lines += [*self._observations(), *(f"note: {note}" for note in self.notes)]
        features = features_table(self._axes.features, self.values, self._table_columns(), n_lines)
        return Summary(self._headline(), [features], lines)

    def _observations(self) -> list[str]:
        """Return lines on observations other than the statistic."""
        return []


def kernel_parameters(kernel: Kernel) -> dict[str, Any] | None:
    """Return the class and the parameters of a kernel; None if pkex does not define its class."""
    try:
        return kernel_to_dict(kernel)
    except TypeError:
        return None


def _plain(name: str, item: Any) -> Any:
    """Return an attribute as JSON data."""
    if isinstance(item, np.ndarray):
        return plain_numbers(name, item)
    if isinstance(item, Kernel):
        return repr(item)
    return list(item) if isinstance(item, tuple) else item


def _significance(document: Document) -> Significance:
    axes = {**dict.fromkeys(_RESULT_PVALUES, ()), "permuted_values": ("permutation", FEATURE)}
    arrays: dict[str, Any] = {
        item.name: document.numbers(item.name, *axes.get(item.name, (FEATURE,)))
        for item in fields(Significance)
    }
    for name, numbers in arrays.items():
        is_pvalue = name != "permuted_values"
        if not numbers.size or (is_pvalue and not ((numbers > 0.0) & (numbers <= 1.0)).all()):
            raise document.error(
                f"the field {name!r} must have {'p-values' if is_pvalue else 'permutations'}"
            )
    return Significance(**{**arrays, **{name: float(arrays[name]) for name in _RESULT_PVALUES}})
