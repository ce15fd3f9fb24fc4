"""Shapley values from random coalitions; see `SampledCoalitions`."""

from __future__ import annotations

from functools import partial

import numpy as np

from pkex.errors import InputError
from pkex.execution.computation import Computation
from pkex.explain.row_game import BLOCK, OfRow, RowGame, check_number_of_draws
from pkex.functions.conditional import Conditional
from pkex.games.sampled_coalitions import SampledCoalitions
from pkex.inputs.integers import as_integer
from pkex.typing import Float

__all__ = ["check_coalitions", "from_coalitions", "of_rows_together"]

# Fewest coalitions for an estimate of their spread, and fewest per feature for the regression.
_LEAST, _LEAST_OF_FEATURE = 20, 4
# Values of coalitions held in memory at a time.
_MOST_NUMBERS = 1 << 24


def check_coalitions(number: object, n_players: int) -> int:
    """Return a checked number of coalitions."""
    least = max(_LEAST, _LEAST_OF_FEATURE * n_players)
    what = (
        f"an even integer of at least {least}, such as {max(1000, least)}: coalitions come with "
        f"their complements, at least {_LEAST} in all and {_LEAST_OF_FEATURE} per feature"
    )
    count = as_integer("n_coalitions", number, what, least=least)
    if count % 2:
        raise InputError("n_coalitions", f"must be {what}; got {count}")
    check_number_of_draws("n_coalitions", count, n_players)
    return count


def from_coalitions(drawn: SampledCoalitions) -> OfRow:
    """Return the estimator of the Shapley values of a row from drawn coalitions."""
    return partial(_of_row, drawn)


def _of_row(drawn: SampledCoalitions, of_row: RowGame, how: Computation) -> tuple[Float, Float]:
    starts = range(0, len(drawn.members), BLOCK)
    worths = []
    for number, start in enumerate(starts):
        some = drawn.members[start : start + BLOCK]
        worths.append(of_row.worths(some, how.part(number, len(starts))))
        if how.progress is not None:
            how.progress(number + 1, len(starts))
    return drawn.estimates(np.concatenate(worths))


def of_rows_together(
    drawn: SampledCoalitions, function: Conditional, rows: Float, how: Computation
) -> tuple[Float, Float]:
    """Return estimates and standard errors of rows that are evaluated together.

    Returns
    -------
    values, errors : ndarray of shape (n, players, outputs)
    """
    step = max(1, _MOST_NUMBERS // (len(drawn.members) * function.n_outputs))
    blocks = [rows[start : start + step] for start in range(0, len(rows), step)]
    found = np.empty((2, len(rows), function.n_players, function.n_outputs))
    for number, block in enumerate(blocks):
        worths = function.worths(block, drawn.members, how.part(number, len(blocks)))
        found[:, number * step : number * step + len(block)] = drawn.estimates(worths)
    return found[0], found[1]
