"""Options that several commands have."""

from __future__ import annotations

import argparse
import csv
import math
import re
import sys
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from pkex.cli.command_output import FORMATS, format_of
from pkex.cli.errors import CommandError
from pkex.cli.file_bytes import STANDARD_INPUT
from pkex.cli.tables import TableOptions
from pkex.execution.progress import duration
from pkex.inputs.choices import ESTIMATORS, SAMPLED_ESTIMATORS, Estimator
from pkex.tables.encode import MISSING

# The largest number of rows whose pairs are all compared by default, and the number for "all".
_DEFAULT_SAMPLE, _ALL = 10_000, sys.maxsize
# The largest number of digits of an integer.
_MAX_DIGITS = 18
# Units of time, in seconds.
_UNITS = {"s": 1, "min": 60, "h": 3600}


def as_names(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas; a name with a comma is quoted."""
    try:
        names = tuple(name for name in next(csv.reader([text], strict=True), []) if name)
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error}") from None
    if not names:
        raise argparse.ArgumentTypeError("must be names of columns, separated by commas")
    return names


def add_table(parser: argparse.ArgumentParser, *, columns: str) -> None:
    """Add options of reading tables; `columns` describes the columns that are read."""
    group = parser.add_argument_group("tables")
    for option, text in (
        ("--columns", f"{columns} (default: all)"),
        ("--exclude", "columns to leave out"),
        ("--categorical", "columns whose numbers are categories"),
    ):
        group.add_argument(
            option, type=as_names, action="extend", default=[], metavar="A,B,…", help=text
        )
    group.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="D",
        help="delimiter of CSV: one character, or 'tab' (default: ',')",
    )
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        help="decimal separator of CSV (default: '.')",
    )


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Add the option for missing values."""
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default="error",
        help="missing numbers and dates: an error, or replaced by the median, with an additional "
        "column that indicates them; missing categories are a category (default: %(default)s)",
    )


def fix_of_missing(options: argparse.Namespace) -> str | None:
    """Return the fix for missing values if they are an error, otherwise None."""
    if options.missing != "error":
        return None
    return "Fill it, remove it, or pass --missing indicator"


def add_test(parser: argparse.ArgumentParser, estimator: Estimator) -> None:
    """Add the estimator and the settings of a permutation test."""
    group = parser.add_argument_group("test")
    group.add_argument(
        "--estimator",
        choices=[*ESTIMATORS, *SAMPLED_ESTIMATORS],
        default=estimator,
        help="incomplete and block compare random pairs of rows, for tables that are too large for "
        "the others (default: %(default)s)",
    )
    group.add_argument(
        "--budget",
        type=_budget,
        metavar="PAIRS",
        help="for incomplete and block: the largest number of pairs of rows, such as 1e8, or the "
        "approximate time, such as 90s or 5min",
    )
    group.add_argument(
        "--alpha",
        type=_level,
        default=0.05,
        metavar="α",
        help="level of the test (default: %(default)s)",
    )
    group.add_argument(
        "--permutations",
        type=as_count,
        default=999,
        metavar="B",
        help="number of permutations for p-values (default: %(default)s)",
    )
    group.add_argument(
        "--sample",
        type=_sample,
        metavar="N",
        help="the largest number of rows of a table, drawn at random, or 'all' (default: "
        f"{_DEFAULT_SAMPLE}, because time grows as its square; all for incomplete and block)",
    )
    add_seed(group)


def add_seed(group: argparse._ActionsContainer) -> None:
    """Add the seed of random numbers."""
    group.add_argument(
        "--seed",
        type=as_count,
        default=0,
        metavar="S",
        help="seed of random numbers (default: %(default)s)",
    )


def most_rows(options: argparse.Namespace) -> int:
    """Return the largest number of rows of a table that are used."""
    default = _ALL if options.estimator in SAMPLED_ESTIMATORS else _DEFAULT_SAMPLE
    max_rows: int = options.sample or default
    return max_rows


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the format and the file of the output."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=[*FORMATS],
        help="default: the format of the extension of --output, otherwise table",
    )
    group.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="file, which is written atomically (default: standard output)",
    )


