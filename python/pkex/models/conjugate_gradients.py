"""Preconditioned conjugate gradients for symmetric positive definite systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Iterate:
    """An approximate solution x of H x = b.

    Parameters
    ----------
    solution, residual : ndarray of shape (r,)
        x and b − H x.
    energy : float
        The residual's squared norm (b − H x)ᵀ P⁻¹ (b − H x) for the preconditioner P ≈ H, an
        estimate of the squared error (x − x*)ᵀ H (x − x*).
    n_iter : int
    """

    solution: Float
    residual: Float
    energy: float
    n_iter: int


def conjugate_gradients(
    times: Callable[[Float], Float],
    right: Float,
    precondition: Callable[[Float], Float],
    is_enough: Callable[[Iterate], bool],
    max_iter: int,
) -> tuple[Iterate, bool]:
    """Solve H x = b from x = 0, and return whether it was enough.

    Parameters
    ----------
    times : callable
        x ↦ H x.
    right : ndarray of shape (r,)
        b.
    precondition : callable
        r ↦ P⁻¹ r.
    is_enough : callable
        Whether to stop at an iterate.
    max_iter : int
    """
    residual, solution = right.copy(), np.zeros_like(right)
    descent = precondition(residual)
    direction, energy = descent, float(residual @ descent)
    for n_iter in range(max_iter + 1):
        iterate = Iterate(solution, residual, energy, n_iter)
        if is_enough(iterate):
            return iterate, True
        if n_iter == max_iter:
            break
        image = times(direction)
        step = energy / float(direction @ image)
        solution, residual = solution + step * direction, residual - step * image
        descent = precondition(residual)
        last_energy, energy = energy, float(residual @ descent)
        direction = descent + energy / last_energy * direction
    return iterate, False
