"""What an explainer was told, and what it starts from: attributes that can be read."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.execution.settings import Settings
from pkex.explain.explained_rows import ExplainedRows
from pkex.explain.links import Transform
from pkex.explain.model_columns import ModelColumns
from pkex.explain.outputs import Outputs
from pkex.explain.posterior import Posterior
from pkex.functions.base import Function
from pkex.functions.conditional import Conditional
from pkex.functions.linked import Link
from pkex.games.observational import Observational
from pkex.games.players import Players
from pkex.games.value_functions import Game, ValueFunction
from pkex.inputs.arrays import read_only_view
from pkex.inputs.skops_files import SkopsGuard
from pkex.inputs.wording import counted
from pkex.results.hints import AttributeHints
from pkex.results.row_values import RowValues
from pkex.results.uncertainty import Uncertainty
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = ["Described"]


class Described(SkopsGuard, AttributeHints):
    """An explainer's attributes, none of which ever changes."""

    __slots__ = ()

    # The value of the empty coalition.
    _base: float | Float
    _columns: ModelColumns
    # The model and its method, in words.
    _explained: str
    _function: Function
    _game: Game
    # Of the observational game on landmarks.
    _landmark_error: float | None
    _link: Link
    _outputs: Outputs
    # None if each column is a player of its own.
    _players: Players | None
    # Of the explained function, for the uncertainty of values.
    _posterior: Posterior
    _settings: Settings
    _transform: Transform | None

    def _unsaved_by_skops(self) -> str:
        return (
            ". Pickle it, or save the model by skops and make the explainer again when it is loaded"
        )

    @property
    def feature_names(self) -> list[str]:
        """Names of the features; x0, x1, … where only the explained rows can name them."""
        return list(self._columns.names if self._players is None else self._players.names)

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        return self._outputs.axis_names

    @property
    def output_name(self) -> str | None:
        """Name of the single output: of two classes "b vs a", positive for b; or the one chosen."""
        return self._outputs.name

    @property
    def value_function(self) -> ValueFunction:
        """The game: "marginal", "interventional", "neutral" or "observational"."""
        return self._game.value_function

    @property
    def conditioning(self) -> Observational | None:
        """The settings of the observational game, with the kernel that was found; else None."""
        function = self._function
        return function.conditioning.settings if isinstance(function, Conditional) else None

    @property
    def background(self) -> NDArray[Any] | None:
        """The rows that absent features are drawn from, read-only.

        Those of the background whose weight is not 0; without one the model's own points, if they
        are in the columns of X and the same for all parts of the model. Else, and in the neutral
        game, None.
        """
        if self._game.background is not None:
            return read_only_view(self._game.background[0])
        points = self._function.own_points() if self._game.is_of_points else None
        return None if points is None or not len(points) else read_only_view(points)

    @property
    def background_weights(self) -> NDArray[np.float64] | None:
        """The weights of these rows, which add up to 1; None if there are no such rows."""
        if self._game.background is not None:
            return read_only_view(self._game.background[1])
        points = self.background
        return None if points is None else equal_weights(len(points))

    @property
    def landmark_error(self) -> float | None:
        """How far what coalitions are worth is from what it is without landmarks, of its spread.

        The root mean square over some coalitions of rows of the background; of more than 2,000
        rows beside twice as many landmarks, which is less. None without landmarks.
        """
        return self._landmark_error

    @property
    def link(self) -> str:
        """What is done to worths after the mean over a background: "identity" or "logit"."""
        return self._link

    @property
    def transform(self) -> Transform | None:
        """What is done to the model's outputs before that mean; None for nothing."""
        return self._transform

    @property
    def method(self) -> str:
        """The algorithm: "quadrature" or "recursion"."""
        return self._settings.method

    @property
    def summation(self) -> str:
        """How sums over expansion points are formed: "compensated" or "plain"."""
        return self._settings.summation

    @property
    def n_jobs(self) -> int | None:
        """The number of threads, as it was given."""
        return self._settings.n_jobs

    @property
    def expected_value(self) -> float | NDArray[np.float64]:
        """The value of the empty coalition, which the Shapley values start from.

        With a background, the mean output over it; in the marginal game, over all rows that combine
        entries of the background's columns, or of the model's points. In the neutral game it is
        **not** a mean prediction: it is the model's output where every kernel value is that of a
        row with itself, the sum of the coefficients times the kernel's amplitude, plus the
        intercept. (Kernels of dot products are those of rows of zeros.)

        A float; of shape (outputs,) if there is an output axis.
        """
        if isinstance(self._base, float):
            return self._base
        return float(self._base[0]) if self._outputs.drops_axis else self._base.copy()

    def _result(
        self, explained: ExplainedRows, values: Float, uncertainty: Uncertainty | None
    ) -> RowValues:
        """Return values of rows with all that results hold, without an output axis that goes.

        Parameters
        ----------
        explained : ExplainedRows
        values : ndarray of shape (n, players) or (n, players, outputs)
        uncertainty : Uncertainty or None
        """
        outputs = self._outputs
        rows = RowValues.computed(
            values,
            self._base,
            explained.data,
            explained.axes(outputs.names, outputs.single),
            self.value_function,
            uncertainty,
        )
        return rows.picked((..., 0)) if outputs.drops_axis else rows

    def __repr__(self) -> str:
        parts = [self._explained, counted(self._function.n_players, "feature")]
        if self.output_names is not None:
            parts.append(counted(len(self.output_names), "output"))
        elif self.output_name is not None:
            parts.append(f"output {self.output_name!r}")
        parts.append(f"value_function={self.value_function!r}")
        if self.conditioning is not None:
            parts += _unusual(self.conditioning)
        if self._game.background is not None:
            parts.append(f"background of {counted(len(self._game.background[0]), 'row')}")
        return f"Explainer({', '.join([*parts, *self._settings.unusual()])})"


def _unusual(settings: Observational) -> list[str]:
    """Return the settings that are not the default ones, but for the kernel."""
    given = ((field, getattr(settings, field.name)) for field in fields(settings)[1:])
    return [f"{field.name}={value!r}" for field, value in given if value != field.default]