def check_output(options: argparse.Namespace, *inputs: str | None) -> str:
    """Return the format, after checks of the options that precede the computation.

    Raises
    ------
    CommandError
        If the output cannot be written, or would replace an input; if its extension is unknown; or
        if two inputs are standard input.
    """
    if inputs.count(STANDARD_INPUT) > 1:
        raise CommandError("only one file can be standard input, '-'")
    output: Path | None = options.output
    if output is not None:
        if output.is_dir() or not output.absolute().parent.is_dir():
            what = "is a directory" if output.is_dir() else "is in a directory that does not exist"
            raise CommandError(f"--output {output} {what}")
        if output.exists() and any(i and Path(i).exists() and output.samefile(i) for i in inputs):
            raise CommandError(f"--output {output} would replace the file that is read")
    return format_of(options.format, output)


def table_options(options: argparse.Namespace) -> TableOptions:
    """Return the options of reading tables."""
    return TableOptions(
        tuple(options.columns),
        tuple(options.categorical),
        options.delimiter,
        options.decimal,
        excluded_columns=tuple(options.exclude),
    )


class Progress:
    """Progress in percent, on one line of standard error.

    Parameters
    ----------
    unit : str, optional
        The unit of the work, such as "rows": the line then also has the work per second and the
        remaining time.
    """

    def __init__(self, unit: str | None = None) -> None:
        self._unit, self._line, self._start = unit, "", time.monotonic()

    @classmethod
    def for_terminal(cls, unit: str | None = None) -> Progress | bool:
        """Return a Progress if standard error is a terminal, otherwise False."""
        return cls(unit) if sys.stderr is not None and sys.stderr.isatty() else False

    def __call__(self, done: int, total: int) -> None:
        """Show the progress after half a second, and remove it at the end."""
        seconds = time.monotonic() - self._start
        text = f"pkex: {100.0 * done / total:3.0f} %"
        if self._unit is not None and done and seconds > 0.0:
            unit, remaining_time = self._unit, duration(seconds * (total - done) / done)
            text += f" of {total:,} {unit}, {done / seconds:,.0f} {unit}/s, {remaining_time} left"
        if done >= total:
            sys.stderr.write(f"\r{' ' * len(self._line)}\r" if self._line else "")
            self._line = ""
        elif text != self._line and seconds > 0.5:
            # A shorter text is followed by spaces, which cover the end of a longer one.
            sys.stderr.write(f"\r{text:<{len(self._line)}}")
            self._line = f"{text:<{len(self._line)}}"
        sys.stderr.flush()


def _level(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, such as 0.05; got {text!r}")
    return value


def as_count(text: str) -> int:
    """Return a non-negative integer."""
    if not (text.isascii() and text.isdecimal()) or len(text) > _MAX_DIGITS:
        raise argparse.ArgumentTypeError(
            f"must be a non-negative integer, such as 0 or 999; got {text!r}"
        )
    return int(text)


def _budget(text: str) -> int | timedelta:
    duration = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(s|min|h)", text)
    budget: int | timedelta = 0
    if duration is not None:
        budget = timedelta(seconds=float(duration[1]) * _UNITS[duration[2]])
    elif re.fullmatch(r"[0-9]{1,18}|[0-9](\.[0-9]{1,9})?e1?[0-9]", text):
        budget = int(Decimal(text))
    if not budget:
        raise argparse.ArgumentTypeError(
            "must be a number of pairs, such as 100000000 or 1e8, or a time, such as 90s, 5min or "
            f"2h; got {text!r}"
        )
    return budget


def _sample(text: str) -> int:
    if text == "all":
        return _ALL
    value = int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else 0
    if value < 2:
        raise argparse.ArgumentTypeError(f"must be an integer from 2 on, or 'all'; got {text!r}")
    return value


def _delimiter(text: str) -> str:
    delimiter = "\t" if text in ("tab", "\\t") else text
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one character, or 'tab'; got {text!r}")
    return delimiter
