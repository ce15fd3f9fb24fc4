"""Functions that can be explained exactly, and how they are made from each other.

The leaves are `KernelExpansion`s. A model made of models is a tree above them: values are linear in
the function, so those of a `Combination` or `Stack` are combined or stacked, and those of a
`Transformed` function belong to the columns from which its own columns are made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import comb
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.coalitions import coalitions, ranks
from pkex.errors import UnsupportedModelError
from pkex.indices import SHAPLEY, Quantity
from pkex.parallel import thread_count
from pkex.progress import share
from pkex.value_functions import NEUTRAL, Game

__all__ = ["ColumnMap", "Combination", "Function", "Selection", "Stack", "Transformed"]

_Float = NDArray[np.float64]
_Report = Callable[[int, int], None]


class Function(ABC):
    """A function of d columns, with one or several outputs, that can be explained exactly.

    Each column is a player of the game, unless `grouped` has made players of several. Functions are
    immutable and can be pickled. `explain` takes C-contiguous float64 rows (n, d).
    """

    __slots__ = ()

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns d."""

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self.n_features

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """The number of outputs, 1 if there is no output axis."""

    @property
    @abstractmethod
    def has_output_axis(self) -> bool:
        """Whether predictions have shape (n, outputs) rather than (n,)."""

    @property
    def allows_missing(self) -> bool:
        """Whether rows may have missing entries (NaN)."""
        return False

    @property
    def non_numeric(self) -> frozenset[int]:
        """The numbers of the columns whose entries need not be numbers; rows are objects then."""
        return frozenset()

    @property
    def discrete(self) -> frozenset[int]:
        """The numbers of the columns that may have some entries only: categories."""
        return frozenset()

    def predict(self, X: ArrayLike) -> _Float:
        """Evaluate the function on all cores, with shape (n,) or (n, outputs)."""
        return self.evaluate(X, n_threads=thread_count(-1))

    @abstractmethod
    def evaluate(self, X: ArrayLike, *, n_threads: int) -> _Float:
        """Evaluate the function, with shape (n,) or (n, outputs)."""

    @abstractmethod
    def explain(
        self,
        X: _Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        method: str,
        summation: str,
        n_threads: int,
        progress: _Report | None = None,
    ) -> _Float:
        """Return the Shapley values of rows, with shape (n, n_players, n_outputs).

        Or another quantity of coalitions of a size, with shape (n, coalitions, n_outputs), in
        lexicographic order; the empty coalition's includes the function's constants.
        """

    @abstractmethod
    def base(self, game: Game, *, progress: _Report | None = None) -> float | _Float:
        """Return the value of the empty coalition, of shape (outputs,) with an output axis.

        What takes time is to prepare the game of a function's own points: `progress` is of that.
        """

    @abstractmethod
    def grouped(self, players: NDArray[np.int64]) -> Function:
        """Return the function with its players merged: as players of the given numbers.

        Parameters
        ----------
        players : ndarray of shape (n_players,)
            For each of the present players; the numbers are all those from 0 to the largest.
        """

    @abstractmethod
    def select(self, outputs: Sequence[int]) -> Function:
        """Return the function with some of the outputs, in the order given."""

    @abstractmethod
    def magnitude(self, X: ArrayLike, *, n_threads: int) -> _Float:
        """Return the sum of the sizes of what `predict` adds up: the scale of its rounding."""

    def own_points(self) -> _Float | None:
        """Return the points that all its expansions have in its columns; None if there are none."""
        return None

    @abstractmethod
    def probing_rows(self) -> _Float:
        """Return a few rows where the function varies, to compare it with another at."""


