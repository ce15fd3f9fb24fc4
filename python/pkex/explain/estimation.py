"""Shapley values from random orders of features.

A feature's value is its mean contribution over all orders. Each order is taken with its reverse,
whose contributions err to the other side where features act together (antithetic sampling; Mitchell
et al. 2022). Such pairs are independent of each other: their mean is unbiased, and their spread
gives its standard error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.games.value_functions import Game
from pkex.inputs.integers import as_integer
from pkex.typing import Float

__all__ = ["check_permutations", "estimated"]

# Coalitions whose worths are computed at a time.
_COALITIONS = 1 << 11


def check_permutations(number: object) -> int:
    """Return a number of orders, which come in pairs, or say what it may be."""
    what = "an even integer from 4 on, as orders come in pairs"
    count = as_integer("n_permutations", number, what, least=4)
    if count % 2:
        raise ValueError(f"n_permutations must be {what}; got {count}")
    return count


def estimated(
    function: Function,
    rows: Float,
    game: Game,
    n_permutations: int,
    generator: np.random.Generator,
    how: Computation,
) -> tuple[Float, Float]:
    """Return estimates of the values of rows, and their standard errors.

    All rows are estimated from the same orders, so that their results do not depend on each other.

    Returns
    -------
    values, errors : ndarray of shape (n, players, outputs)
    """
    if not isinstance(function, Linked):
        outputs = LinkedOutputs(_unchanged, function.n_outputs, function.has_output_axis)
        function = Linked([function], outputs)
    p = function.n_players
    orders = generator.permuted(np.tile(np.arange(p), (n_permutations // 2, 1)), axis=1)
    values, errors = np.empty((2, len(rows), p, function.n_outputs))
    for number, row in enumerate(rows):
        own = how.part(number, len(rows))
        values[number], errors[number] = _of_row(function, row, f"row {number} of X", game, orders, own)
    return values, errors


def _unchanged(values: Float) -> Float:
    return values


def _of_row(
    function: Linked,
    row: Float,
    where: str,
    game: Game,
    orders: NDArray[np.int64],
    how: Computation,
) -> tuple[Float, Float]:
    """Return the means over pairs of orders, and their standard errors, (players, outputs)."""
    p = orders.shape[1]
    ends = function.worths(row, game, np.array([[False] * p, [True] * p]), how.reporting(None), where)
    pairs = max(1, _COALITIONS // (2 * p))
    blocks = [orders[start : start + pairs] for start in range(0, len(orders), pairs)]
    sums, squares = np.zeros((2, p, function.n_outputs))
    first: Float | None = None
    for number, block in enumerate(blocks):
        own = how.part(number, len(blocks))
        found = _of_pairs(function, row, where, game, block, ends, own)
        # Deviations from the first pair's, so that squares do not cancel.
        first = found[0] if first is None else first
        sums += (found - first).sum(axis=0)
        squares += np.square(found - first).sum(axis=0)
        if how.progress is not None:
            how.progress(number + 1, len(blocks))
    count = len(orders)
    variances = np.maximum(squares - sums**2 / count, 0.0) / (count - 1)
    return first + sums / count, np.sqrt(variances / count)


def _of_pairs(
    function: Linked,
    row: Float,
    where: str,
    game: Game,
    orders: NDArray[np.int64],
    ends: Float,
    how: Computation,
) -> Float:
    """Return the mean contributions in orders and their reverses, (orders, players, outputs)."""
    n_orders, p = orders.shape
    places = np.argsort(orders, axis=1)[:, None]
    sizes = np.arange(1, p)[:, None]
    members = np.stack([places < sizes, p - 1 - places < sizes])
    worths = function.worths(row, game, members.reshape(-1, p), how, where)
    table = np.empty((2, n_orders, p + 1, function.n_outputs))
    table[:, :, 0], table[:, :, -1] = ends
    table[:, :, 1:-1] = worths.reshape(2, n_orders, p - 1, -1)
    forward, backward = np.diff(table, axis=2)
    by_place = (forward + backward[:, ::-1]) / 2.0
    return np.take_along_axis(by_place, places[:, 0, :, None], axis=1)
