"""Triangular systems, solved by substitution."""

from __future__ import annotations

from pkex.typing import Float

__all__ = ["solved"]


def solved(factor: Float, sides: Float, *, transposed: bool = False) -> Float:
    """Return factor⁻¹ · sides of a lower triangular factor, or that of the transposed factor."""
    # Whoever has a Gaussian process has SciPy.
    from scipy.linalg import solve_triangular

    solution: Float = solve_triangular(
        factor, sides, lower=True, trans="T" if transposed else "N", check_finite=False
    )
    return solution
