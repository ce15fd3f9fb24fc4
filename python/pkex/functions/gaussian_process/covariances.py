"""Posterior covariances of Shapley values of a Gaussian process.

The values φ of a row are linear in the function f, which they evaluate at rows that combine feature
values: φ = Φ f. With the prior k and the training rows, L Lᵀ = K + noise, their covariance is

    Φ k Φᵀ − (L⁻¹ Ψ)ᵀ (L⁻¹ Ψ), in general Φ k Φᵀ − Ψᵀ C Ψ (see `ConditioningMatrix`),

where column j of Ψ, of shape (points, features), contains the values of feature j in the games of
k(·, p) for all points p. The engine computes Ψ. The prior part is a double integral, because values
are integrals (Owen 1972) in both arguments of k.

With the observational value function, v(S) = Σ_l w_Sl f(x_S, z_l). Then the values Σ_S A_jS v(S),
with the matrix A that maps values of coalitions to Shapley values, have the prior covariances

    Σ_ll' U_lᵀ (⊗_j M_j) U_l',  U_l = (w_Sl A_jS)_Sj,  M_j = [[k_j(z_l, z_l'), k_j(z_l, x)],
                                                             [k_j(x, z_l'),   1]],

because a product kernel between two mixed rows has a factor for each column, which depends on
whether the value of the column is from x in each of the rows. The Kronecker product is applied
factor by factor. The value of player j in the game of k(·, p) is
Σ_S A_jS k_S(x, p) Σ_l w_Sl k_{S^c}(z_l, p).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pkex.errors import Option, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.execution.progress import share
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.packing import Packing, values_of_points
from pkex.games.indices import shapley_matrix
from pkex.games.value_functions import Game
from pkex.kernels import Term
from pkex.kernels.factors import has_mixtures, has_series
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Report

__all__ = ["value_covariances"]

# Numbers held in memory at a time: of Ψ, of factors between background rows, and of tables of
# coalitions.
_MOST_NUMBERS, _BLOCK, _MOST_OF_TABLES = 1 << 23, 1 << 15, 1 << 20
# Relative to the prior variance: the largest error in Ψ that is accepted, and the error of a
# product and of an approximation by a mixture.
_LARGEST_ERROR = 1e-7
_ROUNDING, _OF_MIXTURE = 1e-15, 1e-12


def value_covariances(
    variance: LatentVariance,
    players: NDArray[np.int64],
    X: Float,
    game: Game,
    how: Computation,
) -> Float:
    """Return the posterior covariances of the values of rows, shape (n, players, players).

    The covariances of a row do not depend on other rows.

    Parameters
    ----------
    variance : LatentVariance
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    X : ndarray of shape (n, d)
    game : Game
    how : Computation

    Raises
    ------
    UnsupportedModelError
        If the kernel is not a sum of products over columns, or errors are too large.
    """
    kernel, points = variance.kernel, variance.points
    if has_series(variance.terms):
        raise UnsupportedModelError(
            (
                Option("uncertainty", True),
                " requires a kernel that is a sum of products over features, or a mixture of such "
                "kernels, for example RBF, Matern and RationalQuadratic; "
                f"{kernel!r} has dot products or is additive",
            )
        )
    rows, weights = game.background or (points, equal_weights(len(points)))
    everything = np.concatenate([points, rows])
    packing = Packing(everything, np.zeros((len(everything), 1)), kernel, players)
    reaches = packing.reaches(X)
    background = _Background(rows, weights, players, is_marginal=game.is_marginal)
    step = max(1, _MOST_NUMBERS // max(points.size, rows.size))
    blocks = [
        (reach, of_reach[start : start + step])
        for reach in np.unique(reaches).tolist()
        for of_reach in [np.flatnonzero(reaches == reach)]
        for start in range(0, len(of_reach), step)
    ]
    covariances = np.empty((len(X), background.n_players, background.n_players))
    for number, (reach, some) in enumerate(blocks):
        terms, of_block = packing.terms_at(reach), how.part(number, len(blocks))
        if game.coalition_weights is not None:
            for place, row in enumerate(some):
                table = _CoalitionTable(background, game.coalition_weights[row])
                of_row = of_block.part(place, len(some))
                reduction = _reduction(variance, table.values_of_points(X[row], points, terms))
                prior = table.prior_part(X[row], terms, of_row.progress)
                covariances[row] = prior - reduction
            continue
        priors = background.prior_part(X[some], terms, share(of_block.progress, 0, 2))
        packed_game = (game.value_function, rows, weights)
        of_points = values_of_points(
            points, X[some], packed_game, terms, players, of_block.part(1, 2)
        )
        values = np.concatenate([block for _, block in of_points], axis=2)
        for row, prior, psi in zip(some, priors, values.transpose(0, 2, 1), strict=True):
            covariances[row] = prior - _reduction(variance, psi)
    return covariances


def _reduction(variance: LatentVariance, values: Float) -> Float:
    """Return Ψᵀ C Ψ of the Ψ of a row; raise an error if it is not exact enough."""
    whitened, other = variance.known.whitened(values)
    weights = np.abs(variance.known.unwhitened(other))
    error = _OF_MIXTURE if has_mixtures(variance.terms) else _ROUNDING
    size = 2.0 * error * float(weights.sum(axis=0).max())
    if size > _LARGEST_ERROR:
        raise UnsupportedModelError(
            "the training rows are nearly dependent: errors of the covariances would be "
            f"{size:.0e} of the prior variance, and pkex accepts up to {_LARGEST_ERROR:.0e}; fit "
            "the model with more noise (a larger alpha or WhiteKernel), or with RBF"
        )
    reduction: Float = whitened.T @ other
    return reduction


@dataclass(frozen=True, eq=False)
class _Background:
    """Background rows, from which absent features are drawn.

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

    @property
    def n_players(self) -> int:
        """The number of players."""
        return int(self.players.max()) + 1

    def prior_part(self, X: Float, terms: list[Term], report: Report | None) -> Float:
        """Return Φ k Φᵀ of rows, shape (n, players, players)."""
        parts = np.zeros((len(X), self.n_players, self.n_players))
        add = self._add_independent if self.is_marginal else self._add_pairs
        for number, term in enumerate(terms):
            to_rows = [self.factors(term, row[None], self.rows)[:, 0] for row in X]
            add(parts, term, to_rows, share(report, number, len(terms)))
        return (parts + parts.transpose(0, 2, 1)) / 2.0

    def _add_pairs(
        self, parts: Float, term: Term, to_rows: list[Float], report: Report | None
    ) -> None:
        """Add the part of a term for each explained row, given its factors to background rows."""
        for some, factors in self._blocks(term, report):
            weights = self.weights[some, None] * self.weights
            for part, of_row in zip(parts, to_rows, strict=True):
                games = _pair_games(of_row[:, None, :], of_row[:, some, None], factors, weights)
                part += term.coefficient * games

    def _add_independent(
        self, parts: Float, term: Term, to_rows: list[Float], report: Report | None
    ) -> None:
        """Add the part of a term for independent features: all combinations of background values.

        Means of products are then products of means, exactly 1 for a column without influence.
        """
        between = np.ones((parts.shape[1], 1, 1))
        for some, factors in self._blocks(term, report):
            lacks = np.einsum("jlm,l,m->j", 1.0 - factors, self.weights[some], self.weights)
            between -= lacks[:, None, None]
        for part, of_row in zip(parts, to_rows, strict=True):
            mean = (1.0 - (1.0 - of_row) @ self.weights)[:, None, None]
            part += term.coefficient * _pair_games(mean, mean, between, np.ones((1, 1)))

    def _blocks(self, term: Term, report: Report | None) -> Iterator[tuple[slice, Float]]:
        """Yield slices of background rows, with their factors to all background rows."""
        step = max(1, _BLOCK // self.rows.size)
        starts = range(0, len(self.rows), step)
        for number, start in enumerate(starts):
            some = slice(start, start + step)
            yield some, self.factors(term, self.rows[some], self.rows)
            if report is not None:
                report(number + 1, len(starts))

    def factors(self, term: Term, left: Float, right: Float) -> Float:
        """Return the factors of players for all pairs of rows, of shape (players, n, m)."""
        factors = np.ones((self.n_players, len(left), len(right)))
        for factor in term.factors:
            for column, values in factor.evaluated(left, right):
                factors[self.players[column]] *= values
        return factors


def _pair_games(q: Float, r: Float, s: Float, weights: Float) -> Float:
    """Return Σ_lm weights_lm ∬ ∂_i ∂'_j ∏_h E_h dt dt' for all pairs of players i, j.

    E_h = t t' + t (1−t') q_h + (1−t) t' r_h + (1−t)(1−t') s_h is the mean factor between a row that
    takes each value from x with probability t, else from background row l, and another with t' and
    m. ∂_i is the derivative by the t of player i only. Factors of x with itself are 1. The sum
    over l and m is symmetric in (l, t) and (m, t'); the result becomes symmetric when it is
    averaged with its transpose.

    Parameters
    ----------
    q : ndarray of shape (players, 1, m)
        Factors between x and background rows.
    r : ndarray of shape (players, l, 1)
        Factors between background rows and x.
    s : ndarray of shape (players, l, m)
        Factors between background rows.
    weights : ndarray of shape (l, m)
    """
    n_players = len(s)
    # Integrands have degree players − 1 in t and in t'.
    nodes, node_weights = np.polynomial.legendre.leggauss((n_players + 1) // 2)
    ts, node_weights = (nodes + 1.0) / 2.0, node_weights / 2.0
    both = 1.0 - q - r + s
    total = np.zeros((n_players, n_players))
    for a, t in enumerate(ts):
        for b, u in enumerate(ts[: a + 1]):
            count = node_weights[a] * node_weights[b] * (1.0 if a == b else 2.0)
            means = t * u + t * (1 - u) * q + (1 - t) * u * r + (1 - t) * (1 - u) * s
            products = count * weights * means.prod(axis=0)
            # The product is 0 in that case.
            means[means == 0.0] = np.finfo(np.float64).tiny
            first = (u * (1.0 - r) + (1 - u) * (q - s)) / means
            second = (t * (1.0 - q) + (1 - t) * (r - s)) / means
            left = (first * products).reshape(n_players, -1)
            games = left @ second.reshape(n_players, -1).T
            np.fill_diagonal(games, (both / means * products).sum(axis=(1, 2)))
            total += games
    return total


@dataclass(frozen=True, eq=False)
class _CoalitionTable:
    """Background rows with their weights in each coalition of one explained row.

    Parameters
    ----------
    background : _Background
    weights : ndarray of shape (2^players, m)
    """

    background: _Background
    weights: Float

    def prior_part(self, x: Float, terms: list[Term], report: Report | None) -> Float:
        """Return the prior covariances of the values of the row, shape (players, players)."""
        rows, factors = self.background.rows, self.background.factors
        p, m = self.background.n_players, len(rows)
        matrix = shapley_matrix(p)
        step = max(1, _MOST_OF_TABLES // matrix.size)
        blocks = [slice(start, start + step) for start in range(0, m, step)]
        total = np.zeros((p, p))
        for number, term in enumerate(terms):
            to_rows = factors(term, x[None], rows)[:, 0]
            for place, row in enumerate(rows):
                between = factors(term, row[None], rows)[:, 0]
                products = sum(
                    _kronecker_product(
                        self.weights.T[some, :, None] * matrix.T,
                        between[:, some],
                        to_rows[:, some],
                        to_rows[:, place],
                    )
                    for some in blocks
                )
                total += term.coefficient * ((matrix * self.weights[:, place]) @ products)
                if report is not None:
                    report(number * m + place + 1, len(terms) * m)
        return (total + total.T) / 2.0

    def values_of_points(self, x: Float, points: Float, terms: list[Term]) -> Float:
        """Return the values in the games of k(·, p) of points p, shape (points, players)."""
        background = self.background
        of_coalitions = np.zeros((len(points), len(self.weights)))
        step = max(1, _MOST_OF_TABLES // self.weights.size)
        for term in terms:
            for start in range(0, len(points), step):
                some = slice(start, start + step)
                present = background.factors(term, points[some], x[None])
                absent = background.factors(term, points[some], background.rows)
                of_coalitions[some] += term.coefficient * self._mean_products(present, absent)
        values: Float = of_coalitions @ shapley_matrix(background.n_players).T
        return values

    def _mean_products(self, present: Float, absent: Float) -> Float:
        """Return Σ_l w_Sl ∏_{j∈S} present_j ∏_{j∉S} absent_jl of points, shape (n, coalitions)."""
        products = np.ones((1, *absent.shape[1:]))
        for of_row, of_background in zip(present, absent, strict=True):
            # All coalitions of the previous players, without the player and with it.
            products = np.concatenate([products * of_background, products * of_row])
        means: Float = np.einsum("snl,sl->ns", products, self.weights)
        return means


def _kronecker_product(maps: Float, between: Float, from_row: Float, to_row: Float) -> Float:
    """Return the sum over background rows l' of (⊗_j M_j) U_l', shape (coalitions, players).

    Parameters
    ----------
    maps : ndarray of shape (m, coalitions, players)
        U_l' for each l'.
    between, from_row : ndarray of shape (players, m)
        k_j(z_l, z_l') and k_j(x, z_l').
    to_row : ndarray of shape (players,)
        k_j(z_l, x).
    """
    m, n_coalitions, n_columns = maps.shape
    for j in range(len(between)):
        # Coalitions without the player, and with it, in the order of their numbers.
        table = maps.reshape(m, -1, 2, (1 << j) * n_columns)
        absent, present = table[:, :, 0], table[:, :, 1]
        s, q = between[j, :, None, None], from_row[j, :, None, None]
        maps = np.stack([s * absent + to_row[j] * present, q * absent + present], axis=2)
    total: Float = maps.reshape(m, n_coalitions, n_columns).sum(axis=0)
    return total
