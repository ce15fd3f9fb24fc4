"""Explained rows that are in the background, and leave-one-out weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.tables.missing import is_missing
from pkex.typing import Float

__all__ = ["MatchingRows"]


@dataclass(frozen=True, eq=False)
class MatchingRows:
    """Pairs of equal explained and background rows.

    Kernel ridge regression without the rows I has the weights w_l / (1 − Σ_{i∈I} w_i), where w are
    the weights with all rows (the formula of leave-one-out cross-validation, Golub, Heath and Wahba
    1979, solved for the weights).

    Parameters
    ----------
    explained, background : ndarray of intp, shape (pairs,)
        The numbers of the rows. An explained row may have several copies in the background.
    """

    explained: NDArray[np.intp]
    background: NDArray[np.intp]

    @classmethod
    def of(cls, X: NDArray[Any], rows: NDArray[Any]) -> MatchingRows:
        """Return the pairs of equal rows.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        rows : ndarray of shape (m, d)
        """
        places: dict[tuple[Any, ...], list[int]] = {}
        for place, row in enumerate(rows.tolist()):
            places.setdefault(_comparable(row), []).append(place)
        pairs = [
            (number, place)
            for number, row in enumerate(X.tolist())
            for place in places.get(_comparable(row), ())
        ]
        explained, background = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return cls(explained, background)

    def sums(self, of_pairs: Float, n: int) -> Float:
        """Return the sums of numbers, or rows of numbers, over the pairs of each explained row."""
        totals = np.zeros((n, *of_pairs.shape[1:]))
        np.add.at(totals, self.explained, of_pairs)
        return totals


def _comparable(row: list[Any]) -> tuple[Any, ...]:
    """Return the values of a row as a dictionary key; all missing values are equal."""
    return tuple(None if is_missing(value) else value for value in row)
