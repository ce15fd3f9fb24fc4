"""The effect of a treatment as a Gaussian process: an expansion in kernels of the treatment.

With back-door adjustment, e(x) = k_X(X, x) ∘ mean_l k_Z(Z, z_l), and with front-door adjustment
e(x) = mean_l k_X(X, x_l) ∘ K_ZZ (K'_XX + λ' 1)⁻¹ k'_X(X, x) (Chau 2023, proposition 4.2.1; there k'
and λ' are k and λ). Both are D k(X, x) with a matrix D, so means are expansions and covariances are
quadratic forms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, cho_factor, cho_solve, solve_triangular

from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import Kernel
from pkex.models.interventions.moments import Moments
from pkex.typing import Float


@dataclass(frozen=True, eq=False)
class Effect:
    """The mean Σ_i coefficients_i k(·, x_i) + constant, and the variance.

    Parameters
    ----------
    coefficients : ndarray of shape (N,)
    kernel : Kernel
    variance : PosteriorVariance
    """

    coefficients: Float
    kernel: Kernel
    variance: PosteriorVariance


@dataclass(frozen=True, eq=False)
class Causes:
    """The causes of mediators under do(x), as functions of kernels k(X, x).

    Parameters
    ----------
    points : ndarray of shape (N, d)
        X.
    kernel : Kernel
        k.
    factor : ndarray of shape (N, N)
        L of L Lᵀ = K_Ω + λ 1, lower triangular.
    weights : ndarray of shape (N,) or (N, N)
        D, or its diagonal.
    prior : float, or ndarray of shape (r, N)
        F_xx' is prior · k(x, x'), or (prior k(X, x))ᵀ (prior k(X, x')).
    """

    points: Float
    kernel: Kernel
    factor: Float
    weights: Float
    prior: float | Float

    @classmethod
    def back_door(
        cls, points: Float, kernel: Kernel, of_adjustment: Float | None, regularization: float
    ) -> Causes:
        """Return the causes for variables with the gram matrix K_ZZ, None for no variables."""
        n = len(points)
        gram = np.ones((n, n)) if of_adjustment is None else of_adjustment
        factor = _factor(kernel(points) * gram, regularization)
        return cls(points, kernel, factor, gram.mean(axis=1), float(gram.mean()))

    @classmethod
    def front_door(
        cls,
        points: Float,
        kernel: Kernel,
        of_adjustment: Float,
        regularization: float,
        embedding: tuple[Kernel, float],
    ) -> Causes:
        """Return the causes; `embedding` has k' and λ' of the embedding of Z given X."""
        gram = kernel(points)
        factor = _factor(gram * of_adjustment, regularization)
        solve = _factor(embedding[0](points), embedding[1]), True
        # K_ZZ (K'_XX + λ' 1)⁻¹ and, with K_ZZ = C Cᵀ, Cᵀ (K'_XX + λ' 1)⁻¹.
        inner = cho_solve(solve, of_adjustment).T
        values, vectors = np.linalg.eigh(of_adjustment)
        roots = cho_solve(solve, vectors * np.sqrt(np.maximum(values, 0.0))).T
        weights = gram.mean(axis=1)[:, None] * inner
        return cls(points, embedding[0], factor, weights, float(gram.mean()) ** 0.5 * roots)

    def effect(self, moments: Moments) -> Effect:
        """Return the effect with some moments."""
        solution = cho_solve((self.factor, True), moments.mean)
        is_diagonal = self.weights.ndim == 1
        coefficients = self.weights * solution if is_diagonal else self.weights.T @ solution
        # E_x A E_x'ᵀ − d G_xx' = −eᵀ L⁻ᵀ middle L⁻¹ e'.
        half = solve_triangular(self.factor, moments.within, lower=True)
        inner = solve_triangular(self.factor, half.T, lower=True)
        middle = moments.reduction * np.eye(len(self.points)) - (inner + inner.T) / 2.0
        factor, roots = self.factor, self.weights
        if isinstance(self.prior, float) and moments.prior > 0.0:
            scale = moments.prior * self.prior
            variance = PosteriorVariance(
                self.points, factor, scale * self.kernel, roots=roots, middle=middle / scale**2
            )
            return Effect(coefficients, self.kernel, variance)
        if not isinstance(self.prior, float):
            # F_xx' is a quadratic form of kernel values as well.
            identity = np.eye(len(self.prior))
            factor = block_diag(factor, identity)
            roots = np.concatenate([roots, self.prior])
            middle = block_diag(middle, -moments.prior * identity)
        return Effect(coefficients, self.kernel, self._degenerate(factor, roots, middle))

    def _degenerate(self, factor: Float, roots: Float, middle: Float) -> PosteriorVariance:
        """Return the variance of an expansion with random coefficients.

        The kernel is scaled to the size of the variance, to which errors are compared.
        """

        def scale_variance(scale: float) -> PosteriorVariance:
            return PosteriorVariance(
                self.points,
                factor,
                scale * self.kernel,
                roots=roots,
                middle=middle / scale**2,
                has_prior=False,
            )

        size = float(scale_variance(1.0).latent.at(self.points).max())
        return scale_variance(size if size > 0.0 else 1.0)


def _factor(gram: Float, regularization: float) -> Float:
    factor: Float = np.tril(cho_factor(gram + regularization * np.eye(len(gram)), lower=True)[0])
    return factor
