"""Kernel expansions in terms of tables that hold more than numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.column_maps import ColumnMap
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.transformed import Transformed
from pkex.kernels import Kernel
from pkex.typing import Float

__all__ = ["EncodedKernelSum", "EncodedTransformed", "TableMap"]


class TableMap(ColumnMap):
    """A map of the columns of a table to numbers that names what it refuses itself."""

    names: tuple[str, ...]
    """What the columns of the table are called."""

    @abstractmethod
    def of_table(self, table: Any) -> Float:
        """Map a table as users give it: an array, or a data frame with the same columns."""


class EncodedTransformed(Transformed):
    """A function of the numbers that a table's columns become, in terms of the table's columns."""

    __slots__ = ()

    def _mapped(self, rows: NDArray[Any], argument: str = "X") -> Float:
        return self._numbers(rows)


class EncodedKernelSum(KernelSum):
    """A kernel expansion that evaluates tables: its points are what their rows become.

    Parameters
    ----------
    points, coefficients, kernel
        As of `KernelSum`, in the numbers that the columns become.
    columns : TableMap
    """

    __slots__ = ("_columns",)

    def __init__(
        self, points: ArrayLike, coefficients: ArrayLike, kernel: Kernel, columns: TableMap
    ) -> None:
        super().__init__(points, coefficients, kernel)
        self._columns = columns

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the table's columns."""
        return self._columns.names

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Evaluate the function at the rows of a table."""
        return super().evaluate(self._columns.of_table(X), n_threads=n_threads)

    def _copied(self) -> KernelSum:
        copied = super()._copied()
        assert isinstance(copied, EncodedKernelSum), "a copy is of the same class"
        copied._columns = self._columns
        return copied

    def of_table(self) -> EncodedTransformed:
        """Return the function in terms of the table's columns, each a player."""
        own = KernelSum(self._points, self._coefficients, self._kernel)
        return EncodedTransformed(self._columns, own, self._columns.names)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._points, np.asarray(self._coefficients), self._kernel, self._columns)
        return type(self), parts
