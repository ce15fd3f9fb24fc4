"""Distribution of feature importance under the posterior of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.results.uncertainty import Uncertainty
from pkex.typing import Float

__all__ = ["drawn_importance"]


def drawn_importance(
    values: Float,
    uncertainty: Uncertainty,
    samples: object,
    random_state: Any,
    *,
    is_row: bool,
    kind: str,
) -> Float:
    """Return the mean absolute values of draws over the rows, shape (samples, ...).

    Parameters
    ----------
    values : ndarray
    uncertainty : Uncertainty
        The uncertainty of the values.
    samples : int
        The number of draws.
    random_state : int, Generator, RandomState or None
    is_row : bool
        Whether the values are from one row, without an axis of rows.
    kind : str
        The name of the result in messages.

    Raises
    ------
    ValueError
        If the model's posterior is not available.
    """
    if uncertainty.draws is None or uncertainty.places is None:
        raise ValueError(
            "importance(samples=...) draws functions from the model, which a pickled "
            f"{kind} does not contain. Explain the rows again"
        )
    n = as_integer("samples", samples, "a positive integer, such as 1000", least=1)
    places = np.ravel(uncertainty.places)
    blocks = []
    for deviations in uncertainty.draws.deviations(places, n, as_generator(random_state)):
        sizes = np.abs(values + deviations.reshape(-1, *np.shape(values)))
        blocks.append(sizes if is_row else sizes.mean(axis=1))
    return np.concatenate(blocks)
