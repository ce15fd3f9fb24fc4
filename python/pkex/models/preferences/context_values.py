"""Values of the features of contexts: f is a kernel expansion as a function of the context."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.conditional import Conditional
from pkex.functions.kernel_sum import KernelSum
from pkex.models.preferences.absent import Absent
from pkex.models.preferences.preferential import Contexts
from pkex.typing import Float


def context_values(
    contexts: Contexts,
    coefficients: Float,
    numbers: NDArray[np.intp],
    rows: Float,
    absent: Absent,
    computation: Computation,
) -> tuple[Float, Float]:
    """Return the values of players, shape (n, p), and of the empty coalition, shape (n,).

    Parameters
    ----------
    contexts : Contexts
        The training contexts.
    coefficients : ndarray of shape (p, k)
        Coefficients of these, a column for each pair of items.
    numbers : ndarray of int, shape (n,)
        The column for each explained context.
    rows : ndarray of shape (n, c)
        The explained contexts.
    absent : Absent
    computation : Computation
    """
    points, places = np.unique(contexts.rows, axis=0, return_inverse=True)
    conditioning = absent.conditioning() if absent.is_conditional else None
    values, bases = np.empty((len(rows), len(absent.players))), np.empty(len(rows))
    for number, part in computation.over(np.unique(numbers)):
        mask = numbers == number
        sums = np.bincount(places.ravel(), coefficients[:, number], len(points))
        function: Function = KernelSum(points, sums, contexts.kernel)
        if conditioning is not None:
            function = Conditional(function, conditioning)
        function = function.grouped(absent.players.of_column)
        values[mask] = function.explain(rows[mask], game=absent.game, computation=part)[..., 0]
        bases[mask] = function.base(absent.game, part.reporting(None))
    return values, bases
