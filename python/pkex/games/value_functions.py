"""Value functions: what a model is worth while only some of the features are present.

Neutral: absent features have factor 1 in every product of the kernel. Interventional: they are
replaced by those of background rows, and the output averaged. Marginal: likewise, but each feature
is drawn from the background on its own, as if features were independent; without a background, from
the points of the model's own expansion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from pkex.inputs.choices import check_choice
from pkex.inputs.matrix import as_vector_or_matrix
from pkex.typing import Float

__all__ = [
    "NEUTRAL",
    "Game",
    "ValueFunction",
    "checked_weights",
    "chosen_value_function",
    "unwrapped_background",
]

ValueFunction: TypeAlias = Literal["neutral", "interventional", "marginal"]
_VALUE_FUNCTIONS: tuple[ValueFunction, ...] = get_args(ValueFunction)


@dataclass(frozen=True, eq=False)
class Game:
    """A value function, and the data that it needs.

    Parameters
    ----------
    value_function : {"neutral", "interventional", "marginal"}
    background : tuple of ndarray of shape (m, d) and ndarray of shape (m,), optional
        Rows, C-contiguous, and their weights, which are positive and add up to 1. None in the
        neutral game; and in the marginal game where each expansion's own points, with equal
        weights, take their place.
    n_jobs : int or None, default -1
        Number of threads to prepare the background with, as `thread_count` takes it.
    """

    value_function: ValueFunction
    background: tuple[Float, Float] | None = None
    n_jobs: int | None = -1

    @property
    def is_marginal(self) -> bool:
        """Whether absent features are independent of each other."""
        return self.value_function == "marginal"

    @property
    def is_of_points(self) -> bool:
        """Whether the background is each expansion's own points."""
        return self.is_marginal and self.background is None

    def mapped(self, map_rows: Callable[[Float], Float]) -> Game:
        """Return the game in terms of other columns, to which `map_rows` takes the rows."""
        if self.background is None:
            return self
        rows, weights = self.background
        return replace(self, background=(map_rows(rows), weights))


NEUTRAL = Game("neutral")


def chosen_value_function(
    given: ValueFunction | None, background: object, weights: object
) -> ValueFunction:
    """Return the value function, by default the one that fits the arguments, or their conflict."""
    default: ValueFunction = "marginal" if background is None else "interventional"
    chosen = default if given is None else check_choice("value_function", given, _VALUE_FUNCTIONS)
    if background is None:
        if chosen == "interventional":
            raise ValueError(
                "value_function='interventional' replaces absent features by those of background "
                "rows; give these as background=Z, for instance (a sample of) the training data, "
                "or take value_function='marginal' (the default), which without a background draws "
                "them from the model's own points"
            )
        if weights is not None:
            raise ValueError("background_weights was given, but no background whose rows it weighs")
    elif chosen == "neutral":
        raise ValueError(
            "value_function='neutral' uses no background, but one was given; leave out background, "
            "or take value_function='interventional' (the default with a background) or 'marginal'"
        )
    return chosen


def unwrapped_background(
    background: Any,
) -> tuple[Any, ArrayLike | None, tuple[str, ...] | None]:
    """Return the table in what may be an object of shap's, with its weights and column names.

    These are the summaries that `shap.kmeans` returns, and the maskers Independent and Partition.
    """
    if not any(base.__module__.partition(".")[0] == "shap" for base in type(background).__mro__):
        return background, None, None
    name = type(background).__name__
    if name == "DenseData":
        if any(len(group) > 1 for group in background.groups):
            raise TypeError(
                "background is a DenseData with groups of columns; pass its data and weights, and "
                "the groups as groups={'name': [columns]}"
            )
        return background.data, background.weights, _names(background.group_names)
    if name in ("Independent", "Partition"):
        return background.data, None, _names(getattr(background, "feature_names", None))
    raise TypeError(
        f"background must be rows: an array, a DataFrame, what shap.kmeans returns, or one of the "
        f"maskers shap.maskers.Independent and Partition; got shap's {name}"
    )


def _names(names: Any) -> tuple[str, ...] | None:
    """Return the column names of a DataFrame, None for the numbers that shap makes up."""
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    known = tuple(str(name) for name in names)
    return None if known == tuple(map(str, range(len(known)))) else known


def checked_weights(weights: ArrayLike | None, n_rows: int) -> Float:
    """Return weights that add up to 1, equal ones if none are given."""
    if weights is None:
        return np.full(n_rows, 1.0 / n_rows)
    name = "background_weights"
    array = as_vector_or_matrix(weights, name, n_rows=n_rows, rows_of="background")
    if array.ndim != 1:
        raise ValueError(
            f"{name} must have shape ({n_rows},), one entry for each row of background; "
            f"got shape {array.shape}"
        )
    if (array < 0.0).any():
        row = int(np.argmax(array < 0.0))
        raise ValueError(f"{name} must not be negative; it is {array[row]} for row {row}")
    if not array.any():
        raise ValueError(f"{name} must not all be 0")
    relative = array / array.max()
    normalised: Float = relative / math.fsum(relative)
    return normalised
