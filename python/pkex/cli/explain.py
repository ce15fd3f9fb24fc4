"""``pkex explain``: the contribution of each feature to a model's output in each row of a table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pkex.adapters.targets import Target
from pkex.cli.command_output import CommandOutput, output_file, write_output
from pkex.cli.errors import CommandError, command_errors
from pkex.cli.models import add_model, model_text, options_for_model, read_model
from pkex.cli.options import (
    Progress,
    add_output,
    add_seed,
    add_table,
    as_count,
    check_output,
    table_options,
)
from pkex.cli.parquet_chunks import ParquetChunks, is_parquet
from pkex.cli.tables import TableOptions, read_table, split_labels
from pkex.cli.vocabulary import CommandVocabulary
from pkex.explain.value_files import rows_at_once, write_values
from pkex.functions.linked import LINKS
from pkex.games.observational import Embedding
from pkex.games.value_functions import ValueFunction
from pkex.inputs.wording import counted
from pkex.results.tables import shortened
from pkex.results.value_columns import value_columns

if TYPE_CHECKING:
    from pkex import Estimate, Explainer, Explanation


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "explain",
        help="compute the contribution of each feature to a model's output in each row",
        description="Exact Shapley values of a fitted kernel model for the rows of a table. "
        "--format csv and parquet write the values of all rows.",
        allow_abbrev=False,
    )
    add_model(parser)
    parser.add_argument("data", metavar="DATA", help="CSV, Parquet or Arrow file, or '-'")
    group = parser.add_argument_group("explained function")
    group.add_argument(
        "--background",
        metavar="FILE",
        help="table of rows that absent features are drawn from (default: the model's stored "
        "training points)",
    )
    group.add_argument(
        "--target",
        choices=[t for t in get_args(Target) if t is not None],
        help="default: the decision value for classifiers, otherwise the prediction",
    )
    group.add_argument(
        "--value-function",
        choices=get_args(ValueFunction),
        help="default: interventional with --background, otherwise marginal",
    )
    group.add_argument(
        "--uncertainty",
        action="store_true",
        help="posterior standard deviations of the values, for Gaussian processes",
    )
    group.add_argument("--link", choices=LINKS, default="identity", help="default: %(default)s")
    group.add_argument(
        "--outputs",
        action="append",
        metavar="NAME",
        help="output to explain if there are several, by name or number; may be repeated "
        "(default: all)",
    )
    group = parser.add_argument_group("--value-function observational")
    group.add_argument(
        "--regularization",
        type=float,
        metavar="η",
        help="regularization of the weights of background rows (default: 0.001)",
    )
    group.add_argument(
        "--landmarks",
        type=as_count,
        metavar="N",
        help="number of background rows that weights are computed from (default: all, up to "
        "10,000)",
    )
    group.add_argument(
        "--leave-one-out",
        action="store_true",
        help="leave each explained row out of the background",
    )
    group.add_argument(
        "--no-normalize",
        action="store_true",
        help="use the weights as they are, without completing them to a sum of 1",
    )
    group.add_argument(
        "--embedding",
        choices=get_args(Embedding),
        help="absent: average the model at rows with the present features of the explained row; "
        "rows: average its outputs at background rows, which is faster and less accurate "
        "(default: absent)",
    )
    group = parser.add_argument_group("estimates")
    group.add_argument(
        "--coalitions",
        type=as_count,
        metavar="N",
        help="estimate the values, with standard errors, from N coalitions of features, such as "
        "1000, if there are too many features for exact values",
    )
    add_seed(group)
    add_table(parser, columns="columns of the model, in its order")
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="column of DATA that names the rows in the output, such as an identifier; it is not "
        "explained",
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain the rows, write the values, and return the exit status."""
    kind = check_output(options, options.data, options.model, options.background)
    files = {"X": options.data, "background": options.background or "background"}
    vocabulary = CommandVocabulary(files | {"the model": options.model})
    with command_errors(vocabulary) as warnings:
        value_function = _value_function(options)
        model = read_model(options, options.data)
        if kind == "parquet" and options.coalitions is None and is_parquet(options.data):
            _write_chunks(model, value_function, options, vocabulary)
            return 0
        explainer, explanation = _explain(model, value_function, options, vocabulary)
    output = _output(explainer, explanation, model_text(model), options, warnings)
    write_output(output, kind, options.output)
    return 0


