"""The games of a loss: v(S) is the loss of a function's value in the coalition S."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pkex.errors import InputError, Option, Text
from pkex.execution.computation import Computation
from pkex.functions.base import Function, Members
from pkex.functions.coalitionwise import CoalitionGames, RowName
from pkex.functions.conditional import MAX_CONDITIONED, Conditional
from pkex.functions.linked import as_coalitionwise
from pkex.functions.losses import OutputLoss, squared_errors
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.player_limits import GROUP_COLUMNS, MAX_PLAYERS
from pkex.games.value_functions import NEUTRAL, Game
from pkex.typing import Float

_MARGINAL = (
    "pass ",
    Option("value_function", "marginal"),
    ", for which squared errors of kernel models have no limit",
)


@dataclass(frozen=True, eq=False)
class RowLosses(CoalitionGames):
    """The losses of a function's outputs: v(S) = loss(v_f(S), y).

    The last columns of rows are their targets y, which are not players.

    Parameters
    ----------
    function : Function
    loss : callable
        Maps outputs and targets to losses.
    n_outputs : int
        The number of losses of a row.
    has_output_axis : bool
    """

    function: Function
    loss: OutputLoss
    n_outputs: int
    has_output_axis: bool

    @property
    def n_players(self) -> int:
        return self.function.n_players

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        if self.loss is squared_errors and quantity == SHAPLEY:
            rows, targets = self._split_targets(X)
            values = self.function.shifted_squares(rows, -targets, game, computation)
            if values is not None:
                return values
        return super().explain(X, game=game, quantity=quantity, computation=computation)

    def losses_at(self, X: Float, outputs: Float) -> Float:
        """Return the losses of rows, shape (n, losses), for outputs that all rows share.

        Parameters
        ----------
        X : ndarray of shape (n, d + targets)
        outputs : ndarray of shape (outputs,)
        """
        _, targets = self._split_targets(X)
        repeated_outputs = np.broadcast_to(outputs, (len(X), 1, len(outputs)))
        return self.loss(repeated_outputs, targets)[:, 0]

    def _split_targets(self, X: Float) -> tuple[Float, Float]:
        """Return rows, and their targets."""
        n_columns = self.function.n_features
        return np.ascontiguousarray(X[:, :n_columns]), X[:, n_columns:].astype(np.float64)

    def _exact_game(self, X: Float, game: Game, quantity: Quantity) -> Game:
        p, max_players = self.n_players, MAX_PLAYERS
        if isinstance(self.function, Conditional):
            max_players = MAX_CONDITIONED
        if p > max_players:
            fixes: list[Text] = [
                ("estimate values, with standard errors, by ", Option("n_coalitions", 1000)),
                GROUP_COLUMNS,
            ]
            is_of_squares = self.loss is squared_errors and not self.function.draws_rows
            if is_of_squares and game.value_function == "interventional":
                fixes.append(_MARGINAL)
            raise InputError(
                None,
                f"the loss is not a sum over features, so exact values require all 2^{p} "
                f"coalitions of its {p} features; pkex supports up to {max_players} features",
                fixes,
            )
        games = self._coalitionwise(game)
        return (
            game if games is None else games._exact_game(self._split_targets(X)[0], game, quantity)
        )

    def _coalitionwise(self, game: Game) -> CoalitionGames | None:
        """Return the function evaluated at whole rows; None if features are drawn independently."""
        is_sum = game.is_marginal and not self.function.draws_rows
        return None if is_sum else as_coalitionwise(self.function)

    def block_sizes(self, n_coalitions: int) -> tuple[int, int]:
        return as_coalitionwise(self.function).block_sizes(n_coalitions)

    def coalition_values(
        self, X: Float, game: Game, members: Members, computation: Computation, row_name: RowName
    ) -> Float:
        rows, targets = self._split_targets(X)
        games = self._coalitionwise(game)
        if games is not None:
            values = games.coalition_values(rows, game, members, computation, row_name)
        else:
            outputs = [
                self.function.coalition_outputs(row, game, members, part_computation)
                for row, part_computation in computation.over(rows)
            ]
            values = np.concatenate(outputs)
        losses = self.loss(values, targets)
        if not np.isfinite(losses).all():
            row = int(np.argwhere(~np.isfinite(losses))[0, 0])
            raise InputError(
                None,
                f"the loss of {row_name(row)} is not finite for a coalition: its prediction is too "
                "large, or its probability of the true class is 0. Shapley values are defined for "
                "finite losses only",
                ("pass ", Option("loss", "squared_error"), " for the Brier score of probabilities"),
            )
        return losses
