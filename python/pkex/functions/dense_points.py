"""Sums of kernels at sparse points that are computed at dense points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pkex.execution.computation import Computation
from pkex.functions.base import Members
from pkex.functions.kernel_sum import KernelSum
from pkex.games.indices import Quantity
from pkex.games.value_functions import Game
from pkex.kernels import Kernel
from pkex.kernels.factors import Term, restrict_term
from pkex.tables.kinds import check_dense_size
from pkex.tables.sparse import dense_rows
from pkex.typing import Float, Rows, SparseRows


@dataclass(frozen=True, eq=False)
class TermKernel(Kernel):
    """A kernel of one term, on all of its columns."""

    term: Term

    def terms(self, n_features: int) -> list[Term]:
        return [self.term]


class DensePoints:
    """A sum of kernels at dense points, in some columns.

    Parameters
    ----------
    points : csr_array of shape (n, d)
    coefficients : ndarray of shape (n,) or (n, outputs)
    kernel : Kernel
    intercept : float or ndarray of shape (outputs,)
    columns : ndarray of int64, shape (k,)
        All columns, or for a kernel of one term the columns that are not 0 in all points: other
        columns add nothing to a dot product.
    players : ndarray of int64, shape (d,), optional
        The number of each column's player.

    Attributes
    ----------
    function : KernelSum
    players : ndarray of int64
        The number of each player of the function among the players of all columns.

    Raises
    ------
    InputError
        If the points would take more than a gigabyte.
    """

    def __init__(
        self,
        points: SparseRows,
        coefficients: Float,
        kernel: Kernel,
        intercept: ArrayLike,
        columns: NDArray[np.int64],
        players: NDArray[np.int64] | None,
    ) -> None:
        n_points, d = points.shape
        # A function has at least one column.
        self._columns = columns if len(columns) else np.arange(1)
        check_dense_size((n_points, len(self._columns)), "points")
        if len(self._columns) < d:
            present = np.zeros(d, dtype=np.bool_)
            present[self._columns] = True
            (term,) = kernel.terms(d)
            kernel = TermKernel(restrict_term(term, present).on(np.cumsum(present) - 1))
        dense_points = dense_rows(points[:, self._columns])
        self.players, self._n_players = self._columns, d
        self.function = KernelSum(dense_points, coefficients, kernel, intercept)
        if players is not None:
            self._n_players = int(players.max()) + 1
            self.players, groups = np.unique(players[self._columns], return_inverse=True)
            self.function = self.function.grouped(groups.astype(np.int64))

    def rows(self, rows: Rows) -> Float:
        """Return rows in the columns of the function."""
        return dense_rows(rows[:, self._columns])

    def game(self, game: Game) -> Game:
        """Return a game with the columns of its background."""
        return game.mapped(self.rows)

    def explain(self, X: Rows, game: Game, quantity: Quantity, computation: Computation) -> Float:
        """Return a quantity of rows, as `Function.explain` does; of pairs only in all columns."""
        values = self.function.explain(
            self.rows(X), game=self.game(game), quantity=quantity, computation=computation
        )
        return self._expand_players(values) if quantity.size == 1 else values

    def coalition_outputs(
        self, row: Float, game: Game, members: NDArray[np.bool_], computation: Computation
    ) -> Float:
        """Return the outputs at coalitions of a row, as `Function.coalition_outputs` does."""
        dense_members: Members = np.ascontiguousarray(members[:, self.players])
        return self.function.coalition_outputs(
            self.rows(row[None])[0], self.game(game), dense_members, computation
        )

    def shifted_squares(
        self, X: Float, shifts: Float, game: Game, computation: Computation
    ) -> Float | None:
        """Return the values of squares, as `Function.shifted_squares` does."""
        squares = self.function.shifted_squares(self.rows(X), shifts, self.game(game), computation)
        return None if squares is None else self._expand_players(squares)

    def _expand_players(self, player_values: Float) -> Float:
        values = np.zeros((len(player_values), self._n_players, player_values.shape[2]))
        values[:, self.players] = player_values
        return values
