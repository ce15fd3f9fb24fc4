"""Draws of a random function, given its variance, as functions with exact values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function

__all__ = ["Draws", "draws", "said_of_left_out"]

# The share of the variance from which on it is said to be left out, and is too much.
_NOTABLE, _TOO_MUCH = 0.01, 0.5


@dataclass(frozen=True)
class Draws:
    """What functions drawn from a distribution have more than their mean.

    Parameters
    ----------
    function : Function
        With an output for each draw.
    left_out : float
        The share of the variance, averaged over rows, that draws are without.
    """

    function: Function
    left_out: float


@singledispatch
def draws(
    variance: Function, rows: NDArray[Any], n: int, random: np.random.Generator
) -> list[Draws]:
    """Draw functions that have a variance, for each of its outputs.

    Each class that a variance may be of registers how.

    Parameters
    ----------
    variance : Function
    rows : ndarray of shape (m, d)
        A sample of the rows where draws are to have the variance.
    n : int
        How often.
    random : numpy.random.Generator

    Raises
    ------
    UnsupportedModelError
        If the distribution is not known.
    """
    raise UnsupportedModelError(
        f"{type(variance).__name__} is the variance of no function that pkex can draw"
    )


def said_of_left_out(share: float, effect: str, remedy: str) -> str:
    """Return what is to be said of draws without a share of the variance; "" if it is small.

    Parameters
    ----------
    share : float
    effect : str
        What it makes of results.
    remedy : str
        What to do if it is too much.

    Raises
    ------
    ValueError
        If it is more than half.
    """
    if share <= _NOTABLE:
        return ""
    what = (
        f"draws of the posterior are without {share:.1%} of its variance, as it changes over "
        "distances too short for a few hundred rows: "
    )
    if share > _TOO_MUCH:
        raise ValueError(f"{what}{remedy}")
    return f"{what}{effect}"
