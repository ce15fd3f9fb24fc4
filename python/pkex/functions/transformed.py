"""A function of mapped columns, in terms of the columns before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import HERE, InputError, Option, UnsupportedModelError
from pkex.execution.computation import Computation
from pkex.functions.at_coalitions import Members, at_coalitions, members_or_all
from pkex.functions.base import Function
from pkex.functions.column_maps import ColumnMap, Selection, decoded
from pkex.functions.conditional_expansion import WorthsGiven, worths_given
from pkex.functions.covariances import covariances
from pkex.functions.draws import Draws, draws
from pkex.functions.products import Products, products
from pkex.functions.widths import Width
from pkex.games.coalitions import coalitions, ranks
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.tables.missing import is_missing
from pkex.tables.read import as_matrix
from pkex.tables.weights import equal_weights
from pkex.typing import Float

__all__ = ["Transformed"]

# How far a map that is affine may be from a line by rounding, of its range.
_STRAIGHT = 1e-12


class Transformed(Function):
    """The function x ↦ function(columns(x)), in terms of the columns of x.

    A column of x acts through the columns of `function` that are made from it, which are one player
    there; a column from which none is made has no influence, and values of exactly 0.

    Parameters
    ----------
    columns : ColumnMap
    function : Function
        With as many features as the map makes columns, each a player of its own.
    feature_names : sequence of str, optional
        What messages call the columns of x.
    players : ndarray of int64, shape (d,), optional
        The number of the player of each column of x; by default each is a player of its own.
    points : ndarray of shape (n, d), optional
        Rows of x that absent features can be drawn from, instead of the function's own.
    """

    __slots__ = (
        "_columns",
        "_feature_names",
        "_function",
        "_grouped",
        "_places",
        "_players",
        "_points",
    )

    def __init__(
        self,
        columns: ColumnMap,
        function: Function,
        feature_names: Sequence[str] | None = None,
        players: NDArray[np.int64] | None = None,
        points: Float | None = None,
    ) -> None:
        if len(columns.sources) != function.n_features:
            raise ValueError(
                f"the map makes {len(columns.sources)} columns of a function of "
                f"{function.n_features} features"
            )
        self._columns = columns
        self._function = function
        self._feature_names = feature_names
        self._players = np.arange(columns.n_columns) if players is None else players
        # Those players that a column of the function belongs to, in the order that it has them.
        self._places = self._players[columns.sources]
        self._points = None if points is None else read_only(as_matrix(points, "points"))
        self._grouped = function
        if len(np.unique(self._places)) < len(self._places):
            self._places, of_made = np.unique(self._places, return_inverse=True)
            self._grouped = function.grouped(of_made.astype(np.int64))

    @property
    def keeps_points(self) -> bool:
        return self._points is not None or self._function.keeps_points

    def own_points(self) -> Float | None:
        """Return the function's points where the map keeps all columns as they are."""
        if self._points is not None:
            return self._points
        is_same = isinstance(self._columns, Selection) and np.array_equal(
            self._columns.sources, np.arange(self.n_features)
        )
        return self._function.own_points() if is_same else None

    @property
    def n_features(self) -> int:
        return self._columns.n_columns

    @property
    def n_players(self) -> int:
        return int(self._players.max()) + 1

    @property
    def players(self) -> NDArray[np.int64]:
        return self._players

    @property
    def draws_rows(self) -> bool:
        return self._function.draws_rows

    @property
    def n_outputs(self) -> int:
        return self._function.n_outputs

    @property
    def has_output_axis(self) -> bool:
        return self._function.has_output_axis

    @property
    def allows_missing(self) -> bool:
        return True  # as far as the map fills them

    @property
    def non_numeric(self) -> frozenset[int]:
        return self._columns.non_numeric

    @property
    def discrete(self) -> frozenset[int]:
        made = {int(self._columns.sources[place]) for place in self._function.discrete}
        return self._columns.discrete | made

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self._function.evaluate(self._mapped(np.asarray(X)), n_threads=n_threads)

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        own = self._grouped.explain(
            self._mapped(X), game=self._of_function(game), quantity=quantity, how=how
        )
        members = np.sort(self._places[coalitions(len(self._places), quantity.size)], axis=1)
        values = np.zeros((len(X), comb(self.n_players, quantity.size), own.shape[2]))
        values[:, ranks(members, self.n_players)] = own
        return values

    def base(self, game: Game, how: Computation) -> float | Float:
        return self._grouped.base(self._of_function(game), how)

    def grouped(self, players: NDArray[np.int64]) -> Transformed:
        return self._with(self._function, players[self._players])

    def select(self, outputs: Sequence[int]) -> Transformed:
        return self._with(self._function.select(outputs), self._players)

    def _with(self, function: Function, players: NDArray[np.int64]) -> Transformed:
        return Transformed(self._columns, function, self._feature_names, players, self._points)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self._function.magnitude(self._mapped(np.asarray(X)), n_threads=n_threads)

    def probing_rows(self) -> Float:
        """Return rows that are mapped to those of the function, or near.

        Where the map's inverse has nothing to offer, a row gets another row's entry.
        """
        made = self._function.probing_rows()
        if made.dtype == object:
            raise UnsupportedModelError(
                "a model that is given columns of strings by another model is not supported; "
                "encode the strings in the first step, or before"
            )
        with np.errstate(all="ignore"):
            rows = self._columns.inverse(made)
            usable = np.isfinite(rows)
            first_usable = rows[np.argmax(usable, axis=0), np.arange(rows.shape[1])]
            rows = np.where(usable, rows, np.where(np.isfinite(first_usable), first_usable, 1.0))
            rows = decoded(rows, self._columns.categories)
            is_mapped = np.isfinite(self._numbers(rows)).all(axis=1)
        return rows[is_mapped] if is_mapped.any() else rows

    def _of_function(self, game: Game) -> Game:
        """Return a game of the columns of x as one of the columns that are made from them."""
        if game.is_of_points and self._points is not None:
            game = replace(game, background=(self._points, equal_weights(len(self._points))))
        return game.mapped(lambda rows: self._mapped(rows, "background"))

    def _mapped(self, rows: Float, argument: str = "X") -> Float:
        """Map rows, and refuse those that the function is not defined for."""
        try:
            mapped = self._numbers(rows)
        except (TypeError, ValueError) as error:
            row, column = self._first_refused(rows)
            if column == self.n_features:
                raise
            raise self._refused(rows, row, column, argument, f": {error}") from error
        if not np.isfinite(mapped).all():
            row, place = np.argwhere(~np.isfinite(mapped))[0]
            why = (
                f", which the model's steps turn into {mapped[row, place]}; Shapley values are "
                "defined for finite values only"
            )
            raise self._refused(rows, row, int(self._columns.sources[place]), argument, why)
        return np.ascontiguousarray(mapped)

    def _refused(
        self, rows: NDArray[Any], row: int, column: int, argument: str, why: str
    ) -> InputError:
        """Return the error that the map is not defined for an entry."""
        name = column if self._feature_names is None else self._feature_names[column]
        (entry,) = rows[row, [column]].tolist()
        if is_missing(entry):
            which = "NaN" if entry else "None"
            what = f"has a missing value ({which})", HERE, ", which no step of the model fills"
            return InputError(argument, what, "fill or remove it", row, name, "missing")
        what = f"has the value {entry!r}", HERE, why
        return InputError(argument, what, "", row, name, "value")

    def _first_refused(self, rows: NDArray[Any]) -> tuple[int, int]:
        """Return the row and column of an entry that the map refuses, found by trial.

        The column is n_features if none can be told.
        """

        def is_taken(tried: NDArray[Any]) -> bool:
            try:
                self._numbers(tried)
            except (TypeError, ValueError):
                return False
            return True

        # The first row with which the rows up to it are refused, and the first column up to which
        # entries that are taken must stand in its place.
        good = self.probing_rows()[0]
        row = bisect_left(range(len(rows)), True, key=lambda n: not is_taken(rows[: n + 1]))
        bad = rows[row]
        column = bisect_left(
            range(self.n_features),
            True,
            key=lambda n: is_taken(np.concatenate([good[: n + 1], bad[n + 1 :]])[None]),
        )
        return row, column

    def _numbers(self, rows: NDArray[Any]) -> Float:
        return np.asarray(self._columns(rows), dtype=np.float64)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._columns, self._function, self._feature_names, self._players, self._points)
        return type(self), parts

    def __repr__(self) -> str:
        return f"Transformed({self.n_features} features → {self._function!r})"


