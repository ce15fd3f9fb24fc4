"""Sums over pairs of rows, as the compiled engine gives them, with names for their parts.

γ_j(a, b) is the Shapley value of player j in the game of one pair of rows: the product game with
present factors k_j(a_j, b_j) and absent factors 1, or those of the marginal convention, summed over
the terms of the kernel.

Of power series, such as a polynomial kernel, and of centered kernels γ(a, a) depends on a. They
count with γ(a, b) − γ(a, a)/2 − γ(b, b)/2, which is 0 for a row with itself: MMD² and HSIC stay
what they are, for what depends on one row of a pair alone has no part in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.games.players import Players
from pkex.kernels import Kernel
from pkex.kernels.domain import Domain
from pkex.kernels.factors import PackedTerm, expanded
from pkex.kernels.family import PackedFactor
from pkex.kernels.series import PackedSeries, multiplied
from pkex.statistics.tiles_on_workers import sums_over_pairs
from pkex.typing import Float, Report

__all__ = ["KernelTerms", "PairSums", "pair_matrix", "pair_sums", "pair_triangle", "total"]


@dataclass(frozen=True, eq=False)
class KernelTerms:
    """A kernel's terms and players, in the engine's form.

    Parameters
    ----------
    terms : list of PackedTerm
    players : ndarray of int64, shape (d,)
        The player of each column.
    absent : ndarray of shape (n_terms, (1 + p) P), optional
        The factors of absent players; 1 if not given. Of power series they have coefficients, up to
        the order p: those of s^0 of all players, those of s^1, and so on.
    takes_halves : bool
        Whether γ(a, a)/2 is taken away where γ(a, a) depends on a.
    """

    terms: list[PackedTerm]
    players: NDArray[np.int64]
    absent: Float | None = None
    takes_halves: bool = True

    @classmethod
    def of(cls, kernel: Kernel, players: Players, domain: Domain) -> KernelTerms:
        """Expand a kernel over the columns of some players.

        Raises
        ------
        ValueError
            If the kernel does not fit the number of columns, or has too many terms.
        """
        n_columns = len(players.of_column)
        terms = expanded(kernel.terms(n_columns), domain)
        of_column = players.of_column[kernel.engine_columns(n_columns)]
        return cls([term.packed() for term in terms], of_column)

    def with_means(
        self, rows: Float, n_threads: int, progress: Report | None = None
    ) -> KernelTerms:
        """Return the terms in the marginal convention: absent factors are means over all pairs.

        Those of centered kernels are 1, as the kernels have mean 0 over the sample.
        """
        if self.are_centered:
            return self
        means = _core.mean_factors(
            rows, self.terms, self.players, n_threads=n_threads, progress=progress
        )
        return replace(self, absent=means)

    def for_estimator(self, estimator: str) -> KernelTerms:
        """Return the terms as an estimator of MMD² or HSIC takes them.

        The unbiased ones have no pairs of rows with themselves. Centered kernels are then summed
        as they are: γ(a, a) grows exponentially with √d, and so would rounding.
        """
        are_plain = estimator == "unbiased" and self.are_centered
        return replace(self, takes_halves=not are_plain)

    @property
    def n_players(self) -> int:
        """The number of players P."""
        return int(self.players.max()) + 1

    @property
    def are_centered(self) -> bool:
        """Whether all factors are of kernels that are centered on a sample."""
        families = [family for _, factors, _ in self.terms for family, _, _ in factors]
        return bool(families) and all(family.startswith("centered") for family in families)

    @property
    def have_own_pairs(self) -> bool:
        """Whether halves of γ(a, a) are taken away: of power series and of centered kernels."""
        depends = self.are_centered or any(series is not None for _, _, series in self.terms)
        return depends and self.takes_halves

    def joined(self) -> KernelTerms:
        """Return the kernel with all columns in one player, neutral: γ is k − k(x, x)."""
        return replace(self, players=np.zeros_like(self.players), absent=None)

    def of_player(self, player: int) -> tuple[NDArray[np.intp], KernelTerms]:
        """Return the columns of a player, and the kernel of what it is worth alone, on these.

        Σ_t c_t ∏_{l≠j} b_tl k_tj, the others being absent; without terms that do not compare it.
        """
        columns = np.flatnonzero(self.players == player)
        place = np.full(len(self.players), -1)
        place[columns] = np.arange(len(columns))
        terms: list[PackedTerm] = []
        for number, (coefficient, factors, series) in enumerate(self.terms):
            own, own_series = _kept(factors, place), None
            if series is not None:
                own_series = _of_player(series, place, self._coefficients_of_others(number, player))
            elif own and self.absent is not None:
                others = np.delete(self.absent[number, : self.n_players], player)
                coefficient *= float(np.prod(others))
            if own or own_series is not None:
                terms.append((coefficient, own, own_series))
        players = np.zeros(len(columns), dtype=np.int64)
        return columns, replace(self, terms=terms, players=players, absent=None)

    def self_pairs(self, rows: Float) -> Float:
        """Return γ of each row's pair with itself, and what players are worth alone in it.

        Of power series and centered kernels; `self_pair` and `self_pair_alone` return the others'.

        Returns
        -------
        ndarray of shape (2, n, P)
        """
        own = _core.self_pairs(rows, self.terms, self.players, self.absent)
        values: Float = own.reshape(len(rows), 2, -1).transpose(1, 0, 2)
        return values

    def _coefficients_of_others(self, number: int, player: int) -> Float:
        """Return the coefficients of the product of the others' absent factors in a term."""
        product = np.ones(1)
        if self.absent is not None:
            coefficients = self.absent[number].reshape(-1, self.n_players)
            for other in np.delete(coefficients, player, axis=1).T:
                product = multiplied(product, other)[: len(coefficients)]
        return product

    def _of_numbers(self) -> tuple[list[float], Float | None]:
        """Return the coefficients and absent factors of the terms that are no power series."""
        chosen = [number for number, term in enumerate(self.terms) if term[2] is None]
        absent = None if self.absent is None else self.absent[chosen, : self.n_players]
        return [self.terms[number][0] for number in chosen], absent

    def self_pair(self) -> Float:
        """Return γ of a row's pair with itself, 0 in the neutral convention; shape (P,).

        Of power series and centered kernels it is 0: see above.
        """
        coefficients, absent = self._of_numbers()
        if absent is None or not coefficients:
            return np.zeros(self.n_players)
        values = _core.product_game(
            np.ones_like(absent),
            np.ascontiguousarray(absent),
            None,
            np.array(coefficients)[:, None],
            index="SV",
            method="quadrature",
            summation="compensated",
            n_threads=1,
        )
        return values[:, 0]

    def self_pair_alone(self) -> Float:
        """Return what each player is worth alone in a row's pair with itself; shape (P,)."""
        alone = np.zeros(self.n_players)
        coefficients, of_terms = self._of_numbers()
        if of_terms is None:
            return alone
        for coefficient, absent in zip(coefficients, of_terms, strict=True):
            before = np.cumprod(np.append(1.0, absent[:-1]))
            after = np.cumprod(np.append(1.0, absent[:0:-1]))[::-1]
            alone += coefficient * (1.0 - absent) * before * after
        return alone