class _Composite(Function):
    """What functions made of other functions of the same features share."""

    __slots__ = ("_parts",)

    _parts: tuple[Function, ...]

    @property
    def n_features(self) -> int:
        return self._parts[0].n_features

    @property
    def n_players(self) -> int:
        return self._parts[0].n_players

    @property
    def allows_missing(self) -> bool:
        return all(part.allows_missing for part in self._parts)

    @property
    def non_numeric(self) -> frozenset[int]:
        return frozenset.intersection(*(part.non_numeric for part in self._parts))

    @property
    def discrete(self) -> frozenset[int]:
        return frozenset().union(*(part.discrete for part in self._parts))

    def own_points(self) -> _Float | None:
        """Return the points of the first part if all the others have the same."""
        first, *others = (part.own_points() for part in self._parts)
        is_shared = first is not None and all(
            points is first or (points is not None and np.array_equal(points, first))
            for points in others
        )
        return first if is_shared else None

    def probing_rows(self) -> _Float:
        """Return rows of all the parts, or of parts at even distances if there are many.

        A part that knows categories of a column gives its entries to the rows of the others.
        """
        chosen = [self._parts[i] for i in _evenly(len(self._parts), _MOST_PROBING_ROWS)]
        share = max(2, _MOST_PROBING_ROWS // len(chosen))
        own = [rows[_evenly(len(rows), share)] for rows in (p.probing_rows() for p in chosen)]
        rows = np.concatenate(own)
        for column in self.discrete:
            known = [
                found for part, found in zip(chosen, own, strict=True) if column in part.discrete
            ]
            if known:
                rows[:, column] = np.resize(np.concatenate(known)[:, column], len(rows))
        if self.discrete and any(taken := [self._takes(row[None]) for row in rows]):
            rows = rows[taken]
        return rows[_evenly(len(rows), _MOST_PROBING_ROWS)]

    def _takes(self, rows: _Float) -> bool:
        """Whether all the parts know the categories in rows."""
        try:
            self.evaluate(rows, n_threads=1)
        except ValueError:
            return False
        return True

    def _bases(self, game: Game, progress: _Report | None) -> Iterator[float | _Float]:
        """Return the values of the empty coalition of the parts, one after the other."""
        for number, part in enumerate(self._parts):
            yield part.base(game, progress=share(progress, number, len(self._parts)))

    def _explained(
        self, X: _Float, progress: _Report | None, options: dict[str, Any]
    ) -> Iterator[_Float]:
        """Explain the parts one after the other."""
        for number, part in enumerate(self._parts):
            report = share(progress, number, len(self._parts))
            yield part.explain(X, progress=report, **options)


class Combination(_Composite):
    """The function intercept + Σ_p weights_p · parts_p(x).

    Parameters
    ----------
    parts : iterable of Function
        At least one, all with the same number of features and the same outputs.
    weights : array-like of shape (n_parts,) or (n_parts, outputs), optional
        1 if not given.
    intercept : float or array-like of shape (outputs,), default 0.0

    Examples
    --------
    The average of two expansions, in other units:

    >>> import pkex
    >>> wide = pkex.KernelExpansion([[0.0]], [2.0], pkex.kernels.RBF(5.0))
    >>> narrow = pkex.KernelExpansion([[0.0], [1.0]], [1.0, -1.0], pkex.kernels.RBF(0.1))
    >>> Combination([wide, narrow], weights=[50.0, 50.0], intercept=10.0).predict([[0.0]])
    array([160.])
    """

    __slots__ = ("_intercept", "_weights")

    def __init__(
        self,
        parts: Iterable[Function],
        weights: ArrayLike | None = None,
        intercept: ArrayLike = 0.0,
    ) -> None:
        self._parts = _alike(parts)
        given = np.ones(len(self._parts)) if weights is None else weights
        # Copies: what is passed may be the arrays of a model, which others can change.
        self._weights = np.array(given, dtype=np.float64)
        self._intercept = np.array(intercept, dtype=np.float64)

    @property
    def n_outputs(self) -> int:
        return self._parts[0].n_outputs

    @property
    def has_output_axis(self) -> bool:
        return self._parts[0].has_output_axis

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> _Float:
        terms = [w * part.evaluate(X, n_threads=n_threads) for w, part in self._weighted()]
        return finite(_compensated_sum([*terms, self._intercept]))

    def explain(
        self,
        X: _Float,
        *,
        quantity: Quantity = SHAPLEY,
        progress: _Report | None = None,
        **options: Any,
    ) -> _Float:
        parts = self._explained(X, progress, {**options, "quantity": quantity})
        constant = self._intercept if quantity.size == 0 else np.zeros(())
        with np.errstate(over="ignore", invalid="ignore"):
            terms = (w * part for w, part in zip(self._weights, parts, strict=True))
            return finite(_compensated_sum(chain(terms, [constant])))

    def base(self, game: Game, *, progress: _Report | None = None) -> float | _Float:
        bases = self._bases(game, progress)
        terms = [w * np.asarray(base) for w, base in zip(self._weights, bases, strict=True)]
        base = _compensated_sum([*terms, self._intercept])
        return base if self.has_output_axis else float(base)

    def grouped(self, players: NDArray[np.int64]) -> Combination:
        parts = [part.grouped(players) for part in self._parts]
        return Combination(parts, self._weights, self._intercept)

    def select(self, outputs: Sequence[int]) -> Combination:
        chosen = list(outputs)
        return Combination(
            [part.select(chosen) for part in self._parts],
            self._weights[:, chosen] if self._weights.ndim == 2 else self._weights,
            self._intercept[chosen] if self._intercept.ndim else self._intercept,
        )

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> _Float:
        terms = [np.abs(w) * part.magnitude(X, n_threads=n_threads) for w, part in self._weighted()]
        return np.asarray(sum(terms, start=np.abs(self._intercept)))

    def _weighted(self) -> Iterable[tuple[Any, Function]]:
        return zip(self._weights, self._parts, strict=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._parts, self._weights, self._intercept)

    def __repr__(self) -> str:
        return f"Combination({len(self._parts)} × {self._parts[0]!r})"


class Stack(_Composite):
    """The function that has each of several functions as an output.

    Parameters
    ----------
    parts : iterable of Function
        At least one, all with the same number of features and without an output axis.

    Examples
    --------
    >>> import pkex
    >>> wide = pkex.KernelExpansion([[0.0]], [2.0], pkex.kernels.RBF(5.0))
    >>> narrow = pkex.KernelExpansion([[0.0], [1.0]], [1.0, -1.0], pkex.kernels.RBF(0.1))
    >>> Stack([wide, narrow]).predict([[0.0]])
    array([[2., 1.]])
    """

    __slots__ = ()

    def __init__(self, parts: Iterable[Function]) -> None:
        self._parts = _alike(parts)
        if self._parts[0].has_output_axis:
            raise ValueError("only functions without an output axis can be stacked")

    @property
    def n_outputs(self) -> int:
        return len(self._parts)

    @property
    def has_output_axis(self) -> bool:
        return True

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> _Float:
        return np.stack([part.evaluate(X, n_threads=n_threads) for part in self._parts], axis=-1)

    def explain(self, X: _Float, *, progress: _Report | None = None, **options: Any) -> _Float:
        return np.concatenate(list(self._explained(X, progress, options)), axis=-1)

    def base(self, game: Game, *, progress: _Report | None = None) -> _Float:
        return np.array(list(self._bases(game, progress)))

    def grouped(self, players: NDArray[np.int64]) -> Stack:
        return Stack([part.grouped(players) for part in self._parts])

    def select(self, outputs: Sequence[int]) -> Stack:
        return Stack([self._parts[output] for output in outputs])

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> _Float:
        return np.stack([part.magnitude(X, n_threads=n_threads) for part in self._parts], axis=-1)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._parts,)

    def __repr__(self) -> str:
        return f"Stack({len(self._parts)} outputs, the first {self._parts[0]!r})"


