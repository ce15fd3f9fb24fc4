"""``pkex sensitivity``: the shares of inputs in the variance of a model's output."""

from __future__ import annotations

import argparse
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pkex.cli.command_output import CommandOutput, write_output
from pkex.cli.distributions import are_distributions, read_distributions
from pkex.cli.errors import command_errors
from pkex.cli.file_bytes import FileBytes
from pkex.cli.models import add_model, model_text, options_for_model, read_model
from pkex.cli.options import Progress, add_output, add_table, check_output, table_options
from pkex.cli.tables import read_table
from pkex.cli.vocabulary import CommandVocabulary

if TYPE_CHECKING:
    from pkex import SensitivityResult


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "sensitivity",
        help="divide the variance of a model's output among its inputs",
        description="Shapley effects, first-order and total Sobol indices of a fitted kernel "
        "model with independent inputs.",
        allow_abbrev=False,
    )
    add_model(parser)
    parser.add_argument(
        "inputs",
        metavar="INPUTS",
        help="table of rows, or '-', whose columns are assumed independent of each other; or JSON "
        'with a distribution of scipy.stats for each input, such as {"x": {"distribution": "norm", '
        '"loc": 0, "scale": 1}}',
    )
    parser.add_argument(
        "--order",
        type=int,
        choices=(1, 2),
        default=1,
        help="2 adds the second-order indices of pairs (default: 1)",
    )
    add_table(parser, columns="columns of the model, in its order")
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compute the indices, write the output, and return the exit status."""
    kind = check_output(options, options.inputs, options.model)
    vocabulary = CommandVocabulary({"inputs": options.inputs, "the model": options.model})
    with command_errors(vocabulary) as warnings:
        model = read_model(options, options.inputs)
        result = _analyze(model, options, vocabulary)
    write_output(_output(result, model_text(model), options, warnings), kind, options.output)
    return 0


def _analyze(
    model: Any, options: argparse.Namespace, vocabulary: CommandVocabulary
) -> SensitivityResult:
    import pkex

    settings: dict[str, Any] = {"order": options.order, "progress": Progress.for_terminal()}
    source = FileBytes.of(options.inputs)
    if are_distributions(source):
        return pkex.sensitivity(model, read_distributions(source), **settings)
    table = read_table(source, options_for_model(model, table_options(options)))
    vocabulary.locate("inputs", table)
    return pkex.sensitivity(model, table.frame, **settings)


def _output(
    result: SensitivityResult, model: str, options: argparse.Namespace, warnings: list[str]
) -> CommandOutput:
    from pkex.sensitivity.sensitivity_report import conclusion, report_sensitivity, variances

    sentence = conclusion(result)
    facts = {
        "Model": f"{options.model}: {model}",
        "Inputs": options.inputs,
        "Variance": variances(result),
        "Version": f"pkex {version('pkex')}",
    }
    lines = _lines(result)
    second = result.second_order
    record = {
        "command": "sensitivity",
        "pkex": version("pkex"),
        "conclusion": sentence,
        "model": options.model,
        "fitted": model,
        "inputs": options.inputs,
        "variance": np.asarray(result.variance).tolist(),
        "outputs": result.output_names,
        "features": lines,
        "second_order": None if second is None else second.tolist(),
        "notes": list(result.notes),
        "warnings": list(warnings),
    }
    title = Path(options.model).name
    return CommandOutput(
        lambda: report_sensitivity(result, title, facts, tuple(warnings)),
        record,
        lines if second is None else _with_pairs(result, lines),
        sentence,
    )


def _lines(result: SensitivityResult) -> list[dict[str, Any]]:
    """Return a line of CSV for each input (and output), the largest effect first."""
    outputs = result.output_names
    columns = {
        "shapley_effect": result.shapley_effects,
        "first_order": result.first_order,
        "total": result.total,
    }
    lines = []
    for place, output in enumerate(outputs or [None]):
        output_columns = {
            name: c if outputs is None else c[:, place] for name, c in columns.items()
        }
        for j in np.argsort(-output_columns["shapley_effect"], kind="stable").tolist():
            head: dict[str, Any] = {} if outputs is None else {"output": output}
            head["feature"] = result.feature_names[j]
            lines.append(
                {**head, **{name: float(column[j]) for name, column in output_columns.items()}}
            )
    return lines


def _with_pairs(result: SensitivityResult, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of inputs, followed by a line for each pair, the largest index first."""
    outputs, names = result.output_names, result.feature_names
    second = np.asarray(result.second_order).reshape(len(names), len(names), -1)
    blank = dict.fromkeys(lines[0])
    pair_lines = [{**line, "with": None, "second_order": None} for line in lines]
    one, other = np.triu_indices(len(names), k=1)
    for place, output in enumerate(outputs or [None]):
        indices = second[one, other, place]
        for k in np.argsort(-np.abs(indices), kind="stable").tolist():
            head = {} if outputs is None else {"output": output}
            pair = {
                "feature": names[one[k]],
                "with": names[other[k]],
                "second_order": float(indices[k]),
            }
            pair_lines.append({**blank, **head, **pair})
    return pair_lines
