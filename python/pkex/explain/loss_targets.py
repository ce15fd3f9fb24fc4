"""Targets that a loss compares with outputs: numbers, or the class labels of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.errors import InputError, Option, Text
from pkex.explain.outputs import Outputs
from pkex.explain.problem import Problem
from pkex.explain.schema import Schema
from pkex.functions.losses import (
    Loss,
    OutputLoss,
    absolute_errors,
    hinge_losses,
    log_losses_of_class,
    log_losses_of_odds,
    log_losses_of_probabilities,
    squared_errors,
)
from pkex.functions.row_losses import RowLosses
from pkex.inputs.wording import shown
from pkex.tables.kinds import values_of
from pkex.tables.missing import is_missing
from pkex.tables.read import as_vector_or_matrix
from pkex.typing import Float

_BY_OUTPUT: dict[Loss, OutputLoss] = {
    "squared_error": squared_errors,
    "absolute_error": absolute_errors,
}
_PROBABILITY = "explain ", Option("target", "probability")
_LOG_ODDS = "explain ", Option("target", "log-odds")


def losses_of(problem: Problem, y: Any, n_rows: int, loss: Loss) -> tuple[RowLosses, Float]:
    """Return the losses of a problem's function, and the targets of rows, shape (n, k).

    Raises
    ------
    ValueError, TypeError
        If `y` does not have the targets that the loss requires, or the loss does not suit the
        scale of the outputs.
    """
    is_classifier = problem.scale.kind != "prediction"
    if loss in _BY_OUTPUT:
        targets = (
            _indicators(problem, y, n_rows, loss) if is_classifier else _numbers(problem, y, n_rows)
        )
        output_loss = _BY_OUTPUT[loss]
    elif not is_classifier:
        raise InputError(
            Option("loss", loss),
            "compares outputs with class labels, but the explained function is not the output of a "
            f"classifier: {problem.title}",
            [("pass ", Option("loss", alternative)) for alternative in _BY_OUTPUT],
        )
    elif loss == "log_loss":
        output_loss, targets = _log_loss_targets(problem, y, n_rows)
    else:
        output_loss, targets = _hinge_targets(problem, y, n_rows)
    function = problem.function
    has_axis = function.has_output_axis and loss in _BY_OUTPUT
    n_losses = function.n_outputs if loss in _BY_OUTPUT else 1
    return RowLosses(function, output_loss, n_losses, has_axis), targets


def schema_of_losses(schema: Schema, losses: RowLosses) -> Schema:
    """Return the schema of losses: without outputs, unless each output has a loss."""
    if losses.has_output_axis:
        return schema
    return replace(schema, outputs=Outputs(None, None, drops_axis=False))


def _numbers(problem: Problem, y: Any, n_rows: int) -> Float:
    """Return the targets of predictions, shape (n, outputs)."""
    targets = as_vector_or_matrix(y, "y", n_rows=n_rows, rows_of="X")
    n_outputs, names = problem.function.n_outputs, problem.schema.outputs.axis_names
    expected = (n_rows,) if names is None else (n_rows, n_outputs)
    if targets.shape != expected and targets.shape != (n_rows, n_outputs):
        per_output = "" if names is None else f", a target for each of the outputs {shown(names)}"
        raise InputError("y", f"must have shape {expected}{per_output}; got shape {targets.shape}")
    return targets.reshape(n_rows, n_outputs)


def _indicators(problem: Problem, y: Any, n_rows: int, loss: Loss) -> Float:
    """Return 1 for the true class and 0 for others, shape (n, outputs)."""
    kind = problem.scale.kind
    if kind != "probability":
        fixes: list[Text] = [(*_PROBABILITY, " for the Brier score")]
        if kind != "odds" and _has_two_classes(problem):
            alternative = "log_loss" if kind == "log-odds" else "hinge"
            fixes.insert(0, ("pass ", Option("loss", alternative)))
        raise InputError(
            Option("loss", loss),
            "compares outputs with numbers in their units, which class labels are not for "
            f"{'a decision value' if kind == 'decision value' else kind}",
            fixes,
        )
    _check_link(problem, loss)
    numbers = _class_numbers(problem, y, n_rows)
    places = problem.schema.outputs.places
    classes = np.arange(len(problem.scale.classes)) if places is None else np.array(places)
    indicators: Float = (numbers[:, None] == classes).astype(np.float64)
    return indicators


def _log_loss_targets(problem: Problem, y: Any, n_rows: int) -> tuple[OutputLoss, Float]:
    kind, classes = problem.scale.kind, problem.scale.classes
    if kind == "log-odds":
        return log_losses_of_odds, _signs(problem, y, n_rows, 1)
    if kind != "probability":
        raise InputError(
            Option("loss", "log_loss"),
            f"requires probabilities or log-odds; the explained function is the {problem.title}",
            [_PROBABILITY, _LOG_ODDS] if _has_two_classes(problem) else _PROBABILITY,
        )
    _check_link(problem, "log_loss")
    places = problem.schema.outputs.places
    if places is None:
        numbers = _class_numbers(problem, y, n_rows)[:, None]
        return log_losses_of_probabilities, numbers.astype(np.float64)
    if len(classes) == 2 and len(places) == 1:
        return log_losses_of_class, _signs(problem, y, n_rows, places[0])
    raise InputError(
        Option("loss", "log_loss"),
        f"requires the probabilities of all classes {shown(classes)}",
        ("omit ", Option("outputs", python="outputs")),
    )


def _hinge_targets(problem: Problem, y: Any, n_rows: int) -> tuple[OutputLoss, Float]:
    kind, n_classes = problem.scale.kind, len(problem.scale.classes)
    if kind != "decision value" or not _has_two_classes(problem):
        fix: Text = ("pass ", Option("loss", "log_loss"))
        if kind in ("decision value", "odds"):
            fix = (*_PROBABILITY, " with ", Option("loss", "log_loss"))
        raise InputError(
            Option("loss", "hinge"),
            "requires the decision value of a classifier of two classes; the explained function "
            f"is the {problem.title} ({n_classes} classes)",
            fix,
        )
    return hinge_losses, _signs(problem, y, n_rows, 1)


def _has_two_classes(problem: Problem) -> bool:
    return len(problem.scale.classes) == 2


def _check_link(problem: Problem, loss: Loss) -> None:
    if problem.link != "identity":
        raise InputError(
            Option("link", problem.link),
            f"explains log-odds of mean probabilities, which loss={loss!r} does not need: the loss "
            "of mean probabilities is the same",
            ("omit ", Option("link", python="link")),
        )


def _signs(problem: Problem, y: Any, n_rows: int, positive: int) -> Float:
    """Return 1 for the class with a number and −1 for the other, shape (n, 1)."""
    numbers = _class_numbers(problem, y, n_rows)
    return np.where(numbers == positive, 1.0, -1.0)[:, None]


def _class_numbers(problem: Problem, y: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the number of the class of each row, shape (n,)."""
    labels = _labels(y, n_rows)
    classes = problem.scale.classes
    numbers = {label: number for number, label in enumerate(classes)}
    class_numbers = np.empty(n_rows, dtype=np.intp)
    for row, label in enumerate(labels):
        if is_missing(label):
            raise InputError("y", "has no class label", "remove such rows", row, kind="missing")
        if label not in numbers:
            raise InputError(
                "y",
                f"has the class label {label!r}, but the model's classes are {shown(classes)}",
                row=row,
            )
        class_numbers[row] = numbers[label]
    return class_numbers


def _labels(y: Any, n_rows: int) -> Sequence[Any]:
    """Return the class labels of rows."""
    array = y if hasattr(y, "shape") or hasattr(type(y), "to_pylist") else np.asarray(y, object)
    shape = getattr(array, "shape", (len(array),))
    if tuple(shape) == (n_rows, 1):
        array, shape = np.asarray(array)[:, 0], (n_rows,)
    if tuple(shape) != (n_rows,):
        raise InputError(
            "y",
            f"must have shape ({n_rows},), a class label for each row of X; got shape "
            f"{tuple(shape)}",
        )
    return values_of(array)
