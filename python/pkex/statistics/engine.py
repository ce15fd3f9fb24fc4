"""Sums over pairs of rows, as the compiled engine gives them, with names for their parts.

γ_j(a, b) is the Shapley value of player j in the game of one pair of rows: the product game with
present factors k_j(a_j, b_j) and absent factors 1, or those of the marginal convention, summed over
the terms of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.kernels import Kernel
from pkex.players import Players

__all__ = [
    "KernelTerms",
    "PairSums",
    "Report",
    "Term",
    "cross_alone",
    "cross_rows",
    "pair_matrix",
    "pair_sums",
    "total",
]

_Float = NDArray[np.float64]
Report = Callable[[int, int], None]
# (coefficient, factors as (family, columns, parameters)); see the engine's stub.
Term = tuple[float, list[tuple[str, NDArray[np.int64], _Float]]]

# Those whose factor at distance 0 is 1: a row's pair with itself then adds nothing.
_FAMILIES = ("rbf", "laplacian", "cauchy", "periodic", "categorical")


@dataclass(frozen=True, eq=False)
class KernelTerms:
    """A kernel's terms and players, in the engine's form.

    Parameters
    ----------
    terms : list of Term
    players : ndarray of int64, shape (d,)
        The player of each column.
    absent : ndarray of shape (n_terms, P), optional
        The factors of absent players; 1 if not given.
    """

    terms: list[Term]
    players: NDArray[np.int64]
    absent: _Float | None = None

    @classmethod
    def of(cls, kernel: Kernel, players: Players) -> KernelTerms:
        """Expand a kernel over the columns of some players.

        Raises
        ------
        ValueError
            If the kernel does not fit the number of columns, or is not 1 at distance 0.
        """
        terms = kernel.terms(len(players.of_column))
        for family in (factor.family for term in terms for factor in term.factors):
            if family not in _FAMILIES:
                raise ValueError(
                    f"kernel {kernel!r} has factors ({family}) that are not 1 at distance 0; "
                    f"supported are products and sums of {', '.join(_FAMILIES)}"
                )
        packed = [
            (term.coefficient, [(f.family, f.columns, f.parameters) for f in term.factors])
            for term in terms
        ]
        return cls(packed, players.of_column)

    @property
    def n_players(self) -> int:
        """The number of players P."""
        return int(self.players.max()) + 1

    @property
    def at_zero(self) -> float:
        """The kernel at distance 0, the sum of the coefficients."""
        return math.fsum(coefficient for coefficient, _ in self.terms)

    def joined(self) -> KernelTerms:
        """Return the kernel with all columns in one player, neutral: γ is k − k(x, x)."""
        return KernelTerms(self.terms, np.zeros_like(self.players))

    def single_terms(self) -> list[KernelTerms]:
        """Return the terms one by one."""
        return [
            replace(self, terms=[term], absent=_row(self.absent, number))
            for number, term in enumerate(self.terms)
        ]

    def of_player(self, player: int) -> tuple[NDArray[np.intp], list[Term]]:
        """Return a player's columns, and the terms of the game in which the player is alone.

        Coefficients are multiplied by the absent factors of all others.
        """
        columns = np.flatnonzero(self.players == player)
        terms: list[Term] = []
        for number, (coefficient, factors) in enumerate(self.terms):
            kept = []
            for family, of, parameters in factors:
                mine = np.isin(of, columns)
                if mine.any():
                    at = np.searchsorted(columns, of[mine]).astype(np.int64)
                    kept.append((family, at, np.ascontiguousarray(parameters[mine])))
            terms.append((coefficient * self.others_absent(number)[player], kept))
        return columns, terms

    def others_absent(self, term: int) -> _Float:
        """Return for each player the product of the other players' absent factors in a term."""
        if self.absent is None:
            return np.ones(self.n_players)
        factors = self.absent[term]
        before = np.cumprod(np.append(1.0, factors[:-1]))
        after = np.cumprod(np.append(1.0, factors[:0:-1]))[::-1]
        return before * after

    def self_pair(self) -> _Float:
        """Return γ of a row's pair with itself, 0 in the neutral convention; shape (P,)."""
        if self.absent is None:
            return np.zeros(self.n_players)
        present = np.ones_like(self.absent)
        coefficients = np.array([[coefficient] for coefficient, _ in self.terms])
        values = _core.product_game(
            present,
            np.ascontiguousarray(self.absent),
            None,
            coefficients,
            index="SV",
            method="quadrature",
            summation="compensated",
            n_threads=1,
        )
        return values[:, 0]

    def self_pair_alone(self) -> _Float:
        """Return what each player adds alone in a row's pair with itself; shape (P,)."""
        alone = np.zeros(self.n_players)
        if self.absent is not None:
            for number, (coefficient, _) in enumerate(self.terms):
                alone += coefficient * (1.0 - self.absent[number]) * self.others_absent(number)
        return alone


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of γ over the unordered pairs of two classes of rows.

    Parameters
    ----------
    rows : ndarray of shape (N, 2, P)
        For each row, over all other rows of the first class and of the second.
    groups : ndarray of shape (G(G+1)/2, P)
        Over pairs of groups I ≤ J, row by row of the triangle.
    alone : ndarray of shape (3, P)
        What each player adds alone: over pairs within the first class, between, within the second.
    squares : ndarray of shape (3, P)
        Σγ² over these.
    """

    rows: _Float
    groups: _Float
    alone: _Float
    squares: _Float


def pair_sums(
    rows: _Float,
    n_first: int,
    terms: KernelTerms,
    groups: NDArray[np.int64] | None = None,
    *,
    summation: str = "compensated",
    n_threads: int,
    progress: Report | None = None,
) -> PairSums:
    """Sum over all pairs of rows, of which the first `n_first` are one class.

    Parameters
    ----------
    rows : ndarray of shape (N, d)
    groups : ndarray of int64, shape (N,), optional
        The group of each row; the two classes if not given.
    """
    if groups is None:
        groups = np.zeros(len(rows), dtype=np.int64)
        groups[n_first:] = int(n_first > 0)
    sums = PairSums(
        *_core.mmd_sums(
            rows,
            n_first,
            terms.terms,
            terms.players,
            terms.absent,
            groups,
            summation=summation,
            n_threads=n_threads,
            progress=progress,
        )
    )
    if terms.absent is None:
        return sums
    return replace(sums, alone=_alone(sums.alone, rows, n_first, terms, n_threads))


def _alone(
    differences: _Float, rows: _Float, n_first: int, terms: KernelTerms, n_threads: int
) -> _Float:
    """Multiply sums of c_j by the absent factors of the other players, term by term."""
    if len(terms.terms) == 1:
        return differences * terms.others_absent(0)
    parts = (
        pair_sums(rows, n_first, term, n_threads=n_threads).alone for term in terms.single_terms()
    )
    alone: _Float = np.sum(list(parts), axis=0)
    return alone


def total(rows: _Float, weights: _Float | None = None) -> _Float:
    """Return the exactly rounded sum of rows (n, P), weighted or not; shape (P,)."""
    columns = rows.T if weights is None else (rows * weights[:, None]).T
    return np.array([math.fsum(column.tolist()) for column in columns])


# Rows of each side whose pairs are kept at a time.
_CHUNK = 128


def cross_rows(
    left: _Float,
    right: _Float,
    weights: _Float,
    terms: KernelTerms,
    *,
    skips_own: bool = False,
    summation: str,
    n_threads: int,
    progress: Report | None = None,
) -> _Float:
    """Return Σ_r weights_r γ(l, r) for each row l of `left`, shape (len(left), P).

    They are explanations of the expansion about `right`. That knows no absent factors but 1; with
    others all pairs of chunks are computed, those within each side too. With `skips_own`, `left` is
    `right`, and pairs of a row with itself are left out (without absent factors they are 0).
    """
    if terms.absent is None:
        expansion = _core.Expansion(right, weights[:, None], terms.terms, terms.players)
        values = expansion.explain(
            left, method="quadrature", summation=summation, n_threads=n_threads, progress=progress
        )
        return values[:, :, 0]
    sums = np.zeros((len(left), terms.n_players))
    for i in range(0, len(left), _CHUNK):
        for j in range(0, len(right), _CHUNK):
            pairs = _cross_matrix(left[i : i + _CHUNK], right[j : j + _CHUNK], terms, n_threads)
            if skips_own and i == j:
                pairs[np.diag_indices(len(pairs))] = 0.0
            sums[i : i + _CHUNK] += np.einsum("r,lrp->lp", weights[j : j + _CHUNK], pairs)
    return sums


def pair_matrix(rows: _Float, terms: KernelTerms, n_threads: int) -> _Float:
    """Return γ of all pairs of a few rows, 0 for a row with itself; shape (n, n, P)."""
    n = len(rows)
    sums = pair_sums(rows, n, terms, np.arange(n, dtype=np.int64), n_threads=n_threads)
    matrix = np.zeros((n, n, terms.n_players))
    upper = np.triu_indices(n)
    matrix[upper] = sums.groups
    return matrix + matrix.transpose(1, 0, 2)


def _cross_matrix(left: _Float, right: _Float, terms: KernelTerms, n_threads: int) -> _Float:
    """Return γ of all pairs of a row of `left` and one of `right`, shape (n, m, P)."""
    n, size = len(left), len(left) + len(right)
    sums = _core.mmd_sums(
        np.concatenate([left, right]),
        n,
        terms.terms,
        terms.players,
        terms.absent,
        np.arange(size, dtype=np.int64),
        summation="plain",
        n_threads=n_threads,
    )[1]
    first, second = np.triu_indices(size)
    between = (first < n) & (second >= n)
    return sums[between].reshape(n, size - n, -1)


def cross_alone(
    left: _Float,
    left_weights: _Float,
    right: _Float,
    right_weights: _Float,
    terms: KernelTerms,
    *,
    n_threads: int,
) -> _Float:
    """Return Σ_l Σ_r left_weights_l right_weights_r · (a − 1) · (the others' absent factors).

    a is the player's own factor; the values (P,) are what players add alone, up to constants that
    drop out of a difference. They are explanations of the kernel on the player's columns as one
    player, which do not cancel where k is near 1.
    """
    found = np.empty(terms.n_players)
    for player in range(terms.n_players):
        columns, kept = terms.of_player(player)
        expansion = _core.Expansion(
            np.ascontiguousarray(right[:, columns]),
            right_weights[:, None],
            kept,
            np.zeros(len(columns), dtype=np.int64),
        )
        values = expansion.explain(
            np.ascontiguousarray(left[:, columns]),
            method="quadrature",
            summation="compensated",
            n_threads=n_threads,
        )
        found[player] = math.fsum((values[:, 0, 0] * left_weights).tolist())
    return found


def _row(absent: _Float | None, number: int) -> _Float | None:
    return None if absent is None else absent[number : number + 1]
