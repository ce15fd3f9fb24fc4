"""Weights of rows passed by users: checks and normalization."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, Option
from pkex.tables.weights import equal_weights, relative_weights
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Normalized weights of the rows of two samples.

    Parameters
    ----------
    masks : tuple of two ndarrays of bool, shapes (n,) and (m,)
        The rows with positive weights.
    weights : tuple of two ndarrays
        The positive weights; they add up to 1 in each sample.
    """

    masks: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    weights: tuple[Float, Float]

    @classmethod
    def of(cls, weights: Any, n: int, m: int) -> RowWeights:
        """Check the weights of samples of n and m rows.

        Raises
        ------
        ValueError, TypeError
            If they are not two arrays of non-negative numbers (or None) with the samples' lengths,
            at least two of them positive in each.
        """
        try:
            weights_x, weights_y = weights
        except (TypeError, ValueError):
            raise ValueError(
                "weights must be a tuple of two, (weights of the rows of X, weights of the rows of "
                "Y)"
            ) from None
        v, w = _normalize(weights_x, n, "X", 0), _normalize(weights_y, m, "Y", 1)
        return cls((v > 0.0, w > 0.0), (v[v > 0.0], w[w > 0.0]))


def weight_of_pairs(weights: Float, sample: str) -> float:
    """Return Σ_{i≠l} w_i w_l = Σ_i w_i (1 − w_i), where 1 − w_i is the sum of the other weights.

    Raises
    ------
    ValueError
        If one weight is so large that all pairs of different rows have weight 0.
    """
    before = np.cumsum(np.append(0.0, weights[:-1]))
    after = np.cumsum(np.append(0.0, weights[:0:-1]))[::-1]
    pairs = math.fsum(weights * (before + after))
    if pairs < 1e-280:
        raise InputError(
            f"weights[{'XY'.index(sample)}]",
            f"must not be concentrated on one row of {sample}: its weight is over 1e280 times the "
            "sum of the others, so that pairs of different rows have weight 0",
            ["pass less extreme weights", ("pass ", Option("estimator", "biased"))],
        )
    return pairs


def _normalize(weights: Any, n_rows: int, sample: str, place: int) -> Float:
    if weights is None:
        return equal_weights(n_rows)
    name = f"weights[{place}]"
    relative = relative_weights(weights, name, n_rows, sample)
    if np.count_nonzero(relative) < 2:
        raise ValueError(
            f"{name} must be positive for at least two rows of {sample} (weights that are "
            "negligible compared with the largest count as 0)"
        )
    normalized: Float = relative / relative.sum()
    return normalized
