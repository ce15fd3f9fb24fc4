"""The result of explaining rows by interactions: coefficients of coalitions of features."""

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

__all__ = ["Interactions"]

# Indices whose coefficients of orders 1 and 2 add up to the output, as shap's matrices do.
_EFFICIENT = ("k-SII", "SII", "STII", "FSII")

# What users of explanations look for, and what to do instead.
_HINTS = {
    "expected_value": "it is interactions.base_values, one for each row",
    "centered": "explanations have it: explainer(X).centered()",
}


class Interactions(RowResult[CoalitionValues]):
    """Interactions of features in some rows: a coefficient for every coalition up to an order.

    What `Explainer.interactions` returns. The coefficients are whole, not split between the members
    of a coalition. Those of k-SII, STII and FSII (and the base value) add up to the explained
    function: ``interactions.values.sum(axis=1) + interactions.base_values``.

    Parameters
    ----------
    values : ndarray of shape (n, coalitions) or (n, coalitions, outputs)
        The coefficients of all coalitions of 1 to `order` features: smaller ones first, those of
        one size in lexicographic order. This and the other arrays are taken over, not copied, and
        can only be read from then on.
    empty_values : ndarray of shape (n,) or (n, outputs)
        The coefficient of the empty coalition: its worth, but for SII (of order 2 or more), BII and
        FBII, where it is an average.
    base_values : float or ndarray of shape (outputs,)
        The worth of the empty coalition.
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
        Without an output axis, what the single output is.
    value_function : str, optional
        The game, as in `Explainer`; None if it is not known.

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
        """The worth of the empty coalition, shape (n,) or (n, outputs)."""
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
        """The coalitions in the order of `values`, as tuples of the numbers of features.

        Made at the first use, and kept: each takes the memory of about ten coefficients. `of` and
        `of_size` do without.
        """
        sizes = range(1, self.order + 1)
        by_size = (coalitions(len(self._axes.features), size).tolist() for size in sizes)
        return [tuple(members) for of_size in by_size for members in of_size]

    @property
    def coalition_names(self) -> list[str]:
        """Names of the coalitions, such as "age × bmi"; like `coalitions`, each a Python object."""
        names = self._axes.features
        return [" × ".join(names[member] for member in members) for members in self.coalitions]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

    def _summary(self, n_lines: int) -> Summary:
        """Return sizes, value function and index, and a small table of the strongest coalitions.

        These are of two features or more, or of one if the order is 1.
        """
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
            raise ValueError("there are no rows to make a report of")
        index = f"{self.index}, order {self.order}"
        facts = {"Rows": str(len(self)), "Index": index, **self._settings()}
        return report_interactions(self._rows.by_output(), title, facts)

    def _draw(self, options: PlotOptions) -> matplotlib.axes.Axes:
        output = self._checked_output(options, "interactions.output(name).plot()")
        if len(self) == 0:
            raise ValueError("there are no rows to draw")
        rows = self._rows if output is None else self._rows.of_output(output)
        (coefficients,) = rows.by_output().values()
        return draw_interactions(coefficients, options, self.index, rows.axes.output_name)

    def __getitem__(self, rows: Any) -> Self:
        """Return some of the rows, by number, slice, list or mask; a number gives one line."""
        if isinstance(rows, tuple | str):
            raise IndexError(
                "only rows are chosen by []; a coalition is by .of('age', 'bmi'), an output by "
                ".output('name')"
            )
        if not isinstance(rows, slice) and np.ndim(rows) == 0:
            number = operator.index(rows)
            if not -len(self) <= number < len(self):
                raise IndexError(f"row {number} is out of range: there are {len(self)} rows")
            rows = [number]
        elif not isinstance(rows, slice) and np.ndim(rows) != 1:
            raise IndexError(f"rows are chosen by a list or 1-d array, not {np.ndim(rows)}-d")
        return self._of(self._rows.of_rows(rows))

    def output(self, output: int | str) -> Self:
        """Return the interactions of one output, by number or name, without the output axis."""
        if OUTPUT not in self._axes.present:
            raise ValueError("there is a single output, and no output axis to choose from")
        return self._of(self._rows.of_output(output))

    def of(self, *features: Any) -> NDArray[np.float64]:
        """Return the coefficients of one coalition.

        Parameters
        ----------
        *features : int or str, or one tuple of these
            Its members, by number or name, in any order; none for the empty coalition.

        Returns
        -------
        ndarray of shape (n,) or (n, outputs)
        """
        if len(features) == 1 and isinstance(features[0], tuple):
            features = features[0]
        return self._rows.of(features) if features else self.empty_values

    def of_size(self, size: int) -> NDArray[np.float64]:
        """Return the coefficients of all coalitions of a size, in lexicographic order.

        Returns
        -------
        ndarray of shape (n, C(d, size)) or (n, C(d, size), outputs)
        """
        return self._rows.of_size(size)

    def importance(self) -> NDArray[np.float64]:
        """Return the mean absolute coefficient of each coalition over the rows.

        Of neutral coefficients of several rows it is the mean absolute deviation from their mean,
        as in `Explanation.importance`: what varies.

        Returns
        -------
        ndarray of shape (coalitions,) or (coalitions, outputs)
        """
        if len(self) == 0:
            raise ValueError("there are no rows to average over")
        return mean_size(self.values, self.value_function)

    def _named(self) -> tuple[str, Sequence[str]]:
        return "coalition", self.coalition_names

    def order_shares(self) -> NDArray[np.float64]:
        """Return what the coalitions of each size contribute to each feature's Shapley value.

        The Shapley value of feature j is ``Σ_T m_T/|T|`` over the coalitions T of which it is a
        member, with the Möbius coefficients m: here it is split by ``|T|``. For index="Moebius"
        only.

        Returns
        -------
        ndarray of shape (n, d, order) or (n, d, order, outputs)
            The shares of orders 1, …, order. With order = d they add up to the Shapley value.

        Warns
        -----
        UserWarning
            If there are orders beyond `order`, and the shares of the last one are not small, above
            1 % of the sums: shares may alternate in sign and grow with the number of coalitions,
            so that the first of them say little about the value.

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
                "order shares are made of Möbius coefficients: explainer.interactions(X, "
                f"index='Moebius', order=...); got index={self.index!r}"
            )
        return order_shares([self.of_size(1 + size) for size in range(self.order)], self._axes)

    def _frame(self, errors: bool | None) -> pd.DataFrame:
        if errors:
            raise ValueError("to_frame(errors=True) is of estimates; interactions are exact")
        return frame(self.values, self._axes, self.coalition_names)

    def to_shap(self) -> shap.Explanation:
        """Return a copy as a `shap.Explanation` in the layout of shap's interaction values.

        For ``shap.plots.scatter(interactions.to_shap()[:, 0, 1])``, which shap indexes by number,
        and ``shap.dependence_plot(("age", "bmi"), interactions.to_shap().values, X)``.

        Returns
        -------
        shap.Explanation
            ``values`` has shape (n, d, d) or (n, d, d, outputs): half of a pair's coefficient at
            each of its two places, and the features' own on the diagonal: of SII those of k-SII, so
            that of both the sum of a line is the feature's Shapley value. Of a single feature the
            order is 1.

        Raises
        ------
        ValueError
            If the order is not 2, or the index is none of k-SII, SII, STII and FSII.
        ImportError
            If shap is not installed.
        """
        if self.order != min(2, len(self._axes.features)) or self.index not in _EFFICIENT:
            raise ValueError(
                "shap's interaction values are of order 2 and add up to the output: they are made "
                f"from index {' or '.join(map(repr, _EFFICIENT))} with order=2; got index="
                f"{self.index!r} with order={self.order}"
            )
        pairs = None if self.order == 1 else self.of_size(2)
        matrices = shap_matrices(self.of_size(1), pairs, self.index)
        return shap_interactions(matrices, self.base_values, self.data, self._axes)

    def to_shapiq(self) -> list[shapiq.InteractionValues]:
        """Return a `shapiq.InteractionValues` for each row.

        The coefficient of the empty coalition is under the empty tuple. ``baseline_value`` is its
        worth but for FBII, where it is that coefficient, as in shapiq. The dictionary of coalitions
        takes many times the memory of a row's coefficients; all rows share it.

        Raises
        ------
        ValueError
            If there is an output axis: choose one by ``output``.
        ImportError
            If shapiq is not installed.
        """
        if self.output_names is not None:
            raise ValueError(
                "InteractionValues are of one output: choose it by interactions.output(name), "
                f"among {self.output_names}"
            )
        # What shapiq has there is the constant of the fit.
        is_fit = self.index == "FBII"
        return shapiq_values(
            np.column_stack([self.empty_values, self.values]),
            self.empty_values if is_fit else self.base_values,
            [(), *self.coalitions],
            index=self.index,
            order=self.order,
            n_players=len(self._axes.features),
        )
