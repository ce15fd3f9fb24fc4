"""What explanations and interactions have in common: names, rows and game."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Never

from numpy.typing import NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.documents import Documented, envelope
from pkex.inputs.keywords import with_known_keywords
from pkex.inputs.plain_data import plain_entries, plain_numbers
from pkex.inputs.skops_files import SkopsGuard
from pkex.results.axes import Axes
from pkex.results.axes_documents import plain_axes
from pkex.results.summary import Summarized
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd

    from pkex.results.report import Findings

__all__ = ["Hinting", "Result"]


class Hinting:
    """An object that says where that is which users look for here."""

    __slots__ = ()

    # By the names that are looked for.
    _hints: ClassVar[Mapping[str, str]] = {}

    def __getattr__(self, name: str) -> Never:
        """Raise the error that there is no such attribute, with a hint if there is one."""
        hint = f"; {self._hints[name]}" if name in self._hints else ""
        message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name, obj=self)


class Result(Summarized, Documented, SkopsGuard, Hinting):
    """Values of some rows, and what stands along their axes."""

    __slots__ = ()

    _values: Float
    _data: NDArray[Any]
    _axes: Axes
    _value_function: ValueFunction | None

    def _unsaved_by_skops(self) -> str:
        if self._axes.row_index is None:
            return ""
        return (
            " with the index of a data frame. Pickle it, keep its to_dict() as JSON, or explain "
            "rows without an index, such as X.to_numpy()"
        )

    @property
    def data(self) -> NDArray[Any]:
        """The explained rows, shape (n, d)."""
        return self._data

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
        return self._value_function

    @with_known_keywords
    def to_html(
        self, path: str | os.PathLike[str] | None = None, *, name: str = "the model's output"
    ) -> str:
        """Return a report as one HTML page that needs nothing else; write it if a path is given.

        It shows how much each feature moves the output, and how the values of the leading ones
        depend on their data, as ``pkex explain --format html`` writes it. For interactions it shows
        the strongest pairs or larger coalitions.

        Parameters
        ----------
        path : str or path, optional
            Of the file, which is written whole or not at all.
        name : str, optional
            What was explained, for the title.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there are no rows.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import pkex
        >>> explanation = pkex.Explanation([[3.0, -1.0]], [0.5], [[7.0, 8.0]], ["age", "bmi"])
        >>> explanation.to_html()[:15]
        '<!DOCTYPE html>'
        """
        # Not before a report is asked for.
        from importlib.metadata import version

        from pkex.results.page import written

        computed = {
            "Game": self.value_function or "not known",
            "Version": f"pkex {version('pkex')}",
        }
        return written(self._findings(name, computed), path)

    def _findings(self, name: str, computed: Mapping[str, str]) -> Findings:
        """Return what a report shows, given what was explained and how it was computed."""
        raise NotImplementedError

    def _plain(self) -> dict[str, Any]:
        """Return what all results of rows are made of, for a document."""
        return {
            **envelope(type(self).__name__),
            "value_function": self._value_function,
            **plain_axes(self._axes),
            "values": plain_numbers("values", self._values),
            "data": plain_entries("data", self._data),
        }

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `values`."""
        return self._values.shape
