"""A function of rows whose Shapley values are known exactly: what all such functions offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.execution.threads import thread_count
from pkex.games.indices import SHAPLEY, Quantity
from pkex.games.value_functions import NEUTRAL, Game
from pkex.typing import Float

__all__ = ["Function", "finite"]


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
    def players(self) -> NDArray[np.int64]:
        """The number of each column's player, shape (n_features,)."""
        return np.arange(self.n_features)

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

    def predict(self, X: ArrayLike) -> Float:
        """Evaluate the function on all cores, with shape (n,) or (n, outputs)."""
        return self.evaluate(X, n_threads=thread_count(-1))

    @abstractmethod
    def evaluate(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Evaluate the function, with shape (n,) or (n, outputs)."""

    @abstractmethod
    def explain(
        self,
        X: Float,
        *,
        game: Game = NEUTRAL,
        quantity: Quantity = SHAPLEY,
        how: Computation,
    ) -> Float:
        """Return the Shapley values of rows, with shape (n, n_players, n_outputs).

        Or another quantity of coalitions of a size, with shape (n, coalitions, n_outputs), in
        lexicographic order; the empty coalition's includes the function's constants.
        """

    @abstractmethod
    def base(self, game: Game, how: Computation) -> float | Float:
        """Return the value of the empty coalition, of shape (outputs,) with an output axis.

        What takes time is to prepare the game of a function's own points: progress is of that.
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
    def magnitude(self, X: ArrayLike, *, n_threads: int) -> Float:
        """Return the sum of the sizes of what `predict` adds up: the scale of its errors."""

    @property
    def keeps_points(self) -> bool:
        """Whether all that it is made of has points that absent features can be drawn from."""
        return True

    @property
    def draws_rows(self) -> bool:
        """Whether absent features are drawn together, as rows, where no game is chosen."""
        return False

    def own_points(self) -> Float | None:
        """Return the points that all its expansions have in its columns; None if there are none."""
        return None

    @abstractmethod
    def probing_rows(self) -> Float:
        """Return a few rows where the function varies, to compare it with another at."""


def finite(values: Float) -> Float:
    """Return values, or refuse those that are too large, of one or more for each row."""
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise OverflowError(f"a value of row {row} is too large for a float")
    return values
