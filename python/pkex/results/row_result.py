"""Results of rows: what explanations and interactions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.skops_files import SkopsGuard
from pkex.inputs.wording import shown
from pkex.results.axes import Axes
from pkex.results.conversions import importance_frame
from pkex.results.options import PlotOptions
from pkex.results.result import Result
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RowResult", "ValuesOfRows"]


class ValuesOfRows(Protocol):
    """Values of rows, as results hold them."""

    @property
    def values(self) -> Float:
        """Values of features or coalitions."""
        ...

    @property
    def data(self) -> NDArray[Any]:
        """The explained rows."""
        ...

    @property
    def axes(self) -> Axes:
        """What stands along the axes of the values."""
        ...

    @property
    def value_function(self) -> ValueFunction | None:
        """The game that the values are of."""
        ...

    def parts(self) -> dict[str, Any]:
        """Return plain parts for a pickle."""

    def plain(self) -> dict[str, Any]:
        """Return the fields of a document."""


_Rows = TypeVar("_Rows", bound=ValuesOfRows)


class RowResult(Result, SkopsGuard, Generic[_Rows]):
    """Values of some rows, and what stands along their axes."""

    __slots__ = ("_rows",)

    _rows: _Rows

    @classmethod
    def _of(cls, rows: _Rows) -> Self:
        """Return a result that holds values of rows."""
        self = cls.__new__(cls)
        self._rows = rows
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return plain parts, without what can be made anew or holds on to the model."""
        return self._rows.parts()

    def _plain(self) -> dict[str, Any]:
        return self._rows.plain()

    @property
    def _axes(self) -> Axes:
        return self._rows.axes

    @property
    def data(self) -> NDArray[Any]:
        """The explained rows, shape (n, d)."""
        return self._rows.data

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, a list even where slicing has left one feature without an axis."""
        return list(self._axes.features)

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        return self._axes.output_names

    @property
    def output_name(self) -> str | None:
        """Name of the single output where there is no output axis, None if it has none.

        Of a classifier of two classes it is "b vs a", where positive values speak for b; where one
        of several outputs has been singled out, its name.
        """
        return self._axes.output_name

    @property
    def row_index(self) -> pd.Index | None:
        """Labels of the rows, those of the explained DataFrame; None if it was none of pandas."""
        return self._axes.row_index

    @property
    def value_function(self) -> ValueFunction | None:
        """The game that the values are of, as in `Explainer`; None if it is not known."""
        return self._rows.value_function

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `values`."""
        return self._rows.values.shape

    def importance_frame(self) -> pd.DataFrame:
        """Return the `importance` of each feature or coalition by name, the largest first.

        Returns
        -------
        pandas.DataFrame
            A line per feature, or coalition of `Interactions`, with the column "importance". With
            an output axis there is a column per output, and the largest importance in any output
            decides the order.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If there are no rows to average over.

        Examples
        --------
        >>> import pkex
        >>> parts = ([[3.0, -9.0], [1.0, -8.0]], [0.0, 0.0], [[7, 5], [6, 4]], ["age", "bmi"])
        >>> frame = pkex.Explanation(*parts).importance_frame()
        >>> frame
                 importance
        feature
        bmi             8.5
        age             2.0
        >>> frame.head(1).index.tolist()
        ['bmi']
        """
        thing, names = self._named()
        return importance_frame(self.importance(), names, self._axes, thing)

    def importance(self) -> NDArray[np.float64]:
        """Return how strongly each feature or coalition acts."""
        raise NotImplementedError

    def _named(self) -> tuple[str, Sequence[str]]:
        """Return what has a value, such as a feature, and the names of all."""
        raise NotImplementedError

    def _checked_output(self, options: PlotOptions, choice: str) -> int | str | None:
        """Return the output that is drawn: chosen of several, or None for the only one.

        Parameters
        ----------
        options : PlotOptions
        choice : str
            How an output is chosen without them.
        """
        output = options.output
        if self.output_names is None:
            if output is not None:
                raise ValueError(f"output={output!r} was given, but there is a single output")
        elif output is None:
            raise ValueError(
                f"a picture shows one output: choose it by {choice} or plot(output=name), among "
                f"{shown(self.output_names)}"
            )
        return output

    def _settings(self) -> dict[str, str]:
        """Return what reports say of how values were computed."""
        # Slow to import.
        from importlib.metadata import version

        return {"Game": self.value_function or "not known", "Version": f"pkex {version('pkex')}"}

    def _unsaved_by_skops(self) -> str:
        if self._axes.row_index is None:
            return ""
        return (
            " with the index of a data frame. Pickle it, keep its to_dict() as JSON, or explain "
            "rows without an index, such as X.to_numpy()"
        )
