"""Draws of a random function, given its variance, as functions with exact values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function

__all__ = ["Draws", "draws"]


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
