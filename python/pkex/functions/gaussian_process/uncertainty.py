"""How sure values are under the posterior of a Gaussian process.

The values φ of a row are linear in the function f, as they are made of f at rows that combine
entries: φ = Φ f. With the prior k and the training rows, L Lᵀ = K + noise, their covariance is

    Φ k Φᵀ − (L⁻¹ Ψ)ᵀ (L⁻¹ Ψ), or in general − Ψᵀ C Ψ (see `Conditioning`),

where column j of Ψ, of shape (points, features), has the value of feature j in the game of k(·, p)
for each point p. The engine computes Ψ, and the first part is a double integral, as values are
integrals (Owen 1972) in both arguments of k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Option, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.execution.progress import share
from pkex.functions.gaussian_process.given import GivenBackground
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.packing import Packing
from pkex.functions.point_values import values_of_points
from pkex.games.value_functions import Game
from pkex.kernels import Term
from pkex.kernels.factors import has_mixtures, has_series
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Report

__all__ = ["Conditioned"]

# Numbers of Ψ that are there at a time, and of the factors between background rows.
_MOST_NUMBERS = 1 << 23
_BLOCK = 1 << 15
# Of the prior variance: what errors in Ψ may come to, and what they are, of a product and of a sum
# of products in the place of another kernel.
_LARGEST_ERROR = 1e-7
_ROUNDING, _OF_MIXTURE = 1e-15, 1e-12


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A Gaussian process that was given data.

    Parameters
    ----------
    variance : LatentVariance
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    """

    variance: LatentVariance
    players: NDArray[np.int64]

    def covariances(self, X: Float, game: Game, how: Computation) -> Float:
        """Return the covariances of the values of rows, shape (n, players, players).

        Each row's do not depend on the others.

        Raises
        ------
        UnsupportedModelError
            If the kernel is no sum of products over columns, or errors could show.
        """
        kernel = self.variance.kernel
        if has_series(self.variance.terms):
            raise UnsupportedModelError(
                (
                    Option("uncertainty", True),
                    " is for kernels that are products over features or sums of such, as RBF, "
                    f"Matern and RationalQuadratic are; {kernel!r} has dot products or is additive",
                )
            )
        rows, weights = game.background or (self._points, equal_weights(len(self._points)))
        everything = np.concatenate([self._points, rows])
        nothing = np.zeros((len(everything), 1))
        packing = Packing(everything, nothing, kernel, self.players)
        reaches = packing.reaches(X)
        n_players = int(self.players.max()) + 1
        against = _Background(rows, weights, self.players, is_marginal=game.is_marginal)
        step = max(1, _MOST_NUMBERS // max(self._points.size, rows.size))
        blocks = [
            (reach, of_reach[start : start + step])
            for reach in np.unique(reaches).tolist()
            for of_reach in [np.flatnonzero(reaches == reach)]
            for start in range(0, len(of_reach), step)
        ]
        covariances = np.empty((len(X), n_players, n_players))
        for number, (reach, some) in enumerate(blocks):
            terms, own = packing.terms_at(reach), how.part(number, len(blocks))
            if game.given is not None:
                for place, row in enumerate(some):
                    one = own.part(place, len(some))
                    covariances[row] = self._given(X[row], against, game.given[row], terms, one)
                continue
            prior = against.prior_part(X[some], terms, share(own.progress, 0, 2))
            packed_game = (game.value_function, rows, weights)
            of_points = values_of_points(
                self._points, X[some], packed_game, terms, self.players, own.part(1, 2)
            )
            values = np.concatenate([part for _, part in of_points], axis=2)
            for row, of_row, psi in zip(some, prior, values.transpose(0, 2, 1), strict=True):
                covariances[row] = of_row - self._known(psi)
        return covariances

    def _given(
        self, x: Float, against: _Background, weights: Float, terms: list[Term], how: Computation
    ) -> Float:
        """Return the covariances of a row's values in the observational game."""
        given = GivenBackground(against.rows, weights, against.factors)
        known = self._known(given.values_of_points(x, self._points, terms))
        covariances: Float = given.prior_part(x, terms, how.progress) - known
        return covariances

    @property
    def _points(self) -> Float:
        return self.variance.points

    def _known(self, values: Float) -> Float:
        """Return Ψᵀ C Ψ of a row's Ψ, if its errors are small enough."""
        whitened, other = self.variance.known.whitened(values)
        weights = np.abs(self.variance.known.unwhitened(other))
        error = _OF_MIXTURE if has_mixtures(self.variance.terms) else _ROUNDING
        _check_errors(2.0 * error * float(weights.sum(axis=0).max()))
        known: Float = whitened.T @ other
        return known


def _check_errors(size: float) -> None:
    if size > _LARGEST_ERROR:
        raise UnsupportedModelError(
            "the training rows are nearly dependent: errors of the covariances would be "
            f"{size:.0e} of the prior variance, and pkex goes up to {_LARGEST_ERROR:.0e}; fit the "
            "model with more noise (a larger alpha or WhiteKernel), or with RBF"
        )


@dataclass(frozen=True, eq=False)
class _Background:
    """What absent features are drawn from.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
    players : ndarray of int64, shape (d,)
    is_marginal : bool
    """

    rows: Float
    weights: Float
    players: NDArray[np.int64]
    is_marginal: bool

    def prior_part(self, X: Float, terms: list[Term], report: Report | None) -> Float:
        """Return Φ k Φᵀ of rows, shape (n, players, players)."""
        n_players = int(self.players.max()) + 1
        parts = np.zeros((len(X), n_players, n_players))
        add = self._add_independent if self.is_marginal else self._add_pairs
        for number, term in enumerate(terms):
            to_rows = [self.factors(term, row[None], self.rows)[:, 0] for row in X]
            add(parts, term, to_rows, share(report, number, len(terms)))
        return (parts + parts.transpose(0, 2, 1)) / 2.0

    def _add_pairs(
        self, parts: Float, term: Term, to_rows: list[Float], report: Report | None
    ) -> None:
        """Add a term's part for each explained row, given its factors to background rows."""
        for some, factors in self._blocks(term, report):
            weights = self.weights[some, None] * self.weights
            for part, own in zip(parts, to_rows, strict=True):
                games = _pair_games(own[:, None, :], own[:, some, None], factors, weights)
                part += term.coefficient * games

    def _add_independent(
        self, parts: Float, term: Term, to_rows: list[Float], report: Report | None
    ) -> None:
        """Add the same where features are independent: of all rows that combine entries.

        Means of products are products of means. They are exactly 1 of a column that does nothing.
        """
        between = np.ones((parts.shape[1], 1, 1))
        for some, factors in self._blocks(term, report):
            lacks = np.einsum("jlm,l,m->j", 1.0 - factors, self.weights[some], self.weights)
            between -= lacks[:, None, None]
        for part, own in zip(parts, to_rows, strict=True):
            mean = (1.0 - (1.0 - own) @ self.weights)[:, None, None]
            part += term.coefficient * _pair_games(mean, mean, between, np.ones((1, 1)))

    def _blocks(self, term: Term, report: Report | None) -> Iterator[tuple[slice, Float]]:
        """Yield slices of background rows with their factors to all of these."""
        step = max(1, _BLOCK // self.rows.size)
        starts = range(0, len(self.rows), step)
        for number, start in enumerate(starts):
            some = slice(start, start + step)
            yield some, self.factors(term, self.rows[some], self.rows)
            if report is not None:
                report(number + 1, len(starts))

    def factors(self, term: Term, left: Float, right: Float) -> Float:
        """Return the factors of players for all pairs of rows, of shape (players, n, m)."""
        factors = np.ones((int(self.players.max()) + 1, len(left), len(right)))
        for factor in term.factors:
            for column, values in factor.evaluated(left, right):
                factors[self.players[column]] *= values
        return factors


def _pair_games(q: Float, r: Float, s: Float, weights: Float) -> Float:
    """Return Σ_lm weights_lm ∬ ∂_i ∂'_j ∏_h E_h dt dt' for all pairs of players i, j.

    E_h = t t' + t (1−t') q_h + (1−t) t' r_h + (1−t)(1−t') s_h is the mean factor between a row that
    has the entries of x with probability t, and else those of background row l, and one of t' and
    m. ∂_i is the derivative by the t of player i alone. Factors of x with itself are 1. The sum
    over l and m is symmetric in them together with t and t', and the result is so once it is
    averaged with its transpose.

    Parameters
    ----------
    q : ndarray of shape (players, 1, m)
        Factors between x and background rows.
    r : ndarray of shape (players, l, 1)
        Those between background rows and x.
    s : ndarray of shape (players, l, m)
        Those between background rows.
    weights : ndarray of shape (l, m)
    """
    n_players = len(s)
    # Of degree players − 1 in t and in t'.
    nodes, node_weights = np.polynomial.legendre.leggauss((n_players + 1) // 2)
    ts, node_weights = (nodes + 1.0) / 2.0, node_weights / 2.0
    both = 1.0 - q - r + s
    total = np.zeros((n_players, n_players))
    for a, t in enumerate(ts):
        for b, u in enumerate(ts[: a + 1]):
            count = node_weights[a] * node_weights[b] * (1.0 if a == b else 2.0)
            means = t * u + t * (1 - u) * q + (1 - t) * u * r + (1 - t) * (1 - u) * s
            products = count * weights * means.prod(axis=0)
            # The product is 0 then.
            means[means == 0.0] = np.finfo(np.float64).tiny
            first = (u * (1.0 - r) + (1 - u) * (q - s)) / means
            second = (t * (1.0 - q) + (1 - t) * (r - s)) / means
            left = (first * products).reshape(n_players, -1)
            found = left @ second.reshape(n_players, -1).T
            np.fill_diagonal(found, (both / means * products).sum(axis=(1, 2)))
            total += found
    return total
