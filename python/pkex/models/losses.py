"""Minima of a loss plus a quadratic penalty of coordinates, with an unpenalized intercept."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from pkex.errors import InputWarning, warn
from pkex.typing import Float

# The smallest decrease by a step, relative to the linear prediction, and the shortest step.
_ARMIJO, _SHORTEST = 0.25, 2.0**-40


class NotConvergedWarning(InputWarning, ConvergenceWarning):
    """A fit has not converged; a ConvergenceWarning of scikit-learn as well."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """The minimum of an objective.

    Parameters
    ----------
    coordinates : ndarray of shape (r,)
    intercept : float
    n_steps : int, default 1
    has_converged : bool, default True
    """

    coordinates: Float
    intercept: float
    n_steps: int = 1
    has_converged: bool = True


def least_squares(design: Float, y: Float, weights: Float, penalty: Float) -> Minimum:
    """Minimise Σ_i w_i (y_i − b − (R g)_i)² + gᵀ Q g over g and b.

    After subtracting weighted means from R and y, (Rᵀ W R + Q) g = Rᵀ W y.

    Parameters
    ----------
    design : ndarray of shape (n, r)
        R.
    y, weights : ndarray of shape (n,)
    penalty : ndarray of shape (r, r)
        Q, positive definite.
    """
    shares = weights / weights.sum()
    center, mean = shares @ design, float(shares @ y)
    centered_design = design - center
    weighted_design = centered_design.T * weights
    coordinates = np.linalg.solve(
        weighted_design @ centered_design + penalty, weighted_design @ (y - mean)
    )
    return Minimum(coordinates, mean - float(center @ coordinates))


def least_logistic(
    design: Float,
    is_second: NDArray[np.bool_],
    weights: Float,
    penalty: Float,
    tol: float,
    max_iter: int,
    *,
    has_intercept: bool = True,
) -> Minimum:
    """Minimise Σ_i w_i log(1 + exp(−s_i (b + (R g)_i))) + gᵀ Q g, where s_i is 1 or −1.

    Newton's method with backtracking (Boyd and Vandenberghe 2004, algorithm 9.5) stops after a step
    whose predicted relative decrease of the objective is at most `tol`. Without an intercept, b is
    0.
    """
    rank = design.shape[1]
    columns = np.column_stack([design, np.ones(len(design))]) if has_intercept else design
    quadratic = np.zeros((columns.shape[1], columns.shape[1]))
    quadratic[:rank, :rank] = penalty
    signs = np.where(is_second, 1.0, -1.0)

    def objective(point: Float) -> float:
        losses = np.logaddexp(0.0, -signs * (columns @ point))
        return float(weights @ losses + point @ quadratic @ point)

    point, n_steps = np.zeros(columns.shape[1]), 0
    while n_steps < max_iter:
        n_steps += 1
        residuals = expit(-signs * (columns @ point))
        slope = 2.0 * quadratic @ point - columns.T @ (weights * signs * residuals)
        curvature = weights * residuals * expit(signs * (columns @ point))
        direction = -np.linalg.solve((columns.T * curvature) @ columns + 2.0 * quadratic, slope)
        decrease = -0.5 * float(slope @ direction)
        if decrease <= tol * objective(point):
            point = point + direction
            return Minimum(point[:rank], float(point[rank:].sum()), n_steps)
        step = decreasing_step(objective, point, direction, decrease)
        if step == 0.0:
            break
        point = point + step * direction
    return Minimum(point[:rank], float(point[rank:].sum()), n_steps, has_converged=False)


def decreasing_step(
    objective: Callable[[Float], float], point: Float, direction: Float, decrease: float
) -> float:
    """Return the fraction of a step that decreases the objective sufficiently, 0 if none does."""
    value, step = objective(point), 1.0
    while step >= _SHORTEST:
        if objective(point + step * direction) <= value - _ARMIJO * step * decrease:
            return step
        step /= 2.0
    return 0.0


def warn_of_steps(
    minima: Sequence[Minimum], max_iter: int, alpha: float, method: str = "Newton's method"
) -> None:
    """Warn the caller of `fit` if a method has not converged."""
    if not all(minimum.has_converged for minimum in minima):
        n_steps = max(minimum.n_steps for minimum in minima)
        message = f"{method} has not converged in {n_steps} steps"
        warn(NotConvergedWarning(None, message, f"Increase max_iter={max_iter} or alpha={alpha:g}"))