def _kept(factors: list[PackedFactor], place: NDArray[np.intp]) -> list[PackedFactor]:
    """Return the factors of the columns that have a place, by that."""
    kept: list[PackedFactor] = []
    for family, of_factor, parameters in factors:
        is_own = place[of_factor] >= 0
        if is_own.any():
            kept.append((family, place[of_factor[is_own]], parameters[is_own]))
    return kept


def _of_player(series: PackedSeries, place: NDArray[np.intp], others: Float) -> PackedSeries | None:
    """Return a series of the columns that have a place, times a polynomial in s; None of none."""
    weights, form, columns, rates, factors = series
    is_own = place[columns] >= 0
    kept = _kept(factors, place)
    if not is_own.any() and not kept:
        return None
    # Σ_q w_q [s^q] of P times F is Σ_q w'_q [s^q] of F with w'_q = Σ_r w_(q+r) P_r.
    pulled = np.array(
        [
            (others[: len(weights) - q] * weights[q:][: len(others)]).sum()
            for q in range(len(weights))
        ]
    )
    return pulled, form, place[columns[is_own]], rates[is_own], kept


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of γ over the unordered pairs of two classes of rows.

    Parameters
    ----------
    rows : ndarray of shape (N, 2, P)
        For each row, over all other rows of the first class and of the second.
    groups : ndarray of shape (G(G+1)/2, P), or 2P
        Over pairs of groups I ≤ J, row by row of the triangle; where asked for, followed by what
        players are worth alone.
    alone : ndarray of shape (3, P)
        What each player is worth alone, v({j}): over pairs within the first class, between, within
        the second.
    squares : ndarray of shape (3, P)
        Σγ² over these.
    """

    rows: Float
    groups: Float
    alone: Float
    squares: Float


def pair_sums(
    rows: Float,
    n_first: int,
    terms: KernelTerms,
    groups: NDArray[np.int64] | None = None,
    *,
    weights: Float | None = None,
    skips_second: bool = False,
    alone_in_groups: bool = False,
    how: Computation,
) -> PairSums:
    """Sum over all pairs of rows, of which the first `n_first` are one class.

    Parameters
    ----------
    rows : ndarray of shape (N, d)
    groups : ndarray of int64, shape (N,), optional
        The group of each row; the two classes if not given.
    weights : ndarray of shape (N,), optional
        A pair is weighted by the product of its rows' weights, but for the squares.
    skips_second : bool
        Whether pairs within the second class are left out.
    alone_in_groups : bool
        Whether groups' sums are those of what players are worth alone, too.
    how : Computation
    """
    if groups is None:
        groups = np.zeros(len(rows), dtype=np.int64)
        groups[n_first:] = int(n_first > 0)
    sample = (rows, terms.terms, terms.players, terms.absent, groups)
    weighting = (n_first, weights, skips_second, terms.takes_halves)
    of_rows, of_groups, *others = sums_over_pairs(
        sample, weighting, how, alone_in_groups=alone_in_groups
    )
    return PairSums(of_rows, of_groups[:, 0], *others)


def total(rows: Float, weights: Float | None = None) -> Float:
    """Return the exactly rounded sum of rows (n, P), weighted or not; shape (P,)."""
    columns = rows.T if weights is None else (rows * weights[:, None]).T
    return np.array([math.fsum(column.tolist()) for column in columns])


def pair_triangle(
    rows: Float, terms: KernelTerms, how: Computation, *, with_alone: bool = False
) -> Float:
    """Return γ of the pairs a ≤ b of a few rows, row by row; shape (n(n+1)/2, P).

    It is 0 for a row with itself. With what players are worth alone behind it, the shape is
    (n(n+1)/2, 2P).
    """
    n = len(rows)
    each = np.arange(n, dtype=np.int64)
    sums = pair_sums(rows, n, terms, each, alone_in_groups=with_alone, how=how)
    return sums.groups


def pair_matrix(rows: Float, terms: KernelTerms, how: Computation) -> Float:
    """Return γ of all pairs of a few rows, 0 for a row with itself; shape (n, n, P)."""
    triangle = pair_triangle(rows, terms, how)
    matrix = np.zeros((len(rows), len(rows), triangle.shape[1]))
    matrix[np.triu_indices(len(rows))] = triangle
    return matrix + matrix.transpose(1, 0, 2)
