"""``pkex hsic``: on which columns of a table a target depends."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pkex.cli.command_output import CommandOutput, write_output
from pkex.cli.errors import CommandError, command_errors
from pkex.cli.options import as_names, check_output, fix_of_missing, most_rows, table_options
from pkex.cli.statistical_test import (
    add_options,
    check_test,
    feature_lines,
    statistic_settings,
    test_facts,
    test_record,
)
from pkex.cli.tables import FileTable, read_table
from pkex.cli.vocabulary import CommandVocabulary

if TYPE_CHECKING:
    from pkex import HSICResult

_NORMALIZED = "HSIC(x, y) / √(HSIC(x, x) · HSIC(y, y))"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "hsic",
        help="test whether a target depends on a table, and on which columns",
        description="Test whether the columns of a table and a target depend on each other, and "
        "divide the dependence, the Hilbert-Schmidt independence criterion, among the columns.",
        allow_abbrev=False,
    )
    parser.add_argument("data", metavar="DATA", help="CSV, Parquet or Arrow file, or '-'")
    parser.add_argument(
        "--target",
        type=as_names,
        required=True,
        metavar="COLUMN",
        help="numbers or categories; several columns, separated by commas, are one target",
    )
    add_options(parser, columns="columns that the target may depend on")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure the dependence, write the output, and return the exit status."""
    kind = check_output(options, options.data)
    check_test(options)
    vocabulary = CommandVocabulary({"X": options.data, "y": "the target"})
    with command_errors(vocabulary) as warnings:
        table = _read_sample(options)
        result = _measure(table, options)
    write_output(_output(result, table, options, warnings), kind, options.output)
    return 0


def _read_sample(options: argparse.Namespace) -> FileTable:
    table = read_table(options.data, replace(table_options(options), needed_columns=options.target))
    if len(table.frame.columns) == len(set(options.target)):
        raise CommandError(f"{table.name} has no columns except the target")
    table.warn_of_row_numbers((*options.columns, *options.target))
    return table.sample(most_rows(options), np.random.default_rng(options.seed))


def _features_and_target(table: FileTable, options: argparse.Namespace) -> tuple[Any, Any]:
    target = list(options.target)
    return table.frame.drop(columns=target), table.frame[target]


def _measure(table: FileTable, options: argparse.Namespace) -> HSICResult:
    import pkex

    X, y = _features_and_target(table, options)
    fix = fix_of_missing(options)
    table.check_numbers(fix)
    if fix is not None:
        table.check_complete(y.columns, fix)
    target = y if len(y.columns) > 1 else y.iloc[:, 0]
    return pkex.hsic(X, target, **statistic_settings(options))


def _output(
    result: HSICResult, table: FileTable, options: argparse.Namespace, warnings: list[str]
) -> CommandOutput:
    from pkex.compare.results.conclusion import conclusion, is_significant
    from pkex.compare.results.report import report_dependence
    from pkex.compare.results.summary import describe_kernel
    from pkex.compare.results.wording import DEPENDENCE

    names = "the features", ", ".join(options.target)
    # r2 requires all pairs of rows.
    r2 = result.r2 if result.n_pairs is None else None
    facts = {
        table.name: table.description(),
        "Kernel of the target": describe_kernel(result.target_kernel, result.target_bandwidth),
        **({} if r2 is None else {"Normalized": f"{_NORMALIZED} = {r2:.3g}"}),
        **test_facts(options),
    }
    sentence = conclusion(result, DEPENDENCE.of(*names), options.alpha)
    record = test_record(
        result,
        options,
        sentence,
        warnings,
        is_dependent=is_significant(result, options.alpha),
        data={"file": table.name, "rows": len(table.frame), "of": table.n_rows},
        target=list(options.target),
        target_kernel=repr(result.target_kernel),
        target_bandwidth=result.target_bandwidth,
        r2=r2,
    )
    frames = _features_and_target(table, options)
    return CommandOutput(
        lambda: report_dependence(result, options.alpha, names, frames, facts, tuple(warnings)),
        record,
        feature_lines(result),
        sentence,
    )
