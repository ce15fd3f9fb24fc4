"""The latent variance of a Gaussian process: at rows, and of some columns of a row.

Values of coalitions are computed by the formula of the variance, for any kernel. Nothing cancels
except the reduction of the prior variance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.execution.blocks import blocks_of
from pkex.functions.probing import rows_near
from pkex.games.coalitions import all_coalitions
from pkex.games.value_functions import Game
from pkex.inputs.wording import counted
from pkex.kernels import Kernel
from pkex.kernels.allowed_values import AllowedValues
from pkex.kernels.factors import evaluate_terms, has_series, restrict_term
from pkex.kernels.mixing import mixed_rows
from pkex.typing import Float, Report

# Kernel values computed at a time, which fit into the second-level cache.
_TILE = 1 << 15
# Rows whose variance is computed together, for any number of rows.
_BLOCK = 1024
# Rows between which the kernel is evaluated for its diagonal.
_OF_DIAGONAL = 16
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class ConditioningMatrix:
    """The matrix C = Rᵀ L⁻ᵀ M L⁻¹ R such that the posterior covariance is k − k(·, P) C k(P, ·).

    For regression, L Lᵀ = K + noise, and R and M are 1 (Rasmussen & Williams 2006, algorithm 2.1).
    For the latent function of a classifier, L Lᵀ = I + R K R with R = √W (algorithm 3.2). For
    inducing points, L Lᵀ = K and M = 1 − S, where S is the covariance of whitened values at these
    (Hensman et al. 2015).

    Parameters
    ----------
    factor : ndarray of shape (m, m)
        L, lower triangular.
    roots : ndarray of shape (n,) or (m, n)
        R, or its diagonal.
    middle : ndarray of shape (m, m), optional
        M, symmetric; 1 by default.
    """

    factor: Float
    roots: Float
    middle: Float | None = None

    def whiten(self, sides: Float) -> tuple[Float, Float]:
        """Return L⁻¹ R · sides and M L⁻¹ R · sides, for sides of shape (n, k)."""
        products = self.roots[:, None] * sides if self.roots.ndim == 1 else self.roots @ sides
        solution = solve_lower(self.factor, products)
        return solution, solution if self.middle is None else self.middle @ solution

    def forms(self, sides: Float) -> Float:
        """Return sᵀ C s of each side s, shape (k,)."""
        whitened_sides, weighted_sides = self.whiten(sides)
        forms: Float = (whitened_sides * weighted_sides).sum(axis=0)
        return forms

    def times(self, sides: Float) -> Float:
        """Return C · sides."""
        return self.unwhiten(self.whiten(sides)[1])

    def unwhiten(self, sides: Float) -> Float:
        """Return Rᵀ L⁻ᵀ · sides, for sides of shape (m, k)."""
        solution = solve_lower(self.factor, sides, transposed=True)
        product: Float = (
            self.roots[:, None] * solution if self.roots.ndim == 1 else self.roots.T @ solution
        )
        return product

    @cached_property
    def matrix(self) -> Float:
        """C, with errors that grow with the condition number of L."""
        whitener, weighted_whitener = self.whiten(np.eye(self.roots.shape[-1]))
        product = whitener.T @ weighted_whitener
        symmetric: Float = (product + product.T) / 2.0
        return symmetric

    def __getstate__(self) -> dict[str, Any]:
        # Without the cached matrix.
        return {field.name: vars(self)[field.name] for field in fields(self)}


def solve_lower(factor: Float, sides: Float, *, transposed: bool = False) -> Float:
    """Return L⁻¹ · sides, or L⁻ᵀ · sides, of a lower triangular factor L."""
    # Libraries of Gaussian processes require SciPy.
    from scipy.linalg import solve_triangular

    if not len(factor):
        return sides
    solution: Float = solve_triangular(
        factor, sides, lower=True, trans="T" if transposed else "N", check_finite=False
    )
    return solution


class LatentVariance:
    """The function k(x, x) − k(x, P) C k(P, x), plus c (1 − uᵀ k(P, x))² for a constant trend.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        P.
    kernel : Kernel
    conditioning : ConditioningMatrix
        C.
    trend : tuple of ndarray of shape (n,) and float, optional
        u = C 1 and c, for an estimated constant. Sums over pairs do not include it.
    has_prior : bool, default True
        Otherwise the process is degenerate, Σ_p w_p k(·, p) with random coefficients w (Rasmussen &
        Williams 2006, section 8.3.1): its covariance is −k(·, P) C k(P, ·), and the covariance of w
        is −C.
    """

    def __init__(
        self,
        points: Float,
        kernel: Kernel,
        conditioning: ConditioningMatrix,
        trend: tuple[Float, float] | None = None,
        *,
        has_prior: bool = True,
    ) -> None:
        self.points, self.kernel, self.conditioning, self.trend = (
            points,
            kernel,
            conditioning,
            trend,
        )
        self.has_prior = has_prior
        self.terms = kernel.terms(points.shape[1])
        self.allowed_values = AllowedValues.of(self.terms)
        self.allowed_values.check(points, "points")

    def at(self, rows: Float) -> Float:
        """Return the variance at rows, shape (n,)."""
        variances = np.empty(len(rows))
        for block in blocks_of(len(rows), _BLOCK):
            chunk = rows[block]
            variances[block] = self._reduce_prior(
                self.priors(chunk), self.kernel(chunk, self.points)
            )
        return variances

    def _column_variances(self, row: Float, members: NDArray[np.bool_]) -> Float:
        """Return the variance at a row under kernels of some columns, shape (count,)."""
        cross, prior = np.empty((len(members), len(self.points))), np.empty(len(members))
        for number, present in enumerate(members):
            terms = [restrict_term(term, present) for term in self.terms]
            cross[number] = evaluate_terms(terms, row[None], self.points)[0]
            prior[number] = evaluate_terms(terms, row[None], row[None])[0, 0]
        return self._reduce_prior(prior if self.has_prior else 0.0, cross)

    def _reduce_prior(self, prior: Any, cross: Float) -> Float:
        """Return the posterior variance for a prior variance and kernel values (n, points)."""
        variance: Float = prior - self.conditioning.forms(cross.T)
        if self.trend is not None:
            times_ones, share = self.trend
            # As a square, it does not cancel.
            variance += share * (1.0 - cross @ times_ones) ** 2
        return variance

    def covariance(self, rows: Float) -> Float:
        """Return the covariance matrix of rows, without a trend."""
        cross = self.kernel(self.points, rows)
        covariance: Float = self.prior_covariance(rows, rows) - cross.T @ self.conditioning.times(
            cross
        )
        return covariance

    def prior_covariance(self, rows: Float, other_rows: Float) -> Float:
        """Return the prior covariance between rows and others."""
        return (
            self.kernel(rows, other_rows)
            if self.has_prior
            else np.zeros((len(rows), len(other_rows)))
        )

    @property
    def scale(self) -> float:
        """The kernel of no column: of every row, for kernels without dot products."""
        return math.fsum(term.of_no_column for term in self.terms)

    @property
    def prior(self) -> float:
        """The prior variance of no column: of every row, for kernels without dot products."""
        return self.scale if self.has_prior else 0.0

    def priors(self, rows: Float) -> float | Float:
        """Return the prior variance, one number for all rows for kernels without dot products."""
        if not self.has_prior or not has_series(self.terms):
            return self.prior
        starts = range(0, len(rows), _OF_DIAGONAL)
        blocks = [rows[start : start + _OF_DIAGONAL] for start in starts]
        return np.concatenate([np.diag(self.kernel(chunk, chunk)) for chunk in blocks])

    def probing_rows(self) -> Float:
        """Return rows at the points and near them."""
        return self.allowed_values.nearest(rows_near(self.points))

    def magnitude(self, rows: Float) -> Float:
        """Return the scale of errors from kernel values, without errors of sums."""
        cross = self.kernel(rows, self.points).T
        changes = (np.abs(self.conditioning.times(cross)) * np.abs(cross)).sum(axis=0)
        magnitude: Float = self.priors(rows) + 2.0 * changes
        return magnitude

    def relative_size(self) -> float:
        """Return the variance relative to its change for errors of the scale in k(x, P).

        Both are the largest at points and near them.
        """
        rows = self.probing_rows()
        weights = np.abs(self.conditioning.times(self.kernel(rows, self.points).T)).sum(axis=0)
        change = 2.0 * self.scale * float(weights.max(initial=0.0))
        size = float(np.abs(self.at(rows)).max(initial=0.0))
        return min(1.0, size / change) if change > 0.0 else 1.0

    # --- coalition by coalition ---

    def coalition_values(
        self, X: Float, game: Game, players: NDArray[np.int64], report: Report | None
    ) -> Float:
        """Return the values of all coalitions in the games of rows, shape (n, 2^players).

        Parameters
        ----------
        X : ndarray of shape (n, d)
        game : Game
            Neutral or interventional.
        players : ndarray of shape (d,)
            The number of each column's player.
        report : callable, optional
            Receives the progress.
        """
        members = all_coalitions(players)
        values = np.zeros((len(X), len(members)))
        for number, row in enumerate(X):
            for n_done, n_total, block, shares in self._shares_of_row(row, members, game):
                values[number, block] += shares
                if report is not None:
                    report(number * n_total + n_done, len(X) * n_total)
        return values

    def empty_value(self, game: Game) -> float:
        """Return the value of the empty coalition."""
        row = np.zeros(self.points.shape[1])
        parts = self._shares_of_row(row, row[None] > 0.0, game)
        return float(sum(shares[0] for *_, shares in parts))

    def _shares_of_row(
        self, row: Float, members: NDArray[np.bool_], game: Game
    ) -> Iterator[tuple[int, int, slice, Float]]:
        """Yield parts of the values of coalitions of columns in the game of a row.

        Yields
        ------
        n_done, n_total : int
            The numbers of parts.
        slice
            Some coalitions.
        ndarray
            Their values, or what some background rows add to them.
        """
        # Parts do not depend on the number of explained rows.
        if game.background is None:
            blocks = blocks_of(len(members), _BLOCK)
            for n_done, block in enumerate(blocks, start=1):
                yield n_done, len(blocks), block, self._column_variances(row, members[block])
            return
        rows, weights = game.background
        tile_size = min(len(rows), max(1, _TILE // max(1, len(self.points))))
        blocks = blocks_of(len(members), _BLOCK // tile_size)
        places = list(itertools.product(blocks_of(len(rows), tile_size), blocks))
        for n_done, (tile, block) in enumerate(places, start=1):
            if block.start == 0:
                mixings = [term.mixing(row, rows[tile], self.points) for term in self.terms]
            cross = reduce(np.add, (mixing(members[block]) for mixing in mixings))
            prior: float | Float = self.prior
            if has_series(self.terms):
                prior = self.priors(mixed_rows(row, rows[tile], members[block]))
            variances = self._reduce_prior(prior, cross.reshape(-1, len(self.points)))
            shares = variances.reshape(-1, len(rows[tile])) @ weights[tile]
            yield n_done, len(places), block, shares

    # --- as a sum over pairs of points ---

    def roundings(self, rows: Float) -> Float:
        """Return bounds of the rounding errors of the sum over pairs, ε Σ_pq |C_pq| k_p k_q."""
        sizes, bounds = np.abs(self.conditioning.matrix), np.empty(len(rows))
        for block in blocks_of(len(rows), _BLOCK):
            kernel = np.abs(self.kernel(rows[block], self.points))
            bounds[block] = _EPSILON * np.einsum("ri,ri->r", kernel @ sizes, kernel)
        return bounds

    @cached_property
    def largest_rounding(self) -> float:
        """The largest bound at points and near them, where terms are largest."""
        rows = np.concatenate([self.probing_rows(), self.points])
        return float(self.roundings(rows).max())

    @cached_property
    def rounding_of_no_column(self) -> float:
        """The bound for no column, where all factors are 1."""
        return _EPSILON * float(np.abs(self.conditioning.matrix).sum()) * self.scale**2

    def __reduce__(self) -> tuple[Any, ...]:
        build = partial(type(self), has_prior=self.has_prior)
        return build, (self.points, self.kernel, self.conditioning, self.trend)

    def __repr__(self) -> str:
        return f"LatentVariance({counted(len(self.points), 'point')}, kernel={self.kernel!r})"
