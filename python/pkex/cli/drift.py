"""``pkex drift``: whether, and in which features, two tables differ."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pkex.cli.command_output import Answer, present
from pkex.cli.errors import IsMeant, failures, warning_lines
from pkex.cli.options import check_output, most_rows, remedy_of_missing, table_options
from pkex.cli.statistical_test import (
    add_options,
    check_test,
    common_facts,
    feature_lines,
    how_tested,
    record_of,
)
from pkex.cli.tables import Sheet, read_table
from pkex.cli.two_tables import alike
from pkex.cli.vocabulary import CommandVocabulary
from pkex.errors import InputWarning

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
    # Spelled out, for an option with a value that may be left out would take a file for it.
    for spelled, kind, text in (
        (("--fail-on-drift", "--fail-on-drift=overall"), "overall", "the tables differ"),
        (("--fail-on-drift=any-column",), "any-column", "a column differs individually"),
    ):
        parser.add_argument(
            *spelled,
            dest="fail_on_drift",
            action="store_const",
            const=kind,
            help=f"exit with status {_DRIFT} if {text}",
        )
    add_options(parser, estimator="unbiased", chosen="columns to compare")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the tables, write what was found, and return the exit status."""
    kind = check_output(options, options.reference, options.current)
    check_test(options, needs_test=options.fail_on_drift is not None)
    files = {"X and Y": "both files", "X": options.reference, "Y": options.current}
    vocabulary = CommandVocabulary(files)
    with warning_lines(vocabulary, _is_meant(options)) as told, failures(vocabulary):
        sheets = _read(options)
        first, second = np.random.default_rng(options.seed).spawn(2)
        most = most_rows(options)
        reference, current = sheets[0].sampled(most, first), sheets[1].sampled(most, second)
        names = _short(reference.name, current.name)
        result = _compared(reference, current, options)
        if max(len(sheet.frame) for sheet in sheets) > most:
            result = _with_changes_of_all(result, sheets, options)
    present(_answer(result, (reference, current), names, options, told), kind, options.output)
    return _DRIFT if _fails(result, options) else 0


def _is_meant(options: argparse.Namespace) -> IsMeant:
    """Return whether a warning is about texts, checked when read, or about a named column."""

    def is_meant(warning: InputWarning) -> bool:
        is_named = warning.column in options.columns
        return warning.kind == "texts" or (is_named and warning.kind == "integers")

    return is_meant


def _fails(result: MMDResult, options: argparse.Namespace) -> bool:
    """Whether the drift was found that the command is to fail on."""
    from pkex.compare.conclusion import found_features, is_found

    if options.fail_on_drift == "any-column":
        return bool(found_features(result, options.alpha))
    return options.fail_on_drift is not None and bool(is_found(result, options.alpha))


def _read(options: argparse.Namespace) -> tuple[Sheet, Sheet]:
    how = table_options(options)
    return alike(read_table(options.reference, how), read_table(options.current, how))


def _compared(reference: Sheet, current: Sheet, options: argparse.Namespace) -> MMDResult:
    import pkex

    for sheet in (reference, current):
        sheet.check_numbers(remedy_of_missing(options))
    return pkex.mmd(reference.frame, current.frame, **how_tested(options))


def _with_changes_of_all(
    result: MMDResult, sheets: tuple[Sheet, Sheet], options: argparse.Namespace
) -> MMDResult:
    """Return a result of samples with the changes of all rows: a sample may lack rare levels."""
    from pkex.compare.column_changes import column_changes
    from pkex.tables.samples import two_samples

    for sheet in sheets:
        sheet.check_numbers(remedy_of_missing(options))
    reference, current = (sheet.frame for sheet in sheets)
    x, y, encoding = two_samples(reference, current, missing=options.missing)
    return replace(result, column_changes=column_changes([x.rows], [y.rows], encoding))


def _answer(
    result: MMDResult,
    sheets: tuple[Sheet, Sheet],
    names: tuple[str, str],
    options: argparse.Namespace,
    told: list[str],
) -> Answer:
    from pkex.compare.conclusion import (
        DIFFERENCE,
        changed_pairs,
        conclusion,
        found_features,
        is_found,
    )
    from pkex.compare.statistic_report import report_difference

    reference, current = sheets
    rows = {names[0]: reference.in_words(), names[1]: current.in_words()}
    facts = {**rows, **common_facts(options)}
    sentence = conclusion(result, DIFFERENCE.of(*names), options.alpha)
    record = record_of(
        "drift",
        result,
        options,
        sentence,
        told,
        is_drift=is_found(result, options.alpha),
        changed_columns=[result.feature_names[j] for j in found_features(result, options.alpha)],
        changed_pairs=[list(pair) for pair in changed_pairs(result, options.alpha)],
        column_changes=[change.to_dict() for change in result.column_changes],
        reference={"file": reference.name, "rows": len(reference.frame), "of": reference.n_rows},
        current={"file": current.name, "rows": len(current.frame), "of": current.n_rows},
    )
    return Answer(
        lambda: report_difference(
            result,
            options.alpha,
            names,
            (reference.frame, current.frame),
            facts,
            tuple(told),
        ),
        record,
        feature_lines(result),
        sentence,
    )


def _short(first: str, second: str) -> tuple[str, str]:
    """Return the names of files without directories, if that tells them apart."""
    short = Path(first).name, Path(second).name
    return short if short[0] != short[1] else (first, second)
