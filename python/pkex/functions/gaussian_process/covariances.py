"""Posterior covariances of Shapley values of a Gaussian process, within rows and between them.

The values φ of a row are linear in the function f, which they evaluate at rows that combine feature
values: φ = Φ f. With the prior k and the training rows, L Lᵀ = K + noise, the covariance of the
values of two rows is

    Φ k Φ'ᵀ − (L⁻¹ Ψ)ᵀ (L⁻¹ Ψ'), in general Φ k Φ'ᵀ − Ψᵀ C Ψ' (see `ConditioningMatrix`),

where column j of Ψ, of shape (points, features), contains the values of feature j in the games of
k(·, p) for all points p. The engine computes Ψ. The prior part is a double integral, because values
are integrals (Owen 1972) in both arguments of k.

With the observational value function, v(S) = Σ_l w_Sl f(x_S, z_l). Then the values Σ_S A_jS v(S),
with the matrix A that maps values of coalitions to Shapley values, have the prior covariances

    Σ_ll' U_lᵀ (⊗_j M_j) U'_l',  U_l = (w_Sl A_jS)_Sj,  M_j = [[k_j(z_l, z_l'), k_j(z_l, x')],
                                                              [k_j(x, z_l'),   k_j(x, x')]],

because a product kernel between two mixed rows has a factor for each column, which depends on
whether the value of the column is from x in each of the rows. The Kronecker product is applied
factor by factor. The value of player j in the game of k(·, p) is
Σ_S A_jS k_S(x, p) Σ_l w_Sl k_{S^c}(z_l, p).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.errors import Option, UnsupportedModelError
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of, share
from pkex.functions.gaussian_process.latent import LatentVariance
from pkex.functions.packing import Packing, values_of_points
from pkex.games.indices import shapley_matrix
from pkex.games.value_functions import Game
from pkex.kernels import Term
from pkex.kernels.factors import has_mixtures, has_series
from pkex.tables.weights import equal_weights
from pkex.typing import Float, Report

# Numbers held in memory at a time: of Ψ, of factors between background rows, and of tables of
# coalitions.
_MAX_NUMBERS, _BLOCK, _MAX_TABLE_NUMBERS = 1 << 23, 1 << 15, 1 << 20
# Factors of two rows to background rows, and between each other.
_PairFactors: TypeAlias = tuple[Float, Float, Float | None]
# Relative to the prior variance: the largest error in Ψ that is accepted, and the error of a
# product and of an approximation by a mixture.
_MAX_ERROR = 1e-7
_ROUNDING, _OF_MIXTURE = 1e-15, 1e-12


def value_covariances(
    variance: LatentVariance,
    players: NDArray[np.int64],
    X: Float,
    pairs: NDArray[np.intp],
    game: Game,
    computation: Computation,
) -> Float:
    """Return the posterior covariances of the values of pairs of rows, (pairs, players, players).

    The covariances of a pair do not depend on other rows.

    Parameters
    ----------
    variance : LatentVariance
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    X : ndarray of shape (n, d)
    pairs : ndarray of int, shape (pairs, 2)
        The numbers of two rows, perhaps the same.
    game : Game
    computation : Computation

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
    all_rows = np.concatenate([points, rows])
    packing = Packing(all_rows, np.zeros((len(all_rows), 1)), kernel, players)
    reaches = packing.reaches(X)
    background = _Background(rows, weights, players, game.is_marginal, computation.n_threads)
    # Two rows are at most twice as far from each other as the farther one is from the points.
    pair_reaches = reaches[pairs].max(axis=1) + (pairs[:, 0] != pairs[:, 1])
    size = _MAX_NUMBERS // max(points.size, rows.size)
    blocks = [
        (reach, numbers[block])
        for reach in np.unique(pair_reaches).tolist()
        for numbers in [np.flatnonzero(pair_reaches == reach)]
        for block in blocks_of(len(numbers), size)
    ]
    covariances = np.empty((len(pairs), background.n_players, background.n_players))
    # Measured: a pair of background rows takes seven times as long as a point and a background row.
    sizes = len(points), (1 if game.is_marginal else 7) * len(rows)
    reports = parts_of(computation.progress, *(len(pair_numbers) for _, pair_numbers in blocks))
    for (reach, pair_numbers), block_progress in zip(blocks, reports, strict=True):
        terms = packing.terms_at(reach)
        row_numbers, places = np.unique(pairs[pair_numbers], return_inverse=True)
        row_pairs = places.reshape(-1, 2)
        if game.coalition_weights is None:
            values_progress, prior_progress = parts_of(block_progress, *sizes)
            values = _values_in_games_of_points(
                variance,
                X[row_numbers],
                background,
                game,
                terms,
                computation.reporting(values_progress),
            )
            prior_source: _Background | _CoalitionTable = background
        else:
            table = _CoalitionTable(background, game.coalition_weights[row_numbers])
            values = table.values_of_points(X[row_numbers], points, terms)
            prior_source, prior_progress = table, block_progress
        if variance.has_prior:
            priors = prior_source.prior_part(X[row_numbers], row_pairs, terms, prior_progress)
        else:
            priors = np.zeros((len(row_pairs), background.n_players, background.n_players))
        whitened_rows = [whiten_values(variance, row_values) for row_values in values]
        for pair, prior, (i, k) in zip(pair_numbers, priors, row_pairs, strict=True):
            covariances[pair] = prior - whitened_rows[i][0].T @ whitened_rows[k][1]
    return covariances


