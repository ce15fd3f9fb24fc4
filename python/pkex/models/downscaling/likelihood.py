"""The marginal likelihood of means over bags, and the parameters that maximize it.

The targets z̃ at mediators ỹ are Gaussian with covariance Q + σ² 1, where Q = AᵀBA, B contains the
means of the kernel over pairs of bags, and A = (L_yy + Nλ 1)⁻¹ L_yỹ / s (Chau 2023, equations 3.1
and 3.4, and A.79 to A.82 for bags). The number s, which the equations do not have, makes the
columns of A add up to 1 on average, so that constant functions have the right mean. Without it, λ
shrinks all means by a factor that is confounded with the amplitude of f.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky
from scipy.optimize import minimize

from pkex.errors import InputError
from pkex.kernels import Kernel
from pkex.models.downscaling.gaussian_parts import (
    FixedGram,
    FixedMediators,
    GaussianGram,
    GaussianMediators,
)
from pkex.typing import Float

# Start and range of N λ, and of the noise relative to the variance of the targets.
_REGULARIZATION, _NOISE = (1e-3, 1e-6, 1.0), (1e-1, 1e-6, 1.0)
# Length-scales of rows and of mediators are tried from these multiples of their start.
_STARTS = ((1.0, 1.0), (1.0, 0.1), (0.5, 0.1), (2.0, 0.1))

# The smallest s.
_MIN_SIZE = 1e-3


@dataclass(frozen=True)
class Hyperparameters:
    """The kernels, the regularization λ and the noise σ².

    Parameters
    ----------
    kernel, mediator_kernel : Kernel
    regularization : float
    noise : float or ndarray of shape (M,)
    """

    kernel: Kernel
    mediator_kernel: Kernel
    regularization: float
    noise: float | Float


@dataclass(frozen=True, eq=False)
class Embedding:
    """Conditional means given mediators, as weights of bags.

    Parameters
    ----------
    factor : tuple of ndarray and bool
        The Cholesky factor of L_yy + Nλ 1.
    cross : ndarray of shape (N, M)
        L_yỹ.
    size : float
        s.
    """

    factor: tuple[Float, bool]
    cross: Float
    size: float

    @classmethod
    def of(cls, gram: Float, cross: Float, regularization: float) -> Embedding:
        """Return the embedding for L_yy and L_yỹ.

        Raises
        ------
        ValueError
            If L_yy + Nλ 1 has no Cholesky factor.
        """
        matrix = gram.copy()
        matrix.flat[:: len(gram) + 1] += len(gram) * regularization
        try:
            # LAPACK overwrites columns: the transpose of the symmetric matrix is not copied again.
            factor = cho_factor(matrix.T, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"regularization={regularization:g} is below the rounding errors of "
                "mediator_kernel between mediators. Increase it"
            ) from None
        size = float((cross.T @ cho_solve(factor, np.ones(len(gram)))).mean())
        # If there are no bags with mediators like those of the targets, the sums are near 0.
        return cls(factor, cross, max(size, _MIN_SIZE))

    @cached_property
    def weights(self) -> Float:
        """A, of shape (N, M)."""
        return self.solve(self.cross)

    def means(self, of_bags: Float) -> Float:
        """Return Aᵀ of_bags, without A: means given the mediators of the targets."""
        means: Float = self.cross.T @ self.solve(of_bags)
        return means

    def solve(self, sides: Float) -> Float:
        """Return (L_yy + Nλ 1)⁻¹ sides / s."""
        solution: Float = cho_solve(self.factor, sides) / self.size
        return solution


def factor_of_targets(covariance: Float) -> Float:
    """Return the lower Cholesky factor of Q + σ² 1.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        factor: Float = cholesky(covariance, lower=True)
    except np.linalg.LinAlgError:
        raise InputError(
            "noise",
            "is below the rounding errors of the covariances of the targets",
            "pass a larger noise, or a kernel with a smaller amplitude",
        ) from None
    return factor


