"""A statistic divided among features: what results of MMD and HSIC share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from pkex.compare.permutation.significance import Significance
from pkex.compare.results.documents import attribution_fields, kernel_parameters
from pkex.compare.results.summary import (
    COLUMNS,
    SMALL_PVALUE,
    described,
    legend,
    notes_of,
    table,
)
from pkex.inputs.arrays import ReadOnlyArrays
from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.kernels import Kernel
from pkex.results.axes import Axes
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

__all__ = ["StatisticResult"]


@dataclass(frozen=True, eq=False, repr=False)
class StatisticResult(ReadOnlyArrays, Result):
    """A statistic divided among features; what MMD and HSIC results share.

    Arrays have one entry for each feature or group, and are read-only.
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
    # Whether tables for pandas have the shares; without them they fit into 80 characters.
    _has_share_column: ClassVar[bool] = False

    @property
    def feature_names(self) -> list[str]:
        """The names of the features or groups."""
        return list(self._axes.features)

    @property
    def statistic(self) -> float:
        """The statistic, which the values add up to."""
        return math.fsum(self.values)

    @property
    def shares(self) -> Float | None:
        """The values as parts of their sum, which add up to 1; None if that is not positive.

        The biased estimator has a positive value for features that show nothing, which many
        features add up to a large share. With permutations their mean is subtracted before.
        """
        values = self._values_without_bias()
        statistic = float(values.sum())
        return values / statistic if statistic > 0.0 else None

    def _values_without_bias(self) -> Float:
        """Return the values, those of a biased estimator without their mean over permutations."""
        permuted = self.permuted_values
        if self.estimator != "biased" or permuted is None:
            return self.values
        found: Float = self.values - permuted.mean(axis=0)
        return found

    @property
    def pvalue(self) -> float | None:
        """The p-value of the result; None without permutations.

        It combines `statistic_pvalue` and `univariate_pvalue`: the smaller of them, calibrated by
        the same permutations.
        """
        return None if self.significance is None else self.significance.pvalue

    @property
    def statistic_pvalue(self) -> float | None:
        """The p-value of the statistic, of all features together; None without permutations."""
        return None if self.significance is None else self.significance.statistic_pvalue

    @property
    def univariate_pvalue(self) -> float | None:
        """The p-value of the largest standardized `alone`, of the strongest single feature.

        It is the smallest of `alone_familywise_pvalues`; None without permutations.
        """
        return None if self.significance is None else self.significance.univariate_pvalue

    @property
    def feature_pvalues(self) -> Float | None:
        """The p-value of each value by itself; None without permutations."""
        return None if self.significance is None else self.significance.feature_pvalues

    @property
    def familywise_pvalues(self) -> Float | None:
        """P-values of the values, corrected for their number; None without permutations.

        Under the hypothesis the chance that any of them is at most α is at most α.
        """
        return None if self.significance is None else self.significance.familywise_pvalues

    @property
    def permuted_values(self) -> Float | None:
        """The values after each relabelling, shape (n_permutations, P); None without."""
        return None if self.significance is None else self.significance.permuted_values

    @property
    def alone_pvalues(self) -> Float | None:
        """The p-value of each feature by itself, of `alone`; None without permutations.

        Its hypothesis concerns this feature only.
        """
        return None if self.significance is None else self.significance.alone_pvalues

    @property
    def alone_familywise_pvalues(self) -> Float | None:
        """P-values of features by themselves, corrected for their number; None without a test.

        The chance that any feature whose own hypothesis holds has one of at most α is at most α,
        whatever the other features do (Westfall and Young 1993), if those features hold it jointly.
        """
        return None if self.significance is None else self.significance.alone_familywise_pvalues

    @property
    def notes(self) -> tuple[str, ...]:
        """What is easily misread: features whose value and whose test by itself say different."""
        if self.significance is None:
            return ()
        is_neutral = self.value_function == "neutral"
        return notes_of(self._axes.features, self.significance, self.finding, is_neutral=is_neutral)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[Any]:
        """Return the values, for NumPy, and for selectors: a copy unless ``copy=False``."""
        if copy is not False:
            return np.array(self.values, dtype=dtype)
        array = np.asarray(self.values, dtype=dtype)
        if array is not self.values:
            raise ValueError("the values cannot be had as they are, without a copy")
        return array

    def _plain(self) -> dict[str, Any]:
        names = ("statistic", "pvalue", "statistic_pvalue", "univariate_pvalue", *COLUMNS, "shares")
        names += ("permuted_values", "feature_names", "notes")
        names += ("value_function", "estimator", "n_rows", "kernel", "bandwidth")
        found = {name: _plain(name, getattr(self, name)) for name in names}
        if (n_pairs := self._n_pairs()) is not None:
            found["n_pairs"] = n_pairs
        return {
            **found,
            "kernel_parameters": kernel_parameters(self.kernel),
            "columns": [column.to_dict() for column in self.columns],
        }

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        return cls(**cls._fields(document))

    @classmethod
    def _fields(cls, document: Document) -> dict[str, Any]:
        """Return the fields of the class, read from a document."""
        return attribution_fields(document)

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        import pandas as pd

        if errors and self.standard_errors is None:
            raise ValueError("to_frame(errors=True): this result has no standard errors")
        shares = {"share": self.shares} if self._has_share_column else {}
        columns = {"value": self.values, **shares}
        columns |= {title: getattr(self, name) for name, title in COLUMNS.items()}
        if errors is False:
            del columns[COLUMNS["standard_errors"]]
        frame = pd.DataFrame(
            {title: column for title, column in columns.items() if column is not None},
            index=pd.Index(self._axes.features, name="feature"),
        )
        return frame.sort_values("value", ascending=False, kind="stable")

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
            is_found=None if pvalues is None else pvalues <= SMALL_PVALUE,
            found=f"family-wise p ≤ {SMALL_PVALUE}",
            permuted_values=self.permuted_values,
            title=self._title(),
        )

    def _title(self) -> str:
        title = f"{self.label} = {self.statistic:.5g}"
        return title if self.pvalue is None else f"{title}, p = {self.pvalue:.3g}"

    @property
    def label(self) -> str:
        """What the statistic is called."""
        raise NotImplementedError

    @property
    def hypothesis(self) -> str:
        """The hypothesis of the p-values of the statistic and of the values, in words."""
        raise NotImplementedError

    @property
    def alone_hypothesis(self) -> str:
        """The hypothesis of the p-value of a feature by itself, in words."""
        raise NotImplementedError

    @property
    def finding(self) -> str:
        """What a feature does whose p-value alone is small, in words."""
        raise NotImplementedError

    def _headline(self) -> str:
        n_pairs = self._n_pairs()
        of_pairs = "" if n_pairs is None else f", {n_pairs:,} pairs"
        pvalue = "" if self.pvalue is None else f", {self._pvalues()}"
        return (
            f"{type(self).__name__}: {self.label} = {number(self.statistic)}{pvalue} "
            f"({self.estimator}{of_pairs}, {self.value_function} values)"
        )

    def _pvalues(self) -> str:
        """Return the p-value and the two that it combines, in words."""
        both = self.pvalue, self.statistic_pvalue, self.univariate_pvalue
        of_result, of_statistic, univariate = (number(p) for p in both)
        if len(self.values) == 1:
            return f"p-value {of_result}"
        return (
            f"p-value {of_result} (all features together {of_statistic}, "
            f"strongest single feature {univariate})"
        )

    def _n_pairs(self) -> int | None:
        """Return how many pairs an estimator with a budget compared."""
        return getattr(self, "n_pairs", None)

    def _summary(self, n_lines: int) -> Summary:
        """Return the statistic, a table of the strongest features, the kernel and the notes."""
        columns_of_features = {name: getattr(self, name) for name in COLUMNS}
        strongest = table(self._axes.features, columns_of_features, n_lines)
        lines = []
        if self.significance is not None:
            lines.append(legend(self.hypothesis, self.alone_hypothesis))
        lines.append(f"kernel: {described(self.kernel, self.bandwidth)}")
        columns = Encoding(self.columns).described()
        if columns is not None:
            lines.append(f"columns: {columns}")
        lines += [*self._observations(), *(f"note: {note}" for note in self.notes)]
        return Summary(self._headline(), [strongest], lines)

    def _observations(self) -> list[str]:
        """Return lines on what was observed beside the statistic."""
        return []


def _plain(name: str, item: Any) -> Any:
    """Return an item as JSON holds it."""
    if isinstance(item, np.ndarray):
        return plain_numbers(name, item)
    if isinstance(item, Kernel):
        return repr(item)
    return list(item) if isinstance(item, tuple) else item
