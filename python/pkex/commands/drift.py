"""``pkex drift``: whether, and in which features, two tables differ."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pkex.commands.answers import Answer, present
from pkex.commands.failure import naming, warned
from pkex.commands.options import check_output, most_rows, remedy_of_missing, table_options
from pkex.commands.tables import Sheet, read_table
from pkex.commands.tested import (
    add_options,
    check_test,
    common_facts,
    feature_lines,
    how_tested,
    record_of,
)
from pkex.commands.two_tables import alike

if TYPE_CHECKING:
    from pkex import MMDResult

__all__ = ["add", "run"]

# The exit status where drift was found, and was asked for.
_DRIFT = 3


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "drift",
        help="whether, and in which features, two tables differ",
        description="Test whether two tables come from one distribution, and divide their "
        "difference, the squared maximum mean discrepancy, among the features.",
        allow_abbrev=False,
    )
    parser.add_argument("reference", metavar="REFERENCE", help="CSV, Parquet or Arrow file, or '-'")
    parser.add_argument("current", metavar="CURRENT", help="the same, with the same columns")
    parser.add_argument(
        "--fail-on-drift",
        action="store_true",
        help=f"exit with status {_DRIFT} if drift is found",
    )
    add_options(parser, estimator="unbiased", chosen="columns to compare")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the tables, write what was found, and return the exit status."""
    kind = check_output(options, options.reference, options.current)
    check_test(options, needs_test=options.fail_on_drift)
    called = {"X and Y": "both files", "X": options.reference, "Y": options.current}
    called[f"n_permutations={options.permutations}"] = f"--permutations {options.permutations}"
    with warned(called) as warnings, naming(called):
        reference, current = _read(options)
        names = _short(reference.name, current.name)
        result = _compared(reference, current, options)
    present(_answer(result, (reference, current), names, options, warnings), kind, options.output)
    is_found = result.pvalue is not None and result.pvalue <= options.alpha
    return _DRIFT if is_found and options.fail_on_drift else 0


def _read(options: argparse.Namespace) -> tuple[Sheet, Sheet]:
    how = table_options(options)
    reference, current = alike(read_table(options.reference, how), read_table(options.current, how))
    reference.warn_of_row_numbers(how.columns)
    first, second = np.random.default_rng(options.seed).spawn(2)
    most = most_rows(options)
    return reference.sampled(most, first), current.sampled(most, second)


def _compared(reference: Sheet, current: Sheet, options: argparse.Namespace) -> MMDResult:
    import pkex

    for sheet in (reference, current):
        sheet.check_numbers(remedy_of_missing(options))
    return pkex.mmd(reference.frame, current.frame, **how_tested(options))


def _answer(
    result: MMDResult,
    sheets: tuple[Sheet, Sheet],
    names: tuple[str, str],
    options: argparse.Namespace,
    warnings: list[str],
) -> Answer:
    from pkex.statistics.findings import of_difference
    from pkex.statistics.verdict import DIFFERENCE, is_found, verdict

    reference, current = sheets
    rows = {names[0]: reference.in_words(), names[1]: current.in_words()}
    facts = {**rows, **common_facts(options)}
    sentence = verdict(result, DIFFERENCE.of(*names), options.alpha)
    record = record_of(
        "drift",
        result,
        options,
        sentence,
        warnings,
        is_drift=is_found(result, options.alpha),
        reference={"file": reference.name, "rows": len(reference.frame), "of": reference.n_rows},
        current={"file": current.name, "rows": len(current.frame), "of": current.n_rows},
    )
    return Answer(
        lambda: of_difference(
            result,
            options.alpha,
            names,
            (reference.frame, current.frame),
            facts,
            tuple(warnings),
        ),
        record,
        feature_lines(result),
        sentence,
    )


def _short(first: str, second: str) -> tuple[str, str]:
    """Return the names of files without directories, if that tells them apart."""
    short = Path(first).name, Path(second).name
    return short if short[0] != short[1] else (first, second)
