"""The quadratic penalty of a model with penalized Shapley values."""

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
    check_number,
    check_weights,
    columns_of,
    kernel_or_default,
    warn_of_constant,
)
from pkex.models.penalties.conditional_maps import (
    choose_coalitions,
    conditional_background,
    maps_by_coalitions,
)
from pkex.models.penalties.value_maps import maps_by_engine
from pkex.models.span import Span
from pkex.tables.labels import numbered
from pkex.typing import Float

# The value functions of penalized values.
PenalizedValueFunction: TypeAlias = Literal["interventional", "marginal", "observational"]
_VALUE_FUNCTIONS: tuple[PenalizedValueFunction, ...] = get_args(PenalizedValueFunction)
_OF_ENGINE = ("interventional", "marginal")


@dataclass(frozen=True, eq=False)
class PenaltyParameters:
    """The parameters of an estimator that define the penalty, not checked."""

    features: Any
    penalty: Any
    alpha: Any
    kernel: Any
    value_function: Any
    n_coalitions: Any
    random_state: Any
    n_jobs: Any

    def game(self) -> PenalizedValueFunction | Observational:
        """Return the value function, after a check of its options."""
        game: PenalizedValueFunction | Observational = self.value_function
        if not isinstance(game, Observational):
            game = check_choice("value_function", game, _VALUE_FUNCTIONS)
        if self.n_coalitions is not None and game in _OF_ENGINE:
            raise ValueError(
                f"n_coalitions requires value_function='observational'; {game!r} values are exact "
                "without coalitions. Leave it out"
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
            coalitions = choose_coalitions(
                features, len(names), self.n_coalitions, self.random_state
            )
            conditioning = conditional_background(game, points, shares, names)
            return maps_by_coalitions(points, kernel, conditioning, coalitions)
        computation = Computation(n_threads=thread_count(self.n_jobs))
        return maps_by_engine(points, kernel, Game(game, (points, shares)), features, computation)


@dataclass(frozen=True, eq=False)
class PenaltyProblem:
    """A space of functions, and the penalty gᵀ Q g of their coordinates g.

    Parameters
    ----------
    rows : ndarray of bool, shape (n,)
        Which rows have a positive weight.
    points : ndarray of shape (m, d)
        The rows with a positive weight.
    weights : ndarray of shape (m,)
        The weights of these rows.
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
        parameters: PenaltyParameters,
        names: Sequence[str] | None,
    ) -> PenaltyProblem:
        """Return the problem that checked parameters of an estimator define."""
        column_names = names or numbered(X.shape[1])
        features = columns_of(parameters.features, column_names)
        penalty = check_number("penalty", parameters.penalty, may_be_0=True)
        alpha = check_number("alpha", parameters.alpha, may_be_0=False)
        parameters.game()
        check_n_jobs(parameters.n_jobs)
        weights = check_weights(sample_weight, len(X))
        rows = weights > 0.0
        points, weights = np.ascontiguousarray(X[rows]), weights[rows]
        warn_of_constant(points, features, column_names)
        kernel = kernel_or_default(parameters.kernel, points, column_names)
        span = Span.of(kernel, points)
        shares = weights / weights.sum()
        quadratic = alpha * np.eye(span.at_points.shape[1])
        if penalty > 0.0 and features:
            maps = parameters.maps(points, shares, kernel, features, column_names)
            quadratic += penalty * mean_squares(maps, span, shares)
        return cls(rows, points, weights, kernel, span, quadratic)


def mean_squares(maps: Float, span: Span, shares: Float) -> Float:
    """Return S with gᵀ S g = Σ_t shares_t Σ_A φ_A(x_t)² for functions with coordinates g.

    Since φ_A = ζ_Aᵀ a and a = C g, S is the sum of (ζ_Aᵀ C)ᵀ diag(shares) ζ_Aᵀ C.

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