@covariances.register
def _(variance: Transformed, X: Float, game: Game, how: Computation) -> Float:
    places, n_players = variance._places, variance.n_players
    if game.given is not None:
        if len(places) < n_players:
            raise UnsupportedModelError(
                (
                    Option("uncertainty", True),
                    " in the observational game is for models that use every column: those that a "
                    "step of a Pipeline drops also have values there. Leave them out of X",
                )
            )
        # Coalitions are numbered by the columns of X.
        numbered = variance._grouped.grouped(places)
        return covariances(numbered, variance._mapped(X), variance._of_function(game), how)
    own = covariances(variance._grouped, variance._mapped(X), variance._of_function(game), how)
    found = np.zeros((len(X), n_players, n_players, own.shape[-1]))
    found[:, places[:, None], places] = own
    return found


@worths_given.register
def _(
    function: Transformed, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
) -> WorthsGiven | None:
    # A made column is known where the one is that it is made from.
    mapped = function._mapped(X), function._mapped(rows, "background")
    worths = worths_given(function._function, *mapped, landmarks)
    if worths is None:
        return None
    sources = function._columns.sources
    return lambda weights, present: worths(weights, present[sources])


@draws.register(Transformed)
def _(
    variance: Transformed, rows: NDArray[Any], n: int, random: np.random.Generator
) -> list[Draws]:
    own = draws(variance._function, variance._mapped(rows, "inputs"), n, random)
    return [Draws(Transformed(variance._columns, one.function), one.left_out) for one in own]


