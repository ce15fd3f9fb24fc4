"""Pairs of items whose preference is explained."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.models.preferences.preferential import number_items
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Duels:
    """Pairs of items, each with one of k columns of coefficients.

    Parameters
    ----------
    left, right : ndarray of shape (n, d)
    coefficients : ndarray of shape (p, k)
        The coefficients of the training pairs.
    numbers : ndarray of int, shape (n,)
        The number of the column of each pair.
    """

    left: Float
    right: Float
    coefficients: Float
    numbers: NDArray[np.intp]

    def __getitem__(self, block: slice) -> Duels:
        """Return a block of the pairs."""
        return Duels(self.left[block], self.right[block], self.coefficients, self.numbers[block])

    def distinct_items(self) -> tuple[Float, NDArray[np.intp], NDArray[np.intp]]:
        """Return the distinct items, and the numbers of the left and right item of each pair."""
        return number_items(self.left, self.right)
