"""Functions of mapped columns, as functions of the original columns."""

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
from pkex.functions.base import ConditionalMeans, Function, Members, PosteriorDraws
from pkex.functions.column_maps import ColumnMap, Selection, decode_categories
from pkex.functions.products import Products, Width
from pkex.games.coalitions import coalitions, ranks
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.tables.missing import is_missing
from pkex.tables.read import as_matrix
from pkex.tables.weights import equal_weights
from pkex.typing import Float

# The largest deviation of an affine map from a line due to rounding, relative to its range.
_STRAIGHT = 1e-12


class Transformed(Function):
    """The function x ↦ function(columns(x)) of the columns of x.

    The columns of `function` that are made from one column of x are one player. A column of x that
    is not used by the map has no influence, and values of exactly 0.

    Parameters
    ----------
    columns : ColumnMap
    function : Function
        A function of the columns that the map makes, each a player.
    feature_names : sequence of str, optional
        The names of the columns of x, for messages.
    players : ndarray of int64, shape (d,), optional
        The number of the player of each column of x; by default each column is a player.
    points : ndarray of shape (n, d), optional
        Rows of x that absent features can be drawn from, instead of the function's stored points.
    """

    __slots__ = ("_columns", "_feature_names", "_function", "_merged", "_places", "_points")

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
        outputs = (function.n_outputs,) if function.has_output_axis else ()
        self._set_shape(columns.n_columns, outputs, players)
        self._columns = columns
        self._function = function
        self._feature_names = feature_names
        # The players that the columns of the function belong to, in the order of these.
        self._places = self.players[columns.sources]
        self._points = None if points is None else read_only(as_matrix(points, "points"))
        # The function with the columns of each player merged.
        self._merged = function
        if len(np.unique(self._places)) < len(self._places):
            self._places, groups = np.unique(self._places, return_inverse=True)
            self._merged = function.grouped(groups.astype(np.int64))

    @property
    def keeps_points(self) -> bool:
        return self._points is not None or self._function.keeps_points

    def stored_points(self) -> Float | None:
        """Return the function's points if the map keeps all columns unchanged."""
        if self._points is not None:
            return self._points
        is_same = isinstance(self._columns, Selection) and np.array_equal(
            self._columns.sources, np.arange(self.n_features)
        )
        return self._function.stored_points() if is_same else None

    @property
    def draws_rows(self) -> bool:
        return self._function.draws_rows

    @property
    def logarithm(self) -> Function | None:
        inner = self._function.logarithm
        return None if inner is None else self._with(inner, self._players)

    @property
    def allows_missing(self) -> bool:
        return True  # if the map fills them

    @property
    def non_numeric(self) -> frozenset[int]:
        return self._columns.non_numeric

    @property
    def discrete(self) -> frozenset[int]:
        sources = {int(self._columns.sources[place]) for place in self._function.discrete}
        return self._columns.discrete | sources

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self._function.evaluate(self._map_rows(np.asarray(X)), n_threads=n_threads)

    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        merged_values = self._merged.explain(
            self._map_rows(X), game=self._map_game(game), quantity=quantity, computation=computation
        )
        members = np.sort(self._places[coalitions(len(self._places), quantity.size)], axis=1)
        values = np.zeros((len(X), comb(self.n_players, quantity.size), self.n_outputs))
        values[:, ranks(members, self.n_players)] = merged_values
        return values

    @property
    def is_additive(self) -> bool:
        return self._merged.is_additive

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        squares = self._merged.shifted_squares(
            self._map_rows(X), shifts, self._map_game(game), computation
        )
        if squares is None:
            return None
        values = np.zeros((len(X), self.n_players, self.n_outputs))
        values[:, self._places] = squares
        return values

    def base(self, game: Game, computation: Computation) -> float | Float:
        return self._merged.base(self._map_game(game), computation)

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        mapped_row, game = self._map_rows(row[None])[0], self._map_game(game)
        if np.array_equal(self._places, np.arange(self.n_players)):
            return self._merged.coalition_outputs(mapped_row, game, members, computation)
        # Coalitions that differ only by players whose columns are not used are the same.
        coalitions = self._members(members)[:, self._places]
        distinct_coalitions, places = np.unique(coalitions, axis=0, return_inverse=True)
        outputs = self._merged.coalition_outputs(mapped_row, game, distinct_coalitions, computation)
        return outputs[:, places.reshape(-1)]

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        means = self._function.conditional_means(
            self._map_rows(X), self._map_rows(rows, "background"), landmarks
        )
        if means is None:
            return None
        # A made column is present if its source is.
        sources = self._columns.sources
        return lambda weights, present: means(weights, present[sources])

    def products(self, rows: NDArray[Any]) -> Products:
        return _MappedProducts(self, rows)

    @property
    def omits_constant(self) -> bool:
        return self._function.omits_constant

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        places, n_players = self._places, self.n_players
        mapped_rows, mapped_game = self._map_rows(X), self._map_game(game)
        if game.coalition_weights is not None:
            if len(places) < n_players:
                raise UnsupportedModelError(
                    (
                        Option("uncertainty", True),
                        " with the observational value function requires a model that uses every "
                        "column, because columns that a step of a Pipeline drops also have values. "
                        "Leave them out of X",
                    )
                )
            # Coalitions are numbered by the columns of X.
            return self._merged.grouped(places).covariances(
                mapped_rows, pairs, mapped_game, computation
            )
        merged_covariances = self._merged.covariances(mapped_rows, pairs, mapped_game, computation)
        covariances = np.zeros((len(pairs), n_players, n_players, self.n_outputs))
        covariances[:, places[:, None], places] = merged_covariances
        return covariances

    def draws(
        self, rows: NDArray[Any], n: int, random: np.random.Generator
    ) -> list[PosteriorDraws]:
        all_draws = self._function.draws(self._map_rows(rows, "inputs"), n, random)
        return [
            PosteriorDraws(Transformed(self._columns, draws.function), draws.missing)
            for draws in all_draws
        ]

    def grouped(self, players: NDArray[np.int64]) -> Transformed:
        return self._with(self._function, players[self.players])

    def _select_outputs(self, outputs: list[int]) -> Transformed:
        return self._with(self._function.select(outputs), self._players)

    def _with(self, function: Function, players: NDArray[np.int64] | None) -> Transformed:
        return Transformed(self._columns, function, self._feature_names, players, self._points)

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        return self._function.magnitude(self._map_rows(np.asarray(X)), n_threads=n_threads)

    def probing_rows(self) -> Float:
        """Return rows that are mapped to probing rows of the function, or near these.

        Values without an inverse are replaced by values of another row.
        """
        mapped_rows = self._function.probing_rows()
        if mapped_rows.dtype == object:
            raise UnsupportedModelError(
                "a model that receives columns of strings from another model is not supported; "
                "encode the strings in the first step, or before"
            )
        with np.errstate(all="ignore"):
            rows = self._columns.inverse(mapped_rows)
            is_usable = np.isfinite(rows)
            fallback = rows[np.argmax(is_usable, axis=0), np.arange(rows.shape[1])]
            rows = np.where(is_usable, rows, np.where(np.isfinite(fallback), fallback, 1.0))
            rows = decode_categories(rows, self._columns.categories)
            is_mapped = np.isfinite(self._numbers(rows)).all(axis=1)
        return rows[is_mapped] if is_mapped.any() else rows

    def _map_game(self, game: Game) -> Game:
        """Return a game of the columns of x as a game of the columns made from them."""
        if game.is_of_points and self._points is not None:
            game = replace(game, background=(self._points, equal_weights(len(self._points))))
        return game.mapped(lambda rows: self._map_rows(rows, "background"))

    def _map_rows(self, rows: Float, argument: str = "X") -> Float:
        """Map rows; raise an error for values that the map is not defined for."""
        try:
            result = self._numbers(rows)
        except (TypeError, ValueError) as error:
            row, column = self._first_invalid(rows)
            if column == self.n_features:
                raise
            raise self._invalid(rows, row, column, argument, f": {error}") from error
        if not np.isfinite(result).all():
            row, place = np.argwhere(~np.isfinite(result))[0]
            why = (
                f", which the model's steps turn into {result[row, place]}; Shapley values are "
                "defined for finite values only"
            )
            raise self._invalid(rows, row, int(self._columns.sources[place]), argument, why)
        return np.ascontiguousarray(result)

    def _invalid(
        self, rows: NDArray[Any], row: int, column: int, argument: str, why: str
    ) -> InputError:
        """Return the error that the map is not defined for a value."""
        name = column if self._feature_names is None else self._feature_names[column]
        (entry,) = rows[row, [column]].tolist()
        if is_missing(entry):
            which = "NaN" if entry else "None"
            what = f"has a missing value ({which})", HERE, ", which no step of the model fills"
            return InputError(argument, what, "fill or remove it", row, name, "missing")
        what = f"has the value {entry!r}", HERE, why
        return InputError(argument, what, "", row, name, "value")

    def _first_invalid(self, rows: NDArray[Any]) -> tuple[int, int]:
        """Return the row and column of a value that the map does not accept, found by trial.

        The column is n_features if it cannot be determined.
        """

        def is_accepted(candidates: NDArray[Any]) -> bool:
            try:
                self._numbers(candidates)
            except (TypeError, ValueError):
                return False
            return True

        # The first row such that the rows up to it are not accepted, and the first column such that
        # the row is accepted with valid values up to it.
        valid = self.probing_rows()[0]
        row = bisect_left(range(len(rows)), True, key=lambda n: not is_accepted(rows[: n + 1]))
        invalid = rows[row]
        column = bisect_left(
            range(self.n_features),
            True,
            key=lambda n: is_accepted(np.concatenate([valid[: n + 1], invalid[n + 1 :]])[None]),
        )
        return row, column

    def _numbers(self, rows: NDArray[Any]) -> Float:
        return np.asarray(self._columns(rows), dtype=np.float64)

    def __repr__(self) -> str:
        return f"Transformed({self.n_features} features → {self._function!r})"


