"""``pkex explain``: how much each feature moved a model's output in each row of a table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pkex.adapters.targets import Target
from pkex.cli.command_output import Answer, present
from pkex.cli.errors import Failure, failures, warning_lines
from pkex.cli.models import add_model, in_words, read_model, tables_for
from pkex.cli.options import (
    Progress,
    add_output,
    add_seed,
    add_table,
    check_output,
    count,
    table_options,
)
from pkex.cli.tables import read_table
from pkex.cli.vocabulary import CommandVocabulary
from pkex.functions.linked import LINKS
from pkex.games.value_functions import ValueFunction
from pkex.results.tables import shortened

if TYPE_CHECKING:
    from pkex import Estimate, Explainer, Explanation

__all__ = ["add", "run"]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "explain",
        help="how much each feature moved a model's output in each row",
        description="Exact Shapley values of a fitted kernel model's output for the rows of a "
        "table. --format csv or parquet has all rows.",
        allow_abbrev=False,
    )
    add_model(parser)
    parser.add_argument("data", metavar="DATA", help="CSV, Parquet or Arrow file, or '-'")
    group = parser.add_argument_group("what is explained")
    group.add_argument(
        "--background",
        metavar="FILE",
        help="table of rows that absent features are drawn from (default: the model's own points)",
    )
    group.add_argument(
        "--target",
        choices=[t for t in get_args(Target) if t is not None],
        help="default: the decision value of a classifier, else the prediction",
    )
    group.add_argument(
        "--value-function",
        choices=get_args(ValueFunction),
        help="default: interventional with --background, else marginal",
    )
    group.add_argument(
        "--uncertainty",
        action="store_true",
        help="standard deviations of the values, of Gaussian processes",
    )
    group.add_argument("--link", choices=LINKS, default="identity", help="default: %(default)s")
    group.add_argument(
        "--outputs",
        action="append",
        metavar="NAME",
        help="output of several that is explained, by name or number; may be "
        "repeated (default: all)",
    )
    _add_observational(parser)
    group = parser.add_argument_group("estimates")
    group.add_argument(
        "--coalitions",
        type=count,
        metavar="N",
        help="estimate values, with standard errors, from that many coalitions of features, such "
        "as 1000: where there are too many features for exact ones",
    )
    add_seed(group)
    add_table(parser, chosen="columns of the model, in its order")
    add_output(parser)
    parser.set_defaults(run=run)


def _add_observational(parser: argparse.ArgumentParser) -> None:
    """Add the settings of the observational game."""
    group = parser.add_argument_group("--value-function observational")
    group.add_argument(
        "--regularization",
        type=float,
        metavar="η",
        help="of the weights of background rows (default: 0.001)",
    )
    group.add_argument(
        "--landmarks",
        type=count,
        metavar="N",
        help="background rows that weights are made on (default: all, up to 10,000)",
    )
    group.add_argument(
        "--leave-one-out",
        action="store_true",
        help="leave a row that is in the background out of it while it is explained",
    )


def run(options: argparse.Namespace) -> int:
    """Explain the rows, write the values, and return the exit status."""
    kind = check_output(options, options.data, options.model, options.background)
    files = {"X": options.data, "background": options.background or "background"}
    vocabulary = CommandVocabulary(files | {"the model": options.model})
    with warning_lines(vocabulary) as warnings, failures(vocabulary):
        game = _game(options)
        model = read_model(options.model, options)
        explainer, explanation = _explained(model, game, options, vocabulary)
    answer = _answer(explainer, explanation, in_words(model), options, warnings)
    present(answer, kind, options.output)
    return 0


def _game(options: argparse.Namespace) -> Any:
    """Return the value function, with its settings if some are given."""
    from pkex import Observational

    given = {
        "regularization": options.regularization,
        "n_landmarks": options.landmarks,
        "leave_one_out": options.leave_one_out or None,
    }
    settings = {name: value for name, value in given.items() if value is not None}
    if not settings:
        return options.value_function
    if options.value_function != "observational":
        raise Failure(
            "--regularization, --landmarks and --leave-one-out are for --value-function "
            "observational"
        )
    return Observational(**settings)


def _explained(
    model: Any, game: Any, options: argparse.Namespace, vocabulary: CommandVocabulary
) -> tuple[Explainer, Explanation | Estimate]:
    import pkex

    how = tables_for(model, table_options(options))
    data = read_table(options.data, how)
    vocabulary.locate("X", data)
    rows = None if options.background is None else read_table(options.background, how)
    if rows is not None:
        vocabulary.locate("background", rows)
    explainer = pkex.Explainer(
        model,
        None if rows is None else rows.frame,
        target=options.target,
        value_function=game,
        link=options.link,
        outputs=_outputs(options.outputs),
    )
    asked: dict[str, Any] = {"uncertainty": options.uncertainty, "progress": Progress.shown()}
    if options.coalitions is None:
        return explainer, explainer(data.frame, **asked)
    drawn = {"n_coalitions": options.coalitions, "random_state": options.seed}
    return explainer, explainer.estimate(data.frame, **drawn, **asked)


def _outputs(given: list[str] | None) -> int | str | list[int | str] | None:
    """Return outputs by number or name; a single one leaves no axis."""
    if given is None:
        return None
    chosen: list[int | str] = [int(name) if name.isdecimal() else name for name in given]
    return chosen[0] if len(chosen) == 1 else chosen


def _answer(
    explainer: Explainer,
    explanation: Explanation | Estimate,
    fitted: str,
    options: argparse.Namespace,
    warnings: list[str],
) -> Answer:
    from pkex.results.attribution_report import conclusion, report_attribution

    what = repr(explainer).removeprefix("Explainer(").partition(",")[0]
    is_neutral = explanation.value_function == "neutral"
    own = "none, as it needs none" if is_neutral else "none: the model's own points"
    facts = {
        "Model": f"{options.model}: {fitted}",
        "Rows": f"{len(explanation)}, of {options.data}",
        "Game": str(explanation.value_function),
        "Background": options.background or own,
        "Explained": what if options.target is None else f"{options.target}, {what}",
        **_of_observational(explainer),
        "Version": f"pkex {version('pkex')}",
    }
    if options.coalitions is not None:
        facts["Estimated"] = f"from {options.coalitions} coalitions, seed {options.seed}"
    sentence, title = conclusion(explanation._rows), f"{what} in {Path(options.model).name}"
    found = {
        "verdict": sentence,
        "explained": what,
        "fitted": fitted,
        "conditioning": _settings(explainer),
        "warnings": list(warnings),
    }
    return Answer(
        lambda: report_attribution(explanation._rows, title, facts, tuple(warnings)),
        _record(explanation, options, found),
        _lines(explanation),
        sentence,
    )


def _of_observational(explainer: Explainer) -> Mapping[str, str]:
    """Return what absent features follow the present ones by."""
    settings, error = explainer.conditioning, explainer.landmark_error
    if settings is None:
        return {}
    said = {"Conditioning": shortened(repr(settings), 300)}
    if error is not None:
        said["Landmarks"] = f"worths of coalitions are {error:.1%} of their spread off"
    return said


def _settings(explainer: Explainer) -> Mapping[str, Any] | None:
    """Return the settings of the observational game, for JSON."""
    settings = explainer.conditioning
    if settings is None:
        return None
    return {
        "kernel": repr(settings.kernel),
        "regularization": settings.regularization,
        "n_landmarks": settings.n_landmarks,
        "leave_one_out": settings.leave_one_out,
        "landmark_error": explainer.landmark_error,
    }


def _record(
    explanation: Explanation | Estimate, options: argparse.Namespace, found: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return what was explained, for JSON."""
    names = explanation.output_names
    single = [] if explanation.output_name is None else [explanation.output_name]
    sizes = np.reshape(explanation.importance(), (len(explanation.feature_names), -1))
    return {
        "command": "explain",
        "pkex": version("pkex"),
        **found,
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
            {"feature": feature, "mean_abs": own.tolist() if names else float(own[0])}
            for feature, own in zip(explanation.feature_names, sizes, strict=True)
        ],
        "rows": _rows(explanation),
    }


