"""What the commands of the two statistics, MMD and HSIC, have in common."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from pkex.cli.errors import Failure, failures
from pkex.cli.options import Progress, add_missing, add_output, add_table, add_test
from pkex.cli.vocabulary import CommandVocabulary
from pkex.compare.sampled.budget import check_budget
from pkex.inputs.choices import Estimator

if TYPE_CHECKING:
    from pkex import HSICResult, MMDResult

__all__ = ["add_options", "check_test", "common_facts", "feature_lines", "how_tested", "record_of"]

# What is known of each feature: the attribute of the result, and its name in JSON and CSV.
_OF_FEATURES = {
    "values": "value",
    "standard_errors": "standard_error",
    "feature_pvalues": "pvalue",
    "familywise_pvalues": "familywise_pvalue",
    "alone": "alone",
    "alone_pvalues": "alone_pvalue",
    "alone_familywise_pvalues": "alone_familywise_pvalue",
}


def add_options(parser: argparse.ArgumentParser, *, estimator: Estimator, chosen: str) -> None:
    """Add the options of both commands.

    Parameters
    ----------
    parser : ArgumentParser
    estimator : str
        The one by default.
    chosen : str
        Which columns are read.
    """
    add_test(parser, estimator)
    add_missing(parser)
    add_table(parser, chosen=chosen)
    add_output(parser)


def check_test(options: argparse.Namespace, *, needs_test: bool = False) -> None:
    """Refuse permutations that are too few for the level, and a budget of what takes none.

    The smallest p-value of B permutations is 1 / (B + 1).
    """
    with failures(CommandVocabulary({})):
        check_budget(options.budget, options.estimator)
    least = math.ceil(1.0 / options.alpha - 1e-9) - 1
    if (options.permutations or needs_test) and options.permutations < least:
        none = "" if needs_test else ", or 0 for no test"
        raise Failure(
            f"--permutations {options.permutations} cannot find anything at the level "
            f"{options.alpha:g}; at least {least} are needed{none}"
        )


def how_tested(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the library is told of the test."""
    return {
        "estimator": options.estimator,
        "budget": options.budget,
        "n_permutations": options.permutations,
        "random_state": options.seed,
        "missing": options.missing,
        "progress": Progress.shown(),
    }


def common_facts(options: argparse.Namespace) -> dict[str, str]:
    """Return with which seed and version things were computed."""
    return {"Seed": str(options.seed), "Version": f"pkex {version('pkex')}"}


def feature_lines(result: MMDResult | HSICResult) -> list[dict[str, Any]]:
    """Return what is known of each feature, the largest value first."""
    from pkex.compare.conclusion import share_intervals

    shares = (
        [float("nan")] * len(result.values) if result.shares is None else result.shares.tolist()
    )
    columns: dict[str, Any] = {"feature": result.feature_names, "share": shares}
    low, high = share_intervals(result).T
    columns |= {"share_low": low.tolist(), "share_high": high.tolist()}
    for attribute, name in _OF_FEATURES.items():
        column = getattr(result, attribute)
        columns[name] = [None] * len(result.values) if column is None else column.tolist()
    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    return sorted(lines, key=lambda line: -line["value"])


def record_of(
    command: str,
    result: MMDResult | HSICResult,
    options: argparse.Namespace,
    sentence: str,
    warnings: list[str],
    **own: Any,
) -> Mapping[str, Any]:
    """Return what was found as JSON has it."""
    return {
        "command": command,
        "pkex": version("pkex"),
        "verdict": sentence,
        **own,
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
