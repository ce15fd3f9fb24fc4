"""Kernel expansions of tables with other values than numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.functions.base import ConditionalMeans
from pkex.functions.column_maps import ColumnMap
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.transformed import Transformed
from pkex.kernels import Kernel
from pkex.typing import Float


class TableMap(ColumnMap):
    """A map of the columns of a table to numbers, whose own errors name invalid values."""

    names: tuple[str, ...]
    """The names of the columns of the table."""

    @abstractmethod
    def of_table(self, table: Any) -> Float:
        """Map a table that users pass: an array, or a data frame with the same columns."""


class EncodedTransformed(Transformed):
    """A function of the numbers that encode a table, as a function of the table's columns."""

    __slots__ = ()

    def probing_rows(self) -> NDArray[Any]:
        return self._columns.inverse(self._function.probing_rows())

    def _map_rows(self, rows: NDArray[Any], argument: str = "X") -> Float:
        return self._numbers(rows)


class EncodedKernelSum(KernelSum):
    """A kernel expansion of encoded tables.

    Parameters
    ----------
    points, coefficients, kernel
        As in `KernelSum`, for encoded rows.
    columns : TableMap
    """

    __slots__ = ("_columns",)

    def __init__(
        self, points: ArrayLike, coefficients: ArrayLike, kernel: Kernel, columns: TableMap
    ) -> None:
        super().__init__(points, coefficients, kernel)
        self._columns = columns
        # The names of the table's columns.
        self.feature_names = columns.names

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Evaluate the function at the rows of a table."""
        return super().evaluate(self._columns.of_table(X), n_threads=n_threads)

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        return None

    def of_table(self) -> EncodedTransformed:
        """Return the function of the table's columns, each a player."""
        function = KernelSum(self.points, self.coefficients, self.kernel)
        return EncodedTransformed(self._columns, function, self._columns.names)
