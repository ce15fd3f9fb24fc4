"""Covariances of values, under the distribution of functions that a variance is of."""

from __future__ import annotations

from functools import singledispatch

from pkex.errors import UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.games.value_functions import Game
from pkex.typing import Float

__all__ = ["covariances"]


@singledispatch
def covariances(variance: Function, X: Float, game: Game, how: Computation) -> Float:
    """Return the covariances of the values of a random function, given its variance.

    Each class that a variance may be of registers how.

    Parameters
    ----------
    variance : Function
    X : ndarray of shape (n, d)
    game : Game
        Not the neutral one.
    how : Computation

    Returns
    -------
    ndarray of shape (n, players, players, outputs)
        Outputs are independent of each other.

    Raises
    ------
    UnsupportedModelError
        If they are not known.
    """
    raise UnsupportedModelError(f"{type(variance).__name__} is the variance of no known function")
