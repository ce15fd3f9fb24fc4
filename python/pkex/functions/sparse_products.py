"""Sums of product kernels at sparse points, computed by the engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.functions.sparse_pairs import packed_rows, selected_pairs, sparse_game
from pkex.games.value_functions import Game
from pkex.kernels.factors import Term
from pkex.typing import Float, Rows, SparseRows

__all__ = ["ProductsAtPoints"]


class ProductsAtPoints:
    """The function without its intercept.

    Parameters
    ----------
    points : csr_array of shape (n, d)
    coefficients : ndarray of shape (n, outputs)
    term : Term
        A product of positive factors with k(0, 0) = 1.
    """

    def __init__(self, points: SparseRows, coefficients: Float, term: Term) -> None:
        self._points, self._coefficients, self._term = points, coefficients, term
        weights = np.ascontiguousarray(coefficients)
        self._packed = _core.SparseExpansion(packed_rows(points), weights, [term.packed()])

    def outputs(self, rows: SparseRows, n_threads: int) -> Float:
        """Evaluate the function, shape (rows, outputs)."""
        return self._packed.predict(packed_rows(rows), n_threads=n_threads)

    def sizes(self, rows: SparseRows, n_threads: int) -> Float:
        """Return the sums of absolute summands of the function, shape (rows, outputs)."""
        positive = ProductsAtPoints(self._points, np.abs(self._coefficients), self._term)
        return positive.outputs(rows, n_threads)

    def base(self, game: Game, background: tuple[SparseRows, Float], how: Computation) -> Float:
        """Return the value of the empty coalition of a marginal game, shape (outputs,)."""
        of_engine = sparse_game(game)
        return self._packed.base(game=of_engine, n_threads=how.n_threads, progress=how.progress)

    def explain(
        self, X: SparseRows, game: Game, background: tuple[SparseRows, Float], how: Computation
    ) -> Float:
        """Return the Shapley values of columns, shape (rows, d, outputs).

        Parameters
        ----------
        X : csr_array of shape (rows, d)
        game : Game
        background : tuple of csr_array of shape (m, d) and ndarray of shape (m,)
            The background of the game, or the points of the function.
        how : Computation
        """
        return self._packed.explain(
            packed_rows(X),
            game=sparse_game(game),
            summation=how.summation,
            n_threads=how.n_threads,
            progress=how.progress,
        )

    def selected_pairs(
        self, X: Rows, selected: NDArray[np.int64], game: Game, how: Computation
    ) -> Float:
        """Return the pairs of selected columns, as `Function.selected_pairs` does."""
        return selected_pairs(self._packed, X, selected, game, how)