def _value_function(options: argparse.Namespace) -> Any:
    """Return the value function, with its settings if there are any."""
    from pkex import Observational

    settings = {
        "regularization": options.regularization,
        "n_landmarks": options.landmarks,
        "leave_one_out": options.leave_one_out or None,
        "normalize": False if options.no_normalize else None,
        "embedding": options.embedding,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if not settings:
        return options.value_function
    if options.value_function != "observational":
        raise CommandError(
            "--regularization, --landmarks, --leave-one-out, --no-normalize and --embedding "
            "require --value-function observational"
        )
    return Observational(**settings)


def _explain(
    model: Any, value_function: Any, options: argparse.Namespace, vocabulary: CommandVocabulary
) -> tuple[Explainer, Explanation | Estimate]:
    data, labels = split_labels(
        read_table(options.data, _reading_options(model, options)), options.label
    )
    vocabulary.locate("X", data)
    explainer = _explainer(model, value_function, options, vocabulary)
    settings: dict[str, Any] = {
        "uncertainty": options.uncertainty,
        "progress": Progress.for_terminal(),
    }
    # Rows of files are counted from 1, in tables and in reports.
    rows = data.frame.set_axis(range(1, len(data.frame) + 1) if labels is None else labels)
    if options.coalitions is None:
        return explainer, explainer(rows, **settings)
    settings |= {"n_coalitions": options.coalitions, "random_state": options.seed}
    return explainer, explainer.estimate(rows, **settings)


def _reading_options(model: Any, options: argparse.Namespace) -> TableOptions:
    """Return options of reading the rows, with their labels."""
    reading_options = options_for_model(model, table_options(options))
    if options.label is None:
        return reading_options
    if options.label in reading_options.columns:
        raise CommandError(
            f"--label {options.label}: the model has this column. Pass one that is not explained"
        )
    return replace(
        reading_options,
        needed_columns=(options.label,),
        categorical=(*reading_options.categorical, options.label),
    )


def _write_chunks(
    model: Any, value_function: Any, options: argparse.Namespace, vocabulary: CommandVocabulary
) -> None:
    """Explain the rows of a Parquet file in chunks, and write them to a Parquet file."""
    chunks = ParquetChunks.of(options.data, _reading_options(model, options), options.label)
    vocabulary.locate("X", chunks)
    problem = _explainer(model, value_function, options, vocabulary)._problem
    settings: dict[str, Any] = {"uncertainty": options.uncertainty}
    frames = chunks.frames(rows_at_once(problem, **settings))
    settings |= {"progress": Progress.for_terminal("rows")}
    with output_file(options.output, f"{counted(chunks.n_rows, 'row')} explained."):
        write_values(problem, frames, chunks.n_rows, options.output, **settings)


def _explainer(
    model: Any, value_function: Any, options: argparse.Namespace, vocabulary: CommandVocabulary
) -> Explainer:
    import pkex

    background = None
    if options.background is not None:
        reading_options = options_for_model(model, table_options(options))
        ignored_columns = () if options.label is None else (options.label,)
        table = read_table(
            options.background, replace(reading_options, ignored_columns=ignored_columns)
        )
        vocabulary.locate("background", table)
        background = table.frame
    return pkex.Explainer(
        model,
        background,
        target=options.target,
        value_function=value_function,
        link=options.link,
        outputs=_as_outputs(options.outputs),
    )


def _as_outputs(texts: list[str] | None) -> int | str | list[int | str] | None:
    """Return outputs by number or name; a single one removes the output axis."""
    if texts is None:
        return None
    outputs: list[int | str] = [int(text) if text.isdecimal() else text for text in texts]
    return outputs[0] if len(outputs) == 1 else outputs


def _output(
    explainer: Explainer,
    explanation: Explanation | Estimate,
    model: str,
    options: argparse.Namespace,
    warnings: list[str],
) -> CommandOutput:
    from pkex.results.attribution_report import conclusion, report_attribution

    title = explainer._problem.title
    is_neutral = explanation.value_function == "neutral"
    points = "none required" if is_neutral else "the model's stored training points"
    facts = {
        "Model": f"{options.model}: {model}",
        "Rows": f"{len(explanation)}, of {options.data}",
        "Value function": str(explanation.value_function),
        "Background": options.background or points,
        "Explained": title if options.target is None else f"{options.target}, {title}",
        **_observational_facts(explainer),
        "Version": f"pkex {version('pkex')}",
    }
    if options.coalitions is not None:
        facts["Estimated"] = f"from {options.coalitions} coalitions, seed {options.seed}"
    sentence, heading = conclusion(explanation._rows), f"{title} in {Path(options.model).name}"
    record = {
        "command": "explain",
        "pkex": version("pkex"),
        "conclusion": sentence,
        "explained": title,
        "fitted": model,
        "conditioning": _observational_settings(explainer),
        "warnings": list(warnings),
        **_record(explanation, options),
    }
    return CommandOutput(
        lambda: report_attribution(explanation._rows, heading, facts, tuple(warnings)),
        record,
        _lines(explanation),
        sentence,
    )


def _observational_facts(explainer: Explainer) -> Mapping[str, str]:
    """Return the settings of the observational value function, for tables and pages."""
    settings, error = explainer.conditioning, explainer.landmark_error
    if settings is None:
        return {}
    facts = {"Conditioning": shortened(repr(settings), 300)}
    if error is not None:
        facts["Landmarks"] = f"error of the values of coalitions: {error:.1%} of their spread"
    return facts


def _observational_settings(explainer: Explainer) -> Mapping[str, Any] | None:
    """Return the settings of the observational value function, for JSON."""
    settings = explainer.conditioning
    if settings is None:
        return None
    return {
        "kernel": repr(settings.kernel),
        "regularization": settings.regularization,
        "n_landmarks": settings.n_landmarks,
        "leave_one_out": settings.leave_one_out,
        "normalize": settings.normalize,
        "embedding": settings.embedding,
        "landmark_error": explainer.landmark_error,
    }


def _record(explanation: Explanation | Estimate, options: argparse.Namespace) -> Mapping[str, Any]:
    """Return the explanation and its settings, for JSON."""
    names = explanation.output_names
    single = [] if explanation.output_name is None else [explanation.output_name]
    sizes = np.reshape(explanation.importance(), (len(explanation.feature_names), -1))
    return {
        "model": options.model,
        "data": {"file": options.data, "rows": len(explanation)},
        "background": options.background,
        "target": options.target,
        "link": options.link,
        "value_function": explanation.value_function,
        "coalitions": options.coalitions,
        "seed": None if options.coalitions is None else options.seed,
        "outputs": names or single,
        "features": [
            {"feature": feature, "mean_abs": means.tolist() if names else float(means[0])}
            for feature, means in zip(explanation.feature_names, sizes, strict=True)
        ],
        "rows": _rows(explanation),
    }


def _rows(explanation: Explanation | Estimate) -> list[Mapping[str, Any]]:
    """Return rows with their values for JSON, with a list for each of several outputs."""
    tables = {"values": explanation.values} | {
        f"{name.replace(' ', '_')}s": spread for name, spread in explanation._rows.spreads.items()
    }
    rows_of_values = zip(
        *(np.moveaxis(table, 1, -1).tolist() for table in tables.values()), strict=True
    )
    numbers = range(1, len(explanation) + 1)
    labels = explanation.row_index
    places = [{"row": number} for number in numbers]
    if labels is not None and labels.name is not None:
        places = [{"row": n, "label": label} for n, label in zip(numbers, labels, strict=True)]
    return [
        {**place, "base_value": base, **dict(zip(tables, row_values, strict=True))}
        for place, base, row_values in zip(
            places, explanation.base_values.tolist(), rows_of_values, strict=True
        )
    ]


def _lines(explanation: Explanation | Estimate) -> list[Mapping[str, Any]]:
    """Return a line of CSV for each row, or for each row and output if there are several."""
    columns = value_columns(explanation._rows)
    lines = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, line, strict=True)) for line in lines]
