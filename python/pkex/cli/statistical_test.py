"""Options and output of `pkex drift` and `pkex hsic`, which test a statistic by permutations."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pkex.cli.errors import CommandError, command_errors
from pkex.cli.options import Progress, add_missing, add_output, add_table, add_test
from pkex.cli.vocabulary import CommandVocabulary
from pkex.compare.sampled.budget import check_budget

if TYPE_CHECKING:
    from pkex import HSICResult, MMDResult

# Attributes of results with a value for each feature, and their names in JSON and CSV.
_FEATURE_COLUMNS = {
    "values": "value",
    "standard_errors": "standard_error",
    "feature_pvalues": "pvalue",
    "familywise_pvalues": "familywise_pvalue",
    "alone": "alone",
    "alone_pvalues": "alone_pvalue",
    "alone_familywise_pvalues": "alone_familywise_pvalue",
}


def add_options(parser: argparse.ArgumentParser, *, columns: str) -> None:
    """Add the options of both commands; `columns` describes the columns that are read."""
    add_test(parser, "unbiased")
    add_missing(parser)
    add_table(parser, columns=columns)
    add_output(parser)


def check_test(options: argparse.Namespace, *, requires_test: bool = False) -> None:
    """Raise CommandError for too few permutations, or a budget of an estimator without one.

    The smallest p-value of B permutations is 1 / (B + 1).
    """
    with command_errors(CommandVocabulary({})):
        check_budget(options.budget, options.estimator)
    minimum = math.ceil(1.0 / options.alpha - 1e-9) - 1
    if (options.permutations or requires_test) and options.permutations < minimum:
        alternative = "" if requires_test else ", or 0 for no test"
        raise CommandError(
            f"--permutations {options.permutations} cannot reach the level {options.alpha:g}; at "
            f"least {minimum} are needed{alternative}"
        )


def statistic_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `pkex.mmd` or `pkex.hsic`."""
    return {
        "estimator": options.estimator,
        "budget": options.budget,
        "n_permutations": options.permutations,
        "random_state": options.seed,
        "missing": options.missing,
        "progress": Progress.for_terminal(),
    }


def test_facts(options: argparse.Namespace) -> dict[str, str]:
    """Return how to get p-values, the seed and the version, to describe the computation."""
    pvalue_fact = {} if options.permutations else {"p-value": "none: --permutations is 0"}
    return {**pvalue_fact, "Seed": str(options.seed), "Version": f"pkex {version('pkex')}"}


def feature_lines(result: MMDResult | HSICResult) -> list[dict[str, Any]]:
    """Return a line of CSV for each feature, the largest value first."""
    from pkex.compare.results.conclusion import share_intervals

    n_features = len(result.values)
    low, high = share_intervals(result).T.tolist()
    columns: dict[str, Any] = {
        "feature": result.feature_names,
        "share": [math.nan] * n_features if result.shares is None else result.shares.tolist(),
        "share_low": low,
        "share_high": high,
    }
    for attribute, name in _FEATURE_COLUMNS.items():
        column = getattr(result, attribute)
        columns[name] = [None] * n_features if column is None else column.tolist()
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    return sorted(lines, key=lambda line: -line["value"])


def test_record(
    result: MMDResult | HSICResult,
    options: argparse.Namespace,
    conclusion: str,
    warnings: list[str],
    **fields: Any,
) -> Mapping[str, Any]:
    """Return the result as JSON, with the fields that only one command has as `fields`."""
    return {
        "command": options.command,
        "pkex": version("pkex"),
        "conclusion": conclusion,
        **fields,
        "alpha": options.alpha,
        "pvalue": result.pvalue,
        "statistic": result.statistic,
        "features": feature_lines(result),
        "estimator": result.estimator,
        "n_pairs": result.n_pairs,
        "value_function": result.value_function,
        "kernel": repr(result.kernel),
        "bandwidth": result.bandwidth,
        "columns": [column.to_dict() for column in result.columns],
        "n_permutations": options.permutations,
        "seed": options.seed,
        "notes": list(result.notes),
        "warnings": list(warnings),
    }
