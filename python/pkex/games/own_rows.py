"""Explained rows that are in the background themselves, and weights without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.tables.missing import is_missing
from pkex.typing import Float

__all__ = ["OwnRows"]


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Which background rows are explained rows, as pairs of their numbers.

    Kernel ridge regression on the other rows predicts what one on all does, less the share of the
    left out rows' own weight: of weights w, without rows I, w_l / (1 − Σ_{i∈I} w_i) (the formula of
    leave-one-out cross-validation, Golub, Heath and Wahba 1979, solved for the weights).

    Parameters
    ----------
    explained, background : ndarray of intp, shape (pairs,)
        An explained row may have copies in the background.
    """

    explained: NDArray[np.intp]
    background: NDArray[np.intp]

    @classmethod
    def of(cls, X: NDArray[Any], rows: NDArray[Any]) -> OwnRows:
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
        """Return sums over the pairs of each of n explained rows, of numbers or of rows of them."""
        totals = np.zeros((n, *of_pairs.shape[1:]))
        np.add.at(totals, self.explained, of_pairs)
        return totals


def _comparable(row: list[Any]) -> tuple[Any, ...]:
    """Return the entries of a row; missing ones are alike."""
    return tuple(None if is_missing(entry) else entry for entry in row)
