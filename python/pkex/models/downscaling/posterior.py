"""The posterior of a function given noisy means of it, exact or at inducing points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from pkex.functions.gaussian_process.variance import PosteriorVariance
from pkex.kernels import Kernel
from pkex.models.downscaling.bags import Bags
from pkex.models.downscaling.likelihood import Embedding, factor_of_targets
from pkex.typing import Float

# Added to the kernel of inducing points, relative to its diagonal.
_JITTER = 1e-10


@dataclass(frozen=True, eq=False)
class Posterior:
    """The mean Σ_i coefficients_i k(·, points_i), and the variance.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    coefficients : ndarray of shape (n,)
    variance : PosteriorVariance
    """

    points: Float
    coefficients: Float
    variance: PosteriorVariance


def posterior(
    bags: Bags, embedding: Embedding, kernel: Kernel, noise: float | Float, targets: Float
) -> Posterior:
    """Return the posterior, whose points are all rows (Chau 2023, equations 3.7 and 3.8).

    Parameters
    ----------
    bags : Bags
    embedding : Embedding
        With weights A: target t is the mean Σ_b A_bt · (mean of f over bag b), plus noise.
    kernel : Kernel
    noise : float or ndarray of shape (targets,)
    targets : ndarray of shape (targets,)
    """
    weights = embedding.weights
    covariance = weights.T @ bags.gram(kernel) @ weights
    covariance.flat[:: len(targets) + 1] += noise
    factor = factor_of_targets(covariance)
    shares = bags.spread(weights)
    coefficients = shares @ cho_solve((factor, True), targets)
    variance = PosteriorVariance(bags.rows, factor, kernel, roots=shares.T)
    return Posterior(bags.rows, coefficients, variance)


def sparse_posterior(
    bags: Bags,
    embedding: Embedding,
    kernel: Kernel,
    noise: float | Float,
    targets: Float,
    points: Float,
) -> Posterior:
    """Return the best Gaussian approximation of the posterior given its values at some points.

    It maximizes the evidence lower bound (Chau 2023, equation A.70) in closed form, as Titsias
    (2009) does for rows: with W = L⁻¹ C / σ, where L Lᵀ is the kernel between the points and C
    contains its means A over bags, the values at the points have mean L (1 + W Wᵀ)⁻¹ W z̃ / σ. If
    σ² is an array, columns of C and targets are divided by their own σ.
    """
    gram = kernel(points)
    gram.flat[:: len(points) + 1] *= 1.0 + _JITTER
    factor = np.linalg.cholesky(gram)
    cross = embedding.means(bags.mean_kernel(kernel, points)).T
    deviations = np.sqrt(noise)
    whitened_cross = solve_triangular(factor, cross, lower=True) / deviations
    inverse = np.linalg.inv(np.eye(len(points)) + whitened_cross @ whitened_cross.T)
    of_values = inverse @ (whitened_cross @ (targets / deviations))
    coefficients = solve_triangular(factor, of_values, lower=True, trans="T")
    middle = np.eye(len(points)) - inverse
    variance = PosteriorVariance(points, factor, kernel, middle=(middle + middle.T) / 2.0)
    return Posterior(points, coefficients, variance)
