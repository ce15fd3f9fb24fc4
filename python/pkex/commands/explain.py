"""``pkex explain``: how much each feature moved a model's output in each row of a table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from pkex.adapters.targets import Target
from pkex.commands.answers import Answer, present
from pkex.commands.failure import naming, warned
from pkex.commands.models import add_model, in_words, read_model, tables_for
from pkex.commands.options import Progress, add_output, add_table, check_output, table_options
from pkex.commands.tables import read_table
from pkex.functions.linked import LINKS
from pkex.games.value_functions import ValueFunction

if TYPE_CHECKING:
    from pkex import Explainer, Explanation

__all__ = ["add", "run"]


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to a parser."""
    parser = commands.add_parser(
        "explain",
        help="how much each feature moved a model's output in each row",
        description="Exact Shapley values of a fitted kernel model's output for the rows of a "
        "table. --format csv has all rows.",
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
    group.add_argument("--link", choices=LINKS, default="identity", help="default: %(default)s")
    group.add_argument(
        "--outputs",
        action="append",
        metavar="NAME",
        help="output of several that is explained, by name or number; may be "
        "repeated (default: all)",
    )
    add_table(parser, chosen="columns of the model, in its order")
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain the rows, write the values, and return the exit status."""
    kind = check_output(options, options.data, options.model, options.background)
    called = {"X": options.data, "background": options.background or "background"}
    called |= {"The model": options.model, "the model": options.model}
    with warned(called) as warnings, naming(called):
        model = read_model(options.model, options)
        explainer, explanation = _explained(model, options)
    what = repr(explainer).removeprefix("Explainer(").partition(",")[0]
    answer = _answer(explanation, what, in_words(model), options, warnings)
    present(answer, kind, options.output)
    return 0


def _explained(model: Any, options: argparse.Namespace) -> tuple[Explainer, Explanation]:
    import pkex

    how = tables_for(model, table_options(options))
    data = read_table(options.data, how)
    rows = None if options.background is None else read_table(options.background, how)
    with nullcontext() if rows is None else rows.located():
        explainer = pkex.Explainer(
            model,
            None if rows is None else rows.frame,
            target=options.target,
            value_function=options.value_function,
            link=options.link,
            outputs=_outputs(options.outputs),
        )
    with data.located():
        return explainer, explainer(data.frame, progress=Progress.shown())


def _outputs(given: list[str] | None) -> int | str | list[int | str] | None:
    """Return outputs by number or name; a single one leaves no axis."""
    if given is None:
        return None
    chosen: list[int | str] = [int(name) if name.isdecimal() else name for name in given]
    return chosen[0] if len(chosen) == 1 else chosen


def _answer(
    explanation: Explanation,
    what: str,
    fitted: str,
    options: argparse.Namespace,
    warnings: list[str],
) -> Answer:
    from pkex.explain.findings import of_explanation, verdict

    is_neutral = explanation.value_function == "neutral"
    own = "none, as it needs none" if is_neutral else "none: the model's own points"
    facts = {
        "Model": f"{options.model}: {fitted}",
        "Rows": f"{len(explanation)}, of {options.data}",
        "Game": str(explanation.value_function),
        "Background": options.background or own,
        "Explained": what if options.target is None else f"{options.target}, {what}",
        "Version": f"pkex {version('pkex')}",
    }
    sentence, title = verdict(explanation), f"{what} in {Path(options.model).name}"
    found = {"verdict": sentence, "explained": what, "fitted": fitted, "warnings": list(warnings)}
    return Answer(
        lambda: of_explanation(explanation, title, facts, tuple(warnings)),
        _record(explanation, options, found),
        _lines(explanation),
        sentence,
    )


def _record(
    explanation: Explanation, options: argparse.Namespace, found: Mapping[str, Any]
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
        "outputs": names or single,
        "features": [
            {"feature": feature, "mean_abs": own.tolist() if names else float(own[0])}
            for feature, own in zip(explanation.feature_names, sizes, strict=True)
        ],
        "rows": _rows(explanation),
    }


def _rows(explanation: Explanation) -> list[Mapping[str, Any]]:
    """Return rows with their values, for JSON; of several outputs a list for each of them."""
    values = np.moveaxis(explanation.values, 1, -1)
    return [
        {"row": number, "base_value": base, "values": own}
        for number, (base, own) in enumerate(
            zip(explanation.base_values.tolist(), values.tolist(), strict=True), 1
        )
    ]


def _lines(explanation: Explanation) -> list[Mapping[str, Any]]:
    """Return lines for CSV: one for each row, and output if there are several."""
    names = explanation.output_names
    lines: list[Mapping[str, Any]] = []
    for row in _rows(explanation):
        bases = row["base_value"] if names else [row["base_value"]]
        by_output = row["values"] if names else [row["values"]]
        for name, base, values in zip(names or [""], bases, by_output, strict=True):
            head = {"row": row["row"], **({"output": name} if names else {}), "base_value": base}
            own = dict(zip(explanation.feature_names, values, strict=True))
            lines.append({**head, **{_apart(k, head): v for k, v in own.items()}})
    return lines


def _apart(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that none of the first columns has."""
    return f"{name} (feature)" if name in taken else name
