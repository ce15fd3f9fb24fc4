"""Interaction coefficients of coalitions of features, the result of `Explainer.interactions`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import coalitions
from pkex.games.indices import Index
from pkex.games.value_functions import ValueFunction
from pkex.inputs.documents import Document
from pkex.inputs.wording import counted
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.results.coalition_values import CoalitionValues
from pkex.results.conversions import frame, shap_interactions, shap_matrices, shapiq_values
from pkex.results.interaction_plots import INTERACTION_KINDS, draw_interactions
from pkex.results.options import PlotOptions, ReportOptions
from pkex.results.order_shares import order_shares
from pkex.results.result import RESULT_HINTS
from pkex.results.row_result import RowResult
from pkex.results.sizes import mean_size
from pkex.results.summary import Summary
from pkex.typing import Float

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd
    import shap
    import shapiq

    from pkex.results.report import PageContent

# Indices whose coefficients of orders 1 and 2 add up to the output, as shap's matrices do.
_EFFICIENT = ("k-SII", "SII", "STII", "FSII")

# Attributes of explanations, and their alternatives here.
_HINTS = RESULT_HINTS | {
    "expected_value": "use interactions.base_values, one for each row",
    "centered": "use explainer(X).centered()",
}


class Interactions(RowResult[CoalitionValues]):
    """Interaction coefficients of rows: one for every coalition of features up to an order.

    Returned by `Explainer.interactions`. The coefficients are whole, not split between the members
    of a coalition. Coefficients of k-SII, STII and FSII, plus the base value, add up to the
    explained function: ``interactions.values.sum(axis=1) + interactions.base_values``.

    Parameters
    ----------
    values : ndarray of shape (n, coalitions) or (n, coalitions, outputs)
        The coefficients of all coalitions of 1 to `order` features, sorted by size, then in
        lexicographic order. All arrays are made read-only, not copied.
    empty_values : ndarray of shape (n,) or (n, outputs)
        The coefficient of the empty coalition: its value, except for SII (order 2 or more), BII and
        FBII, where it is an average.
    base_values : float or ndarray of shape (outputs,)
        The value of the empty coalition.
    data : ndarray of shape (n, d)
        The explained rows.
    feature_names : sequence of str, length d
    output_names : sequence of str, optional
        Names along the output axis, if there is one.
    index : str
        The interaction index.
    order : int
        The largest number of features in a coalition.
    row_index : pandas.Index, optional
        Labels of the rows.
    output_name : str, optional
        The name of the only output, if there is no output axis.
    value_function : str, optional
        The value function, as in `Explainer`; None if it is not known.

    Examples
    --------
    >>> import pkex
    >>> f = pkex.KernelExpansion([[0.0, 0.0], [1.0, 2.0]], [1.0, -1.0], pkex.kernels.RBF())
    >>> explainer = pkex.Explainer(f, [[0.0, 1.0]], feature_names=["age", "bmi"])
    >>> interactions = explainer.interactions([[0.5, 2.0]])
    >>> interactions
    Interactions(1 row × 3 coalitions of up to 2 of 2 features, interventional, index='k-SII')
    pair       coefficient
    age × bmi   -0.053217
    >>> interactions.coalitions
    [(0,), (1,), (0, 1)]
    >>> total = interactions.values.sum(axis=1) + interactions.base_values
    >>> bool(abs(total - f.predict([[0.5, 2.0]])).max() < 1e-15)
    True
    """

    _hints = _HINTS
    _choice = "select rows by index, and a coalition by .of('age', 'bmi')"
    _kinds = INTERACTION_KINDS

    def __init__(
        self,
        values: Float,
        empty_values: Float,
        base_values: float | Float,
        data: NDArray[Any],
        feature_names: Sequence[str],
        output_names: Sequence[str] | None,
        index: Index,
        order: int,
        row_index: pd.Index | None = None,
        output_name: str | None = None,
        value_function: ValueFunction | None = None,
    ) -> None:
        present = (ROW, FEATURE) if output_names is None else (ROW, FEATURE, OUTPUT)
        outputs = output_names
        if output_name is not None:
            outputs = [output_name]
        axes = Axes(
            tuple(feature_names), None if outputs is None else tuple(outputs), row_index, present
        )
        self._rows = CoalitionValues(
            values, empty_values, base_values, data, axes, index, order, value_function
        )

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self._rows = CoalitionValues.of_parts(parts)

    @classmethod
    def _of_document(cls, document: Document) -> Self:
        return cls._of(CoalitionValues.of_document(document))

    @property
    def values(self) -> NDArray[np.float64]:
        """The coefficients, shape (n, coalitions) or (n, coalitions, outputs)."""
        return self._rows.values

    @property
    def empty_values(self) -> NDArray[np.float64]:
        """The coefficients of the empty coalition, shape (n,) or (n, outputs)."""
        return self._rows.empty_values

    @property
    def base_values(self) -> NDArray[np.float64]:
        """The value of the empty coalition, shape (n,) or (n, outputs)."""
        return np.broadcast_to(self._rows.base, self.empty_values.shape)

    @property
    def index(self) -> str:
        """The interaction index."""
        return self._rows.index

    @property
    def order(self) -> int:
        """The largest number of features in a coalition."""
        return self._rows.order

    @cached_property
    def coalitions(self) -> list[tuple[int, ...]]:
        """The coalitions in the order of `values`, as tuples of feature numbers.

        The list is computed at its first use and cached. Each coalition takes the memory of about
        ten coefficients; `of` and `of_size` do not need the list.
        """
        sizes = range(1, self.order + 1)
        by_size = (coalitions(len(self._axes.features), size).tolist() for size in sizes)
        return [tuple(members) for size_members in by_size for members in size_members]

    @property
    def coalition_names(self) -> list[str]:
        """Names of the coalitions in the order of `values`, such as "age × bmi"."""
        names = self._axes.features
        return [" × ".join(names[member] for member in members) for members in self.coalitions]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def _summary(self, n_lines: int) -> Summary:
        """Return sizes, value function and index, and a small table of the strongest coalitions."""
        sizes = (
            f"{counted(len(self), 'row')} × {counted(self.shape[1], 'coalition')} of up to "
            f"{self.order} of {counted(len(self._axes.features), 'feature')}"
        )
        if self.output_names is not None:
            sizes += f" × {counted(len(self.output_names), 'output')}"
        if self.output_name is not None:
            sizes += f", output {self.output_name!r}"
        if self.value_function is not None:
            sizes += f", {self.value_function}"
        head = f"Interactions({sizes}, index={self.index!r})"
        return Summary(head, self._rows.tables(n_lines))

    def _report(self, options: ReportOptions) -> PageContent:
        from pkex.results.interaction_report import report_interactions

        title = options.title(type(self).__name__, "the model's output")
        if len(self) == 0:
            raise ValueError("there are no rows to report. Explain at least one row")
        index = f"{self.index}, order {self.order}"
        facts = {"Rows": str(len(self)), "Index": index, **self._settings()}
        return report_interactions(self._rows.by_output(), title, facts)

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        output = self._checked_output(options, "interactions.output(name).plot()")
        if len(self) == 0:
            raise ValueError("there are no rows to draw. Explain at least one row")
        rows = self._rows if output is None else self._rows.of_output(output)
        (coefficients,) = rows.by_output().values()
        return draw_interactions(coefficients, options, self.index, rows.axes.output_name)

    def __getitem__(self, rows: Any) -> Self:
        """Return the interactions of rows, by number, slice, list or mask; the axis remains."""
        if isinstance(rows, tuple | str):
            raise IndexError(
                f"interactions[...] selects rows only; got {rows!r}. Select a coalition by "
                ".of('age', 'bmi'), an output by .output('name')"
            )
        if not isinstance(rows, slice) and np.ndim(rows) == 0:
            number = operator.index(rows)
            if not -len(self) <= number < len(self):
                raise IndexError(f"row {number} is out of range: there are {len(self)} rows")
            rows = [number]
        elif not isinstance(rows, slice) and np.ndim(rows) != 1:
            raise IndexError(
                f"an index of rows must be a list or a 1-d array; got a {np.ndim(rows)}-d array"
            )
        return self._of(self._rows.of_rows(rows))

    def output(self, output: int | str) -> Self:
        """Return the interactions of one output, without the output axis.

        Parameters
        ----------
        output : int or str
            The number or name of the output.

        Returns
        -------
        Interactions

        Raises
        ------
        ValueError
            If there is a single output, without an output axis.
        KeyError, IndexError, TypeError
            If there is no such output.

        Examples
        --------
        >>> import pkex
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> X, y = load_iris(return_X_y=True)
        >>> interactions = pkex.Explainer(SVC().fit(X, y)).interactions(X[:2])
        >>> interactions.output("0 vs 1").shape
        (2, 10)
        """
        if OUTPUT not in self._axes.present:
            raise ValueError(
                f"output={output!r} was given, but there is a single output and no output axis"
            )
        return self._of(self._rows.of_output(output))

    def of(self, *features: Any) -> NDArray[np.float64]:
        """Return the coefficient of one coalition in each row.

        Parameters
        ----------
        *features : int or str, or one tuple of these
            The members of the coalition, by number or name, in any order. Without arguments, the
            empty coalition.

        Returns
        -------
        ndarray of shape (n,) or (n, outputs)

        Raises
        ------
        KeyError, IndexError, TypeError
            If there is no such feature.
        ValueError
            If a feature occurs twice, or there are more than `order` features.

        Examples
        --------
        >>> import pkex
        >>> f = pkex.KernelExpansion([[0.0, 0.0], [1.0, 2.0]], [1.0, -1.0], pkex.kernels.RBF())
        >>> explainer = pkex.Explainer(f, [[0.0, 1.0]], feature_names=["age", "bmi"])
        >>> explainer.interactions([[0.5, 2.0]]).of("age", "bmi").round(4)
        array([-0.0532])
        """
        if len(features) == 1 and isinstance(features[0], tuple):
            features = features[0]
        return self._rows.of(features) if features else self.empty_values

    def of_size(self, size: int) -> NDArray[np.float64]:
        """Return the coefficients of all coalitions with a number of features.

        Parameters
        ----------
        size : int
            The number of features, from 1 to `order`.

        Returns
        -------
        ndarray of shape (n, C(d, size)) or (n, C(d, size), outputs)
            In lexicographic order of the coalitions.

        Raises
        ------
        ValueError
            If `size` is not between 1 and `order`.

        Examples
        --------
        >>> import pkex
        >>> f = pkex.KernelExpansion([[0.0, 0.0, 0.0]], [1.0], pkex.kernels.RBF())
        >>> pkex.Explainer(f).interactions([[0.5, 1.0, 2.0]]).of_size(2).shape
        (1, 3)
        """
        return self._rows.of_size(size)

    def importance(self) -> NDArray[np.float64]:
        """Return the mean absolute coefficient of each coalition over the rows.

        For neutral coefficients of several rows, it is the mean absolute deviation from their mean,
        as in `Explanation.importance`.

        Returns
        -------
        ndarray of shape (coalitions,) or (coalitions, outputs)
            In the order of `coalitions`.

        Raises
        ------
        ValueError
            If there are no rows to average over.
        """
        if len(self) == 0:
            raise ValueError("there are no rows to average over. Explain at least one row")
        return mean_size(self.values, self.value_function)

    def _kind_and_names(self) -> tuple[str, Sequence[str]]:
        return "coalition", self.coalition_names

    def order_shares(self) -> NDArray[np.float64]:
        """Return the contribution of coalitions of each size to each feature's Shapley value.

        The Shapley value of feature j is ``Σ_T m_T/|T|`` over the coalitions T that contain j, with
        the Möbius coefficients m. This method splits the sum by ``|T|``. It requires
        ``index="Moebius"``.

        Returns
        -------
        ndarray of shape (n, d, order) or (n, d, order, outputs)
            The shares of orders 1, …, order. With order = d they add up to the Shapley value.

        Raises
        ------
        ValueError
            If the index is not "Moebius".

        Warns
        -----
        UserWarning
            If there are higher orders than `order`, and the shares of the last order exceed 1 % of
            the sums. Shares may alternate in sign and grow with the number of coalitions, so the
            sum of the first orders may differ from the Shapley value.

        Examples
        --------
        >>> import pkex
        >>> f = pkex.KernelExpansion([[0.0, 0.0]], [1.0], pkex.kernels.RBF())
        >>> explainer = pkex.Explainer(f)
        >>> shares = explainer.interactions([[0.5, 1.0]], index="Moebius").order_shares()
        >>> bool(abs(shares.sum(axis=2) - explainer.shap_values([[0.5, 1.0]])).max() < 1e-15)
        True
        """
        if self.index != "Moebius":
            raise ValueError(
                f"order_shares requires index='Moebius'; got index={self.index!r}. Call "
                "explainer.interactions(X, index='Moebius', order=...)"
            )
        return order_shares([self.of_size(1 + size) for size in range(self.order)], self._axes)

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        if errors:
            raise ValueError("to_frame(errors=True) requires estimates; interactions are exact")
        return frame(self.values, self._axes, self.coalition_names)

    def to_shap(self) -> shap.Explanation:
        """Return a copy as a `shap.Explanation` in the layout of shap's interaction values.

        Use it with ``shap.plots.scatter(interactions.to_shap()[:, 0, 1])``, which shap indexes by
        number, and ``shap.dependence_plot(("age", "bmi"), interactions.to_shap().values, X)``.

        Returns
        -------
        shap.Explanation
            ``values`` has shape (n, d, d) or (n, d, d, outputs). Each of the two places of a pair
            has half of its coefficient; the diagonal has the coefficients of single features (for
            SII, those of k-SII). With k-SII and SII, each line adds up to the feature's Shapley
            value.

        Raises
        ------
        ValueError
            If the order is not 2 (1 for a single feature), or the index is not k-SII, SII, STII or
            FSII.
        ImportError
            If shap is not installed.
        """
        if self.order != min(2, len(self._axes.features)) or self.index not in _EFFICIENT:
            raise ValueError(
                "to_shap requires order=2 and one of the indices that add up to the output, "
                f"{' or '.join(map(repr, _EFFICIENT))}; got index={self.index!r} with "
                f"order={self.order}"
            )
        pairs = None if self.order == 1 else self.of_size(2)
        matrices = shap_matrices(self.of_size(1), pairs, self.index)
        return shap_interactions(matrices, self.base_values, self.data, self._axes)

    def to_shapiq(self) -> list[shapiq.InteractionValues]:
        """Return a `shapiq.InteractionValues` for each row.

        The coefficient of the empty coalition has the key ``()``. ``baseline_value`` is the value
        of the empty coalition, except for FBII, where it is that coefficient, as in shapiq. The
        dictionary of coalitions takes many times the memory of a row's coefficients; all rows share
        it.

        Returns
        -------
        list of shapiq.InteractionValues

        Raises
        ------
        ValueError
            If there is an output axis: choose one output by ``output``.
        ImportError
            If shapiq is not installed.
        """
        if self.output_names is not None:
            raise ValueError(
                f"to_shapiq requires a single output; there are {self.output_names}. Choose one by "
                "interactions.output(name)"
            )
        # The baseline of shapiq's FBII is the constant of its least-squares fit.
        is_fit = self.index == "FBII"
        return shapiq_values(
            np.column_stack([self.empty_values, self.values]),
            self.empty_values if is_fit else self.base_values,
            [(), *self.coalitions],
            index=self.index,
            order=self.order,
            n_players=len(self._axes.features),
        )
