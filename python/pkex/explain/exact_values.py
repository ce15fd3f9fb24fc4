"""Exact Shapley values of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from pkex.errors import InputError, Option
from pkex.execution.backends import active_workers, ranges_of_tasks
from pkex.execution.blocks import blocks_of
from pkex.execution.computation import Computation
from pkex.execution.progress import Progress, parts_of
from pkex.explain.dask_rows import map_dask_rows, open_files
from pkex.explain.problem import Problem
from pkex.functions.base import Function
from pkex.functions.row_losses import RowLosses
from pkex.games.value_functions import Game
from pkex.results.explanation import Explanation
from pkex.results.uncertainty import Uncertainty
from pkex.tables.stream import is_lazy
from pkex.typing import DaskArray, Float, Rows, SparseRows

# Values that are dense at a time in a sparse result.
_MAX_DENSE = 1 << 22
# Most rows of a worker's task, which take seconds, and most values, which are eight megabytes: a
# scheduler holds the rows of several tasks per worker.
_ROWS_OF_TASK, _VALUES_OF_TASK = 4096, 1 << 20
# Computes values of rows, shape (n, players), or (n, players, outputs) with an output axis.
ValuesOf: TypeAlias = Callable[[Rows, Computation], Float]


def exact_values(
    problem: Problem, X: Any, *, uncertainty: bool | Literal["joint"], progress: Progress
) -> Explanation:
    """Explain rows, optionally with the covariances of their values, in a row or between rows."""
    with computing_values(problem, problem.function) as values_of:
        return explanation_of(problem, X, values_of, uncertainty=uncertainty, progress=progress)


def explanation_of(
    problem: Problem,
    X: Any,
    values_of: ValuesOf,
    *,
    uncertainty: bool | Literal["joint"],
    progress: Progress,
) -> Explanation:
    """Explain rows as `exact_values` does, with a function that `computing_values` yields."""
    is_joint = _is_joint(uncertainty)
    explained_rows = problem.schema.read(X, keeps_sparse=not uncertainty)
    roots = spread = None
    with problem.settings.computing(progress) as computation:
        if uncertainty:
            roots_of_rows = problem.posterior.joint_roots if is_joint else problem.posterior.roots
            # Measured: covariances take two to sixty times as long as values.
            roots_progress, values_progress = parts_of(computation.progress, 6.0, 1.0)
            roots = roots_of_rows(
                explained_rows.rows, problem.game, computation.reporting(roots_progress)
            )
            computation = computation.reporting(values_progress)
        values = values_of(explained_rows.rows, computation)
    if roots is not None and is_joint:
        spread = Uncertainty.of_all_rows(roots, values)
    elif roots is not None:
        spread = Uncertainty.of_posterior(roots, values, problem.joint_draws(explained_rows))
    return Explanation._of(problem.result(explained_rows, values, spread))


def _is_joint(uncertainty: bool | Literal["joint"]) -> bool:
    """Whether to compute covariances between rows; raise an error for other words."""
    if isinstance(uncertainty, str):
        if uncertainty != "joint":
            raise ValueError(f"uncertainty must be True, False or 'joint'; got {uncertainty!r}")
        return True
    return False


def bare_values(problem: Problem, X: Any, progress: Progress) -> Float | DaskArray:
    """Return values of rows, as a lazy array for Dask collections and files."""
    X = open_files(X, problem.schema.columns)
    if is_lazy(X):
        settings = problem.settings
        one_thread = Computation(settings.method, settings.summation)
        chunk_values = partial(_compute_table, problem, computation=one_thread)
        columns, shape = problem.schema.columns, _shape_of_row(problem)
        lazy: DaskArray = map_dask_rows(chunk_values, X, columns, shape)
        return lazy
    with problem.settings.computing(progress) as computation:
        return _compute_table(problem, X, computation)


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
    size = _MAX_DENSE // (problem.function.n_players * n_outputs)
    blocks = blocks_of(max(1, rows.shape[0]), size)
    arrays_by_output: list[list[SparseRows]] = [[] for _ in range(n_outputs)]
    with (
        problem.settings.computing(progress) as computation,
        computing_values(problem, problem.function) as values_of,
    ):
        for block, part_computation in computation.over(blocks):
            values = _values_of_block(values_of, rows[block], block.start, part_computation)
            if not problem.function.has_output_axis:
                values = values[..., None]
            for output, arrays in enumerate(arrays_by_output):
                arrays.append(csr_array(values[..., output]))
    results = [csr_array(vstack(arrays, format="csr")) for arrays in arrays_by_output]
    return results if problem.schema.outputs.axis_names is not None else results[0]


def _values_of_block(
    values_of: ValuesOf, block: Rows, start: int, computation: Computation
) -> Float:
    """Return the values of rows from a number on."""
    try:
        return values_of(block, computation)
    except OverflowError:
        # The message names a row of the block; one row at a time, it names the row.
        for number in range(block.shape[0]):
            try:
                values_of(block[number : number + 1], computation)
            except OverflowError:
                raise OverflowError(
                    f"a value of row {start + number} is too large for a float"
                ) from None
        raise


def _compute_table(problem: Problem, X: Any, computation: Computation) -> Float:
    """Return values of the rows of a table, without an output axis that goes."""
    rows = problem.schema.columns.read(X).rows
    values = compute_values(problem, problem.function, rows, computation)
    return values[..., 0] if problem.schema.outputs.drops_axis else values


def compute_values(
    problem: Problem, function: Function | RowLosses, rows: Rows, computation: Computation
) -> Float:
    """Return values of shape (n, players), or (n, players, outputs) with an output axis.

    Parameters
    ----------
    problem : Problem
    function : Function or RowLosses
        The problem's function, or its losses.
    rows : ndarray or csr_array of shape (n, d)
        Followed by their targets, for losses.
    computation : Computation
    """
    with computing_values(problem, function) as values_of:
        return values_of(rows, computation)


@contextmanager
def computing_values(problem: Problem, function: Function | RowLosses) -> Iterator[ValuesOf]:
    """Yield a function that computes values of rows, for several blocks of them.

    If a parallel backend of joblib is active, its workers receive the function once, and compute
    values in chunks of rows.
    """
    values_of, settings = _Values(function, problem.game), problem.settings
    workers = active_workers(settings.n_jobs)
    if workers is None:
        yield values_of
        return
    one_thread = Computation(settings.method, settings.summation)
    with workers.sending(partial(values_of, computation=one_thread)) as results:

        def compute_in_workers(rows: Rows, computation: Computation) -> Float:
            if rows.shape[0] < 2:
                return values_of(rows, computation)
            ranges = ranges_of_tasks(rows.shape[0], workers.number, _rows_of_task(function))
            chunks = []
            try:
                with closing(results(rows[slice(*bounds)] for bounds in ranges)) as all_values:
                    for (_, stop), values in zip(ranges, all_values, strict=True):
                        chunks.append(values)
                        computation.report(stop, rows.shape[0])
            except OverflowError:
                # The message names a row of the chunk; computed again, it names one of all rows.
                return values_of(rows, computation)
            return np.concatenate(chunks)

        yield compute_in_workers


@dataclass(frozen=True)
class _Values:
    """Computes the values of rows in this process."""

    function: Function | RowLosses
    game: Game

    def __call__(self, rows: Rows, computation: Computation) -> Float:
        values = self.function.explain(rows, game=self.game, computation=computation)
        return values if self.function.has_output_axis else values[..., 0]


def _rows_of_task(function: Function | RowLosses) -> int:
    """Return the most rows of a worker's task."""
    return max(1, min(_ROWS_OF_TASK, _VALUES_OF_TASK // (function.n_players * function.n_outputs)))


def _shape_of_row(problem: Problem) -> tuple[int, ...]:
    """Return the shape of the values of one row."""
    function = problem.function
    has_axis = function.has_output_axis and not problem.schema.outputs.drops_axis
    return (function.n_players, function.n_outputs) if has_axis else (function.n_players,)
