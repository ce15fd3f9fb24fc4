"""The problem that an explainer solves: a function, a game and the schema of its results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any

from numpy.typing import ArrayLike

from pkex.adapters import AdaptedModel, verify
from pkex.adapters.targets import Target, adapted_to
from pkex.errors import UnsupportedModelError
from pkex.execution.settings import Settings
from pkex.explain.estimators import Estimator
from pkex.explain.joint_draws import JointDraws
from pkex.explain.links import Transform, apply_link, check_link
from pkex.explain.model_columns import ModelColumns
from pkex.explain.observational import (
    conditional_function,
    landmark_error,
    warn_of_constant_players,
)
from pkex.explain.output_scale import OutputScale
from pkex.explain.outputs import Outputs
from pkex.explain.posterior import Posterior
from pkex.explain.schema import ExplainedRows, Schema
from pkex.functions.base import Function
from pkex.functions.conditional import Conditional
from pkex.functions.linked import Link
from pkex.games.observational import Observational
from pkex.games.players import as_players
from pkex.games.value_functions import (
    Game,
    ValueFunction,
    check_points,
    chosen_value_function,
    game_of_points,
)
from pkex.inputs.arrays import read_only_view
from pkex.inputs.choices import Method, Summation
from pkex.results.row_values import RowValues
from pkex.results.uncertainty import Uncertainty
from pkex.tables.sparse import dense_rows, is_sparse
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Rows


@dataclass(frozen=True, eq=False)
class Problem:
    """A function and its game, ready to be solved for rows.

    Parameters
    ----------
    title : str
        The function in words, such as "predict of SVR".
    function : Function
        With the chosen outputs, and groups of columns as players.
    game : Game
    schema : Schema
    settings : Settings
    link : {"identity", "logit"}
    transform : callable or None
    posterior : Posterior
        The posterior of the function, for the uncertainty of values.
    base : float or ndarray of shape (outputs,)
        The value of the empty coalition.
    landmark_error : float or None
        The error of the observational game on landmarks.
    scale : OutputScale
        The scale of the outputs before a link.
    """

    title: str
    function: Function
    game: Game
    schema: Schema
    settings: Settings
    link: Link
    transform: Transform | None
    posterior: Posterior
    base: float | Float
    landmark_error: float | None
    scale: OutputScale

    @classmethod
    def of(
        cls,
        model: Any,
        background: Any,
        *,
        target: Target | None,
        value_function: ValueFunction | Observational | None,
        background_weights: ArrayLike | None,
        groups: Mapping[str, int | str | Iterable[int | str]] | None,
        outputs: int | str | Sequence[int | str] | None,
        link: Link,
        transform: Transform | None,
        feature_names: Sequence[str] | None,
        output_names: Sequence[str] | None,
        method: Method,
        summation: Summation,
        n_jobs: int | None,
    ) -> Problem:
        """Return the problem that the arguments of `Explainer` describe."""
        owner = model.__self__ if isinstance(model, MethodType) else model
        adapted_model = adapted_to(model, target)
        settings = Settings(method, summation, n_jobs)
        check_link(link)
        chosen_game = chosen_value_function(value_function, background, background_weights)
        data = "X_train" if adapted_model.encoder is None else "texts"
        check_points(chosen_game, background, adapted_model.function.keeps_points, data=data)
        verify(adapted_model, model, n_threads=settings.n_threads)
        scale = OutputScale.of(adapted_model, owner, target, is_transformed=transform is not None)
        adapted_model = apply_link(adapted_model, link, transform)

        selection, function = Outputs.chosen(adapted_model, outputs, output_names)
        posterior = Posterior.of(adapted_model, owner, outputs, output_names)
        columns, rows, players = ModelColumns.of(adapted_model, feature_names), None, None
        if chosen_game == "observational":
            columns = replace(columns, reads_sparse=False)
        if background is not None:
            rows, columns = columns.read_background(background, background_weights)
        game = Game(chosen_game, rows)
        if chosen_game == "observational":
            function = conditional_function(function, value_function, game, columns, link)
            posterior = posterior.with_conditioning(function.conditioning)
        elif value_function is None and rows is None and function.draws_rows:
            points = function.stored_points()
            keeps_sparse = points is None or function.reads_sparse
            game = game_of_points(points if keeps_sparse else dense_rows(points, "points"))
        if groups is not None:
            players = as_players(groups, columns.names)
            function = function.grouped(players.of_column)
            posterior = posterior.grouped(players.of_column)
        base, error = _compute_base(function, game, settings)
        title, schema = _title(adapted_model, owner), Schema(columns, players, selection)
        return cls(
            title, function, game, schema, settings, link, transform, posterior, base, error, scale
        )

    @property
    def expected_value(self) -> float | Float:
        """The value of the empty coalition, without an output axis that goes."""
        if isinstance(self.base, float):
            return self.base
        return float(self.base[0]) if self.schema.outputs.drops_axis else self.base.copy()

    @property
    def background(self) -> Rows | None:
        """The rows that absent features are drawn from, read-only; None if there are none."""
        if self.game.background is not None:
            rows: Rows | None = self.game.background[0]
        else:
            rows = self.function.stored_points() if self.game.is_of_points else None
        if rows is None or not rows.shape[0]:
            return None
        return rows if is_sparse(rows) else read_only_view(rows)

    @property
    def background_weights(self) -> Float | None:
        """The weights of these rows."""
        if self.game.background is not None:
            return read_only_view(self.game.background[1])
        points = self.background
        return None if points is None else equal_weights(points.shape[0])

    def joint_draws(
        self, explained_rows: ExplainedRows, estimator: Estimator | None = None
    ) -> JointDraws:
        """Return joint draws of the values of rows, or of their estimates by an estimator.

        Raises
        ------
        UnsupportedModelError
            If the function has no posterior.
        """
        posterior, game, points = self.posterior, self.game, self.background
        if posterior.variance is None:
            raise UnsupportedModelError(posterior.reason)
        if game.is_of_points and points is not None:
            game = replace(game, background=(points, equal_weights(len(points))))
        players, settings = self.function.players, self.settings
        return JointDraws(
            posterior.variance,
            explained_rows.rows,
            game,
            players,
            settings,
            posterior.conditioning,
            estimator,
        )

    def result(
        self, explained_rows: ExplainedRows, values: Float, uncertainty: Uncertainty | None
    ) -> RowValues:
        """Return values of rows as results hold them, without an output axis that goes.

        Parameters
        ----------
        explained_rows : ExplainedRows
        values : ndarray of shape (n, players) or (n, players, outputs)
        uncertainty : Uncertainty or None
        """
        axes, game = self.schema.axes(explained_rows), self.game.value_function
        rows = RowValues.with_base(values, self.base, explained_rows.data, axes, game, uncertainty)
        if explained_rows.documents is not None:
            rows = replace(rows, documents=replace(explained_rows.documents, title=self.title))
        return rows.select((..., 0)) if self.schema.outputs.drops_axis else rows


def _title(adapted_model: AdaptedModel, owner: Any) -> str:
    """Return the function in words, with the source of its columns if it is of documents."""
    encoder = adapted_model.encoder
    if encoder is None:
        return f"{adapted_model.title} of {type(owner).__name__}"
    return f"{adapted_model.title} of {encoder.owner}, by {encoder.source}"


def _compute_base(
    function: Function, game: Game, settings: Settings
) -> tuple[float | Float, float | None]:
    """Return the value of the empty coalition and, with landmarks, their error."""
    with settings.computing() as computation:
        base = function.base(game, computation)
        if not isinstance(function, Conditional):
            return base, None
        warn_of_constant_players(function)
        return base, landmark_error(function, computation)
