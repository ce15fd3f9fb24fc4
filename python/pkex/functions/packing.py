"""Kernel expansions in the form of the engine, which computes sums of products.

A kernel with mixtures (Matérn, rational quadratic) is such a sum for rows up to some distance from
the points. The *reach* of a row is its distance in units of the points' own range, as a power of
two; each reach that occurs has an expansion of its own. It depends on the row and the background
only, so values do not depend on which rows are explained together.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.execution.progress import parts_of, share
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import Game
from pkex.kernels import Kernel, Term
from pkex.kernels.domain import ERRORS, Domain, units
from pkex.kernels.factors import PackedTerm, expanded, has_mixtures
from pkex.typing import Float, Report

__all__ = ["Pack", "Packing", "values_of_points"]

# Computes a result of rows, with the rows on the first axis, by an expansion of the engine.
Compute: TypeAlias = Callable[[_core.Expansion, Float, Report | None], Float]
# Makes an expansion of the engine from points, weights, terms and players.
Pack: TypeAlias = Callable[
    [Float, Float, list[PackedTerm], NDArray[np.int64] | None], _core.Expansion
]

# The error of f due to mixtures, relative to the size of f.
_RELATIVE_ERROR = 1e-10
# Rows at which the size of f is measured, and pairs of these with points.
_MEASURED, _PAIRS = 16, 1 << 18
# Rows at larger reaches are not distinguished: squares of their distances are out of range.
_FARTHEST = 2.0**500
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
        "_error",
        "_highest",
        "_kernel",
        "_lowest",
        "_n_columns",
        "_pack",
        "_parts",
        "_players",
        "_ready",
        "_terms",
        "_unit",
        "has_mixtures",
    )

    has_mixtures: bool
    """Whether the kernel is a sum of products only within a reach."""

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
        self._terms = kernel.terms(points.shape[1])
        self.has_mixtures = has_mixtures(self._terms)
        self._players = players
        self._ready: dict[int, _core.Expansion] = {}
        if not self.has_mixtures:
            self._ready[0] = self._made(self._terms)
            return
        some = points if len(points) else np.zeros((1, points.shape[1]))
        self._lowest, self._highest = some.min(axis=0), some.max(axis=0)
        self._unit = units(some)
        self._error = ERRORS[0]
        wanted = _RELATIVE_ERROR * (self._relative_size(kernel) if size is None else size())
        self._error = next((error for error in ERRORS if error <= wanted), ERRORS[-1])
        self.at(0)

    def grouped(self, players: NDArray[np.int64]) -> Packing:
        """Return the expansion with other players."""
        grouped = copy.copy(self)
        grouped._players, grouped._ready = players, {}
        grouped.at(0)
        return grouped

    @property
    def scale_of_errors(self) -> float | Float:
        """The scale of the errors of mixtures, Σ_i |α_i| k(x, x), shape (outputs,)."""
        if not self.has_mixtures:
            return 0.0
        unit = math.fsum(term.unit(self._domain(0)) for term in self._terms)
        scale: Float = unit * np.abs(self._parts[1]).sum(axis=0)
        return scale

    def _domain(self, reach: int) -> Domain:
        with np.errstate(over="ignore"):
            spans = np.ldexp(self._unit, reach + 1)
            largest = np.maximum(np.abs(self._lowest), np.abs(self._highest))
            return Domain(spans, largest + spans, self._unit, self._error)

    def at(self, reach: int) -> _core.Expansion:
        """Return the expansion for rows of a reach."""
        found = self._ready.get(reach)
        if found is None:
            found = self._ready[reach] = self._made(self.terms_at(reach))
        return found

    def terms_at(self, reach: int) -> list[Term]:
        """Return the terms of the kernel, without mixtures, for rows of a reach."""
        return expanded(self._terms, self._domain(reach)) if self.has_mixtures else self._terms

    def _made(self, terms: list[Term]) -> _core.Expansion:
        players, columns = self._players, self._kernel.engine_columns(self._n_columns)
        if len(columns) != self._n_columns:
            own = np.arange(self._n_columns) if players is None else players
            players = own[columns]
        return self._pack(*self._parts, [term.packed() for term in terms], players)

    def reaches(self, rows: Float) -> NDArray[np.int64]:
        """Return the reach of each row: 0 up to twice the range of the points, 1 up to four times.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
        """
        if not self.has_mixtures:
            return np.zeros(len(rows), dtype=np.int64)
        with np.errstate(over="ignore"):
            farthest = np.maximum(np.abs(rows - self._lowest), np.abs(self._highest - rows))
            shares = (farthest / 2.0 / self._unit).max(axis=1, initial=0.0)
        exponents: NDArray[np.int64] = np.frexp(np.minimum(shares, _FARTHEST))[1].astype(np.int64)
        # A distance of 2^k has the reach k.
        exponents[np.ldexp(0.5, exponents) == shares] -= 1
        exponents[exponents < 0] = 0
        return exponents

    def engine_game(self, game: Game) -> Game:
        """Return the game with background rows in the engine's form."""
        return game.mapped(self._kernel.engine_rows)

    def of_game(self, game: Game) -> int:
        """Return the largest reach of background rows."""
        if game.background is None:
            return 0
        return int(self.reaches(game.background[0]).max(initial=0))

    def _relative_size(self, kernel: Kernel) -> float:
        """Return the size of f, relative to Σ |α| k(x, x).

        If large coefficients cancel, f is far smaller than Σ |α| k(x, x), and the kernel must be
        approximated with a smaller error.
        """
        points, coefficients = self._parts
        n = len(points)
        count = max(2, min(_MEASURED, _PAIRS // max(n, 1)))
        rows = points[np.unique(np.linspace(0, n - 1, count).astype(np.intp))] if n else points
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.einsum("ij,jk->ik", kernel(rows, points), coefficients)
            sizes = np.abs(values).max(axis=0, initial=0.0)
            most = np.asarray(self.scale_of_errors)
            shares = sizes[most > 0.0] / most[most > 0.0]
        return float(shares.min(initial=1.0))

    def quantity(self, rows: Float, game: Game, quantity: Quantity, how: Computation) -> Float:
        """Return a quantity of rows in a game, shape (n, coalitions, outputs)."""
        options: dict[str, Any] = {"summation": how.summation, "n_threads": how.n_threads}
        options["game"] = self.engine_game(game).packed
        if quantity == SHAPLEY:
            options["method"] = how.method
        else:
            options.update(size=quantity.size, measure=quantity.measure)

        def compute(packed: _core.Expansion, some: Float, report: Report | None) -> Float:
            engine = packed.explain if quantity == SHAPLEY else packed.interactions
            return engine(some, progress=report, **options)

        return self.over(rows, game, how.progress, compute)

    def over(
        self, rows: Float, game: Game | None, report: Report | None, compute: Compute
    ) -> Float:
        """Compute a result of rows by the expansion of their reach, and of a game's background."""
        if not self.has_mixtures:
            return compute(self.at(0), self._kernel.engine_rows(rows), report)
        least = 0 if game is None else self.of_game(game)
        reaches = np.maximum(self.reaches(rows), least)
        found = np.unique(reaches).tolist()
        if len(found) <= 1:
            return compute(self.at(found[0] if found else least), rows, report)
        places = [np.flatnonzero(reaches == reach) for reach in found]
        reports = parts_of(report, *(float(len(some)) for some in places))
        parts = [
            compute(self.at(reach), np.ascontiguousarray(rows[some]), of_part)
            for reach, some, of_part in zip(found, places, reports, strict=True)
        ]
        result = np.empty((len(rows), *parts[0].shape[1:]))
        for some, part in zip(places, parts, strict=True):
            result[some] = part
        return result


def values_of_points(
    points: Float,
    X: Float,
    game: str | tuple[str, Float, Float],
    terms: list[Term],
    players: NDArray[np.int64],
    how: Computation,
) -> Iterator[tuple[slice, Float]]:
    """Yield the Shapley values of rows in the games of k(·, p), for blocks of points p.

    Values are linear in the function: those of f = Σ_p a_p k(·, p) are the sums of these values
    times a_p. So they show how values depend on the coefficients, which have a distribution under a
    posterior, and which a penalty of values regularizes.

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
    how : Computation

    Yields
    ------
    slice
        The block of points.
    ndarray of shape (rows, players, points of the block)
    """
    packed = [term.packed() for term in terms]
    starts = range(0, len(points), _POINTS)
    for number, start in enumerate(starts):
        block = slice(start, min(start + _POINTS, len(points)))
        weights = np.eye(block.stop - start)
        values = _core.Expansion(points[block], weights, packed, players).explain(
            X,
            game=game,
            method=how.method,
            summation=how.summation,
            n_threads=how.n_threads,
            progress=share(how.progress, number, len(starts)),
        )
        yield block, values
