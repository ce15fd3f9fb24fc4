"""Values of rows, computed in chunks by joblib's workers if a parallel backend is active."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pkex.execution.backends import active_workers
from pkex.execution.computation import Computation
from pkex.typing import Float

__all__ = ["row_by_row"]

# Chunks per worker: several, so that slow workers can compute fewer of them.
_OF_WORKER = 4


def row_by_row(
    values: Callable[[Any, Computation], Float], rows: Any, how: Computation, n_jobs: int | None
) -> Float:
    """Return the values of rows, computed by workers if there are any.

    Parameters
    ----------
    values : callable
        Computes the values of a chunk of rows, each row separately; can be pickled.
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
        # The message names a row of the chunk; computed again, it names one of all rows.
        return values(rows, how)


class _OnWorker:
    """Values of a chunk of rows, computed by one thread."""

    def __init__(self, values: Callable[[Any, Computation], Float], how: Computation) -> None:
        self._values = values
        self._how = Computation(how.method, how.summation)

    def __call__(self, rows: Any) -> Float:
        return self._values(rows, self._how)
