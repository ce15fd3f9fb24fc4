"""A kernel's terms and players, in the engine's form.

γ_j(a, b) is the Shapley value of player j in the game of one pair of rows: the product game with
present factors k_j(a_j, b_j) and absent factors 1, or their means in the marginal convention,
summed over the terms of the kernel.

For power series, such as a polynomial kernel, and for centered kernels, γ(a, a) depends on a. Their
pairs contribute γ(a, b) − γ(a, a)/2 − γ(b, b)/2, which is 0 for a row with itself. This does not
change MMD² and HSIC, because terms that depend on one row of a pair only cancel in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.kernels.domain import Domain
from pkex.kernels.factors import PackedTerm, Term, expand_terms
from pkex.kernels.family import PackedFactor
from pkex.kernels.series import PackedSeries, convolve
from pkex.typing import Float, Report


@dataclass(frozen=True, eq=False)
class KernelTerms:
    """A kernel's terms and players, in the engine's form.

    Parameters
    ----------
    terms : list of PackedTerm
    players : ndarray of int64, shape (d,)
        The player of each column.
    absent : ndarray of shape (n_terms, (1 + p) P), optional
        The factors of absent players; by default 1. For power series, their coefficients up to
        order p: s^0 of all players, then s^1, and so on.
    takes_halves : bool
        Whether γ(a, a)/2 is subtracted if γ(a, a) depends on a.
    """

    terms: list[PackedTerm]
    players: NDArray[np.int64]
    absent: Float | None = None
    takes_halves: bool = True

    @classmethod
    def of(
        cls, terms: Iterable[Term], players: NDArray[np.int64], domain: Domain, *, is_biased: bool
    ) -> tuple[KernelTerms, float]:
        """Expand a kernel into products, divided by the power of two closest to its amplitude.

        The division prevents overflow and underflow of squares. Unbiased estimators do not use
        pairs of a row with itself. For them, γ(a, a)/2 of centered kernels is not subtracted: it
        grows exponentially with √d, and so would rounding errors.

        Returns
        -------
        terms : KernelTerms
        unit : float
            The power of two.

        Raises
        ------
        ValueError
            If there are too many products.
        """
        packed_terms = [term.packed() for term in expand_terms(terms, domain)]
        exponent = math.frexp(math.fsum(coefficient for coefficient, *_ in packed_terms))[1] - 1
        scaled_terms = [
            (math.ldexp(c, -exponent), factors, series) for c, factors, series in packed_terms
        ]
        expansion = cls(scaled_terms, players)
        takes_halves = is_biased or not expansion.are_centered
        return replace(expansion, takes_halves=takes_halves), math.ldexp(1.0, exponent)

    def with_means(
        self, rows: Float, n_threads: int, progress: Report | None = None
    ) -> KernelTerms:
        """Return the terms with absent factors that are means over all pairs of different rows."""
        means = _core.mean_factors(
            rows, self.terms, self.players, n_threads=n_threads, progress=progress
        )
        return replace(self, absent=means)

    @property
    def n_players(self) -> int:
        """The number of players P."""
        return int(self.players.max()) + 1

    @property
    def are_centered(self) -> bool:
        """Whether all factors are centered on a sample."""
        families = [family for _, factors, _ in self.terms for family, _, _ in factors]
        return bool(families) and all(family.startswith("centered") for family in families)

    @property
    def have_self_pairs(self) -> bool:
        """Whether γ(a, a)/2 is subtracted: for power series and centered kernels."""
        depends = self.are_centered or any(series is not None for _, _, series in self.terms)
        return depends and self.takes_halves

    def as_one_player(self) -> KernelTerms:
        """Return the neutral kernel with all columns in one player: γ is k − k(x, x)."""
        return replace(self, players=np.zeros_like(self.players), absent=None)

    def of_player(self, player: int) -> tuple[NDArray[np.intp], KernelTerms]:
        """Return the columns of a player, and the kernel of its univariate value on these columns.

        It is Σ_t c_t ∏_{l≠j} b_tl k_tj, without terms that do not depend on the player.
        """
        columns = np.flatnonzero(self.players == player)
        place = np.full(len(self.players), -1)
        place[columns] = np.arange(len(columns))
        terms: list[PackedTerm] = []
        for number, (coefficient, factors, series) in enumerate(self.terms):
            player_factors, player_series = _restrict_factors(factors, place), None
            if series is not None:
                player_series = _restrict_series(
                    series, place, self._coefficients_of_others(number, player)
                )
            elif player_factors and self.absent is not None:
                absent_factors = np.delete(self.absent[number, : self.n_players], player)
                coefficient *= float(np.prod(absent_factors))
            if player_factors or player_series is not None:
                terms.append((coefficient, player_factors, player_series))
        players = np.zeros(len(columns), dtype=np.int64)
        return columns, replace(self, terms=terms, players=players, absent=None)

    def self_pairs(self, rows: Float) -> Float:
        """Return γ and univariate values of each row's pair with itself.

        For power series and centered kernels only; `self_pair` returns the others.

        Returns
        -------
        ndarray of shape (2, n, P)
        """
        sums = _core.self_pairs(rows, self.terms, self.players, self.absent)
        values: Float = sums.reshape(len(rows), 2, -1).transpose(1, 0, 2)
        return values

    def _coefficients_of_others(self, number: int, player: int) -> Float:
        """Return the coefficients of the product of the other players' absent factors in a term."""
        product = np.ones(1)
        if self.absent is not None:
            coefficients = self.absent[number].reshape(-1, self.n_players)
            for factor in np.delete(coefficients, player, axis=1).T:
                product = convolve(product, factor)[: len(coefficients)]
        return product

    def self_pair(self) -> Float:
        """Return γ and univariate values of a row's pair with itself; shape (2, P).

        Both are 0 in the neutral convention, and for power series and centered kernels.
        """
        values = np.zeros((2, self.n_players))
        products = [number for number, term in enumerate(self.terms) if term[2] is None]
        if self.absent is None or not products:
            return values
        coefficients = [self.terms[number][0] for number in products]
        absent_factors = self.absent[products, : self.n_players]
        values[0] = _core.product_game(
            np.ones_like(absent_factors),
            np.ascontiguousarray(absent_factors),
            None,
            np.array(coefficients)[:, None],
            index="SV",
            method="quadrature",
            summation="compensated",
            n_threads=1,
        )[:, 0]
        for coefficient, absent in zip(coefficients, absent_factors, strict=True):
            before = np.cumprod(np.append(1.0, absent[:-1]))
            after = np.cumprod(np.append(1.0, absent[:0:-1]))[::-1]
            values[1] += coefficient * (1.0 - absent) * before * after
        return values