def _rows(explanation: Explanation | Estimate) -> list[Mapping[str, Any]]:
    """Return rows with their values, for JSON; of several outputs a list for each of them."""
    tables = {"values": explanation.values} | {
        f"{name.replace(' ', '_')}s": spread for name, spread in explanation._rows.spreads.items()
    }
    by_row = zip(*(np.moveaxis(table, 1, -1).tolist() for table in tables.values()), strict=True)
    return [
        {"row": number, "base_value": base, **dict(zip(tables, own, strict=True))}
        for number, (base, own) in enumerate(
            zip(explanation.base_values.tolist(), by_row, strict=True), 1
        )
    ]


def _lines(explanation: Explanation | Estimate) -> list[Mapping[str, Any]]:
    """Return lines for CSV: one for each row, and output if there are several."""
    names = explanation.output_names
    lines: list[Mapping[str, Any]] = []
    for row in _rows(explanation):
        number, base_values, *tables = row.values()
        kinds = ["", *(f" {name}" for name in explanation._rows.spreads)]
        for place, name in enumerate(names or [""]):
            base = base_values[place] if names else base_values
            line = {"row": number, **({"output": name} if names else {}), "base_value": base}
            for kind, table in zip(kinds, tables, strict=True):
                own = table[place] if names else table
                for feature, value in zip(explanation.feature_names, own, strict=True):
                    line[_apart(feature + kind, line)] = value
            lines.append(line)
    return lines


def _apart(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that no column before has."""
    return f"{name} (feature)" if name in taken else name
