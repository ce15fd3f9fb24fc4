"""Base class of the arrays and axes of results with values for each row."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import NDArray

from pkex.games.value_functions import ValueFunction
from pkex.inputs.arrays import owned
from pkex.inputs.plain_data import plain_entries, plain_numbers
from pkex.results.axes import Axes
from pkex.results.axes_documents import plain_axes
from pkex.typing import Float


class RowArrays:
    """Base class of frozen data classes of arrays, which are made read-only, not copied.

    Attributes
    ----------
    values : ndarray
        Values of features or coalitions.
    data : ndarray
        The explained rows.
    axes : Axes
        The axes of the values.
    value_function : str or None
        The value function; None if it is not known.
    """

    values: Float
    data: NDArray[Any]
    axes: Axes
    value_function: ValueFunction | None

    def __post_init__(self) -> None:
        for item in vars(self).values():
            owned(item)

    def parts(self) -> dict[str, Any]:
        """Return the fields as plain data for a pickle."""
        return {**vars(self), "axes": self.axes.parts()}

    @classmethod
    def of_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the arrays from the fields of a pickle, whose arrays are writable."""
        return cls(**{**parts, "axes": Axes(**parts["axes"])})

    def plain(self) -> dict[str, Any]:
        """Return the fields of a document."""
        return {
            "value_function": self.value_function,
            **plain_axes(self.axes),
            "values": plain_numbers("values", self.values),
            "data": plain_entries("data", self.data),
        }