@at_coalitions.register
def _(function: Transformed, row: Float, game: Game, members: Members, how: Computation) -> Float:
    own, places = function._grouped, function._places
    own_row, own_game = function._mapped(row[None])[0], function._of_function(game)
    if np.array_equal(places, np.arange(function.n_players)):
        return at_coalitions(own, own_row, own_game, members, how)
    # Coalitions that differ by players without a column of the function are one.
    inside = members_or_all(function.n_players, members)[:, places]
    distinct, back = np.unique(inside, axis=0, return_inverse=True)
    return at_coalitions(own, own_row, own_game, distinct, how)[:, back.reshape(-1)]


class _OfMapped(Products):
    """Products over the columns that a map makes, as products over the columns before."""

    def __init__(self, function: Transformed, rows: NDArray[Any]) -> None:
        mapped = function._mapped(rows, "inputs")
        self._made = products(function._function, mapped)
        super().__init__(self._made.weights)
        self._function, self._rows, self._mapped = function, rows, mapped

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        rows = np.repeat(self._rows[:1], len(entries), axis=0)
        rows[:, column] = entries
        mapped = self._function._mapped(rows, "inputs")
        factors = np.ones((len(self.weights), len(entries)))
        for place in self._places(column):
            factors *= self._made.factors(place, mapped[:, place])
        return factors

    def kinks(self, column: int) -> Float:
        found = [np.empty(0)]
        for place in self._places(column):
            kinks = self._made.kinks(place)
            if not len(kinks):
                continue
            rows = np.repeat(self._mapped[:1], len(kinks), axis=0)
            rows[:, place] = kinks
            with np.errstate(all="ignore"):
                found.append(self._function._columns.inverse(rows)[:, column])
        entries = np.concatenate(found)
        return np.unique(entries[np.isfinite(entries)])

    def widths(self, column: int) -> list[Width]:
        if column in self._function.non_numeric:
            return []
        entries = np.asarray(self._rows[:, column], dtype=np.float64)
        return [
            width
            for place in self._places(column)
            for width in _widths_before(self._made.widths(place), entries, self._mapped[:, place])
        ]

    def _places(self, column: int) -> list[int]:
        """Return the numbers of the columns that are made of a column."""
        return np.flatnonzero(self._function._columns.sources == column).tolist()


def _widths_before(widths: list[Width], entries: Float, mapped: Float) -> list[Width]:
    """Return widths in units of entries, if mapped: where they are, too, if the map is affine."""
    first, last = np.argmin(entries), np.argmax(entries)
    run, rise = entries[last] - entries[first], np.ptp(mapped)
    if run == 0.0 or rise == 0.0:
        return []
    slope = (mapped[last] - mapped[first]) / run
    straight = mapped[first] + slope * (entries - entries[first])
    if np.abs(mapped - straight).max() <= _STRAIGHT * rise:
        return [width.before(slope, mapped[first] - slope * entries[first]) for width in widths]
    # Of another map, as if it were.
    return [width.everywhere(run / rise) for width in widths]


@products.register
def _(function: Transformed, rows: NDArray[Any]) -> Products:
    return _OfMapped(function, rows)
