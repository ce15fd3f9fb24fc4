"""Weights of rows, as users give them: checked, and divided by their sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, Option
from pkex.tables.weights import equal_weights, relative_weights
from pkex.typing import Float

__all__ = ["RowWeights", "weight_of_pairs"]


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights of the rows of two samples.

    Parameters
    ----------
    kept : tuple of two ndarrays of bool, shapes (n,) and (m,)
        The rows whose weight is not 0.
    weights : tuple of two ndarrays
        The weights of these, which add up to 1 in each sample.
    """

    kept: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    weights: tuple[Float, Float]

    @classmethod
    def of(cls, given: Any, n: int, m: int) -> RowWeights:
        """Check the weights of samples of n and m rows.

        Raises
        ------
        ValueError, TypeError
            If they are not two arrays of non-negative numbers, or None, of the samples' lengths, at
            least two of each positive.
        """
        try:
            first, second = given
        except (TypeError, ValueError):
            raise ValueError(
                "weights must be a tuple of two, (weights of the rows of X, weights of the rows of "
                "Y)"
            ) from None
        both = _normalised(first, n, "X", 0), _normalised(second, m, "Y", 1)
        kept = both[0] > 0.0, both[1] > 0.0
        return cls(kept, (both[0][kept[0]], both[1][kept[1]]))


def weight_of_pairs(weights: Float, of: str) -> float:
    """Return Σ_{i≠l} w_i w_l = Σ_i w_i (1 − w_i), 1 − w_i being the sum of all others' weights.

    Raises
    ------
    ValueError
        If one weight is so large that no pair of different rows has any.
    """
    before = np.cumsum(np.append(0.0, weights[:-1]))
    after = np.cumsum(np.append(0.0, weights[:0:-1]))[::-1]
    pairs = math.fsum(weights * (before + after))
    if pairs < 1e-280:
        raise InputError(
            f"weights[{'XY'.index(of)}]",
            f"must leave some weight to pairs of different rows of {of}; that of one row is over "
            "1e280 times all others' together",
            ["bring them closer", ("take ", Option("estimator", "biased"))],
        )
    return pairs


def _normalised(given: Any, n_rows: int, of: str, place: int) -> Float:
    if given is None:
        return equal_weights(n_rows)
    name = f"weights[{place}]"
    weights = relative_weights(given, name, n_rows, of)
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            f"{name} must be positive for at least two rows of {of} (weights that vanish beside "
            "the largest are none)"
        )
    normalised: Float = weights / weights.sum()
    return normalised
