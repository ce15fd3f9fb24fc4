"""Draws of values together, as an explanation holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["ValueDraws"]


class ValueDraws(Protocol):
    """Functions that are drawn from a model's posterior and explained in all rows."""

    def deviations(
        self, places: NDArray[np.int64], n: int, random: np.random.Generator
    ) -> Iterator[Float]:
        """Yield how values deviate from those of the mean, in blocks of draws, shape (draws, k).

        Parameters
        ----------
        places : ndarray of shape (k,)
            The places of the values, counted along the rows, features and outputs of all.
        n : int
            The number of draws.
        random : numpy.random.Generator
        """
        ...
