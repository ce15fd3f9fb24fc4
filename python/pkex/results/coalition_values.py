"""Interaction coefficients of coalitions in rows, with their data and axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.games.coalitions import ranks
from pkex.games.indices import INDICES, Index
from pkex.games.value_functions import ValueFunction
from pkex.inputs.documents import Document
from pkex.inputs.plain_data import plain_numbers
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes
from pkex.results.axes_documents import read_axes, read_value_function
from pkex.results.coefficients import Coefficients
from pkex.results.row_arrays import RowArrays
from pkex.results.sizes import mean_size
from pkex.results.summary import SummaryTable, table_of_largest
from pkex.results.tables import MAX_VALUES
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class CoalitionValues(RowArrays):
    """The arrays and axes of `Interactions`.

    Parameters
    ----------
    values : ndarray of shape (n, coalitions) or (n, coalitions, outputs)
    empty_values : ndarray of shape (n,) or (n, outputs)
    base : float or ndarray of shape (outputs,)
    data : ndarray of shape (n, d)
    axes : Axes
    index : str
    order : int
    value_function : str, optional
    """

    values: Float
    empty_values: Float
    base: float | Float
    data: NDArray[Any]
    axes: Axes
    index: Index
    order: int
    value_function: ValueFunction | None = None

    def plain(self) -> dict[str, Any]:
        """Return the fields of a document."""
        return {
            **super().plain(),
            "index": self.index,
            "order": self.order,
            "empty_values": plain_numbers("empty_values", self.empty_values),
            "base_values": plain_numbers("base_values", self.base),
        }

    @classmethod
    def of_document(cls, document: Document) -> CoalitionValues:
        """Return the values that `plain` has written."""
        axes = read_axes(document, (ROW, FEATURE))
        outputs = [OUTPUT] if OUTPUT in axes.present else []
        d, order = len(axes.features), document.integer("order", least=1)
        if order > d:
            raise document.error(f"the field 'order' is {order}, but there are {d} features")
        count = sum(comb(d, size) for size in range(1, order + 1))
        base = document.numbers("base_values", *outputs)
        return cls(
            document.numbers("values", ROW, count, *outputs),
            document.numbers("empty_values", ROW, *outputs),
            base if outputs else float(base),
            document.entries("data", ROW, FEATURE),
            axes,
            document.choice("index", INDICES),
            order,
            read_value_function(document),
        )

    def of_rows(self, rows: Any) -> CoalitionValues:
        """Return the values of the rows selected by a slice, list or mask."""
        row_index = self.axes.row_index
        return replace(
            self,
            values=self.values[rows],
            empty_values=self.empty_values[rows],
            data=self.data[rows],
            axes=replace(self.axes, row_index=None if row_index is None else row_index[rows]),
        )

    def of_output(self, output: int | str) -> CoalitionValues:
        """Return the values of one output, by number or name, without the output axis."""
        place = self.axes.place(OUTPUT, output)
        return replace(
            self,
            values=self.values[..., place],
            empty_values=self.empty_values[..., place],
            base=float(np.asarray(self.base)[place]),
            axes=self.axes.select({ROW: slice(None), FEATURE: slice(None), OUTPUT: place}),
        )

    def by_output(self) -> dict[str, Coefficients]:
        """Return the coefficients of each output by its name, "" for an output without a name."""
        names = self.axes.output_names or [self.axes.output_name or ""]
        values = self.values.reshape(*self.values.shape[:2], len(names))
        features, order, game = self.axes.features, self.order, self.value_function
        return {
            name: Coefficients(values[:, :, place], features, order, game)
            for place, name in enumerate(names)
        }

    def of(self, features: Sequence[Any]) -> Float:
        """Return the coefficients of one coalition, by the numbers or names of its features."""
        members = sorted({self._member(feature) for feature in features})
        size = len(members)
        if size < len(features):
            raise ValueError(f"a feature occurs twice in the coalition {tuple(features)!r}")
        if size > self.order:
            raise ValueError(
                f"coalitions have at most order={self.order} features; got {size}. Compute "
                "interactions of a higher order"
            )
        place = ranks(np.array([members]), len(self.axes.features))[0]
        return self.of_size(size)[:, place]

    def _member(self, feature: int | str) -> int:
        """Return the number of a feature of a coalition."""
        try:
            return self.axes.place(FEATURE, feature)
        except KeyError as error:
            if "×" not in str(feature):
                raise
            hint = ". Pass several features as separate arguments: .of('age', 'bmi')"
            raise KeyError(f"{error.args[0]}{hint}") from None

    def of_size(self, size: int) -> Float:
        """Return the coefficients of all coalitions of a size, in lexicographic order."""
        if not 1 <= size <= self.order:
            raise ValueError(f"size must be between 1 and order={self.order}; got {size!r}")
        d = len(self.axes.features)
        start = sum(comb(d, smaller) for smaller in range(1, size))
        return self.values[:, start : start + comb(d, size)]

    def tables(self, n_lines: int) -> list[SummaryTable]:
        """Return a table of the strongest coalitions, or no table for over ten million values.

        The coalitions have two features or more, or one if the order is 1.
        """
        start = 0 if self.order == 1 else len(self.axes.features)
        values = self.values[:, start:]
        if not 0 < values.size <= MAX_VALUES:
            return []
        coefficients = Coefficients(
            self.values, self.axes.features, self.order, self.value_function
        )
        is_row = len(values) == 1
        table = table_of_largest(
            lambda place: coefficients.name(start + place),
            values[0] if is_row else mean_size(values, self.value_function),
            thing=coefficients.thing,
            label=coefficients.label,
            output_names=self.axes.output_names,
            n_lines=n_lines,
        )
        return [table]