class ColumnMap(ABC):
    """A map of rows that makes each of its columns from a single column of the input."""

    n_columns: int
    """The number of columns of the input."""

    sources: NDArray[np.intp]
    """For each column that is made, the number of the input column that it is made from."""

    discrete: frozenset[int] = frozenset()
    """The numbers of the input columns of which some entries only can be mapped: categories."""

    non_numeric: frozenset[int] = frozenset()
    """The numbers of the input columns whose entries need not be numbers."""

    categories: Mapping[int, Sequence[object]] = MappingProxyType({})
    """The categories of input columns where these are no numbers; `inverse` counts them."""

    @abstractmethod
    def __call__(self, rows: _Float) -> _Float:
        """Map rows."""

    @abstractmethod
    def inverse(self, rows: _Float) -> _Float:
        """Return rows that are mapped to `rows` or near, NaN where there are none.

        They serve to try a model out, and nothing else depends on them. Input columns that the map
        drops get arbitrary entries.
        """


class Selection(ColumnMap):
    """Some of the columns, in a given order."""

    def __init__(self, n_columns: int, sources: ArrayLike) -> None:
        self.n_columns = n_columns
        self.sources = np.array(sources, dtype=np.intp)  # a copy

    def __call__(self, rows: _Float) -> _Float:
        return rows[:, self.sources]

    def inverse(self, rows: _Float) -> _Float:
        return scattered(rows, self.sources, self.n_columns)


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
    """

    __slots__ = ("_columns", "_feature_names", "_function", "_grouped", "_places", "_players")

    def __init__(
        self,
        columns: ColumnMap,
        function: Function,
        feature_names: Sequence[str] | None = None,
        players: NDArray[np.int64] | None = None,
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
        self._grouped = function
        if len(np.unique(self._places)) < len(self._places):
            self._places, of_made = np.unique(self._places, return_inverse=True)
            self._grouped = function.grouped(of_made.astype(np.int64))

    def own_points(self) -> _Float | None:
        """Return the function's points where the map keeps all columns as they are."""
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

    def evaluate(self, X: ArrayLike, *, n_threads: int) -> _Float:
        return self._function.evaluate(self._mapped(np.asarray(X)), n_threads=n_threads)

    def explain(
        self, X: _Float, *, game: Game = NEUTRAL, quantity: Quantity = SHAPLEY, **options: Any
    ) -> _Float:
        own = self._grouped.explain(
            self._mapped(X), game=self._of_function(game), quantity=quantity, **options
        )
        members = np.sort(self._places[coalitions(len(self._places), quantity.size)], axis=1)
        values = np.zeros((len(X), comb(self.n_players, quantity.size), own.shape[2]))
        values[:, ranks(members, self.n_players)] = own
        return values

    def base(self, game: Game, *, progress: _Report | None = None) -> float | _Float:
        return self._grouped.base(self._of_function(game), progress=progress)

    def grouped(self, players: NDArray[np.int64]) -> Transformed:
        return Transformed(
            self._columns, self._function, self._feature_names, players[self._players]
        )

    def select(self, outputs: Sequence[int]) -> Transformed:
        return Transformed(
            self._columns, self._function.select(outputs), self._feature_names, self._players
        )

    def magnitude(self, X: ArrayLike, *, n_threads: int) -> _Float:
        return self._function.magnitude(self._mapped(np.asarray(X)), n_threads=n_threads)

    def probing_rows(self) -> _Float:
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
        return game.mapped(lambda rows: self._mapped(rows, "background"))

    def _mapped(self, rows: _Float, argument: str = "X") -> _Float:
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
                f", which the model's steps turn into {mapped[row, place]}; values are defined for "
                "finite entries only"
            )
            raise self._refused(rows, row, int(self._columns.sources[place]), argument, why)
        return np.ascontiguousarray(mapped)

    def _refused(
        self, rows: NDArray[Any], row: int, column: int, argument: str, why: str
    ) -> ValueError:
        """Return the error that the map is not defined for an entry."""
        name = "" if self._feature_names is None else f" ({self._feature_names[column]!r})"
        where = f"row {row}, column {column}{name}"
        (entry,) = rows[row, [column]].tolist()
        if entry is None or entry != entry:  # NaN, in rows of objects too
            return ValueError(
                f"{argument} has a missing entry ({'NaN' if entry else 'None'}) in {where}, which "
                "no step of the model fills; fill or remove it"
            )
        return ValueError(f"{argument} has the entry {entry!r} in {where}{why}")

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

    def _numbers(self, rows: NDArray[Any]) -> _Float:
        return np.asarray(self._columns(rows), dtype=np.float64)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._columns, self._function, self._feature_names, self._players)

    def __repr__(self) -> str:
        return f"Transformed({self.n_features} features → {self._function!r})"


