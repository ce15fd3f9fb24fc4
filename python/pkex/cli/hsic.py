"""``pkex hsic``: which columns of a table carry its dependence on a target."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pkex.cli.command_output import Answer, present
from pkex.cli.errors import Failure, failures, warning_lines
from pkex.cli.options import (
    check_output,
    most_rows,
    names,
    remedy_of_missing,
    table_options,
)
from pkex.cli.statistical_test import (
    add_options,
    check_test,
    common_facts,
    feature_lines,
    how_tested,
    record_of,
)
from pkex.cli.tables import Sheet, read_table
from pkex.cli.vocabulary import CommandVocabulary

if TYPE_CHECKING:
    from pkex import HSICResult

__all__ = ["add", "run"]

_NORMALISED = "HSIC(x, y) / √(HSIC(x, x) · HSIC(y, y))"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "hsic",
        help="which columns of a table carry its dependence on a target",
        description="Test whether the columns of a table and a target depend on each other, and "
        "divide the dependence, the Hilbert-Schmidt independence criterion, among the columns.",
        allow_abbrev=False,
    )
    parser.add_argument("data", metavar="DATA", help="CSV, Parquet or Arrow file, or '-'")
    parser.add_argument(
        "--target",
        type=names,
        required=True,
        metavar="COLUMN",
        help="numbers or labels; several columns, divided by commas, are one target",
    )
    add_options(parser, estimator="unbiased", chosen="columns that may matter")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure the dependence, write what was found, and return the exit status."""
    kind = check_output(options, options.data)
    check_test(options)
    vocabulary = CommandVocabulary({"X": options.data, "y": "the target"})
    with warning_lines(vocabulary) as warnings, failures(vocabulary):
        sheet = _read(options)
        result = _measured(sheet, options)
    present(_answer(result, sheet, options, warnings), kind, options.output)
    return 0


def _read(options: argparse.Namespace) -> Sheet:
    sheet = read_table(options.data, replace(table_options(options), needed=options.target))
    if len(sheet.frame.columns) == len(set(options.target)):
        raise Failure(f"{sheet.name} has no columns but the target")
    sheet.warn_of_row_numbers((*options.columns, *options.target))
    return sheet.sampled(most_rows(options), np.random.default_rng(options.seed))


def _divided(sheet: Sheet, options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the columns that may matter, and the target."""
    target = list(options.target)
    return sheet.frame.drop(columns=target), sheet.frame[target]


def _measured(sheet: Sheet, options: argparse.Namespace) -> HSICResult:
    import pkex

    X, y = _divided(sheet, options)
    remedy = remedy_of_missing(options)
    sheet.check_numbers(remedy)
    if remedy is not None:
        sheet.check_complete(y.columns, remedy)
    return pkex.hsic(X, y if len(y.columns) > 1 else y.iloc[:, 0], **how_tested(options))


def _answer(
    result: HSICResult, sheet: Sheet, options: argparse.Namespace, warnings: list[str]
) -> Answer:
    from pkex.compare.conclusion import DEPENDENCE, conclusion, is_found
    from pkex.compare.statistic_report import report_dependence
    from pkex.compare.statistic_summary import described

    named = "the features", ", ".join(options.target)
    # It takes all pairs of rows.
    r2 = result.r2 if result.n_pairs is None else None
    facts = {
        sheet.name: sheet.in_words(),
        "Kernel of the target": described(result.target_kernel, result.target_bandwidth),
        **({} if r2 is None else {"Normalised": f"{_NORMALISED} = {r2:.3g}"}),
        **common_facts(options),
    }
    sentence = conclusion(result, DEPENDENCE.of(*named), options.alpha)
    record = record_of(
        "hsic",
        result,
        options,
        sentence,
        warnings,
        is_dependent=is_found(result, options.alpha),
        data={"file": sheet.name, "rows": len(sheet.frame), "of": sheet.n_rows},
        target=list(options.target),
        target_kernel=repr(result.target_kernel),
        target_bandwidth=result.target_bandwidth,
        r2=r2,
    )
    return Answer(
        lambda: report_dependence(
            result, options.alpha, named, _divided(sheet, options), facts, tuple(warnings)
        ),
        record,
        feature_lines(result),
        sentence,
    )
