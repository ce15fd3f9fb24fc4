"""Posterior covariances of the Shapley values of a Gaussian process's mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.adapters import AdaptedModel, verify
from pkex.adapters.adapted_model import variance_of
from pkex.errors import InputError, Option, Text, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.explain.outputs import Outputs
from pkex.functions.base import Function
from pkex.functions.conditional import check_number_of_players
from pkex.games.coalitions import all_coalitions
from pkex.games.conditioning import ConditionalBackground
from pkex.games.player_limits import GROUP_COLUMNS
from pkex.games.value_functions import Game
from pkex.results.uncertainty import roots_of
from pkex.typing import Float

__all__ = ["Posterior"]

# Largest number of steps for the covariances of one row with "observational": about an hour.
_MOST_STEPS = 1e12
# Weights of background rows, over all coalitions, held in memory at a time.
_MOST_WEIGHTS = 1 << 24
# Largest number of training rows whose covariance matrix is factored in advance.
_MOST_FACTORED = 2000


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
        adapted: AdaptedModel,
        model: Any,
        outputs: int | str | Sequence[int | str] | None,
        output_names: Sequence[str] | None,
    ) -> Posterior:
        """Return the posterior of some outputs of a model, or the reason why there is none."""
        variance = variance_of(adapted)
        if variance is None:
            return cls(
                None,
                "uncertainty is for the mean of a Gaussian process, alone or at the end of a "
                f"Pipeline; the {adapted.title} of {type(model).__name__} "
                "has no posterior covariance",
            )
        if variance.n_factored > _MOST_FACTORED:
            return cls(
                None,
                f"uncertainty is for Gaussian processes of up to {_MOST_FACTORED:,} training "
                f"rows, unless the model keeps the factor of their covariances; "
                f"{type(model).__name__} has {variance.n_factored:,}",
            )
        try:
            described = variance.adapt(False)
            verify(described, model)
        except UnsupportedModelError as error:
            return cls(None, error.args[0])
        return cls(Outputs.chosen(described, outputs, output_names)[1])

    def grouped(self, players: NDArray[Any]) -> Posterior:
        """Return the posterior with columns as players of the given numbers."""
        if self.variance is None:
            return self
        return replace(self, variance=self.variance.grouped(players))

    def roots(self, rows: Float, game: Game, how: Computation) -> Float:
        """Return R of the covariances R Rᵀ of values, shape (n, players, outputs, players).

        Raises
        ------
        UnsupportedModelError
            If the model or the value function has none.
        """
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
        if self.conditioning is None:
            return roots_of(self.variance.covariances(rows, game, how))
        return self._roots_given(self.variance, rows, game, self.conditioning, how)

    @staticmethod
    def _roots_given(
        variance: Function,
        rows: Float,
        game: Game,
        conditioning: ConditionalBackground,
        how: Computation,
    ) -> Float:
        """Return these roots for the observational value function."""
        p = variance.n_players
        check_number_of_players(p)
        _check_steps(p, len(conditioning.rows))
        columns = all_coalitions(variance.players)
        step = max(1, _MOST_WEIGHTS // (len(columns) * len(conditioning.rows)))
        found = [np.empty((0, p, variance.n_outputs, p))]
        starts = range(0, len(rows), step)
        for number, start in enumerate(starts):
            some = rows[start : start + step]
            weights = np.empty((len(some), len(columns), len(conditioning.rows)))
            # The empty and the full coalition do not depend on how rows are weighted.
            weights[:, [0, -1]] = conditioning.shares
            for place, own in enumerate(conditioning.weights(some, list(columns[1:-1]))):
                weights[:, 1 + place] = own.whole()
            weighted = replace(game, coalition_weights=weights)
            of_block = how.part(number, len(starts))
            found.append(roots_of(variance.covariances(some, weighted, of_block)))
        return np.concatenate(found)


def _check_steps(n_players: int, n_rows: int) -> None:
    """Raise if the covariances of one row would take hours."""
    steps = float(n_rows) ** 2 * 2.0**n_players * n_players**2
    if steps > _MOST_STEPS:
        drawn = "explainer.estimate(X, n_coalitions=1000, uncertainty=True)"
        raise InputError(
            Option("uncertainty", True),
            "in the observational game takes m² 2^d d² steps for a row, "
            f"{steps:.0e} for {n_rows:,} background rows and {n_players} features: pkex goes up to "
            f"{_MOST_STEPS:.0e}",
            [
                "take fewer background rows",
                GROUP_COLUMNS,
                ("estimate values: ", Option("n_coalitions", 1000, python=drawn)),
            ],
        )
