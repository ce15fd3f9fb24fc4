"""Shapley values in the games of single kernel functions k(·, p), for each of many points p.

Values are linear in the function explained: those of f = Σ_p a_p k(·, p) are the sum of these, each
times a_p. So they say how values depend on the coefficients, of which a posterior is a distribution
and a penalty of values a function.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import share
from pkex.kernels import Term
from pkex.typing import Float

__all__ = ["values_of_points"]

# Points that the engine explains together: each is an output, 0 at the others.
_POINTS = 32


def values_of_points(
    points: Float,
    X: Float,
    game: str | tuple[str, Float, Float],
    terms: list[Term],
    players: NDArray[np.int64],
    how: Computation,
) -> Iterator[tuple[slice, Float]]:
    """Yield points, some at a time, with the values of rows in the games of k(·, p).

    Parameters
    ----------
    points : ndarray of shape (n, d)
    X : ndarray of shape (rows, d)
    game : str or tuple
        In the form of the engine.
    terms : list of Term
        Products whose sum the kernel is.
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    how : Computation

    Yields
    ------
    slice
        Of the points.
    ndarray of shape (rows, players, points)
    """
    packed = [term.packed() for term in terms]
    starts = range(0, len(points), _POINTS)
    for number, start in enumerate(starts):
        some = slice(start, min(start + _POINTS, len(points)))
        weights = np.eye(some.stop - start)
        found = _core.Expansion(points[some], weights, packed, players).explain(
            X,
            game=game,
            method=how.method,
            summation=how.summation,
            n_threads=how.n_threads,
            progress=share(how.progress, number, len(starts)),
        )
        yield some, found
