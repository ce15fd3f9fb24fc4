"""Coalitions along permutations of the players."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Orders:
    """The coalitions along permutations and their reverses, except the empty and the full one.

    For each permutation, they are its first 1, …, p − 1 players, and its last 1, …, p − 1 players.

    Parameters
    ----------
    permutations : ndarray of int64, shape (count, p)
    """

    permutations: NDArray[np.int64]

    def __len__(self) -> int:
        return int(2 * (self.permutations.size - len(self.permutations)))

    @property
    def places(self) -> NDArray[np.intp]:
        """The place of each player in each permutation, shape (count, p)."""
        return np.argsort(self.permutations, axis=1)

    @property
    def members(self) -> NDArray[np.bool_]:
        """Whether each player is in each coalition, shape (len(self), p)."""
        p = self.permutations.shape[1]
        places, sizes = self.places[:, None], np.arange(1, p)[:, None]
        members: NDArray[np.bool_] = np.stack([places < sizes, p - 1 - places < sizes], axis=1)
        return members.reshape(-1, p)
