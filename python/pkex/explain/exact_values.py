"""Exact Shapley values of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pkex.execution.backends import active_workers
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress
from pkex.explain.dask_rows import on_dask_rows, open_files
from pkex.explain.problem import Problem
from pkex.functions.base import Function
from pkex.functions.row_losses import RowLosses
from pkex.games.value_functions import Game
from pkex.results.explanation import Explanation
from pkex.results.uncertainty import Uncertainty
from pkex.tables.stream import is_lazy
from pkex.typing import DaskArray, Float

__all__ = ["bare_values", "computed_values", "exact_values"]

# Chunks of rows per worker of joblib: several, so that slow workers can compute fewer of them.
_OF_WORKER = 4


def exact_values(problem: Problem, X: Any, *, uncertainty: bool, progress: Progress) -> Explanation:
    """Explain rows, optionally with the covariances of their values."""
    explained = problem.schema.read(X)
    roots = spread = None
    with problem.settings.computing(progress) as how:
        if uncertainty:
            roots = problem.posterior.roots(explained.rows, problem.game, how.part(0, 2))
            how = how.part(1, 2)
        values = computed_values(problem, problem.function, explained.rows, how)
    if roots is not None:
        spread = Uncertainty.of_posterior(roots, values, problem.joint_draws(explained))
    return Explanation._of(problem.result(explained, values, spread))


def bare_values(problem: Problem, X: Any, progress: Progress) -> Float | DaskArray:
    """Return values of rows; those of Dask's collections and of files when they are computed."""
    X = open_files(X, problem.schema.columns)
    if is_lazy(X):
        settings = problem.settings
        one_thread = Computation(settings.method, settings.summation)
        of_chunk = partial(_of_table, problem, how=one_thread)
        lazy: DaskArray = on_dask_rows(of_chunk, X, problem.schema.columns, _shape_of_row(problem))
        return lazy
    with problem.settings.computing(progress) as how:
        return _of_table(problem, X, how)


def _of_table(problem: Problem, X: Any, how: Computation) -> Float:
    """Return values of the rows of a table, without an output axis that goes."""
    rows = problem.schema.columns.read(X).rows
    values = computed_values(problem, problem.function, rows, how)
    return values[..., 0] if problem.schema.outputs.drops_axis else values


def computed_values(
    problem: Problem, function: Function | RowLosses, rows: Float, how: Computation
) -> Float:
    """Return values of shape (n, players), or (n, players, outputs) with an output axis.

    If a parallel backend of joblib is active, its workers compute them in chunks of rows.

    Parameters
    ----------
    problem : Problem
    function : Function or RowLosses
        The problem's function, or its losses.
    rows : ndarray of shape (n, d)
        Followed by their targets, for losses.
    how : Computation
    """
    game = problem.game
    workers = active_workers(problem.settings.n_jobs)
    n_chunks = 1 if workers is None else min(len(rows), _OF_WORKER * workers.number)
    values = None
    if workers is not None and n_chunks > 1:
        one_thread = Computation(how.method, how.summation)
        try:
            chunks = np.array_split(rows, n_chunks)
            values = np.concatenate(workers.map(_OnWorker(function, game, one_thread), chunks))
        except OverflowError:
            # The message names a row of the chunk; computed again, it names one of all rows.
            values = None
    if values is None:
        values = function.explain(rows, game=game, how=how)
    return values if function.has_output_axis else values[..., 0]


@dataclass(frozen=True)
class _OnWorker:
    """The values of chunks of rows, computed by one thread."""

    function: Function | RowLosses
    game: Game
    how: Computation

    def __call__(self, rows: Any) -> Float:
        return self.function.explain(rows, game=self.game, how=self.how)


def _shape_of_row(problem: Problem) -> tuple[int, ...]:
    """Return the shape of the values of one row."""
    function = problem.function
    has_axis = function.has_output_axis and not problem.schema.outputs.drops_axis
    return (function.n_players, function.n_outputs) if has_axis else (function.n_players,)
