"""Options that commands share."""

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
from pkex.cli.errors import Failure
from pkex.cli.file_bytes import STANDARD_INPUT
from pkex.cli.tables import TableOptions
from pkex.inputs.choices import ESTIMATORS, SAMPLED_ESTIMATORS, Estimator
from pkex.tables.encode import MISSING

__all__ = [
    "Progress",
    "add_missing",
    "add_output",
    "add_seed",
    "add_table",
    "add_test",
    "check_output",
    "count",
    "most_rows",
    "names",
    "remedy_of_missing",
    "table_options",
]

# Rows of a table whose pairs are all compared, and what stands for all rows.
_DEFAULT_SAMPLE, _ALL = 10_000, sys.maxsize
# Of a whole number.
_MOST_DIGITS = 18
# In seconds.
_UNITS = {"s": 1, "min": 60, "h": 3600}


def names(text: str) -> tuple[str, ...]:
    """Return the names that a text divides by commas; one with a comma stands in quotes."""
    try:
        found = tuple(name for name in next(csv.reader([text], strict=True), []) if name)
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be read: {error}") from None
    if not found:
        raise argparse.ArgumentTypeError("names of columns, divided by commas, are needed")
    return found


def add_table(parser: argparse.ArgumentParser, *, chosen: str) -> None:
    """Add how tables are read."""
    group = parser.add_argument_group("tables")
    group.add_argument(
        "--columns",
        type=names,
        action="extend",
        default=[],
        metavar="A,B,…",
        help=f"{chosen} (default: all)",
    )
    group.add_argument(
        "--exclude",
        type=names,
        action="extend",
        default=[],
        metavar="A,B,…",
        help="columns to leave out",
    )
    group.add_argument(
        "--categorical",
        type=names,
        action="extend",
        default=[],
        metavar="A,B,…",
        help="columns whose numbers are labels",
    )
    group.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="D",
        help="what divides the fields of CSV: one letter, or 'tab' (default: ',')",
    )
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        help="what the fraction of a number begins with in CSV (default: '.')",
    )


def add_missing(parser: argparse.ArgumentParser) -> None:
    """Add what is done about missing entries."""
    parser.add_argument(
        "--missing",
        choices=MISSING,
        default="error",
        help="missing numbers and dates: an error, or the median in their place and beside it "
        "which are missing; missing labels are a label (default: %(default)s)",
    )


def remedy_of_missing(options: argparse.Namespace) -> str | None:
    """Return what to do about missing entries where they are an error, else None."""
    if options.missing != "error":
        return None
    return "fill it, or leave it out, or give --missing indicator"


def add_test(parser: argparse.ArgumentParser, estimator: Estimator) -> None:
    """Add which pairs of rows are compared, and the settings of a test by permutations."""
    group = parser.add_argument_group("test")
    group.add_argument(
        "--estimator",
        choices=[*ESTIMATORS, *SAMPLED_ESTIMATORS],
        default=estimator,
        help="incomplete and block compare some pairs of rows, chosen at random, of tables that "
        "have too many for the others (default: %(default)s)",
    )
    group.add_argument(
        "--budget",
        type=_budget,
        metavar="PAIRS",
        help="of these two: pairs of rows to compare at most, such as 1e8, or about the time that "
        "it may take, such as 90s or 5min",
    )
    group.add_argument(
        "--alpha",
        type=_level,
        default=0.05,
        metavar="α",
        help="level of the test: how often it may find what is not there (default: %(default)s)",
    )
    group.add_argument(
        "--permutations",
        type=count,
        default=999,
        metavar="B",
        help="relabellings for p-values (default: %(default)s)",
    )
    group.add_argument(
        "--sample",
        type=_sample,
        metavar="N",
        help="rows of a table to use at most, drawn at random, or 'all' (default: "
        f"{_DEFAULT_SAMPLE}, as time grows as their square; all of incomplete and block)",
    )
    add_seed(group)


def add_seed(group: argparse._ActionsContainer) -> None:
    """Add the seed of what is random."""
    group.add_argument(
        "--seed",
        type=count,
        default=0,
        metavar="S",
        help="of all that is random (default: %(default)s)",
    )


def most_rows(options: argparse.Namespace) -> int:
    """Return how many rows of a table are used at most."""
    default = _ALL if options.estimator in SAMPLED_ESTIMATORS else _DEFAULT_SAMPLE
    most: int = options.sample or default
    return most


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add how, and where, the answer is written."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format",
        choices=[*FORMATS],
        help="default: the one that the extension of --output stands for, else table",
    )
    group.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="written whole or not at all (default: standard output)",
    )


def check_output(options: argparse.Namespace, *inputs: str | None) -> str:
    """Return the format, before anything is computed in vain.

    Raises
    ------
    Failure
        If the output cannot be written, or would replace an input; if its extension is unknown; or
        if two inputs are standard input.
    """
    if inputs.count(STANDARD_INPUT) > 1:
        raise Failure("only one file can be standard input, '-'")
    output: Path | None = options.output
    if output is not None:
        if output.is_dir() or not output.absolute().parent.is_dir():
            what = "is a directory" if output.is_dir() else "is in a directory that does not exist"
            raise Failure(f"--output {output} {what}")
        if output.exists() and any(i and Path(i).exists() and output.samefile(i) for i in inputs):
            raise Failure(f"--output {output} would replace the file that is read")
    return format_of(options.format, output)


def table_options(options: argparse.Namespace) -> TableOptions:
    """Return how tables are read, as the options say."""
    return TableOptions(
        tuple(options.columns),
        tuple(options.categorical),
        options.delimiter,
        options.decimal,
        excluded=tuple(options.exclude),
    )


class Progress:
    """Shows on a terminal how much is done: on standard error, in one line."""

    def __init__(self) -> None:
        self._shown, self._at = "", time.monotonic()

    @classmethod
    def shown(cls) -> Progress | bool:
        """Return one if standard error is a terminal."""
        return cls() if sys.stderr is not None and sys.stderr.isatty() else False

    def __call__(self, done: int, total: int) -> None:
        """Show how much is done, after half a second, and nothing when all is."""
        text = f"pkex: {100.0 * done / total:3.0f} %"
        if done >= total:
            sys.stderr.write(f"\r{' ' * len(self._shown)}\r" if self._shown else "")
            self._shown = ""
        elif text != self._shown and time.monotonic() - self._at > 0.5:
            sys.stderr.write(f"\r{text}")
            self._shown = text
        sys.stderr.flush()


def _level(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(f"must be between 0 and 1, such as 0.05; got {text!r}")
    return value


def count(text: str) -> int:
    """Return the whole number that a text is, or say what it must be."""
    if not (text.isascii() and text.isdecimal()) or len(text) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(
            f"must be a whole number that is not negative, such as 0 or 999; got {text!r}"
        )
    return int(text)


def _budget(text: str) -> int | timedelta:
    time = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(s|min|h)", text)
    budget: int | timedelta = 0
    if time is not None:
        budget = timedelta(seconds=float(time[1]) * _UNITS[time[2]])
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
    value = int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else 0
    if value < 2:
        raise argparse.ArgumentTypeError(
            f"must be a number of at least two rows, or 'all'; got {text!r}"
        )
    return value


def _delimiter(text: str) -> str:
    delimiter = "\t" if text in ("tab", "\\t") else text
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one letter, or 'tab'; got {text!r}")
    return delimiter