class MarginalLikelihood:
    """The negative logarithm of the marginal likelihood, as a function of logarithms.

    Parameters
    ----------
    bags : FixedGram or GaussianGram
    mediators : FixedMediators or GaussianMediators
    targets : ndarray of shape (M,)
        With mean 0 and variance 1.
    fixed : tuple of float, ndarray or None
        λ and σ²; parameters if they are None. σ² may be an array of shape (M,).
    """

    def __init__(
        self,
        bags: FixedGram | GaussianGram,
        mediators: FixedMediators | GaussianMediators,
        targets: Float,
        fixed: tuple[float | None, float | Float | None],
    ) -> None:
        self._bags, self._mediators, self._targets = bags, mediators, targets
        self._scalars = np.log(np.array([_REGULARIZATION, _NOISE]) / [[mediators.n_bags], [1.0]])
        self._fixed, self._is_free = fixed, [number is None for number in fixed]
        self._n_bags, self._n_mediators = len(bags.starts), len(mediators.starts)

    def maximize(self) -> Hyperparameters:
        """Return the best parameters of several starts of L-BFGS."""
        scalars = self._scalars[self._is_free]
        starts = np.concatenate([self._bags.starts, self._mediators.starts, scalars[:, 0]])
        ranges = np.concatenate([self._bags.ranges, self._mediators.ranges])
        scale_starts = starts[: len(ranges)]
        bounds = [
            *zip(scale_starts - ranges, scale_starts + ranges, strict=True),
            *scalars[:, 1:].tolist(),
        ]
        if not len(starts):
            return self._of(starts)
        results = []
        # The amplitude comes after the length-scales of rows.
        of_bags = slice(0, max(0, self._n_bags - 1))
        of_scales = slice(self._n_bags, self._n_bags + self._n_mediators)
        for of_rows, of_mediators in _STARTS:
            start = starts.copy()
            start[of_bags] += np.log(of_rows)
            start[of_scales] += np.log(of_mediators)
            results.append(minimize(self, start, jac=True, method="L-BFGS-B", bounds=bounds))
        return self._of(min(results, key=lambda result: float(result.fun)).x)

    def __call__(self, parameters: Float) -> tuple[float, Float]:
        """Return the negative logarithm of the marginal likelihood, and its gradient."""
        of_bags, of_mediators, regularization, noise = self._split_parameters(parameters)
        gram = self._bags.gram(of_bags)
        mediator_gram, cross = self._mediators.matrices(of_mediators)
        n_bags, n_targets = cross.shape
        embedding = Embedding.of(mediator_gram, cross, regularization)
        weights = embedding.weights
        covariance = weights.T @ gram @ weights
        covariance.flat[:: n_targets + 1] += noise
        factor = factor_of_targets(covariance), True
        solution = cho_solve(factor, self._targets)
        value = 0.5 * self._targets @ solution + np.log(np.diag(factor[0])).sum()
        # The derivatives by the entries of Q, B, A, L_yỹ and L_yy.
        of_q = 0.5 * (cho_solve(factor, np.eye(n_targets)) - np.outer(solution, solution))
        of_gram = weights @ of_q @ weights.T
        of_weights = 2.0 * gram @ weights @ of_q
        # s, the mean of the column sums before the division, is a function of A.
        of_weights -= (of_weights * weights).sum() / n_targets
        of_cross = embedding.solve(of_weights)
        of_mediator_gram = -embedding.size * of_cross @ weights.T
        of_scalars = (
            n_bags * regularization * np.trace(of_mediator_gram),
            np.mean(noise) * np.trace(of_q),
        )
        gradient = [
            self._bags.gradient(of_gram),
            self._mediators.gradient(of_mediator_gram, of_cross),
            np.array(of_scalars)[self._is_free],
        ]
        return float(value), np.concatenate(gradient)

    def _split_parameters(self, parameters: Float) -> tuple[Float, Float, float, float | Float]:
        """Return the parameters of rows and of mediators, λ and σ²."""
        ends = self._n_bags, self._n_bags + self._n_mediators
        scalars = iter(np.exp(parameters[ends[1] :]).tolist())
        regularization, noise = self._fixed
        return (
            parameters[: ends[0]],
            parameters[ends[0] : ends[1]],
            next(scalars) if regularization is None else regularization,
            next(scalars) if noise is None else noise,
        )

    def _of(self, parameters: Float) -> Hyperparameters:
        of_bags, of_mediators, regularization, noise = self._split_parameters(parameters)
        return Hyperparameters(
            self._bags.kernel(of_bags),
            self._mediators.kernel(of_mediators),
            regularization,
            noise,
        )