def _restrict_factors(factors: list[PackedFactor], place: NDArray[np.intp]) -> list[PackedFactor]:
    """Return the factors of the columns that have a place, with the places as columns."""
    restricted: list[PackedFactor] = []
    for family, columns, parameters in factors:
        mask = place[columns] >= 0
        if mask.any():
            restricted.append((family, place[columns[mask]], parameters[mask]))
    return restricted


def _restrict_series(
    series: PackedSeries, place: NDArray[np.intp], polynomial: Float
) -> PackedSeries | None:
    """Return a series of the columns that have a place, times a polynomial in s; None without."""
    weights, form, columns, rates, factors = series
    mask = place[columns] >= 0
    factors = _restrict_factors(factors, place)
    if not mask.any() and not factors:
        return None
    # Σ_q w_q [s^q] of P times F is Σ_q w'_q [s^q] of F with w'_q = Σ_r w_(q+r) P_r.
    weights = np.array(
        [
            (polynomial[: len(weights) - q] * weights[q:][: len(polynomial)]).sum()
            for q in range(len(weights))
        ]
    )
    return weights, form, place[columns[mask]], rates[mask], factors


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows, and the terms of the kernel that compares them.

    Parameters
    ----------
    rows : ndarray of shape (n, ·)
        In the engine's form.
    terms : KernelTerms
    """

    rows: Float
    terms: KernelTerms

    def take(self, places: NDArray[np.integer[Any]]) -> KernelRows:
        """Return the rows at some places."""
        return KernelRows(self.rows[places], self.terms)
