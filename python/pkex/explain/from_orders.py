"""Shapley values from random permutations of features.

The Shapley value is the mean marginal contribution over all permutations. Each permutation is used
with its reverse, whose error tends to have the opposite sign where features interact (antithetic
sampling; Mitchell et al. 2022). The pairs are independent: their mean is unbiased, and their spread
gives its standard error.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError
from pkex.execution.computation import Computation
from pkex.explain.row_game import BLOCK, OfRow, RowGame, check_number_of_draws
from pkex.inputs.integers import as_integer
from pkex.typing import Float

__all__ = ["check_permutations", "from_orders"]

# Fewest permutations for an estimate of their spread.
_LEAST = 20


def check_permutations(number: object, n_players: int) -> int:
    """Return a checked number of permutations."""
    what = (
        f"an even integer of at least {_LEAST}, such as 1000: permutations come in pairs, whose "
        "spread gives the standard errors"
    )
    count = as_integer("n_permutations", number, what, least=_LEAST)
    if count % 2:
        raise InputError("n_permutations", f"must be {what}; got {count}")
    check_number_of_draws("n_permutations", count, n_players)
    return count


def from_orders(n_players: int, n_permutations: int, generator: np.random.Generator) -> OfRow:
    """Draw permutations, and return the estimator of the Shapley values of a row from them."""
    numbers = np.tile(np.arange(n_players), (n_permutations // 2, 1))
    return partial(_of_row, generator.permuted(numbers, axis=1))


def _of_row(orders: NDArray[np.int64], of_row: RowGame, how: Computation) -> tuple[Float, Float]:
    """Return means over pairs of permutations, and standard errors, both (players, outputs)."""
    count, p = orders.shape
    ends = of_row.worths(np.array([[False] * p, [True] * p]), how.reporting(None))
    step = max(1, BLOCK // (2 * p))
    blocks = [orders[start : start + step] for start in range(0, count, step)]
    found = []
    for number, block in enumerate(blocks):
        found.append(_of_pairs(of_row, block, ends, how.part(number, len(blocks))))
        if how.progress is not None:
            how.progress(number + 1, len(blocks))
    pairs = np.concatenate(found)
    return pairs.mean(axis=0), pairs.std(axis=0, ddof=1) / np.sqrt(count)


def _of_pairs(of_row: RowGame, orders: NDArray[np.int64], ends: Float, how: Computation) -> Float:
    """Return mean contributions over each pair, shape (permutations, players, outputs)."""
    n_orders, p = orders.shape
    places = np.argsort(orders, axis=1)[:, None]
    sizes = np.arange(1, p)[:, None]
    # The first features of a permutation, and of its reverse.
    members = np.stack([places < sizes, p - 1 - places < sizes])
    table = np.empty((2, n_orders, p + 1, ends.shape[1]))
    table[:, :, 0], table[:, :, -1] = ends
    worths = of_row.worths(members.reshape(-1, p), how)
    table[:, :, 1:-1] = worths.reshape(table[:, :, 1:-1].shape)
    forward, backward = np.diff(table, axis=2)
    by_place: Float = (forward + backward[:, ::-1]) / 2.0
    return np.take_along_axis(by_place, places[:, 0, :, None], axis=1)
