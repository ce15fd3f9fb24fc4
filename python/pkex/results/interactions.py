"""The result of explaining rows by interactions: coefficients of coalitions of features."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import coalition_of_any_size_at, coalitions, ranks
from pkex.games.indices import INDICES, Index
from pkex.games.value_functions import ValueFunction
from pkex.inputs.documents import Document
from pkex.inputs.optional import missing_library
from pkex.inputs.plain_data import plain_numbers
from pkex.inputs.wording import counted
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.results.axes_documents import read_axes, read_value_function
from pkex.results.centering import mean_size
from pkex.results.conversions import frame, importance_frame, shapiq_values
from pkex.results.result import Result
from pkex.results.summary import Summary, SummaryTable, table_of_largest
from pkex.results.tables import MOST_VALUES
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd
    import shap
    import shapiq

    from pkex.results.report import Findings

__all__ = ["Interactions"]

# Indices whose coefficients of orders 1 and 2 add up to the output, as shap's matrices do.
_EFFICIENT = ("k-SII", "SII", "STII", "FSII")
# Last shares below this part of the sums of shares are small: no warning.
_SMALL_SHARE = 0.01

# What users of explanations look for, and what to do instead.
_HINTS = {
    "plot": "print(interactions) prints the strongest and interactions.to_html(path) draws them; "
    "shap and shapiq draw interactions.to_shap() or interactions.to_shapiq()",
    "expected_value": "it is interactions.base_values, one for each row",
    "centered": "explanations have it: explainer(X).centered()",
}


class Interactions(Result):
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
        self._axes = Axes(
            tuple(feature_names), None if outputs is None else tuple(outputs), row_index, present
        )
        self._values, self._empty_values, self._data = values, empty_values, data
        self._base = base_values
        self._index, self._order = index, order
        self._value_function = value_function
        self._protect()

    def _protect(self) -> None:
        for array in (self._values, self._empty_values, self._data):
            array.setflags(write=False)

    def _replaced(self, **parts: Any) -> Interactions:
        """Return the same with other parts, by the names of attributes; lists are made anew."""
        other = object.__new__(Interactions)
        other.__dict__.update(self._parts() | parts)
        other._protect()
        return other

    def _parts(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in _PARTS}

    def __getstate__(self) -> dict[str, Any]:
        """Return the parts; lists are made anew."""
        return {**self._parts(), "_axes": self._axes.parts()}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Take over parts, whose arrays come writable out of a pickle."""
        self.__dict__.update({**parts, "_axes": Axes(**parts["_axes"])})
        self._protect()

    def to_dict(self) -> dict[str, Any]:
        """Return the coefficients, and all that is needed to read them, as plain data for JSON.

        `from_dict` reads it, with equal bits.

        Returns
        -------
        dict
            With the keys "type", "format" and "pkex" (the version that has written it), and the
            names of the attributes. Arrays are lists.

        Raises
        ------
        TypeError
            If the data or the labels of rows hold objects that are not numbers, texts or dates.
        """
        return {
            **self._plain(),
            "index": self._index,
            "order": self._order,
            "empty_values": plain_numbers("empty_values", self._empty_values),
            "base_values": plain_numbers("base_values", self._base),
        }

    @classmethod
    def _from_document(cls, document: Document) -> Interactions:
        axes = read_axes(document, (ROW, FEATURE))
        outputs = [OUTPUT] if OUTPUT in axes.present else []
        d, order = len(axes.features), document.integer("order", least=1)
        if order > d:
            raise document.error(f"the field 'order' is {order}, and there are {d} features")
        count = sum(comb(d, size) for size in range(1, order + 1))
        base = document.numbers("base_values", *outputs)
        return cls(
            document.numbers("values", ROW, count, *outputs),
            document.numbers("empty_values", ROW, *outputs),
            base if outputs else float(base),
            document.entries("data", ROW, FEATURE),
            axes.features,
            axes.output_names,
            document.choice("index", INDICES),
            order,
            axes.row_index,
            axes.output_name,
            read_value_function(document),
        )

    @property
    def values(self) -> NDArray[np.float64]:
        """The coefficients, shape (n, coalitions) or (n, coalitions, outputs)."""
        return self._values

    @property
    def empty_values(self) -> NDArray[np.float64]:
        """The coefficients of the empty coalition, shape (n,) or (n, outputs)."""
        return self._empty_values

    @property
    def base_values(self) -> NDArray[np.float64]:
        """The worth of the empty coalition, shape (n,) or (n, outputs)."""
        return np.broadcast_to(self._base, self._empty_values.shape)

    @property
    def index(self) -> str:
        """The interaction index."""
        return self._index

    @property
    def order(self) -> int:
        """The largest number of features in a coalition."""
        return self._order

    @cached_property
    def coalitions(self) -> list[tuple[int, ...]]:
        """The coalitions in the order of `values`, as tuples of the numbers of features.

        Made at the first use, and kept: each takes the memory of about ten coefficients. `of` and
        `of_size` do without.
        """
        sizes = range(1, self._order + 1)
        by_size = (coalitions(len(self._axes.features), size).tolist() for size in sizes)
        return [tuple(members) for of_size in by_size for members in of_size]

    @property
    def coalition_names(self) -> list[str]:
        """Names of the coalitions, such as "age × bmi"; like `coalitions`, each a Python object."""
        names = self._axes.features
        return [" × ".join(names[member] for member in members) for members in self.coalitions]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._values)

    def _summary(self, n_lines: int) -> Summary:
        """Return sizes, value function and index, and a small table of the strongest coalitions.

        These are of two features or more, or of one if the order is 1.
        """
        sizes = (
            f"{counted(len(self), 'row')} × {counted(self.shape[1], 'coalition')} of up to "
            f"{self._order} of {counted(len(self._axes.features), 'feature')}"
        )
        if self.output_names is not None:
            sizes += f" × {counted(len(self.output_names), 'output')}"
        if self.output_name is not None:
            sizes += f", output {self.output_name!r}"
        if self._value_function is not None:
            sizes += f", {self._value_function}"
        head = f"Interactions({sizes}, index={self._index!r})"
        shown = self._values if self._order == 1 else self._values[:, len(self._axes.features) :]
        has_table = 0 < shown.size <= MOST_VALUES
        return Summary(head, [self._table(shown, n_lines)] if has_table else [])

    def _table(self, values: Float, n_lines: int) -> SummaryTable:
        """Return a table of the strongest coalitions, given the last values."""
        is_row = len(self) == 1
        mean = " − its mean" if self._value_function == "neutral" else ""
        start = self.shape[1] - values.shape[1]
        return table_of_largest(
            lambda place: self._name_at(start + place),
            values[0] if is_row else mean_size(values, self._value_function),
            thing={1: "feature", 2: "pair"}.get(self._order, "coalition"),
            label="coefficient" if is_row else f"mean |coefficient{mean}|",
            output_names=self.output_names,
            most=n_lines,
        )

    def _name_at(self, place: int) -> str:
        """Return the name of the coalition at a place of `values`."""
        names = self._axes.features
        return " × ".join(names[j] for j in coalition_of_any_size_at(place, len(names)))

    def _findings(self, name: str, computed: Mapping[str, str]) -> Findings:
        from pkex.results.interaction_report import Coefficients, of_interactions

        if len(self) == 0:
            raise ValueError("there are no rows to make a report of")
        names = self.output_names or [self.output_name or ""]
        by_output = self._values.reshape(*self.shape[:2], len(names))
        features, game = self._axes.features, self._value_function
        outputs = {
            output: Coefficients(by_output[:, :, place], features, self._order, game)
            for place, output in enumerate(names)
        }
        index = f"{self._index}, order {self._order}"
        return of_interactions(outputs, name, {"Rows": str(len(self)), "Index": index, **computed})

    def __getitem__(self, rows: Any) -> Interactions:
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
        row_index = self.row_index
        return self._replaced(
            _values=self._values[rows],
            _empty_values=self._empty_values[rows],
            _data=self._data[rows],
            _axes=replace(self._axes, row_index=None if row_index is None else row_index[rows]),
        )

    def output(self, output: int | str) -> Interactions:
        """Return the interactions of one output, by number or name, without the output axis."""
        if OUTPUT not in self._axes.present:
            raise ValueError("there is a single output, and no output axis to choose from")
        place = self._axes.place(OUTPUT, output)
        return self._replaced(
            _values=self._values[..., place],
            _empty_values=self._empty_values[..., place],
            _base=float(np.asarray(self._base)[place]),
            _axes=self._axes.picked({ROW: slice(None), FEATURE: slice(None), OUTPUT: place}),
        )

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
        if not features:
            return self._empty_values
        members = sorted({self._member(feature) for feature in features})
        size = len(members)
        if size < len(features):
            raise ValueError(f"a feature occurs twice among {features!r}")
        if size > self._order:
            raise ValueError(f"coalitions have up to order={self._order} features; got {size}")
        place = ranks(np.array([members]), len(self._axes.features))[0]
        return self.of_size(size)[:, place]

    def _member(self, feature: int | str) -> int:
        """Return the number of a feature of a coalition."""
        try:
            return self._axes.place(FEATURE, feature)
        except KeyError as error:
            if "×" not in str(feature):
                raise
            hint = "; several features are given one by one: .of('age', 'bmi')"
            raise KeyError(f"{error.args[0]}{hint}") from None

    def of_size(self, size: int) -> NDArray[np.float64]:
        """Return the coefficients of all coalitions of a size, in lexicographic order.

        Returns
        -------
        ndarray of shape (n, C(d, size)) or (n, C(d, size), outputs)
        """
        if not 1 <= size <= self._order:
            raise ValueError(f"size must be from 1 to order={self._order}; got {size!r}")
        d = len(self._axes.features)
        start = sum(comb(d, smaller) for smaller in range(1, size))
        return self._values[:, start : start + comb(d, size)]

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
        return mean_size(self._values, self._value_function)

    def importance_frame(self) -> pd.DataFrame:
        """Return the `importance` of each coalition by name, the largest first.

        Returns
        -------
        pandas.DataFrame
            A line per coalition, with the column "importance", or a column per output.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return importance_frame(self.importance(), self.coalition_names, self._axes, "coalition")

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
        if self._index != "Moebius":
            raise ValueError(
                "order shares are made of Möbius coefficients: explainer.interactions(X, "
                f"index='Moebius', order=...); got index={self._index!r}"
            )
        d = len(self._axes.features)
        shares = np.zeros((len(self), d, self._order, *self.shape[2:]))
        for size in range(1, self._order + 1):
            of_size = shares[:, :, size - 1].swapaxes(0, 1)
            split = self.of_size(size).swapaxes(0, 1) / size
            for members in coalitions(d, size).T:
                np.add.at(of_size, members, split)
        if self._order < d and not _are_last_small(shares):
            warnings.warn(
                f"shares of orders 1 to {self._order} of {d} features: those of order "
                f"{self._order} are not small beside their sum, and so the sum need not be near "
                "the value; shares may alternate in sign and grow like C(d−1, q−1)/q with the "
                "order q. Take a higher order, or join features by groups=...",
                stacklevel=2,
            )
        return shares

    def to_frame(self) -> pd.DataFrame:
        """Return the coefficients as a pandas DataFrame: a line per row, a column per coalition.

        Returns
        -------
        pandas.DataFrame
            With an output axis the columns have two levels, output and coalition. The name of each
            column is a Python object: of few rows these take many times the memory of `values`.
        """
        return frame(self._values, self._axes, self.coalition_names)

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
        if self._order != min(2, len(self._axes.features)) or self._index not in _EFFICIENT:
            raise ValueError(
                "shap's interaction values are of order 2 and add up to the output: they are made "
                f"from index {' or '.join(map(repr, _EFFICIENT))} with order=2; got index="
                f"{self._index!r} with order={self._order}"
            )
        try:
            import shap
        except ImportError as error:
            raise missing_library("Interactions.to_shap", "shap") from error
        return shap.Explanation(
            values=self._halved(),
            base_values=self.base_values.copy(),
            data=self._data.copy(),
            feature_names=list(self._axes.features),
            output_names=self.output_names or self.output_name,
        )

    def _halved(self) -> Float:
        """Return matrices of shape (n, d, d[, outputs]) that add up to the output."""
        d = len(self._axes.features)
        matrices = np.zeros((len(self), d, d, *self.shape[2:]))
        if d > 1:
            first, second = coalitions(d, 2).T
            matrices[:, first, second] = matrices[:, second, first] = self.of_size(2) / 2
        own = self.of_size(1)
        if self._index == "SII":
            own = own - matrices.sum(axis=2)  # that of k-SII: lines add up to Shapley values
        matrices[:, range(d), range(d)] = own
        return matrices

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
        is_fit = self._index == "FBII"
        return shapiq_values(
            np.column_stack([self._empty_values, self._values]),
            self._empty_values if is_fit else self.base_values,
            [(), *self.coalitions],
            index=self._index,
            order=self._order,
            n_players=len(self._axes.features),
        )


# What an object is made of: all but the lists that are made at their first use.
_PARTS = (
    "_values",
    "_empty_values",
    "_base",
    "_data",
    "_axes",
    "_index",
    "_order",
    "_value_function",
)


def _are_last_small(shares: Float) -> bool:
    """Return whether the shares of the last order are small beside the sums, in each output."""
    last, total = (
        np.abs(part).max(axis=(0, 1), initial=0.0)
        for part in (shares[:, :, -1], shares.sum(axis=2))
    )
    return bool(np.all(last <= _SMALL_SHARE * total))
