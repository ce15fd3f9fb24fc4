"""Value functions: what a model is worth while only some of the features are present.

Neutral: absent features have factor 1 in every product of the kernel. Interventional: they are
replaced by those of background rows, and the output averaged. Marginal: likewise, but each feature
is drawn from the background on its own, as if features were independent; without a background, from
the points of the model's own expansion. Observational: as interventional, but background rows count
by how alike they are to the explained one in the features that are present.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from pkex.errors import InputError, Option
from pkex.games.means import column_means
from pkex.games.observational import Observational
from pkex.inputs.choices import check_choice
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = [
    "NEUTRAL",
    "Game",
    "ValueFunction",
    "check_points",
    "chosen_value_function",
    "game_of_points",
]

ValueFunction: TypeAlias = Literal["neutral", "interventional", "marginal", "observational"]
_VALUE_FUNCTIONS: tuple[ValueFunction, ...] = get_args(ValueFunction)

# What the games that need a background do with it.
_FROM_ROWS = {
    "interventional": "replaces absent features by those of",
    "observational": "makes absent features follow the present ones as they do in",
}


@dataclass(frozen=True, eq=False)
class Game:
    """A value function, and the data that it needs.

    Parameters
    ----------
    value_function : {"neutral", "interventional", "marginal", "observational"}
    background : tuple of ndarray of shape (m, d) and ndarray of shape (m,), optional
        Rows, C-contiguous, and their weights, which are positive and add up to 1. None in the
        neutral game; and in the marginal game where each expansion's own points, with equal
        weights, take their place.
    given : ndarray of shape (n, 2^players, m), optional
        In the observational game, of some rows, the weights of background rows in each coalition.
    """

    value_function: ValueFunction
    background: tuple[Float, Float] | None = None
    given: Float | None = field(default=None, repr=False)

    @property
    def is_marginal(self) -> bool:
        """Whether absent features are independent of each other."""
        return self.value_function == "marginal"

    @property
    def is_of_points(self) -> bool:
        """Whether the background is each expansion's own points."""
        return self.is_marginal and self.background is None

    @property
    def packed(self) -> str | tuple[str, Float, Float]:
        """The game in the form of the engine."""
        if self.background is not None:
            return (self.value_function, *self.background)
        return "marginal of points" if self.is_of_points else self.value_function

    @cached_property
    def means(self) -> tuple[Float, Float]:
        """The means of the background's columns, as `column_means` returns them."""
        if self.background is None:
            raise ValueError("the game has no background")
        return column_means(*self.background)

    def mapped(self, map_rows: Callable[[Float], Float]) -> Game:
        """Return the game in terms of other columns, to which `map_rows` takes the rows."""
        if self.background is None:
            return self
        rows, weights = self.background
        return replace(self, background=(map_rows(rows), weights))


NEUTRAL = Game("neutral")


def chosen_value_function(
    given: ValueFunction | Observational | None, background: object, weights: object
) -> ValueFunction:
    """Return the value function, by default the one that fits the arguments, or their conflict."""
    default: ValueFunction = "marginal" if background is None else "interventional"
    chosen: ValueFunction = "observational"
    if not isinstance(given, Observational):
        chosen = (
            default if given is None else check_choice("value_function", given, _VALUE_FUNCTIONS)
        )
    if background is None:
        if chosen in _FROM_ROWS:
            raise InputError(
                Option("value_function", chosen),
                f"{_FROM_ROWS[chosen]} background rows",
                [
                    (
                        "give these as ",
                        Option("background", "FILE", python="background=Z"),
                        ", for instance (a sample of) the training data",
                    ),
                    (
                        "take ",
                        Option("value_function", "marginal"),
                        " (the default), which without a background draws absent features from "
                        "the model's stored points",
                    ),
                ],
            )
        if weights is not None:
            raise InputError(
                "background_weights", "was given, but no background whose rows it weighs"
            )
    elif chosen == "neutral":
        raise InputError(
            Option("value_function", "neutral"),
            "does not use a background, but one was given",
            [
                ("leave out ", Option("background", python="background")),
                (
                    "take ",
                    Option("value_function", "interventional"),
                    " (the default with a background) or 'marginal'",
                ),
            ],
        )
    return chosen


_TRAINING_DATA = (
    "give ",
    Option("background", "FILE", python="background=X_train"),
    ", the training data or a sample of it",
)


def check_points(value_function: ValueFunction, background: object, keeps_points: bool) -> None:
    """Refuse the game of a model's own points if some part of the model keeps none."""
    if value_function == "marginal" and background is None and not keeps_points:
        raise InputError(
            "background",
            (
                "is needed for this model: without one, absent features are drawn from the rows "
                "that a model keeps of its training data in the columns of X. A linear model or a "
                "TermExpansion, alone or as a part of another, keeps none; for a Pipeline's ",
                Option("target", "std"),
                " or transform, only rows after its steps are kept",
            ),
            [
                _TRAINING_DATA,
                (
                    "of a linear model, take ",
                    Option("value_function", "neutral"),
                    ", in which an absent feature contributes 0",
                ),
            ],
        )


def game_of_points(points: Float | None) -> Game:
    """Return the game that draws whole rows from a model's own points, all of the same weight."""
    if points is None or not len(points):
        raise InputError(
            "background",
            "is needed: what is explained is not a sum over features, and without a background "
            "whole rows are drawn from the points of the model, of which this one has none in the "
            "columns of X, or several of its parts different ones",
            _TRAINING_DATA,
        )
    return Game("interventional", (points, equal_weights(len(points))))
