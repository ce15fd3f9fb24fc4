"""What a model with penalised Shapley values minimises, beside its loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.games.observational import Observational
from pkex.games.value_functions import Game
from pkex.inputs.choices import check_choice
from pkex.kernels import Kernel
from pkex.models.arguments import (
    checked_number,
    checked_weights,
    columns_of,
    kernel_or_default,
    warn_of_constant,
)
from pkex.models.penalties.conditional_maps import (
    chosen_coalitions,
    conditioned,
    maps_by_coalitions,
)
from pkex.models.penalties.value_maps import maps_by_engine
from pkex.models.span import Span
from pkex.tables.labels import numbered
from pkex.typing import Float

__all__ = ["Penalised", "PenalisedGame", "PenaltyProblem"]

# Where absent features come from in the values that are penalised.
PenalisedGame: TypeAlias = Literal["interventional", "marginal", "observational"]
_GAMES: tuple[PenalisedGame, ...] = get_args(PenalisedGame)
_OF_ENGINE = ("interventional", "marginal")


@dataclass(frozen=True, eq=False)
class Penalised:
    """The parameters of an estimator that say what is penalised, as they are given to it."""

    features: Any
    penalty: Any
    alpha: Any
    kernel: Any
    value_function: Any
    n_coalitions: Any
    random_state: Any
    n_jobs: Any

    def game(self) -> PenalisedGame | Observational:
        """Return the value function, whose options are for it alone."""
        given = self.value_function
        game = (
            given
            if isinstance(given, Observational)
            else check_choice("value_function", given, _GAMES)
        )
        if self.n_coalitions is not None and game in _OF_ENGINE:
            raise ValueError(
                f"n_coalitions is for value_function='observational'; {game!r} values are exact "
                "without coalitions: leave it out"
            )
        return Observational() if game == "observational" else game

    def maps(
        self,
        points: Float,
        shares: Float,
        kernel: Kernel,
        features: list[int],
        names: Sequence[str],
    ) -> Float:
        """Return ζ of each feature, shape (features, n, n)."""
        game = self.game()
        if isinstance(game, Observational):
            chosen = chosen_coalitions(features, len(names), self.n_coalitions, self.random_state)
            conditioning = conditioned(game, points, shares, names)
            return maps_by_coalitions(points, kernel, conditioning, chosen)
        how = Computation(n_threads=thread_count(self.n_jobs))
        return maps_by_engine(points, kernel, Game(game, (points, shares)), features, how)


@dataclass(frozen=True, eq=False)
class PenaltyProblem:
    """The functions that are fitted, and the penalty gᵀ Q g of their coordinates g.

    Parameters
    ----------
    rows : ndarray of bool, shape (n,)
        Which of the rows given count.
    points : ndarray of shape (m, d)
        Those that do.
    weights : ndarray of shape (m,)
        How often they count.
    kernel : Kernel
    span : Span
    penalty : ndarray of shape (r, r)
        Q.
    """

    rows: NDArray[np.bool_]
    points: Float
    weights: Float
    kernel: Kernel
    span: Span
    penalty: Float

    @classmethod
    def of(
        cls,
        X: Float,
        sample_weight: ArrayLike | None,
        given: Penalised,
        names: Sequence[str] | None,
    ) -> PenaltyProblem:
        """Return the problem of an estimator's parameters, or say what is wrong with these."""
        known = numbered(X.shape[1]) if names is None else tuple(map(str, names))
        features = columns_of(given.features, known)
        penalty = checked_number("penalty", given.penalty, may_be_0=True)
        alpha = checked_number("alpha", given.alpha, may_be_0=False)
        given.game()
        check_n_jobs(given.n_jobs)
        weights = checked_weights(sample_weight, len(X))
        rows = weights > 0.0
        points, weights = np.ascontiguousarray(X[rows]), weights[rows]
        warn_of_constant(points, features, known)
        kernel = kernel_or_default(given.kernel, points, known)
        span = Span.of(kernel, points)
        shares = weights / weights.sum()
        quadratic = alpha * np.eye(span.at_points.shape[1])
        if penalty > 0.0 and features:
            maps = given.maps(points, shares, kernel, features, known)
            quadratic += penalty * mean_squares(maps, span, shares)
        return cls(rows, points, weights, kernel, span, quadratic)


def mean_squares(maps: Float, span: Span, shares: Float) -> Float:
    """Return S with gᵀ S g = Σ_t shares_t Σ_A φ_A(x_t)², of functions with coordinates g.

    As φ_A = ζ_Aᵀ a and a = C g, it is the sum of (ζ_Aᵀ C)ᵀ diag(shares) ζ_Aᵀ C.

    Parameters
    ----------
    maps : ndarray of shape (features, n, n)
        ζ of each feature.
    span : Span
        C is its `coefficients`.
    shares : ndarray of shape (n,)
    """
    total = np.zeros((span.coefficients.shape[1],) * 2)
    for zeta in maps:
        values = zeta.T @ span.coefficients
        total += (values.T * shares) @ values
    return total
