"""Values of rows in pieces, which joblib's workers compute where they were switched on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pkex.execution.backends import active_workers
from pkex.execution.computation import Computation
from pkex.typing import Float

__all__ = ["row_by_row"]

# Pieces for each worker: one that is slower than others has fewer of them.
_OF_WORKER = 4


def row_by_row(
    values: Callable[[Any, Computation], Float], rows: Any, how: Computation, n_jobs: int | None
) -> Float:
    """Return the values of rows, which workers compute in pieces if there are any.

    Parameters
    ----------
    values : callable
        Gives those of some rows, of which each has its own; can be pickled.
    rows : ndarray of shape (n, d)
    how : Computation
    n_jobs : int or None
    """
    workers = active_workers(n_jobs)
    n_pieces = 1 if workers is None else min(len(rows), _OF_WORKER * workers.number)
    if workers is None or n_pieces < 2:
        return values(rows, how)
    pieces = np.array_split(rows, n_pieces)
    try:
        return np.concatenate(workers.map(_OnWorker(values, how), pieces))
    except OverflowError:
        # Its message names a row of the piece: here it is one of all.
        return values(rows, how)


class _OnWorker:
    """Values of some rows, with one thread."""

    def __init__(self, values: Callable[[Any, Computation], Float], how: Computation) -> None:
        self._values = values
        self._how = Computation(how.method, how.summation)

    def __call__(self, rows: Any) -> Float:
        return self._values(rows, self._how)
