"""Functions of rows that have exact Shapley values: the interface that all of them implement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.errors import InputError, Option, UnsupportedModelError
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.threads import thread_count
from pkex.functions.products import Products
from pkex.games.coalitions import coalition_numbers, coalitions, coalitions_in
from pkex.games.conditioning import Weights
from pkex.games.indices import PAIRS, SHAPLEY, Quantity
from pkex.games.orders import Orders
from pkex.games.player_limits import GROUP_COLUMNS, MAX_PLAYERS_OF_DIVIDENDS
from pkex.games.selected_pairs import pairs_with_others
from pkex.games.value_functions import NEUTRAL, Game
from pkex.inputs.arrays import read_only
from pkex.inputs.wording import counted
from pkex.typing import Float, Rows

# The members of coalitions as booleans of shape (count, players); a range of the numbers of
# coalitions, of the 2^k that agree in all but the first k players; or those along permutations.
Members: TypeAlias = NDArray[np.bool_] | range | Orders

# Maps weights of background rows and the present columns, booleans of shape (d,), to the weighted
# means of outputs, shape (n, outputs).
ConditionalMeans: TypeAlias = Callable[[Weights, NDArray[np.bool_]], Float]

# Rows that a function is evaluated at together, unless a single row has more coalitions.
_BLOCK = 1 << 14
# The largest size of all pairs of a row, and of several rows at a time, in bytes.
_MAX_BYTES, _BYTES_AT_ONCE = 1 << 31, 1 << 26


class Function(ABC):
    """A function of d columns, with one or several outputs, whose games have exact values.

    Each column is a player of the game, unless `grouped` merges players. Functions are immutable
    and can be pickled. Except in `evaluate`, `predict` and `magnitude`, rows are C-contiguous
    arrays of shape (n, d), of float64 unless columns are `non_numeric`.

    Attributes
    ----------
    n_features : int
        The number of columns d.
    n_outputs : int
        The number of outputs, 1 without an output axis.
    has_output_axis : bool
        Whether predictions have shape (n, outputs) instead of (n,).
    """

    __slots__ = ("_players", "has_output_axis", "n_features", "n_outputs")

    n_features: int
    n_outputs: int
    has_output_axis: bool
    # The number of each column's player; None if each column is a player.
    _players: NDArray[np.int64] | None

    def _set_shape(
        self, n_features: int, outputs: tuple[int, ...], players: NDArray[np.int64] | None = None
    ) -> None:
        """Set the number of columns, the shape of the output of one row, and the players."""
        self.n_features, self._players = n_features, players
        self.has_output_axis, self.n_outputs = bool(outputs), outputs[0] if outputs else 1

    @property
    def n_players(self) -> int:
        """The number of players."""
        return self.n_features if self._players is None else int(self._players.max()) + 1

    @property
    def players(self) -> NDArray[np.int64]:
        """The number of each column's player, shape (n_features,)."""
        return np.arange(self.n_features) if self._players is None else self._players

    # --- rows ---

    @property
    def column_labels(self) -> tuple[Any, ...] | None:
        """Labels that tables must have if they have labels other than names; None if unknown."""
        return None

    @property
    def allows_missing(self) -> bool:
        """Whether rows may have missing values (NaN)."""
        return False

    @property
    def non_numeric(self) -> frozenset[int]:
        """The numbers of the columns that may have other values than numbers, in object arrays."""
        return frozenset()

    @property
    def reads_sparse(self) -> bool:
        """Whether `explain` and `evaluate` accept sparse rows, and games a sparse background."""
        return False

    @property
    def discrete(self) -> frozenset[int]:
        """The numbers of the columns of categories, which have a fixed set of values."""
        return frozenset()

    @property
    def keeps_points(self) -> bool:
        """Whether all components store points, which absent features can be drawn from."""
        return True

    @property
    def draws_rows(self) -> bool:
        """Whether the default value function draws absent features jointly, as rows."""
        return False

    def stored_points(self) -> Rows | None:
        """Return the points that all components store in these columns; None if there are none."""
        return None

    @property
    def logarithm(self) -> Function | None:
        """The function whose exponential it is; None for others."""
        return None

    @abstractmethod
    def probing_rows(self) -> Float:
        """Return a few rows where the function varies, for a comparison with the model."""

    # --- outputs ---

    def predict(self, X: ArrayLike) -> Float:
        """Evaluate the function on all cores, shape (n,) or (n, outputs)."""
        return self.evaluate(X, n_threads=thread_count(-1))

    @abstractmethod
    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Evaluate the function, shape (n,) or (n, outputs)."""

    @abstractmethod
    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the sum of the absolute summands of `predict`, the scale of its errors."""

    # --- games ---

    @abstractmethod
    def explain(
        self,
        X: Rows,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        computation: Computation,
    ) -> Float:
        """Return the Shapley values of rows, shape (n, n_players, n_outputs).

        For another quantity, return the coefficients of all coalitions of its size, in
        lexicographic order, shape (n, coalitions, n_outputs). The coefficient of the empty
        coalition includes constants.
        """

    def selected_pairs(
        self, X: Rows, selection: NDArray[np.int64], *, game: Game, computation: Computation
    ) -> Float:
        """Return the SII of pairs of selected players and one more that stands for all others.

        By default, they are selected from all pairs, and added.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n, d)
        selection : ndarray of int64, shape (k,)
        game : Game
        computation : Computation

        Returns
        -------
        ndarray of shape (n, C(k + 1, 2), n_outputs)
            In lexicographic order, in which the others are the last player. The pair of a player
            with the others is the sum of its pairs with each of them.

        Raises
        ------
        InputError
            If all pairs of a row take too much memory.
        """
        k, n_rows = len(selection), X.shape[0]
        values = np.zeros((n_rows, comb(k + 1, 2), self.n_outputs))
        if self.is_additive or self.n_players < 2:
            return values
        size = 8 * comb(self.n_players, 2) * self.n_outputs
        if size > _MAX_BYTES:
            raise InputError(
                "features",
                f"requires all pairs of {self.n_players:,} features for this function, "
                f"{size / 1e9:,.1f} GB a row",
                GROUP_COLUMNS,
            )
        for block, part_computation in computation.over(blocks_of(n_rows, _BYTES_AT_ONCE // size)):
            pairs = self.explain(X[block], game=game, quantity=PAIRS, computation=part_computation)
            values[block] = pairs_with_others(pairs, selection, self.n_players)
        return values

    @abstractmethod
    def base(self, game: Game, computation: Computation) -> float | Float:
        """Return the value of the empty coalition, of shape (outputs,) with an output axis."""

    def coalition_outputs(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        """Return the outputs at coalitions of a row, before they are averaged over the background.

        A coalition is a row with the present features of the explained row and the absent features
        of a background row.

        Parameters
        ----------
        row : ndarray of shape (d,)
        game : Game
            Interventional, neutral or marginal; in the latter two, a coalition has a single output,
            its value.
        members : ndarray of bool, shape (count, players), or range or Orders
        computation : Computation

        Returns
        -------
        ndarray of shape (m, count, outputs)
            m is the number of background rows, 1 in the neutral and the marginal game.
        """
        if game.background is None or game.is_marginal:
            return self._values_of_coalitions(row, game, members, computation)[None]
        present = self._members(members)[:, self.players]
        background = game.background[0]
        outputs = []
        for block in blocks_of(len(background), _BLOCK // len(present)):
            rows = np.where(present, row, background[block, None]).reshape(-1, len(row))
            outputs.append(self.evaluate(rows, n_threads=computation.n_threads))
        return np.concatenate(outputs).reshape(len(background), len(present), self.n_outputs)

    def _values_of_coalitions(
        self, row: Float, game: Game, members: Members, computation: Computation
    ) -> Float:
        """Return the values of coalitions in the neutral or marginal game, shape (count, outputs).

        By default, they are sums of dividends.
        """
        p = self.n_players
        if p > MAX_PLAYERS_OF_DIVIDENDS:
            raise InputError(
                Option("value_function", game.value_function),
                f"of {p} features, behind a link or estimated, requires a kernel that is a product "
                "over features; other kernels are supported for up to "
                f"{MAX_PLAYERS_OF_DIVIDENDS} features",
                ["pass a background", GROUP_COLUMNS],
            )
        table = np.empty((2**p, self.n_outputs))
        for size, part_computation in computation.over(range(p + 1)):
            numbers = (1 << coalitions(p, size)).sum(axis=1)
            dividends = Quantity(size, 0.0)
            table[numbers] = self.explain(
                row[None], game=game, quantity=dividends, computation=part_computation
            )[0]
        for player in range(p):
            halves = table.reshape(-1, 2, 2**player, self.n_outputs)
            halves[:, 1] += halves[:, 0]
        if isinstance(members, range):
            return check_finite(table[members])
        return check_finite(table[coalition_numbers(self._members(members))])

    @property
    def is_additive(self) -> bool:
        """Whether a player's contribution is the same in all coalitions, in every game."""
        return False

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        """Return the Shapley values of the games (v(S) + shift)²; None if there is no closed form.

        If v(S) is additive with contributions u_j, the value of j is u_j times the sum of
        v(S) + shift at the empty and the full coalition.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        shifts : ndarray of shape (n, outputs)
        game : Game
        computation : Computation

        Returns
        -------
        ndarray of shape (n, n_players, n_outputs), or None
        """
        if not self.is_additive:
            return None
        values = self.explain(X, game=game, computation=computation)
        start = shifts + np.ravel(self.base(game, computation.reporting(None)))
        squares: Float = values * (2.0 * start + values.sum(axis=1))[:, None]
        return squares

    def _members(self, members: Members) -> NDArray[np.bool_]:
        """Return the members of coalitions, shape (count, players)."""
        if isinstance(members, range):
            return coalitions_in(members, np.arange(self.n_players))
        return members.members if isinstance(members, Orders) else members

    def conditional_means(
        self, X: Float, rows: Float, landmarks: NDArray[np.intp] | None
    ) -> ConditionalMeans | None:
        """Return a closed form of the weighted means over background rows; None if there is none.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        rows : ndarray of shape (m, d)
            The background.
        landmarks : ndarray of intp or None
            The numbers of the rows that weights are computed from; None for all rows.
        """
        return None

    def products(self, rows: NDArray[Any]) -> Products:
        """Return the function, without its constant, as a sum of products near some rows.

        Parameters
        ----------
        rows : ndarray of shape (n, d)
            The sum is valid for all rows that combine values of these. Each column is a player.

        Raises
        ------
        UnsupportedModelError
            If the function is not known to be such a sum.
        """
        raise UnsupportedModelError(
            f"{type(self).__name__} is not a sum of products over columns, which sensitivity "
            "requires. Pass the model or its predict or decision_function, not its predict_proba"
        )

    # --- variances of random functions ---

    @property
    def omits_constant(self) -> bool:
        """Whether the random function has a random constant that covariances and draws leave out.

        A constant does not change values unless weights of rows do not add up to 1.
        """
        return False

    def covariances(
        self, X: Float, pairs: NDArray[np.intp], game: Game, computation: Computation
    ) -> Float:
        """Return the covariances of the values of a random function with this variance.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        pairs : ndarray of int, shape (pairs, 2)
            The numbers of two rows of X, or twice the same.
        game : Game
            Not the neutral game.
        computation : Computation

        Returns
        -------
        ndarray of shape (pairs, players, players, outputs)
            Covariances between the values of the first row and the values of the second. Outputs
            are independent of each other.

        Raises
        ------
        UnsupportedModelError
            If the distribution is not known.
        """
        raise UnsupportedModelError(
            f"{type(self).__name__} is not the variance of a known random function"
        )

    def draws(
        self, rows: NDArray[Any], n: int, random: np.random.Generator
    ) -> list[PosteriorDraws]:
        """Draw deviations of a random function with this variance from its mean, for each output.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            A sample of the rows where the draws must have this variance.
        n : int
            The number of draws.
        random : numpy.random.Generator

        Raises
        ------
        UnsupportedModelError
            If the distribution is not known.
        """
        raise UnsupportedModelError(
            f"{type(self).__name__} is not the variance of a function that pkex can draw"
        )

    # --- other functions ---

    def grouped(self, players: NDArray[np.int64]) -> Self:
        """Return the function with merged players.

        Parameters
        ----------
        players : ndarray of shape (n_players,)
            The new number of each player; numbers start at 0 without gaps.
        """
        function = self._copy()
        function._players = players if self._players is None else players[self._players]
        return function

    def select(self, outputs: Sequence[int]) -> Self:
        """Return the function with some of the outputs, in this order."""
        if not self.has_output_axis:
            raise ValueError("the function has a single output and no output axis to select from")
        function = self._select_outputs(list(outputs))
        function.n_outputs = len(outputs)
        return function

    @abstractmethod
    def _select_outputs(self, outputs: list[int]) -> Self:
        """Return a copy with some of the outputs."""

    def _copy(self) -> Self:
        copy = type(self).__new__(type(self))
        for name in _slots(type(self)):
            setattr(copy, name, getattr(self, name))
        return copy

    # skops, and the first protocols of pickle, do not save slots unless they are a state.
    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _slots(type(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def _sizes(self, *counts: tuple[int, str]) -> str:
        """Return other numbers, and the numbers of features and outputs, for `repr`."""
        sizes = [*counts, (self.n_features, "feature")]
        if self.has_output_axis:
            sizes.append((self.n_outputs, "output"))
        return ", ".join(counted(number, noun) for number, noun in sizes)

    def _as_output(self, values: Float) -> Float:
        """Return values of shape (n, outputs) without the output axis, if there is none."""
        return values if self.has_output_axis else values[:, 0]

    def _as_base(self, values: Float) -> float | Float:
        """Return a value of each output as a float, if there is no output axis."""
        return values if self.has_output_axis else float(values[0])


@cache
def _slots(kind: type[Function]) -> list[str]:
    return [name for base in kind.__mro__ for name in base.__dict__.get("__slots__", ())]


@dataclass(frozen=True)
class PosteriorDraws:
    """Deviations of draws of a random function from its mean.

    Parameters
    ----------
    function : Function
        One output per draw.
    missing : float
        The share of the variance, averaged over rows, that the draws do not have.
    """

    function: Function
    missing: float


def check_finite(values: Float) -> Float:
    """Return values of rows; raise an OverflowError if one is too large for a float."""
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise OverflowError(f"a value of row {row} is too large for a float")
    return values


def check_constant(constant: Any, shape: tuple[int, ...], name: str = "intercept") -> float | Float:
    """Return a constant as a float, or as an array with one number per output.

    Parameters
    ----------
    constant : float or array-like
    shape : tuple of int
        () without an output axis, else (outputs,).
    name : str
        The name of the argument, for messages.
    """
    array = np.asarray(constant)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a real number; got {constant!r}")
    if array.ndim and array.shape != shape:
        raise ValueError(
            f"{name} must be a number{f' or have shape {shape}' if shape else ''}, "
            f"because the coefficients do; got shape {array.shape}"
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; got {constant!r}")
    return read_only(np.broadcast_to(array, shape)) if shape else float(array)
