"""``pkex drift``: whether two tables differ, and in which features."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pkex.cli.command_output import CommandOutput, write_output
from pkex.cli.errors import IsKnown, command_errors
from pkex.cli.options import check_output, fix_of_missing, most_rows, table_options
from pkex.cli.statistical_test import (
    add_options,
    check_test,
    feature_lines,
    statistic_settings,
    test_facts,
    test_record,
)
from pkex.cli.tables import FileTable, read_table
from pkex.cli.two_tables import match_columns
from pkex.cli.vocabulary import CommandVocabulary
from pkex.errors import InputWarning

if TYPE_CHECKING:
    from pkex import MMDResult

# The exit status for drift, with --fail-on-drift.
_DRIFT = 3


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "drift",
        help="test whether two tables differ, and in which features",
        description="Test whether two tables have the same distribution, and divide their "
        "difference, the squared maximum mean discrepancy, among the features.",
        allow_abbrev=False,
    )
    parser.add_argument("reference", metavar="REFERENCE", help="CSV, Parquet or Arrow file, or '-'")
    parser.add_argument("current", metavar="CURRENT", help="a file with the same columns, or '-'")
    # Flags, because an option with an optional value would read a file as its value.
    for spellings, kind, text in (
        (("--fail-on-drift", "--fail-on-drift=overall"), "overall", "the tables differ"),
        (("--fail-on-drift=any-column",), "any-column", "a column differs individually"),
    ):
        parser.add_argument(
            *spellings,
            dest="fail_on_drift",
            action="store_const",
            const=kind,
            help=f"exit with status {_DRIFT} if {text}",
        )
    add_options(parser, columns="columns to compare")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare the tables, write the output, and return the exit status."""
    kind = check_output(options, options.reference, options.current)
    check_test(options, requires_test=options.fail_on_drift is not None)
    files = {"X and Y": "both files", "X": options.reference, "Y": options.current}
    with command_errors(CommandVocabulary(files), _is_known(options)) as warnings:
        settings = table_options(options)
        tables = match_columns(
            read_table(options.reference, settings), read_table(options.current, settings)
        )
        first, second = np.random.default_rng(options.seed).spawn(2)
        max_rows = most_rows(options)
        reference, current = tables[0].sample(max_rows, first), tables[1].sample(max_rows, second)
        result = _compare(reference, current, options)
        if max(len(table.frame) for table in tables) > max_rows:
            result = _with_changes_in_all_rows(result, tables, options)
    write_output(_output(result, (reference, current), options, warnings), kind, options.output)
    return _DRIFT if _fails(result, options) else 0


def _is_known(options: argparse.Namespace) -> IsKnown:
    """Return whether a warning is about texts, which were checked before, or a named column."""

    def is_known(warning: InputWarning) -> bool:
        is_named = warning.column in options.columns
        return warning.kind == "texts" or (is_named and warning.kind == "integers")

    return is_known


def _fails(result: MMDResult, options: argparse.Namespace) -> bool:
    """Return whether there is drift that the command fails on."""
    from pkex.compare.results.conclusion import is_significant, significant_features

    if options.fail_on_drift == "any-column":
        return bool(significant_features(result, options.alpha))
    return options.fail_on_drift is not None and bool(is_significant(result, options.alpha))


def _compare(reference: FileTable, current: FileTable, options: argparse.Namespace) -> MMDResult:
    import pkex

    for table in (reference, current):
        table.check_numbers(fix_of_missing(options))
    return pkex.mmd(reference.frame, current.frame, **statistic_settings(options))


def _with_changes_in_all_rows(
    result: MMDResult, tables: tuple[FileTable, FileTable], options: argparse.Namespace
) -> MMDResult:
    """Return a result of samples with the changes in all rows: samples may lack rare categories."""
    from pkex.compare.column_changes import column_changes
    from pkex.tables.samples import two_samples

    for table in tables:
        table.check_numbers(fix_of_missing(options))
    reference, current = (table.frame for table in tables)
    x, y, encoding = two_samples(reference, current, missing=options.missing)
    return replace(result, column_changes=column_changes([x.rows], [y.rows], encoding))


def _output(
    result: MMDResult,
    tables: tuple[FileTable, FileTable],
    options: argparse.Namespace,
    warnings: list[str],
) -> CommandOutput:
    from pkex.compare.results.conclusion import (
        conclusion,
        is_significant,
        significant_features,
        significant_pairs,
    )
    from pkex.compare.results.report import report_difference
    from pkex.compare.results.wording import DIFFERENCE

    reference, current = tables
    names = _file_names(reference.name, current.name)
    facts = {
        names[0]: reference.description(),
        names[1]: current.description(),
        **test_facts(options),
    }
    sentence = conclusion(result, DIFFERENCE.of(*names), options.alpha)
    record = test_record(
        result,
        options,
        sentence,
        warnings,
        is_drift=is_significant(result, options.alpha),
        changed_columns=[
            result.feature_names[j] for j in significant_features(result, options.alpha)
        ],
        changed_pairs=[list(pair) for pair in significant_pairs(result, options.alpha)],
        column_changes=[change.to_dict() for change in result.column_changes],
        reference={"file": reference.name, "rows": len(reference.frame), "of": reference.n_rows},
        current={"file": current.name, "rows": len(current.frame), "of": current.n_rows},
    )
    frames = reference.frame, current.frame
    return CommandOutput(
        lambda: report_difference(result, options.alpha, names, frames, facts, tuple(warnings)),
        record,
        feature_lines(result),
        sentence,
    )


def _file_names(first: str, second: str) -> tuple[str, str]:
    """Return the names of two files without directories, unless they are equal."""
    names = Path(first).name, Path(second).name
    return names if names[0] != names[1] else (first, second)
