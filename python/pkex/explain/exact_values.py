"""Exact Shapley values of rows."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from pkex.errors import InputError, Option
from pkex.execution.backends import Workers, active_workers, ranges_of_tasks
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress, parts_of
from pkex.explain.dask_rows import on_dask_rows, open_files
from pkex.explain.problem import Problem
from pkex.functions.base import Function
from pkex.functions.row_losses import RowLosses
from pkex.games.value_functions import Game
from pkex.results.explanation import Explanation
from pkex.results.uncertainty import Uncertainty
from pkex.tables.stream import is_lazy
from pkex.typing import DaskArray, Float, Report, Rows, SparseRows

# Values that are dense at a time in a sparse result.
_MOST_DENSE = 1 << 22
# Most rows of a worker's task, which take seconds, and most values, which are eight megabytes: a
# scheduler holds the rows of several tasks per worker.
_ROWS_OF_TASK, _VALUES_OF_TASK = 4096, 1 << 20


def exact_values(
    problem: Problem, X: Any, *, uncertainty: bool | Literal["joint"], progress: Progress
) -> Explanation:
    """Explain rows, optionally with the covariances of their values, in a row or between rows."""
    is_joint = _is_joint(uncertainty)
    explained = problem.schema.read(X, keeps_sparse=not uncertainty)
    roots = spread = None
    with problem.settings.computing(progress) as how:
        if uncertainty:
            of_rows = problem.posterior.joint_roots if is_joint else problem.posterior.roots
            # Measured: covariances take two to sixty times as long as values.
            of_roots, of_values = parts_of(how.progress, 6.0, 1.0)
            roots = of_rows(explained.rows, problem.game, how.reporting(of_roots))
            how = how.reporting(of_values)
        values = computed_values(problem, problem.function, explained.rows, how)
    if roots is not None and is_joint:
        spread = Uncertainty.of_all_rows(roots, values)
    elif roots is not None:
        spread = Uncertainty.of_posterior(roots, values, problem.joint_draws(explained))
    return Explanation._of(problem.result(explained, values, spread))


def _is_joint(uncertainty: bool | Literal["joint"]) -> bool:
    """Whether to compute covariances between rows; raise an error for other words."""
    if isinstance(uncertainty, str):
        if uncertainty != "joint":
            raise ValueError(f"uncertainty must be True, False or 'joint'; got {uncertainty!r}")
        return True
    return False


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


def sparse_values(problem: Problem, X: Any, progress: Progress) -> SparseRows | list[SparseRows]:
    """Return the values of rows that are not 0, as a csr_array for each output.

    Rows are computed in blocks, so that the values of one block are dense at a time.
    """
    from scipy.sparse import csr_array, vstack

    if is_lazy(open_files(X, problem.schema.columns)):
        raise InputError(
            Option("sparse", True),
            "is for rows in memory, not for Dask collections and files",
            "omit it: their values are computed chunk by chunk",
        )
    rows, n_outputs = problem.schema.columns.read(X).rows, problem.function.n_outputs
    size = _MOST_DENSE // (problem.function.n_players * n_outputs)
    blocks = blocks_of(max(1, rows.shape[0]), size)
    found: list[list[SparseRows]] = [[] for _ in range(n_outputs)]
    with problem.settings.computing(progress) as how:
        for block, of_block in how.over(blocks):
            values = _values_of_block(problem, rows[block], block.start, of_block)
            for output, of_output in enumerate(found):
                of_output.append(csr_array(values[..., output]))
    by_output = [csr_array(vstack(of_output, format="csr")) for of_output in found]
    return by_output if problem.schema.outputs.axis_names is not None else by_output[0]


def _values_of_block(problem: Problem, block: Rows, start: int, how: Computation) -> Float:
    """Return the values of rows from a number on, shape (n, players, outputs)."""
    try:
        values = computed_values(problem, problem.function, block, how)
    except OverflowError:
        # The message names a row of the block; one row at a time, it names the row.
        for number in range(block.shape[0]):
            try:
                row = block[number : number + 1]
                computed_values(problem, problem.function, row, how)
            except OverflowError:
                raise OverflowError(
                    f"a value of row {start + number} is too large for a float"
                ) from None
        raise
    return values if problem.function.has_output_axis else values[..., None]


def _of_table(problem: Problem, X: Any, how: Computation) -> Float:
    """Return values of the rows of a table, without an output axis that goes."""
    rows = problem.schema.columns.read(X).rows
    values = computed_values(problem, problem.function, rows, how)
    return values[..., 0] if problem.schema.outputs.drops_axis else values


def computed_values(
    problem: Problem, function: Function | RowLosses, rows: Rows, how: Computation
) -> Float:
    """Return values of shape (n, players), or (n, players, outputs) with an output axis.

    If a parallel backend of joblib is active, its workers compute them in chunks of rows.

    Parameters
    ----------
    problem : Problem
    function : Function or RowLosses
        The problem's function, or its losses.
    rows : ndarray or csr_array of shape (n, d)
        Followed by their targets, for losses.
    how : Computation
    """
    game = problem.game
    workers = active_workers(problem.settings.n_jobs)
    values = None
    if workers is not None and rows.shape[0] > 1:
        one_thread = Computation(how.method, how.summation)
        try:
            on_worker = _OnWorker(function, game, one_thread)
            values = _values_by_workers(workers, on_worker, rows, how.progress)
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


def _values_by_workers(
    workers: Workers, on_worker: _OnWorker, rows: Rows, progress: Report | None
) -> Float:
    """Return values of rows, shape (n, players, outputs), in the order of the rows."""
    n_rows, of_row = rows.shape[0], on_worker.function.n_players * on_worker.function.n_outputs
    most = max(1, min(_ROWS_OF_TASK, _VALUES_OF_TASK // of_row))
    ranges = ranges_of_tasks(n_rows, workers.number, most)
    chunks = []
    with closing(workers.map(on_worker, (rows[slice(*some)] for some in ranges))) as results:
        for (_, stop), values in zip(ranges, results, strict=True):
            chunks.append(values)
            if progress is not None:
                progress(stop, n_rows)
    return np.concatenate(chunks)


def _shape_of_row(problem: Problem) -> tuple[int, ...]:
    """Return the shape of the values of one row."""
    function = problem.function
    has_axis = function.has_output_axis and not problem.schema.outputs.drops_axis
    return (function.n_players, function.n_outputs) if has_axis else (function.n_players,)