class _MappedProducts(Products):
    """Products over the columns that a map makes, as products over the original columns."""

    def __init__(self, function: Transformed, rows: NDArray[Any]) -> None:
        mapped_rows = function._map_rows(rows, "inputs")
        self._products = function._function.products(mapped_rows)
        super().__init__(self._products.weights)
        self._function, self._rows, self._mapped_rows = function, rows, mapped_rows

    def factors(self, column: int, entries: NDArray[Any]) -> Float:
        rows = np.repeat(self._rows[:1], len(entries), axis=0)
        rows[:, column] = entries
        mapped_rows = self._function._map_rows(rows, "inputs")
        factors = np.ones((len(self.weights), len(entries)))
        for place in self._places(column):
            factors *= self._products.factors(place, mapped_rows[:, place])
        return factors

    def kinks(self, column: int) -> Float:
        preimages = [np.empty(0)]
        for place in self._places(column):
            kinks = self._products.kinks(place)
            if not len(kinks):
                continue
            rows = np.repeat(self._mapped_rows[:1], len(kinks), axis=0)
            rows[:, place] = kinks
            with np.errstate(all="ignore"):
                preimages.append(self._function._columns.inverse(rows)[:, column])
        entries = np.concatenate(preimages)
        return np.unique(entries[np.isfinite(entries)])

    def widths(self, column: int) -> list[Width]:
        if column in self._function.non_numeric:
            return []
        entries = np.asarray(self._rows[:, column], dtype=np.float64)
        return [
            width
            for place in self._places(column)
            for width in _widths_before(
                self._products.widths(place), entries, self._mapped_rows[:, place]
            )
        ]

    def _places(self, column: int) -> list[int]:
        """Return the numbers of the columns made from a column."""
        return np.flatnonzero(self._function._columns.sources == column).tolist()


def _widths_before(widths: list[Width], entries: Float, mapped: Float) -> list[Width]:
    """Return widths in units of unmapped values, with their intervals if the map is affine."""
    first, last = np.argmin(entries), np.argmax(entries)
    run, rise = entries[last] - entries[first], np.ptp(mapped)
    if run == 0.0 or rise == 0.0:
        return []
    slope = (mapped[last] - mapped[first]) / run
    line = mapped[first] + slope * (entries - entries[first])
    if np.abs(mapped - line).max() <= _STRAIGHT * rise:
        return [width.before(slope, mapped[first] - slope * entries[first]) for width in widths]
    # Other maps are treated as affine, on the whole line.
    return [width.everywhere(run / rise) for width in widths]
