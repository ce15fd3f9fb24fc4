"""The variance of a mixture of Gaussian processes, as fully Bayesian models are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Option, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.functions.base import Function
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.linked import Linked, LinkedOutputs
from pkex.games.value_functions import Game
from pkex.typing import Float

__all__ = ["variance_of_mixture"]


def variance_of_mixture(variances: Iterable[Function], means: Iterable[Function]) -> Linked:
    """Return the mean of the variances of processes, and the variance of their means.

    That is the variance of what has each process with the same probability (the law of total
    variance). Squares of means are no sums over features: all coalitions are looked at.

    Parameters
    ----------
    variances, means : iterable of Function
        As many of these as of those, without an output axis.
    """
    return Linked([*variances, *means], LinkedOutputs(_total, 1, has_axis=False))


def _total(values: Float) -> Float:
    variances, means = np.split(values, 2, axis=1)
    total: Float = (variances.mean(axis=1) + means.var(axis=1))[:, None]
    return total


@covariances.register
def _(variance: Linked, X: Float, game: Game, how: Computation) -> Float:
    # No other variance is behind a link.
    raise UnsupportedModelError(
        (
            Option("uncertainty", True),
            " is for values with a normal distribution; those of a mixture of Gaussian processes, "
            "such as a fully Bayesian model, have none",
        )
    )


@draws.register(Linked)
def _(variance: Linked, rows: NDArray[Any], n: int, random: np.random.Generator) -> list[Draws]:
    raise UnsupportedModelError(
        "uncertainty is for a Gaussian process, and not for a mixture of several, such as a fully "
        "Bayesian model; analyse its processes one by one"
    )
