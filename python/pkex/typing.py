"""Types that many files name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dask.array import Array as DaskArray
    from scipy.sparse import csr_array as SparseRows
else:
    DaskArray = SparseRows = Any

__all__ = ["DaskArray", "DaskRows", "Float", "Report", "Rows", "SparseRows"]

Float: TypeAlias = NDArray[np.float64]
# Rows of numbers; sparse ones as `pkex.tables.sparse.as_sparse_rows` returns them.
Rows: TypeAlias = NDArray[Any] | SparseRows


class DaskRows(Protocol):
    """An array or a table of Dask, whose rows are computed when they are needed."""

    def __dask_graph__(self) -> Any:
        """Return how the rows are computed."""


# A callback with the finished and the total work, in arbitrary units.
Report: TypeAlias = Callable[[int, int], None]