def _values_in_games_of_points(
    variance: LatentVariance,
    X: Float,
    background: _Background,
    game: Game,
    terms: list[Term],
    computation: Computation,
) -> Float:
    """Return Ψ of rows, shape (n, points, players)."""
    if not len(variance.points):
        return np.empty((len(X), 0, background.n_players))
    packed_game = (game.value_function, background.rows, background.weights)
    blocks = values_of_points(
        variance.points, X, packed_game, terms, background.players, computation
    )
    return np.concatenate([block for _, block in blocks], axis=2).transpose(0, 2, 1)


def whiten_values(variance: LatentVariance, values: Float) -> tuple[Float, Float]:
    """Return L⁻¹ R Ψ and M L⁻¹ R Ψ of the Ψ of a row; raise an error if it is not exact enough."""
    whitened_values, weighted_values = variance.conditioning.whiten(values)
    weights = np.abs(variance.conditioning.unwhiten(weighted_values))
    error = _OF_MIXTURE if has_mixtures(variance.terms) else _ROUNDING
    size = 2.0 * error * float(weights.sum(axis=0).max(initial=0.0))
    if size > _MAX_ERROR:
        raise UnsupportedModelError(
            "the training rows are nearly dependent: errors of the covariances would be "
            f"{size:.0e} of the prior variance, and pkex accepts up to {_MAX_ERROR:.0e}; fit "
            "the model with more noise (a larger alpha or WhiteKernel), or with RBF"
        )
    return whitened_values, weighted_values


