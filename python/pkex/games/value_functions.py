"""Value functions: definitions of the value v(S) of a coalition S of present features.

Neutral: absent features have factor 1 in every product of the kernel. Interventional: absent
features are replaced by those of background rows, and the outputs are averaged. Marginal: each
absent feature is drawn independently from the background, by default from the model's stored
points. Observational: as interventional, but background rows are weighted by their similarity to
the explained row in the present features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from pkex.errors import InputError, Option, Text
from pkex.games.means import column_means
from pkex.games.observational import Observational
from pkex.inputs.choices import check_choice
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Rows

ValueFunction: TypeAlias = Literal["neutral", "interventional", "marginal", "observational"]
_VALUE_FUNCTIONS: tuple[ValueFunction, ...] = get_args(ValueFunction)

# Names in other libraries, and what else is possible.
_SYNONYMS: dict[str, ValueFunction] = {
    "conditional": "observational",
    "conditional expectation": "observational",
    "baseline": "interventional",
}
_MEANING = "Or pass the settings of observational values: pkex.Observational()"
# The use of background data by the value functions that require it, for messages.
_ROW_USES = {
    "interventional": "replaces absent features by those of",
    "observational": "conditions absent features on the present ones by",
}


@dataclass(frozen=True, eq=False)
class Game:
    """A value function with its background data.

    Parameters
    ----------
    value_function : {"neutral", "interventional", "marginal", "observational"}
    background : tuple of ndarray or csr_array of shape (m, d) and ndarray of shape (m,), optional
        C-contiguous or sparse rows, and their weights, positive with sum 1. None for "neutral";
        None for "marginal" if the stored points of each expansion, with equal weights, are the
        background.
    coalition_weights : ndarray of shape (n, 2^players, m), optional
        For "observational", the weights of background rows in each coalition, for each row.
    embeds_rows : bool, default False
        For "observational", whether these weight outputs at background rows, instead of at rows
        with the present features of the explained row.
    """

    value_function: ValueFunction
    background: tuple[Rows, Float] | None = None
    coalition_weights: Float | None = field(default=None, repr=False)
    embeds_rows: bool = False

    @property
    def is_marginal(self) -> bool:
        """Whether absent features are drawn independently of each other."""
        return self.value_function == "marginal"

    @property
    def is_of_points(self) -> bool:
        """Whether the background is the stored points of each expansion."""
        return self.is_marginal and self.background is None

    @property
    def packed(self) -> str | tuple[str, Float, Float]:
        """The game as an argument of the engine."""
        if self.background is not None:
            return (self.value_function, *self.background)
        return "marginal of points" if self.is_of_points else self.value_function

    @cached_property
    def means(self) -> tuple[Float, Float]:
        """The means of the background's columns, as `column_means` returns them."""
        if self.background is None:
            raise ValueError("the game has no background")
        return column_means(*self.background)

    def mapped(self, map_rows: Callable[[Rows], Rows]) -> Game:
        """Return the game with background rows transformed by `map_rows`."""
        if self.background is None:
            return self
        rows, weights = self.background
        return replace(self, background=(map_rows(rows), weights))


NEUTRAL = Game("neutral")


def chosen_value_function(
    value_function: ValueFunction | Observational | None, background: object, weights: object
) -> ValueFunction:
    """Return the value function, with the default for a background or for none.

    Raises
    ------
    InputError
        If the value function and the background data are in conflict.
    """
    default: ValueFunction = "marginal" if background is None else "interventional"
    name: ValueFunction = "observational"
    if not isinstance(value_function, Observational):
        name = (
            default
            if value_function is None
            else check_choice(
                "value_function", value_function, _VALUE_FUNCTIONS, _SYNONYMS, _MEANING
            )
        )
    if background is None:
        if name in _ROW_USES:
            raise InputError(
                Option("value_function", name),
                f"{_ROW_USES[name]} background rows",
                [
                    (
                        "pass these by ",
                        Option("background", "FILE", python="background=Z"),
                        ", for instance (a sample of) the training data",
                    ),
                    (
                        "pass ",
                        Option("value_function", "marginal"),
                        " (the default), which draws absent features from the model's stored "
                        "points if there is no background",
                    ),
                ],
            )
        if weights is not None:
            raise InputError(
                "background_weights", "was given without the background whose rows it weights"
            )
    elif name == "neutral":
        raise InputError(
            Option("value_function", "neutral"),
            "does not use a background, but one was given",
            [
                ("omit ", Option("background", python="background")),
                (
                    "pass ",
                    Option("value_function", "interventional"),
                    " (the default with a background) or 'marginal'",
                ),
            ],
        )
    return name


def _sample_of(data: str) -> Text:
    """Return the fix that passes a sample of the training data as the background."""
    background = Option("background", "FILE", python=f"background={data}[:100]")
    return "pass ", background, ", a sample of the training data"


def check_points(
    value_function: ValueFunction,
    background: object,
    keeps_points: bool,
    *,
    data: str = "X_train",
) -> None:
    """Raise InputError if the stored points are the background, but some component has none.

    Parameters
    ----------
    value_function : str
    background : object
        None if there is none.
    keeps_points : bool
        Whether all components of the model store points in the columns of X.
    data : str, default "X_train"
        The training data in the fix.
    """
    if value_function == "marginal" and background is None and not keeps_points:
        raise InputError(
            "background",
            "is required: this model stores no training rows in the columns of X, from which "
            "absent features are drawn by default",
            [
                _sample_of(data),
                (
                    "for a linear model, pass ",
                    Option("value_function", "neutral"),
                    ", for which an absent feature contributes 0",
                ),
            ],
        )


def game_of_points(points: Rows | None) -> Game:
    """Return the game that draws whole rows from a model's stored points, with equal weights."""
    if points is None or not points.shape[0]:
        raise InputError(
            "background",
            "is required: by default, whole rows are drawn from the model's stored points, but "
            "this model has none in the columns of X, or its components have different ones",
            _sample_of("X_train"),
        )
    return Game("interventional", (points, equal_weights(points.shape[0])))
