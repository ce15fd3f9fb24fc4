"""Shapley values from sampled coalitions: the regression of KernelSHAP, without its bias.

Of p players, let coalitions S of s players be drawn with a probability that is proportional to
(p−1) / (C(p, s) s (p−s)), each together with its complement. A pair has the point x, whether a
player is in S less s/p, and the number y, half the difference of the worths of S and of its
complement less what equal shares v(D) − v(∅) of all players make of it, (s/p − ½)(v(D) − v(∅)). The
mean of x xᵀ is (1 − 11ᵀ/p) / c with c = 2(1 + 1/2 + … + 1/(p−1)), so that Shapley values are

    φ = (v(D) − v(∅))/p + c E[x y] = (v(D) − v(∅))/p + E[θ + c x (y − xᵀθ)]

for every θ whose sum is 0. With θ = 0 the mean over drawn pairs is the unbiased estimate of Covert
and Lee (2021). It varies as worths do; with θ near φ, only as worths do around the nearest sum over
players. So for the pairs of each fold θ is fitted to those of all others, by least squares with
equal weights, as pairs were drawn by theirs. It does not depend on the fold's pairs: the mean stays
unbiased, and the spread of these terms is its standard error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["SampledCoalitions"]

_FOLDS = 10
# Of the largest eigenvalue of Σ x xᵀ: that of the direction 1, where it is 0, is smaller.
_RANK = 1e-10


@dataclass(frozen=True, eq=False)
class SampledCoalitions:
    """Drawn coalitions, and the estimates that are made of their worths.

    Parameters
    ----------
    members : ndarray of bool, shape (count, players)
        The coalitions whose worths are needed, each once; among them none and all of the players.
    ends : ndarray of int64, shape (2,)
        The places of these two.
    pairs : ndarray of int64, shape (2, pairs)
        The places of the drawn coalitions, and of their complements.
    """

    members: NDArray[np.bool_]
    ends: NDArray[np.int64]
    pairs: NDArray[np.int64]

    @classmethod
    def drawn(
        cls, n_players: int, n_coalitions: int, generator: np.random.Generator
    ) -> SampledCoalitions:
        """Draw coalitions, half of `n_coalitions`, and add their complements.

        Of a single player there are none.
        """
        first = _drawn(n_players, n_coalitions // 2, generator)
        ends = np.array([[False] * n_players, [True] * n_players])
        members, places = np.unique(
            np.concatenate([ends, first, ~first]), axis=0, return_inverse=True
        )
        places = places.reshape(-1)
        return cls(members, places[:2], places[2:].reshape(2, -1))

    def estimates(self, worths: Float) -> tuple[Float, Float]:
        """Return estimates of values, and their standard errors, (..., players, outputs).

        Values add up to the difference of the worths of all and of no players, exactly.

        Parameters
        ----------
        worths : ndarray of shape (..., count, outputs)
            Of `members`, in one game or many.
        """
        empty, everyone = (worths[..., place, :] for place in self.ends)
        total = (everyone - empty)[..., None, :]
        n_pairs, p = self.pairs.shape[1], self.members.shape[1]
        if p == 1:
            return total, np.zeros_like(total)
        points = self.members[self.pairs[0]].astype(np.float64)
        shares = points.mean(axis=1, keepdims=True)
        points -= shares
        first, second = (worths[..., places, :] for places in self.pairs)
        y = (first - second) / 2.0 - (shares - 0.5) * total
        fits, sums, squares, sizes = _of_folds(
            points, y, 2.0 * float((1.0 / np.arange(1, p)).sum())
        )
        mean = (sizes * fits + sums).sum(axis=0) / n_pairs
        # Of the terms, each a fold's fit and what its pair adds.
        off = fits - mean
        spread = (sizes * off**2 + 2.0 * off * sums + squares).sum(axis=0)
        errors = np.sqrt(np.maximum(spread, 0.0) / (n_pairs * (n_pairs - 1)))
        return total / p + mean, errors


def _drawn(n_players: int, count: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    """Return coalitions of some of the players, drawn by the weights of KernelSHAP."""
    if n_players == 1:
        return np.zeros((0, 1), dtype=np.bool_)
    sizes = np.arange(1, n_players)
    weights = 1.0 / (sizes * sizes[::-1])
    drawn = generator.choice(sizes, size=count, p=weights / weights.sum())
    places = generator.permuted(np.tile(np.arange(n_players), (count, 1)), axis=1)
    members: NDArray[np.bool_] = places < drawn[:, None]
    return members


def _of_folds(points: Float, y: Float, scale: float) -> tuple[Float, Float, Float, Float]:
    """Return the fit θ of each fold, and what its pairs add to it.

    Parameters
    ----------
    points : ndarray of shape (pairs, players)
        x.
    y : ndarray of shape (..., pairs, outputs)
    scale : float
        c.

    Returns
    -------
    fits, sums, squares : ndarray of shape (folds, ..., players, outputs)
        θ, and the sums of c x (y − xᵀθ) and of its squares over the pairs of the fold.
    sizes : ndarray of shape (folds, 1, ..., 1)
        The numbers of pairs.
    """
    gram, moments = points.T @ points, points.T @ y
    found = []
    folds = np.array_split(np.arange(len(points)), _FOLDS)
    for fold in folds:
        x, own = points[fold], y[..., fold, :]
        others = np.linalg.pinv(gram - x.T @ x, rcond=_RANK, hermitian=True)
        fit = others @ (moments - x.T @ own)
        rest = scale * (own - x @ fit)
        found.append((fit, x.T @ rest, (x**2).T @ rest**2))
    fits, sums, squares = (np.stack(part) for part in zip(*found, strict=True))
    sizes = np.array([len(fold) for fold in folds], dtype=np.float64)
    return fits, sums, squares, sizes.reshape(-1, *[1] * y.ndim)
