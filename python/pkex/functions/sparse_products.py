"""Sums of product kernels at sparse points, computed by the engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pkex import _core
from pkex.execution.computation import Computation
from pkex.functions.reaches import Reaches, measured_rows, relative_size
from pkex.functions.sparse_pairs import packed_rows, selected_pairs, sparse_game
from pkex.games.value_functions import Game
from pkex.kernels.factors import Term
from pkex.typing import Float, Report, SparseRows


class ProductsAtPoints:
    """The function without its intercept.

    Parameters
    ----------
    points : csr_array of shape (n, d)
    coefficients : ndarray of shape (n, outputs)
    terms : list of Term
        Products of positive factors with k(0, 0) = 1, and of mixtures of such products.
    """

    def __init__(self, points: SparseRows, coefficients: Float, terms: list[Term]) -> None:
        self._points, self._coefficients, self._terms = points, coefficients, terms
        self._reaches = Reaches(points, terms)
        self._expansions: dict[int, _core.SparseExpansion] = {}
        if self._reaches.has_mixtures and self._reaches.refine(self._relative_size()):
            self._expansions.clear()

    def _at(self, reach: int) -> _core.SparseExpansion:
        """Return the form of the engine for rows of a reach."""
        if reach not in self._expansions:
            terms = [term.packed() for term in self._reaches.terms_at(reach)]
            weights = np.ascontiguousarray(self._coefficients)
            points = packed_rows(self._points)
            self._expansions[reach] = _core.SparseExpansion(points, weights, terms)
        return self._expansions[reach]

    def _relative_size(self) -> float:
        """Return the size of the function, relative to Σ |α| k(x, x)."""
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = self.outputs(measured_rows(self._points), 1)
            return relative_size(outputs, self._reaches.scale_of_errors(self._coefficients))

    def outputs(self, rows: SparseRows, n_threads: int) -> Float:
        """Evaluate the function, shape (rows, outputs)."""

        def compute(reach: int, chunk: SparseRows, report: Report | None) -> Float:
            return self._at(reach).predict(packed_rows(chunk), n_threads=n_threads)

        return self._reaches.over(rows, None, None, compute)

    def sizes(self, rows: SparseRows, n_threads: int) -> Float:
        """Return the scale of errors in outputs, shape (rows, outputs).

        It is the sum of absolute summands, plus the scale of the errors of mixtures.
        """
        points, weights = packed_rows(self._points), np.ascontiguousarray(abs(self._coefficients))

        def compute(reach: int, chunk: SparseRows, report: Report | None) -> Float:
            # One term at a time takes less memory.
            terms = [term.packed() for term in self._reaches.terms_at(reach)]
            expansions = (_core.SparseExpansion(points, weights, [term]) for term in terms)
            start = np.zeros((chunk.shape[0], weights.shape[1]))
            rows = packed_rows(chunk)
            outputs = (expansion.predict(rows, n_threads=n_threads) for expansion in expansions)
            return sum(outputs, start)

        errors = self._reaches.scale_of_errors(self._coefficients)
        return self._reaches.over(rows, None, None, compute) + errors

    def base(
        self, game: Game, background: tuple[SparseRows, Float], computation: Computation
    ) -> Float:
        """Return the value of the empty coalition of a marginal game, shape (outputs,)."""
        return self._at(self._reaches.of_game(game)).base(
            game=sparse_game(game), n_threads=computation.n_threads, progress=computation.progress
        )

    def explain(
        self,
        X: SparseRows,
        game: Game,
        background: tuple[SparseRows, Float],
        computation: Computation,
    ) -> Float:
        """Return the Shapley values of columns, shape (rows, d, outputs).

        Parameters
        ----------
        X : csr_array of shape (rows, d)
        game : Game
        background : tuple of csr_array of shape (m, d) and ndarray of shape (m,)
            The background of the game, or the points of the function.
        computation : Computation
        """
        engine_game = sparse_game(game)

        def compute(reach: int, chunk: SparseRows, report: Report | None) -> Float:
            return self._at(reach).explain(
                packed_rows(chunk),
                game=engine_game,
                summation=computation.summation,
                n_threads=computation.n_threads,
                progress=report,
            )

        return self._reaches.over(X, game, computation.progress, compute)

    def selected_pairs(
        self, X: SparseRows, selection: NDArray[np.int64], game: Game, computation: Computation
    ) -> Float:
        """Return the pairs of selected columns, as `Function.selected_pairs` does."""

        def compute(reach: int, chunk: SparseRows, report: Report | None) -> Float:
            return selected_pairs(
                self._at(reach), chunk, selection, game, computation.reporting(report)
            )

        return self._reaches.over(X, game, computation.progress, compute)
