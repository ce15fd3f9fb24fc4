"""Values of many rows, written to a Parquet file chunk by chunk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pkex.errors import InputError, Option
from pkex.execution.progress import Progress, reporting
from pkex.explain.exact_values import computing_values, explanation_of
from pkex.explain.problem import Problem
from pkex.inputs.optional import missing_library
from pkex.results.explanation import Explanation
from pkex.results.files import replacing
from pkex.results.value_columns import value_columns
from pkex.tables.parquet_files import ParquetFiles
from pkex.tables.stream import counted_from
from pkex.typing import Report

# The largest number of rows of a chunk, and of its values, of which computations hold a few copies.
_ROWS, _VALUES = 1 << 15, 1 << 21


def write_values_of_files(
    problem: Problem, X: Any, path: str | os.PathLike[str], *, uncertainty: bool, progress: Progress
) -> None:
    """Write the values of the rows of Parquet files."""
    if not isinstance(X, str | os.PathLike):
        raise TypeError(
            "X must be the path of a Parquet file, or of a directory of them; got "
            f"{type(X).__name__}. For rows in memory, call the explainer"
        )
    files = ParquetFiles(X, "X")
    if not files.n_rows:
        raise InputError("X", "is empty: it has 0 rows")
    _check_path(path, X, files.files)
    model_names = problem.schema.columns.compared
    columns = files.names
    if model_names is not None and set(model_names) <= set(columns):
        columns = model_names
    chunks = files.batches(rows_at_once(problem, uncertainty=uncertainty), columns)
    write_values(problem, chunks, files.n_rows, path, uncertainty=uncertainty, progress=progress)


def rows_at_once(problem: Problem, *, uncertainty: bool) -> int:
    """Return the number of rows of a chunk, so that its values take some megabytes."""
    function = problem.function
    n_values = function.n_players * function.n_outputs
    return max(1, min(_ROWS, _VALUES // (n_values * (function.n_players if uncertainty else 1))))


def write_values(
    problem: Problem,
    chunks: Iterable[Any],
    n_rows: int,
    path: str | os.PathLike[str],
    *,
    uncertainty: bool,
    progress: Progress,
) -> None:
    """Write the values of rows to a Parquet file, which replaces the file at a path at the end.

    Parameters
    ----------
    problem : Problem
    chunks : iterable of tables
        The rows in chunks.
    n_rows : int
        The number of all rows.
    path : path
    uncertainty : bool
        Whether to write posterior standard deviations of the values as well.
    progress : bool or callable
        A callable receives the number of rows done and of all rows.
    """
    start = 0
    with (
        reporting(progress, unit="rows") as report,
        computing_values(problem, problem.function) as values_of,
        _open_writer(path) as write,
    ):
        for chunk in chunks:
            chunk_report = (
                None if report is None else _report_of_chunk(report, start, len(chunk), n_rows)
            )
            with counted_from(start), _overflow_in(start, len(chunk)):
                explanation = explanation_of(
                    problem,
                    chunk,
                    values_of,
                    uncertainty=uncertainty,
                    progress=chunk_report or False,
                )
            write(explanation, start)
            start += len(chunk)


def _report_of_chunk(report: Report, start: int, n_chunk: int, n_rows: int) -> Report:
    """Return a function for a chunk of rows that reports the number of rows done."""

    def report_rows(done: int, total: int) -> None:
        report(start + n_chunk * done // total, n_rows)

    return report_rows


@contextmanager
def _overflow_in(start: int, n_chunk: int) -> Iterator[None]:
    """Name the rows of a chunk if a value is too large: messages count rows from its first."""
    try:
        yield
    except OverflowError:
        raise OverflowError(
            f"a value of rows {start} to {start + n_chunk - 1} is too large for a float. Explain "
            "these rows by calling the explainer, to find the row"
        ) from None


@contextmanager
def _open_writer(path: str | os.PathLike[str]) -> Iterator[Callable[[Explanation, int], None]]:
    """Yield a function that writes the values of rows from a number on."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise missing_library("writing Parquet files", "pyarrow", "parquet") from error
    with replacing(path) as temporary_path:
        file: Any = None

        def write(explanation: Explanation, start: int) -> None:
            nonlocal file
            columns = value_columns(explanation._rows, start)
            table = pa.table({name: pa.array(column) for name, column in columns.items()})
            if file is None:
                file = parquet.ParquetWriter(temporary_path, table.schema)
            file.write_table(table)

        try:
            yield write
        finally:
            if file is not None:
                file.close()


def _check_path(path: Any, rows: str | os.PathLike[str], files: list[Path]) -> None:
    """Raise an error if no file can be written, or if it would be a file that is read."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be the path of a file to write; got {type(path).__name__}")
    place = Path(path)
    option = Option("path", os.fspath(path))
    if place.exists() and not place.is_file():
        raise InputError(option, "is not a regular file", "pass the path of a file to write")
    if place.exists() and any(place.samefile(file) for file in files):
        raise InputError(option, "would replace the file that is read", "pass another path")
    if not place.absolute().parent.is_dir():
        raise InputError(option, "is in a directory that does not exist", "make the directory")
    if place.suffix == ".parquet" and Path(rows).resolve() in place.resolve().parents:
        raise InputError(
            option,
            "is in the directory that is read, so that the next call would read it",
            "pass a path outside of it",
        )
