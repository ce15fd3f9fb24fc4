"""What a command found, written as a table, JSON, CSV, Parquet, Markdown or a page."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pkex.cli.errors import Failure, flush, needing, reason
from pkex.inputs.wording import counted
from pkex.results.files import write_whole
from pkex.results.page import page
from pkex.results.report import PageContent, ReportTable
from pkex.results.tables import aligned, shortened

__all__ = ["FORMATS", "Answer", "format_of", "present"]

# Lines of a table that is shown, and the width of text.
_MOST_LINES, _WIDTH = 25, 100

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
class Answer:
    """What a command found.

    Parameters
    ----------
    findings : callable
        Returns them, for tables and pages.
    record : mapping
        For JSON: numbers, texts, lists and mappings.
    lines : sequence of mapping
        For CSV and Parquet: one for each feature, or row, with the same keys.
    verdict : str
        In a sentence or two.
    """

    findings: Callable[[], PageContent]
    record: Mapping[str, Any]
    lines: Sequence[Mapping[str, Any]]
    verdict: str


def present(answer: Answer, kind: str, output: Path | None) -> None:
    """Write an answer to a file, whole or not at all, or to standard output.

    Raises
    ------
    Failure
        If the file cannot be written.
    """
    content = FORMATS[kind](answer)
    if isinstance(content, str) and (output is None or _is_standard_output(output)):
        # Names of files need not be UTF-8: what is none is escaped, as JSON has it.
        text = content.encode("utf-8", "backslashreplace").decode()
        _write_standard(text, is_for_machines=kind != "table")
        return
    assert output is not None, "check_output requires a file for bytes"
    try:
        write_whole(output, content)
    except OSError as error:
        raise Failure(f"{output} cannot be written: {reason(error)}") from None
    if sys.stdout is not None:
        _write_standard(f"{answer.verdict}\nwritten: {output}\n", is_for_machines=False)


def format_of(kind: str | None, output: Path | None) -> str:
    """Return the format: the one of ``--format``, or the one that the file's extension stands for.

    Raises
    ------
    Failure
        If the extension is unknown, or the format needs a file or a library that is missing.
    """
    suffix = "" if output is None else output.suffix.lower()
    if kind is None and suffix and suffix not in _SUFFIXES:
        raise Failure(
            f"--output {output} has the unknown extension {suffix!r}; use one of "
            f"{', '.join(_SUFFIXES)}, or choose the format with --format"
        )
    kind = kind or _SUFFIXES.get(suffix, "table")
    if kind == "parquet":
        if output is None or _is_standard_output(output):
            raise Failure("--format parquet needs a file, such as --output values.parquet")
        with needing("writing Parquet files", "pyarrow"):
            import_module("pyarrow.parquet")
    return kind


def _is_standard_output(output: Path) -> bool:
    """Whether a file, such as /dev/stdout, is where standard output goes."""
    try:
        return sys.stdout is not None and os.path.samestat(output.stat(), os.fstat(1))
    except OSError:
        return False


def _write_standard(text: str, *, is_for_machines: bool) -> None:
    """Write to standard output, which nobody may be reading any more."""
    if sys.stdout is None:
        raise Failure("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        if is_for_machines:
            sys.stdout.reconfigure(encoding="utf-8")
        else:
            # A terminal may lack letters such as ².
            sys.stdout.reconfigure(errors="replace")
    with suppress(BrokenPipeError):
        flush(text)


def _table(answer: Answer) -> str:
    findings = answer.findings()
    parts = [findings.title, "", *_wrapped(findings.conclusion)]
    for table in findings.tables:
        parts += ["", *_lines_of(table)]
    parts += ["", *(f"{name}: {text}" for name, text in findings.computed.items())]
    for note in findings.notes:
        parts += _wrapped(f"note: {note}", subsequent_indent="  ")
    return "\n".join(parts) + "\n"


def _wrapped(text: str, subsequent_indent: str = "") -> list[str]:
    """Return lines, none of which begins with a percent sign."""
    tied = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(tied, _WIDTH, subsequent_indent=subsequent_indent)
    return [line.replace("\N{NO-BREAK SPACE}%", " %") for line in lines]


def _lines_of(table: ReportTable) -> list[str]:
    columns = table.cells(_MOST_LINES)
    columns[0] = [shortened(text) for text in columns[0]]
    return [f"{table.caption}:", *aligned(columns), *_rest(table)]


def _rest(table: ReportTable) -> list[str]:
    left_out = len(table) - _MOST_LINES
    return [f"({counted(left_out, 'more line')}: --format csv)"] if left_out > 0 else []


def _markdown(answer: Answer) -> str:
    findings = answer.findings()
    parts = [f"# {_plain(findings.title)}", _plain(findings.conclusion)]
    for table in findings.tables:
        columns = table.cells()
        lines = [" | ".join(map(_plain, line)) for line in zip(*columns, strict=True)]
        lines.insert(1, " | ".join([":--", *["--:"] * (len(columns) - 1)]))
        parts += [f"{_plain(table.caption)}:", "\n".join(f"| {line} |" for line in lines)]
    if findings.notes:
        parts.append("\n".join(f"- {_plain(note)}" for note in findings.notes))
    parts += ["## How to read it", *map(_plain, findings.reading), "## What was computed"]
    parts.append("\n".join(f"- {_plain(n)}: {_plain(t)}" for n, t in findings.computed.items()))
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in "|*_`[]#":
        line = line.replace(sign, f"\\{sign}")
    return line


def _json(answer: Answer) -> str:
    return json.dumps(_finite(answer.record), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(item: Any) -> Any:
    """Return plain types, with nothing (null) for what is no finite number."""
    if isinstance(item, Mapping):
        return {str(key): _finite(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_finite(value) for value in item]
    return None if isinstance(item, float) and not math.isfinite(item) else item


def _csv(answer: Answer) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    lines = [_finite(line) for line in answer.lines]
    writer.writerow(lines[0].keys())
    writer.writerows(line.values() for line in lines)
    return text.getvalue()


def _parquet(answer: Answer) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    content = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([_finite(line) for line in answer.lines]), content)
    return content.getvalue()


FORMATS: dict[str, Callable[[Answer], str | bytes]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "markdown": _markdown,
    "html": lambda answer: page(answer.findings()),
}
