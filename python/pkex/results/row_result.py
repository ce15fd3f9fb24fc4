"""Base class of explanations and interactions, results with values for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.skops_files import SkopsGuard
from pkex.inputs.wording import shown
from pkex.results.axes import Axes
from pkex.results.conversions import importance_frame
from pkex.results.options import PlotOptions
from pkex.results.result import Result
from pkex.results.row_arrays import RowArrays

if TYPE_CHECKING:
    import pandas as pd


_Rows = TypeVar("_Rows", bound=RowArrays)


class RowResult(Result, SkopsGuard, Generic[_Rows]):
    """Base class of results with values for each row."""

    __slots__ = ("_rows",)

    _rows: _Rows

    @classmethod
    def _of(cls, rows: _Rows) -> Self:
        """Return a result with the given arrays and axes."""
        self = cls.__new__(cls)
        self._rows = rows
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return plain data, without cached attributes and references to the model."""
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
        """Names of the features, also a list if slicing has removed the axis of features."""
        return list(self._axes.features)

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        return self._axes.output_names

    @property
    def output_name(self) -> str | None:
        """Name of the only output if there is no output axis; None if it has no name.

        For a classifier of two classes it is "b vs a", where positive values favor b. After
        slicing to one of several outputs, it is the name of this output.
        """
        return self._axes.output_name

    @property
    def row_index(self) -> pd.Index | None:
        """Index of the explained DataFrame; None if the rows were not a DataFrame of pandas."""
        return self._axes.row_index

    @property
    def value_function(self) -> ValueFunction | None:
        """The value function, as in `Explainer`; None if it is not known."""
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
            A line per feature, or per coalition for `Interactions`, with the column "importance".
            With several outputs there is a column per output, and lines are sorted by the largest
            importance in any output.

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
        thing, names = self._kind_and_names()
        return importance_frame(self.importance(), names, self._axes, thing)

    def importance(self) -> NDArray[np.float64]:
        """Return the importance of each feature or coalition."""
        raise NotImplementedError

    def _kind_and_names(self) -> tuple[str, Sequence[str]]:
        """Return "feature" or "coalition", and the names of all features or coalitions."""
        raise NotImplementedError

    def _checked_output(self, options: PlotOptions, choice: str) -> int | str | None:
        """Return the output to draw, None if there is a single output.

        Parameters
        ----------
        options : PlotOptions
        choice : str
            The code that selects an output without `options`, for messages.
        """
        output = options.output
        if self.output_names is None:
            if output is not None:
                raise ValueError(f"output={output!r} was given, but there is a single output")
        elif output is None:
            raise ValueError(
                f"plot draws one output. Choose one by {choice} or plot(output=name), among "
                f"{shown(self.output_names)}"
            )
        return output

    def _settings(self) -> dict[str, str]:
        """Return the settings of the computation, for reports."""
        # Imported only if needed: the import is slow.
        from importlib.metadata import version

        return {
            "Value function": self.value_function or "not known",
            "Version": f"pkex {version('pkex')}",
        }

    def _unsaved_by_skops(self) -> str:
        if self._axes.row_index is None:
            return ""
        return (
            " with the index of a data frame. Pickle it, keep its to_dict() as JSON, or explain "
            "rows without an index, such as X.to_numpy()"
        )
