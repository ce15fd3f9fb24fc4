"""What the data say of a Gaussian process, as an operator that is solved for and not inverted."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from pkex.typing import Float

__all__ = ["ConditioningMatrix"]


@dataclass(frozen=True, eq=False)
class ConditioningMatrix:
    """The matrix C = Rᵀ L⁻ᵀ M L⁻¹ R, by which k(x, P) C k(P, x′) is known of the prior k(x, x′).

    Of regression L Lᵀ = K + noise, and R and M are 1 (Rasmussen & Williams 2006, algorithm 2.1). Of
    the latent function of a classifier L Lᵀ = I + R K R with R = √W (algorithm 3.2). Of inducing
    points L Lᵀ = K and M = 1 − S, where S is the covariance of whitened values there (Hensman et
    al. 2015).

    Parameters
    ----------
    factor : ndarray of shape (m, m)
        L, lower triangular.
    roots : ndarray of shape (n,) or (m, n)
        R, or its diagonal.
    middle : ndarray of shape (m, m), optional
        M, symmetric; 1 if not given.
    """

    factor: Float
    roots: Float
    middle: Float | None = None

    def whitened(self, sides: Float) -> tuple[Float, Float]:
        """Return L⁻¹ R · sides and M L⁻¹ R · sides, for sides (n, k)."""
        whitened = _solved(self.factor, self._rooted(sides))
        return whitened, whitened if self.middle is None else self.middle @ whitened

    def forms(self, sides: Float) -> Float:
        """Return sᵀ C s of each side s, shape (k,)."""
        whitened, other = self.whitened(sides)
        forms: Float = (whitened * other).sum(axis=0)
        return forms

    def times(self, sides: Float) -> Float:
        """Return C · sides."""
        return self.unwhitened(self.whitened(sides)[1])

    def unwhitened(self, sides: Float) -> Float:
        """Return Rᵀ L⁻ᵀ · sides, for sides (m, k)."""
        solution = _solved(self.factor, sides, transposed=True)
        product: Float = (
            self.roots[:, None] * solution if self.roots.ndim == 1 else self.roots.T @ solution
        )
        return product

    @cached_property
    def matrix(self) -> Float:
        """C itself, with errors that grow with the condition of L."""
        whitener, other = self.whitened(np.eye(self.roots.shape[-1]))
        product = whitener.T @ other
        symmetric: Float = (product + product.T) / 2.0
        return symmetric

    def _rooted(self, sides: Float) -> Float:
        rooted: Float = self.roots[:, None] * sides if self.roots.ndim == 1 else self.roots @ sides
        return rooted

    def __getstate__(self) -> dict[str, Any]:
        # Without the matrix, which is soon made again.
        return {field.name: vars(self)[field.name] for field in fields(self)}


def _solved(factor: Float, sides: Float, *, transposed: bool = False) -> Float:
    """Return factor⁻¹ · sides of a lower triangular factor, or that of the transposed factor."""
    # Whoever has a Gaussian process has SciPy.
    from scipy.linalg import solve_triangular

    solution: Float = solve_triangular(
        factor, sides, lower=True, trans="T" if transposed else "N", check_finite=False
    )
    return solution
