"""The output of a command as a table, JSON, CSV, Parquet, Markdown or an HTML page."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pkex.cli.errors import CommandError, flush, missing_libraries, reason
from pkex.inputs.wording import counted
from pkex.results.files import write_whole
from pkex.results.page import page
from pkex.results.report import PageContent, ReportTable
from pkex.results.tables import align_columns, shortened

# The largest number of lines in a table, and the width of text.
_MAX_LINES, _WIDTH = 25, 100

_SUFFIXES = {
    ".txt": "table",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
}


@dataclass(frozen=True, eq=False)
class CommandOutput:
    """The output of a command.

    Parameters
    ----------
    content : callable
        Returns the content of tables and pages.
    record : mapping
        The output as JSON: numbers, texts, lists and mappings.
    lines : sequence of mapping
        The lines of CSV and Parquet files: one for each feature or row, with the same keys.
    conclusion : str
        The conclusion in one or two sentences.
    """

    content: Callable[[], PageContent]
    record: Mapping[str, Any]
    lines: Sequence[Mapping[str, Any]]
    conclusion: str


def write_output(output: CommandOutput, kind: str, path: Path | None) -> None:
    """Write an output to a file, atomically, or to standard output.

    Raises
    ------
    CommandError
        If the file cannot be written.
    """
    content = FORMATS[kind](output)
    if isinstance(content, str) and (path is None or _is_standard_output(path)):
        # Names of files may not be UTF-8: other bytes are escaped, as in JSON.
        text = content.encode("utf-8", "backslashreplace").decode()
        _write_standard(text, is_for_machines=kind != "table")
        return
    assert path is not None, "check_output requires a file for bytes"
    with output_file(path, output.conclusion):
        write_whole(path, content)


@contextmanager
def output_file(path: Path, conclusion: str) -> Iterator[None]:
    """Write a file, and then the conclusion and the path to standard output.

    Raises
    ------
    CommandError
        If the file cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {reason(error)}") from None
    if sys.stdout is not None:
        _write_standard(f"{conclusion}\nwritten: {path}\n", is_for_machines=False)


def format_of(kind: str | None, path: Path | None) -> str:
    """Return the format of ``--format``, or else of the file's extension.

    Raises
    ------
    CommandError
        If the extension is unknown, or the format requires a file or a library that is missing.
    """
    suffix = "" if path is None else path.suffix.lower()
    if kind is None and suffix and suffix not in _SUFFIXES:
        raise CommandError(
            f"--output {path} has the unknown extension {suffix!r}. Use one of "
            f"{', '.join(_SUFFIXES)}, or pass --format"
        )
    kind = kind or _SUFFIXES.get(suffix, "table")
    if kind == "parquet":
        if path is None or _is_standard_output(path):
            raise CommandError("--format parquet requires a file, such as --output values.parquet")
        with missing_libraries("writing Parquet files", "pyarrow"):
            import_module("pyarrow.parquet")
    return kind


def _is_standard_output(path: Path) -> bool:
    """Whether a file, such as /dev/stdout, is standard output."""
    try:
        return sys.stdout is not None and os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


def _write_standard(text: str, *, is_for_machines: bool) -> None:
    """Write to standard output; ignore a reader that has closed the pipe."""
    if sys.stdout is None:
        raise CommandError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        if is_for_machines:
            sys.stdout.reconfigure(encoding="utf-8")
        else:
            # A terminal may lack characters such as ².
            sys.stdout.reconfigure(errors="replace")
    with suppress(BrokenPipeError):
        flush(text)


def _table(output: CommandOutput) -> str:
    content = output.content()
    parts = [content.title, "", *_wrap(content.conclusion)]
    for table in content.tables:
        parts += ["", *_lines_of(table)]
    parts += ["", *(f"{name}: {text}" for name, text in content.settings.items())]
    for note in content.notes:
        parts += _wrap(f"note: {note}", subsequent_indent="  ")
    return "\n".join(parts) + "\n"


def _wrap(text: str, subsequent_indent: str = "") -> list[str]:
    """Return lines of text; percent signs stay behind their numbers."""
    joined_text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(joined_text, _WIDTH, subsequent_indent=subsequent_indent)
    return [line.replace("\N{NO-BREAK SPACE}%", " %") for line in lines]


def _lines_of(table: ReportTable) -> list[str]:
    columns = table.cells(_MAX_LINES)
    columns[0] = [shortened(text) for text in columns[0]]
    n_left = len(table) - _MAX_LINES
    last_lines = [f"({counted(n_left, 'more line')}: --format csv)"] if n_left > 0 else []
    return [f"{table.caption}:", *align_columns(columns), *last_lines]


def _markdown(output: CommandOutput) -> str:
    content = output.content()
    parts = [f"# {_plain(content.title)}", _plain(content.conclusion)]
    for table in content.tables:
        columns = table.cells()
        lines = [" | ".join(map(_plain, line)) for line in zip(*columns, strict=True)]
        lines.insert(1, " | ".join([":--", *["--:"] * (len(columns) - 1)]))
        parts += [f"{_plain(table.caption)}:", "\n".join(f"| {line} |" for line in lines)]
    if content.notes:
        parts.append("\n".join(f"- {_plain(note)}" for note in content.notes))
    parts += ["## How to read it", *map(_plain, content.reading), "## What was computed"]
    parts.append("\n".join(f"- {_plain(n)}: {_plain(t)}" for n, t in content.settings.items()))
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Return a text on one line, with the special characters of Markdown escaped."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in "|*_`[]#":
        line = line.replace(sign, f"\\{sign}")
    return line


def _json(output: CommandOutput) -> str:
    record = _finite(output.record)
    return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(item: Any) -> Any:
    """Return plain types, with None (null) for numbers that are not finite."""
    if isinstance(item, Mapping):
        return {str(key): _finite(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_finite(value) for value in item]
    return None if isinstance(item, float) and not math.isfinite(item) else item


def _csv(output: CommandOutput) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    lines = [_finite(line) for line in output.lines]
    writer.writerow(lines[0].keys())
    writer.writerows(line.values() for line in lines)
    return text.getvalue()


def _parquet(output: CommandOutput) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    content = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([_finite(line) for line in output.lines]), content)
    return content.getvalue()


FORMATS: dict[str, Callable[[CommandOutput], str | bytes]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "markdown": _markdown,
    "html": lambda output: page(output.content()),
}
