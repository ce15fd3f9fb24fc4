"""Posterior covariances of the Shapley values of a Gaussian process's mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.adapters import AdaptedModel, verify
from pkex.adapters.adapted_model import variance_of
from pkex.errors import InputError, Option, Text, UnsupportedModelError
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.explain.outputs import Outputs
from pkex.functions.base import Function
from pkex.functions.conditional import check_number_of_players
from pkex.functions.row_pairs import all_pairs, diagonal_pairs
from pkex.games.coalitions import all_coalitions
from pkex.games.conditioning import ConditionalBackground
from pkex.games.player_limits import GROUP_COLUMNS
from pkex.games.value_functions import Game
from pkex.results.uncertainty import joint_roots_of, roots_of
from pkex.typing import Float

# Largest number of steps for the covariances of one row with "observational": about an hour.
_MAX_STEPS = 1e12
# Weights of background rows, over all coalitions, held in memory at a time.
_MAX_WEIGHTS = 1 << 24
# Largest number of covariances between values of all rows: of 409 rows of ten features.
_MAX_JOINT = 1 << 24
_JOINT = Option("uncertainty", "joint")
# Largest number of training rows whose covariance matrix is factored in advance.
_MAX_FACTORED = 2000


@dataclass(frozen=True)
class Posterior:
    """The posterior of the explained function, if it is the mean of a Gaussian process.

    Parameters
    ----------
    variance : Function, optional
        The posterior variance, with the outputs and players of the function.
    reason : str or tuple, default ""
        Why there is no variance.
    conditioning : ConditionalBackground, optional
        The weighted background rows of the observational value function.
    """

    variance: Function | None
    reason: Text = ""
    conditioning: ConditionalBackground | None = None

    @classmethod
    def of(
        cls,
        adapted_model: AdaptedModel,
        model: Any,
        outputs: int | str | Sequence[int | str] | None,
        output_names: Sequence[str] | None,
    ) -> Posterior:
        """Return the posterior of some outputs of a model, or the reason why there is none."""
        variance = variance_of(adapted_model)
        if variance is None:
            return cls(
                None,
                "uncertainty is for the mean of a Gaussian process, alone or at the end of a "
                f"Pipeline; the {adapted_model.title} of {type(model).__name__} "
                "has no posterior covariance",
            )
        if variance.n_factored > _MAX_FACTORED:
            return cls(
                None,
                f"uncertainty is for Gaussian processes of up to {_MAX_FACTORED:,} training "
                f"rows, unless the model keeps the factor of their covariances; "
                f"{type(model).__name__} has {variance.n_factored:,}",
            )
        try:
            variance_model = variance.adapt(False)
            verify(variance_model, model)
        except UnsupportedModelError as error:
            return cls(None, error.args[0])
        return cls(Outputs.chosen(variance_model, outputs, output_names)[1])

    def with_conditioning(self, conditioning: ConditionalBackground) -> Posterior:
        """Return the posterior of values of the observational value function."""
        if self.variance is None or conditioning.settings.normalize:
            return replace(self, conditioning=conditioning)
        if not self.variance.omits_constant:
            return replace(self, conditioning=conditioning)
        reason = (
            Option("uncertainty", True),
            " with normalize=False is not for a Gaussian process whose constant is estimated, "
            "because constants then have values as well. Take normalize=True",
        )
        return Posterior(None, reason)

    def grouped(self, players: NDArray[Any]) -> Posterior:
        """Return the posterior with columns as players of the given numbers."""
        if self.variance is None:
            return self
        return replace(self, variance=self.variance.grouped(players))

    def roots(self, rows: Float, game: Game, computation: Computation) -> Float:
        """Return R of each row's covariances R Rᵀ of values, shape (n, players, outputs, players).

        Raises
        ------
        UnsupportedModelError
            If the model or the value function has none.
        """
        variance = self._variance_in(game)
        step, n_players = len(rows), variance.n_players
        if self.conditioning is not None:
            n_weights = _check_steps(n_players, self.conditioning)
            step = _MAX_WEIGHTS // n_weights
        all_roots = [np.empty((0, n_players, variance.n_outputs, n_players))]
        for block, part_computation in computation.over(blocks_of(len(rows), step)):
            block_rows = rows[block]
            pairs = diagonal_pairs(len(block_rows))
            weighted_game = self._weighted_game(game, block_rows)
            covariances = variance.covariances(block_rows, pairs, weighted_game, part_computation)
            all_roots.append(roots_of(covariances))
        return np.concatenate(all_roots)

    def joint_roots(self, rows: Float, game: Game, computation: Computation) -> Float:
        """Return R of the covariance R Rᵀ of the values of all rows, (n, players, outputs, rank).

        Raises
        ------
        InputError
            If the matrix is too large.
        UnsupportedModelError
            If the model or the value function has none.
        """
        variance = self._variance_in(game)
        n, n_players = len(rows), variance.n_players
        _check_joint(n, n_players * variance.n_outputs)
        pairs = all_pairs(n)
        if self.conditioning is not None:
            n_weights = _check_steps(n_players, self.conditioning, len(pairs))
            _check_joint_weights(n, n_weights)
        covariances = variance.covariances(
            rows, pairs, self._weighted_game(game, rows), computation
        )
        return joint_roots_of(covariances, n)

    def _variance_in(self, game: Game) -> Function:
        """Return the variance, if values of the game have covariances."""
        if self.variance is None:
            raise UnsupportedModelError(self.reason)
        if game.value_function == "neutral":
            raise UnsupportedModelError(
                (
                    Option("uncertainty", True),
                    " is not for ",
                    Option("value_function", "neutral"),
                    ": in the neutral game v(S) is a sum over kernels of some columns, not an "
                    "average of the function at rows, so that functions drawn from the Gaussian "
                    "process have no such values. Give a background, or take ",
                    Option("value_function", "marginal"),
                )
            )
        if self.conditioning is not None:
            check_number_of_players(self.variance.n_players)
        return self.variance

    def _weighted_game(self, game: Game, rows: Float) -> Game:
        """Return the game with the weights of background rows in each coalition of rows."""
        if self.conditioning is None or self.variance is None:
            return game
        columns = all_coalitions(self.variance.players)
        weights = np.empty((len(rows), len(columns), len(self.conditioning.rows)))
        # The empty and the full coalition do not depend on how rows are weighted.
        weights[:, [0, -1]] = self.conditioning.shares
        row_weights = self.conditioning.weights(rows, list(columns[1:-1]))
        for place, coalition_weights in enumerate(row_weights, start=1):
            weights[:, place] = coalition_weights.whole()
        embeds_rows = self.conditioning.settings.embedding == "rows"
        return replace(game, coalition_weights=weights, embeds_rows=embeds_rows)


def _check_joint(n_rows: int, n_values: int) -> None:
    """Raise if the covariances of the values of all rows are too many."""
    size = (n_rows * n_values) ** 2
    if size > _MAX_JOINT:
        max_rows = math.isqrt(_MAX_JOINT) // n_values
        raise InputError(
            _JOINT,
            f"computes a covariance for each pair of values of {n_rows:,} rows, {size:.1e} "
            f"numbers: pkex goes up to {_MAX_JOINT:.1e}",
            [
                f"explain at most {max_rows:,} rows" if max_rows else GROUP_COLUMNS,
                ("omit covariances between rows: ", Option("uncertainty", True)),
            ],
        )


def _check_joint_weights(n_rows: int, n_weights: int) -> None:
    """Raise if the weights of background rows of all rows are too many."""
    if n_rows * n_weights > _MAX_WEIGHTS:
        raise InputError(
            _JOINT,
            "in the observational game keeps a weight for each row, coalition and background row: "
            f"{n_rows * n_weights:.1e} numbers, and pkex goes up to {_MAX_WEIGHTS:.1e}",
            ["explain fewer rows", "take fewer background rows", GROUP_COLUMNS],
        )


def _check_steps(n_players: int, conditioning: ConditionalBackground, n_pairs: int = 1) -> int:
    """Return the number of weights of a row; raise if the covariances would take hours."""
    n_rows = len(conditioning.rows)
    steps = float(n_rows) ** 2 * 2.0**n_players * n_players**2 * n_pairs
    # Covariances of means at whole rows have no step for each coalition and pair of rows.
    if conditioning.settings.embedding == "absent" and steps > _MAX_STEPS:
        example = "explainer.estimate(X, n_coalitions=1000, uncertainty=True)"
        what = f"{n_pairs:,} pairs of rows" if n_pairs > 1 else "a row"
        raise InputError(
            Option("uncertainty", True) if n_pairs == 1 else _JOINT,
            f"in the observational game takes m² 2^d d² steps for {what}, "
            f"{steps:.0e} for {n_rows:,} background rows and {n_players} features: pkex goes up to "
            f"{_MAX_STEPS:.0e}",
            [
                "take fewer background rows",
                GROUP_COLUMNS,
                ("estimate values: ", Option("n_coalitions", 1000, python=example)),
            ],
        )
    return n_rows << n_players