@dataclass(frozen=True, eq=False)
class _Background:
    """Background rows, from which absent features are drawn.

    Parameters
    ----------
    rows : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
    players : ndarray of int64, shape (d,)
    is_marginal : bool
    n_threads : int
    """

    rows: Float
    weights: Float
    players: NDArray[np.int64]
    is_marginal: bool
    n_threads: int

    @property
    def n_players(self) -> int:
        """The number of players."""
        return int(self.players.max()) + 1

    def prior_part(
        self, X: Float, pairs: NDArray[np.intp], terms: list[Term], report: Report | None
    ) -> Float:
        """Return Φ k Φ'ᵀ of pairs of rows, shape (pairs, players, players)."""
        parts = np.zeros((len(pairs), self.n_players, self.n_players))
        add = self._add_independent if self.is_marginal else self._add_pairs
        for number, term in enumerate(terms):
            to_rows = [self.factors(term, row[None], self.rows)[:, 0] for row in X]
            pair_factors = [
                (to_rows[i], to_rows[k], self.between(term, X, i, k)) for i, k in pairs.tolist()
            ]
            add(parts, term, pair_factors, share(report, number, len(terms)))
        is_same = pairs[:, 0] == pairs[:, 1]
        parts[is_same] = (parts[is_same] + parts[is_same].transpose(0, 2, 1)) / 2.0
        return parts

    def between(self, term: Term, X: Float, i: int, k: int) -> Float | None:
        """Return the factors between two rows; None between a row and itself, where they are 1."""
        return None if i == k else self.factors(term, X[[i]], X[[k]])

    def _add_pairs(
        self, parts: Float, term: Term, pair_factors: list[_PairFactors], report: Report | None
    ) -> None:
        """Add the part of a term for each pair of rows, given its factors to background rows."""
        for block, factors in self._blocks(term, report):
            weights = self.weights[block, None] * self.weights
            for part, (left, right, both) in zip(parts, pair_factors, strict=True):
                games = pair_games(both, left[:, None, :], right[:, block, None], factors, weights)
                part += term.coefficient * games

    def _add_independent(
        self, parts: Float, term: Term, pair_factors: list[_PairFactors], report: Report | None
    ) -> None:
        """Add the part of a term for independent features: all combinations of background values.

        Means of products are then products of means, exactly 1 for a column without influence.
        """
        between = self._means_of_pairs(term, report)[:, None, None]
        for part, (left, right, both) in zip(parts, pair_factors, strict=True):
            q, r = ((1.0 - (1.0 - side) @ self.weights)[:, None, None] for side in (left, right))
            part += term.coefficient * pair_games(both, q, r, between, np.ones((1, 1)))

    def _means_of_pairs(self, term: Term, report: Report | None) -> Float:
        """Return the means of players' factors over all pairs of background rows."""
        count = len(self.rows)
        if count > 1 and np.ptp(self.weights) == 0.0:
            off_diagonal_means = _core.mean_factors(
                self.rows, [term.packed()], self.players, n_threads=self.n_threads, progress=report
            )
            # Factors of a row and itself are 1.
            means: Float = 1.0 - (1.0 - off_diagonal_means[0]) * ((count - 1) / count)
            return means
        means = np.ones(self.n_players)
        for block, factors in self._blocks(term, report):
            means -= np.einsum("jlm,l,m->j", 1.0 - factors, self.weights[block], self.weights)
        return means

    def _blocks(self, term: Term, report: Report | None) -> Iterator[tuple[slice, Float]]:
        """Yield slices of background rows, with their factors to all background rows."""
        for block in blocks_of(len(self.rows), _BLOCK // self.rows.size):
            yield block, self.factors(term, self.rows[block], self.rows)
            if report is not None:
                report(block.stop, len(self.rows))

    def factors(self, term: Term, left: Float, right: Float) -> Float:
        """Return the factors of players for all pairs of rows, of shape (players, n, m)."""
        factors = np.ones((self.n_players, len(left), len(right)))
        for factor in term.factors:
            for column, values in factor.evaluated(left, right):
                factors[self.players[column]] *= values
        return factors


def pair_games(p: Float | None, q: Float, r: Float, s: Float, weights: Float) -> Float:
    """Return Σ_lm weights_lm ∬ ∂_i ∂'_j ∏_h E_h dt dt' for all pairs of players i, j.

    E_h = t t' p_h + t (1−t') q_h + (1−t) t' r_h + (1−t)(1−t') s_h is the mean factor between a row
    that takes each value from x with probability t, else from background row l, and another with
    t', x' and m. ∂_i is the derivative by the t of player i only. For x' = x, the sum over l and m
    is symmetric in (l, t) and (m, t'); the result becomes symmetric when it is averaged with its
    transpose.

    Parameters
    ----------
    p : ndarray of shape (players, 1, 1) or None
        Factors between x and x'; None for x' = x, where they are 1.
    q : ndarray of shape (players, 1, m)
        Factors between x and background rows.
    r : ndarray of shape (players, l, 1)
        Factors between background rows and x'.
    s : ndarray of shape (players, l, m)
        Factors between background rows.
    weights : ndarray of shape (l, m)
    """
    n_players, is_same = len(s), p is None
    both = 1.0 if p is None else p
    # Integrands have degree players − 1 in t and in t'.
    nodes, node_weights = np.polynomial.legendre.leggauss((n_players + 1) // 2)
    ts, node_weights = (nodes + 1.0) / 2.0, node_weights / 2.0
    from_left, from_right, difference = both - q, r - s, both - q - r + s
    total = np.zeros((n_players, n_players))
    for b, u in enumerate(ts):
        # The mean factors of x, and of background row l: E and ∂E / ∂t follow from them.
        present, absent = u * both + (1 - u) * q, u * r + (1 - u) * s
        change = present - absent
        for a in range(b if is_same else 0, len(ts)):
            t, count = ts[a], node_weights[a] * node_weights[b]
            count *= 2.0 if is_same and a != b else 1.0
            means = t * present + (1 - t) * absent
            products = count * weights * means.prod(axis=0)
            # The product is 0 in that case.
            means[means == 0.0] = np.finfo(np.float64).tiny
            first = change / means
            first *= products
            second = t * from_left + (1 - t) * from_right
            second /= means
            games = first.reshape(n_players, -1) @ second.reshape(n_players, -1).T
            np.fill_diagonal(games, np.einsum("jlm,lm->j", difference / means, products))
            total += games
    return total


@dataclass(frozen=True, eq=False)
class _CoalitionTable:
    """Background rows with their weights in each coalition of explained rows.

    Parameters
    ----------
    background : _Background
    weights : ndarray of shape (n, 2^players, m)
    """

    background: _Background
    weights: Float

    def prior_part(
        self, X: Float, pairs: NDArray[np.intp], terms: list[Term], report: Report | None
    ) -> Float:
        """Return the prior covariances of values of pairs of rows, (pairs, players, players)."""
        p = self.background.n_players
        parts = np.empty((len(pairs), p, p))
        for number, (i, k) in enumerate(pairs.tolist()):
            part = self._prior_of_pair(X, i, k, terms, share(report, number, len(pairs)))
            parts[number] = (part + part.T) / 2.0 if i == k else part
        return parts

    def _prior_of_pair(
        self, X: Float, i: int, k: int, terms: list[Term], report: Report | None
    ) -> Float:
        rows, factors = self.background.rows, self.background.factors
        p, m = self.background.n_players, len(rows)
        matrix = shapley_matrix(p)
        blocks = blocks_of(m, _MAX_TABLE_NUMBERS // matrix.size)
        total = np.zeros((p, p))
        for number, term in enumerate(terms):
            left = factors(term, X[[i]], rows)[:, 0]
            right = left if i == k else factors(term, X[[k]], rows)[:, 0]
            both = self.background.between(term, X, i, k)
            both = np.ones(p) if both is None else both[:, 0, 0]
            for place, row in enumerate(rows):
                between = factors(term, row[None], rows)[:, 0]
                products = sum(
                    _kronecker_product(
                        self.weights[k].T[block, :, None] * matrix.T,
                        between[:, block],
                        left[:, block],
                        right[:, place],
                        both,
                    )
                    for block in blocks
                )
                total += term.coefficient * ((matrix * self.weights[i][:, place]) @ products)
                if report is not None:
                    report(number * m + place + 1, len(terms) * m)
        return total

    def values_of_points(self, X: Float, points: Float, terms: list[Term]) -> Float:
        """Return Ψ of rows, shape (n, points, players)."""
        background, n_players = self.background, self.background.n_players
        values = np.empty((len(X), len(points), n_players))
        blocks = blocks_of(len(points), _MAX_TABLE_NUMBERS // self.weights[0].size)
        for row, weights, row_values in zip(X, self.weights, values, strict=True):
            coalition_values = np.zeros((len(points), len(weights)))
            for term in terms:
                for block in blocks:
                    present = background.factors(term, points[block], row[None])
                    absent = background.factors(term, points[block], background.rows)
                    means = _mean_products(present, absent, weights)
                    coalition_values[block] += term.coefficient * means
            row_values[:] = coalition_values @ shapley_matrix(n_players).T
        return values


def _mean_products(present: Float, absent: Float, weights: Float) -> Float:
    """Return Σ_l w_Sl ∏_{j∈S} present_j ∏_{j∉S} absent_jl of points, shape (n, coalitions)."""
    products = np.ones((1, *absent.shape[1:]))
    for row_factors, background_factors in zip(present, absent, strict=True):
        # All coalitions of the previous players, without the player and with it.
        products = np.concatenate([products * background_factors, products * row_factors])
    means: Float = np.einsum("snl,sl->ns", products, weights)
    return means


def _kronecker_product(
    maps: Float, between: Float, from_row: Float, to_row: Float, both: Float
) -> Float:
    """Return the sum over background rows l' of (⊗_j M_j) U_l', shape (coalitions, players).

    Parameters
    ----------
    maps : ndarray of shape (m, coalitions, players)
        U_l' for each l'.
    between, from_row : ndarray of shape (players, m)
        k_j(z_l, z_l') and k_j(x, z_l').
    to_row, both : ndarray of shape (players,)
        k_j(z_l, x') and k_j(x, x').
    """
    m, n_coalitions, n_columns = maps.shape
    for j in range(len(between)):
        # Coalitions without the player, and with it, in the order of their numbers.
        table = maps.reshape(m, -1, 2, (1 << j) * n_columns)
        absent, present = table[:, :, 0], table[:, :, 1]
        s, q = between[j, :, None, None], from_row[j, :, None, None]
        with_row = q * absent + both[j] * present
        maps = np.stack([s * absent + to_row[j] * present, with_row], axis=2)
    total: Float = maps.reshape(m, n_coalitions, n_columns).sum(axis=0)
    return total
