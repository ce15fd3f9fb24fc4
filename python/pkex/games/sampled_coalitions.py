"""Shapley values from sampled coalitions: KernelSHAP's regression without its bias.

Coalitions S of s of p players are drawn with a probability proportional to
(p−1) / (C(p, s) s (p−s)), each together with its complement Sᶜ. A pair has the point
x = 1_S − s/p and the response y = (v(S) − v(Sᶜ))/2 − (s/p − ½)(v(D) − v(∅)), where D is the set of
all players. The mean of x xᵀ is (1 − 11ᵀ/p) / c with c = 2(1 + 1/2 + … + 1/(p−1)), so Shapley
values are

    φ = (v(D) − v(∅))/p + c E[x y] = (v(D) − v(∅))/p + E[θ + c x (y − xᵀθ)]

for every θ with sum 0. For θ = 0, the mean over drawn pairs is the unbiased estimate of Covert and
Lee (2021), whose variance is that of the values of coalitions. For θ near φ, the variance is that
of their residuals around the best additive fit. So θ is cross-fitted: for the pairs of each fold it
is fitted to the pairs of all other folds, by least squares with equal weights, because the sampling
already has KernelSHAP's weights. As θ is independent of the fold's pairs, the mean stays unbiased,
and the variance of its terms gives its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

_FOLDS = 10
# Relative to the largest eigenvalue of Σ x xᵀ: the null direction 1 has a smaller one by rounding.
_RANK_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False)
class SampledCoalitions:
    """Sampled coalitions, which estimate Shapley values from the values of coalitions.

    Parameters
    ----------
    members : ndarray of bool, shape (count, players)
        The distinct coalitions that must be evaluated, including the empty and the full one.
    ends : ndarray of int64, shape (2,)
        The places of the empty and the full coalition.
    pairs : ndarray of int64, shape (2, pairs)
        The places of the drawn coalitions and of their complements.
    """

    members: NDArray[np.bool_]
    ends: NDArray[np.int64]
    pairs: NDArray[np.int64]

    @classmethod
    def draw(
        cls, n_players: int, n_coalitions: int, generator: np.random.Generator
    ) -> SampledCoalitions:
        """Draw ``n_coalitions // 2`` coalitions, and add their complements.

        For a single player, no coalitions are drawn.
        """
        samples = _draw_members(n_players, n_coalitions // 2, generator)
        ends = np.array([[False] * n_players, [True] * n_players])
        members, places = np.unique(
            np.concatenate([ends, samples, ~samples]), axis=0, return_inverse=True
        )
        places = places.reshape(-1)
        return cls(members, places[:2], places[2:].reshape(2, -1))

    def estimates(self, values: Float) -> tuple[Float, Float]:
        """Return estimates of Shapley values and their standard errors, (..., players, outputs).

        The estimates add up to v(D) − v(∅) exactly.

        Parameters
        ----------
        values : ndarray of shape (..., count, outputs)
            The values of the coalitions `members`, in one or several games.
        """
        empty_value, full_value = (values[..., place, :] for place in self.ends)
        total = (full_value - empty_value)[..., None, :]
        n_pairs, p = self.pairs.shape[1], self.members.shape[1]
        if p == 1:
            return total, np.zeros_like(total)
        points = self.members[self.pairs[0]].astype(np.float64)
        shares = points.mean(axis=1, keepdims=True)
        points -= shares
        first, second = (values[..., places, :] for places in self.pairs)
        y = (first - second) / 2.0 - (shares - 0.5) * total
        fits, sums, squares, sizes = _fit_folds(
            points, y, 2.0 * float((1.0 / np.arange(1, p)).sum())
        )
        mean = (sizes * fits + sums).sum(axis=0) / n_pairs
        # The sum of squared deviations of the terms θ + c x (y − xᵀθ) from their mean.
        deviations = fits - mean
        spread = (sizes * deviations**2 + 2.0 * deviations * sums + squares).sum(axis=0)
        errors = np.sqrt(np.maximum(spread, 0.0) / (n_pairs * (n_pairs - 1)))
        return total / p + mean, errors


def _draw_members(n_players: int, count: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Return non-trivial coalitions, drawn with KernelSHAP's weights."""
    if n_players == 1:
        return np.zeros((0, 1), dtype=np.bool_)
    sizes = np.arange(1, n_players)
    weights = 1.0 / (sizes * sizes[::-1])
    sampled_sizes = generator.choice(sizes, size=count, p=weights / weights.sum())
    places = generator.permuted(np.tile(np.arange(n_players), (count, 1)), axis=1)
    members: NDArray[np.bool_] = places < sampled_sizes[:, None]
    return members


def _fit_folds(points: Float, y: Float, scale: float) -> tuple[Float, Float, Float, Float]:
    """Return the cross-fitted θ of each fold, and the sums of its pairs' residual terms.

    Parameters
    ----------
    points : ndarray of shape (pairs, players)
        The points x.
    y : ndarray of shape (..., pairs, outputs)
        The responses y.
    scale : float
        The factor c.

    Returns
    -------
    fits, sums, squares : ndarray of shape (folds, ..., players, outputs)
        θ, and the sums of c x (y − xᵀθ) and of its squares over the pairs of the fold.
    sizes : ndarray of shape (folds, 1, ..., 1)
        The numbers of pairs in each fold.
    """
    gram, moments = points.T @ points, points.T @ y
    results = []
    folds = np.array_split(np.arange(len(points)), _FOLDS)
    for fold in folds:
        x, responses = points[fold], y[..., fold, :]
        inverse = np.linalg.pinv(gram - x.T @ x, rcond=_RANK_TOLERANCE, hermitian=True)
        fit = inverse @ (moments - x.T @ responses)
        residuals = scale * (responses - x @ fit)
        results.append((fit, x.T @ residuals, (x**2).T @ residuals**2))
    fits, sums, squares = (np.stack(part) for part in zip(*results, strict=True))
    sizes = np.array([len(fold) for fold in folds], dtype=np.float64)
    return fits, sums, squares, sizes.reshape(-1, *[1] * y.ndim)
