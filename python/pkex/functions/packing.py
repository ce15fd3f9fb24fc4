"""Kernel expansions in the form of the engine, which computes sums of products."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import share
from pkex.functions.reaches import Reaches, measured_rows, relative_size
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import Game
from pkex.kernels import Kernel, Term
from pkex.kernels.factors import PackedTerm
from pkex.typing import Float, Report

# Computes a result of rows, with the rows on the first axis, by an expansion of the engine.
Compute: TypeAlias = Callable[[_core.Expansion, Float, Report | None], Float]
# Makes an expansion of the engine from points, weights, terms and players.
Pack: TypeAlias = Callable[
    [Float, Float, list[PackedTerm], NDArray[np.int64] | None], _core.Expansion
]

# Points that are explained together: each is an output, with the weight 0 at the other points.
_POINTS = 32


class Packing:
    """An expansion in the form of the engine, at each reach.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    coefficients : ndarray of shape (n, outputs)
    kernel : Kernel
    players : ndarray of shape (d,), optional
        The number of each column's player.
    pack : callable, optional
        Makes an expansion of the engine from points, coefficients, terms and players.
    size : callable, optional
        Returns the size of f relative to its change for kernel errors as large as the kernel of
        equal rows. By default, f is the expansion.

    Raises
    ------
    ValueError
        If the kernel does not fit the columns, or expands into too many products.
    """

    __slots__ = (
        "_expansions",
        "_kernel",
        "_n_columns",
        "_pack",
        "_parts",
        "_players",
        "_reaches",
    )

    def __init__(
        self,
        points: Float,
        coefficients: Float,
        kernel: Kernel,
        players: NDArray[np.int64] | None = None,
        pack: Pack = _core.Expansion,
        size: Callable[[], float] | None = None,
    ) -> None:
        self._kernel, self._n_columns = kernel, points.shape[1]
        self._parts = kernel.engine_rows(points), coefficients
        self._pack = pack
        self._players = players
        self._reaches = Reaches(points, kernel.terms(points.shape[1]))
        self._expansions: dict[int, _core.Expansion] = {}
        if self._reaches.has_mixtures:
            self._reaches.refine(self._relative_size(kernel) if size is None else size())
        self.at(0)

    def grouped(self, players: NDArray[np.int64]) -> Packing:
        """Return the expansion with other players."""
        packing = copy.copy(self)
        packing._players, packing._expansions = players, {}
        packing.at(0)
        return packing

    @property
    def has_mixtures(self) -> bool:
        """Whether the kernel is a sum of products only within a reach."""
        return self._reaches.has_mixtures

    @property
    def scale_of_errors(self) -> float | Float:
        """The scale of the errors of mixtures, Σ_i |α_i| k(x, x), shape (outputs,)."""
        return self._reaches.scale_of_errors(self._parts[1])

    def at(self, reach: int) -> _core.Expansion:
        """Return the expansion for rows of a reach."""
        expansion = self._expansions.get(reach)
        if expansion is None:
            expansion = self._expansions[reach] = self._pack_terms(self.terms_at(reach))
        return expansion

    def terms_at(self, reach: int) -> list[Term]:
        """Return the terms of the kernel, without mixtures, for rows of a reach."""
        return self._reaches.terms_at(reach)

    def _pack_terms(self, terms: list[Term]) -> _core.Expansion:
        players, columns = self._players, self._kernel.engine_columns(self._n_columns)
        if len(columns) != self._n_columns:
            all_players = np.arange(self._n_columns) if players is None else players
            players = all_players[columns]
        return self._pack(*self._parts, [term.packed() for term in terms], players)

    def reaches(self, rows: Float) -> NDArray[np.int64]:
        """Return the reach of each row."""
        return self._reaches.of_rows(rows)

    def engine_game(self, game: Game) -> Game:
        """Return the game with background rows in the engine's form."""
        return game.mapped(self._kernel.engine_rows)

    def of_game(self, game: Game) -> int:
        """Return the largest reach of background rows."""
        return self._reaches.of_game(game)

    def _relative_size(self, kernel: Kernel) -> float:
        """Return the size of f, relative to Σ |α| k(x, x)."""
        points, coefficients = self._parts
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.einsum("ij,jk->ik", kernel(measured_rows(points), points), coefficients)
            return relative_size(values, self.scale_of_errors)

    def quantity(
        self, rows: Float, game: Game, quantity: Quantity, computation: Computation
    ) -> Float:
        """Return a quantity of rows in a game, shape (n, coalitions, outputs)."""
        options: dict[str, Any] = {
            "summation": computation.summation,
            "n_threads": computation.n_threads,
        }
        options["game"] = self.engine_game(game).packed
        if quantity == SHAPLEY:
            options["method"] = computation.method
        else:
            options.update(size=quantity.size, measure=quantity.measure)

        def compute(expansion: _core.Expansion, chunk: Float, report: Report | None) -> Float:
            engine = expansion.explain if quantity == SHAPLEY else expansion.interactions
            return engine(chunk, progress=report, **options)

        return self.over(rows, game, computation.progress, compute)

    def over(
        self, rows: Float, game: Game | None, report: Report | None, compute: Compute
    ) -> Float:
        """Compute a result of rows by the expansion of their reach, and of a game's background."""
        return self._reaches.over(
            rows,
            game,
            report,
            lambda reach, chunk, progress: compute(
                self.at(reach), self._kernel.engine_rows(chunk), progress
            ),
        )


def values_of_points(
    points: Float,
    X: Float,
    game: str | tuple[str, Float, Float],
    terms: list[Term],
    players: NDArray[np.int64],
    computation: Computation,
) -> Iterator[tuple[slice, Float]]:
    """Yield the Shapley values of rows in the games of k(·, p), for blocks of points p.

    Values are linear in the function: the values of f = Σ_p a_p k(·, p) are the sums of these
    values times a_p. So they show how values depend on the coefficients, which have a distribution
    under a posterior, and which a penalty of values regularizes.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    X : ndarray of shape (rows, d)
    game : str or tuple
        In the form of the engine.
    terms : list of Term
        The terms of the kernel, without mixtures.
    players : ndarray of int64, shape (d,)
        The number of each column's player.
    computation : Computation

    Yields
    ------
    slice
        The block of points.
    ndarray of shape (rows, players, points of the block)
    """
    packed_terms = [term.packed() for term in terms]
    starts = range(0, len(points), _POINTS)
    for number, start in enumerate(starts):
        block = slice(start, min(start + _POINTS, len(points)))
        weights = np.eye(block.stop - start)
        values = _core.Expansion(points[block], weights, packed_terms, players).explain(
            X,
            game=game,
            method=computation.method,
            summation=computation.summation,
            n_threads=computation.n_threads,
            progress=share(computation.progress, number, len(starts)),
        )
        yield block, values