def decoded(rows: _Float, categories: Mapping[int, Sequence[object]]) -> NDArray[Any]:
    """Return rows with categories where they have the numbers of these, as `ColumnMap` says."""
    if not categories:
        return rows
    table = rows.astype(object)
    for column, known in categories.items():
        table[:, column] = [known[int(number)] for number in rows[:, column]]
    return table


def scattered(rows: _Float, places: NDArray[np.intp], n_columns: int) -> _Float:
    """Return rows with the given columns at their places, and irregular numbers at the others."""
    size = len(rows) * n_columns
    wide: _Float = np.cos(np.arange(1.0, 1.0 + size)).reshape(len(rows), n_columns)
    wide[:, places] = rows
    return wide


# A composite is compared with the model's own output on no more rows than this.
_MOST_PROBING_ROWS = 12


def _evenly(length: int, most: int) -> NDArray[np.intp]:
    """Return up to `most` of the numbers from 0 to length − 1, the first and last among them."""
    return np.unique(np.linspace(0, length - 1, min(length, most)).astype(np.intp))


def _alike(parts: Iterable[Function]) -> tuple[Function, ...]:
    checked = tuple(parts)
    shapes = {(part.n_features, part.n_outputs, part.has_output_axis) for part in checked}
    if len(shapes) != 1:
        raise ValueError(
            "the parts must be one or more functions of the same features and outputs; "
            f"got {list(checked)}"
        )
    return checked


def _compensated_sum(terms: Iterable[NDArray[Any]]) -> _Float:
    """Add arrays with twice the precision (Knuth's two-sum, the errors summed alongside)."""
    total = error = np.zeros(())
    for term in terms:
        larger = total + term
        gained = larger - total
        error = error + ((total - (larger - gained)) + (term - gained))
        total = larger
    return np.asarray(total + error)


def finite(values: _Float) -> _Float:
    """Return values, or refuse those that are too large, of one or more for each row."""
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise OverflowError(f"a value of row {row} is too large for a float")
    return values
