"""Values of the losses of rows: exact, or estimated where there are too many features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pkex.execution.progress import Progress
from pkex.explain.estimated_values import make_estimator
from pkex.explain.exact_values import compute_values
from pkex.explain.loss_targets import losses_of, schema_of_losses
from pkex.explain.problem import Problem
from pkex.explain.schema import ExplainedRows
from pkex.functions.losses import LOSSES, Loss
from pkex.functions.row_losses import RowLosses
from pkex.inputs.choices import check_choice
from pkex.results.estimate import Estimate
from pkex.results.explanation import Explanation
from pkex.results.row_values import RowValues
from pkex.results.uncertainty import Uncertainty
from pkex.tables.labels import check_same_rows, row_labels
from pkex.tables.weights import relative_weights
from pkex.typing import Float

# Names in other libraries.
_SYNONYMS = {
    **dict.fromkeys(("mse", "l2", "squared", "mean_squared_error"), "squared_error"),
    **dict.fromkeys(("mae", "l1", "absolute", "mean_absolute_error"), "absolute_error"),
    **dict.fromkeys(("cross entropy", "cross_entropy", "logloss", "log-loss"), "log_loss"),
    "hinge_loss": "hinge",
}


def loss_values(
    problem: Problem,
    X: Any,
    y: Any,
    *,
    loss: Loss,
    sample_weight: ArrayLike | None,
    n_permutations: int | None,
    n_coalitions: int | None,
    generator: np.random.Generator,
    progress: Progress,
) -> Explanation | Estimate:
    """Explain the losses of rows; estimate their values if a number of draws is given."""
    check_choice("loss", loss, LOSSES, _SYNONYMS)
    explained_rows = problem.schema.read(X)
    n_rows = len(explained_rows.rows)
    losses, targets = losses_of(problem, y, n_rows, loss)
    check_same_rows(row_labels(y), explained_rows.row_index, "y", "X")
    weights = None
    if sample_weight is not None:
        weights = relative_weights(sample_weight, "sample_weight", n_rows, "X")
    rows = np.column_stack([explained_rows.rows, targets])
    is_exact = n_permutations is None and n_coalitions is None
    spread = None
    if is_exact:
        with problem.settings.computing(progress) as computation:
            values = compute_values(problem, losses, rows, computation)
    else:
        estimator = make_estimator(problem, n_permutations, n_coalitions, generator)
        with problem.settings.computing(progress) as computation:
            values, errors = estimator(losses, rows, computation)
        if not losses.has_output_axis:
            values, errors = values[..., 0], errors[..., 0]
        spread = Uncertainty(errors)
    result = _result(problem, losses, explained_rows, rows, values, spread, loss)
    result = replace(result, sample_weight=weights)
    return Explanation._of(result) if is_exact else Estimate._of(result)


def _result(
    problem: Problem,
    losses: RowLosses,
    explained_rows: ExplainedRows,
    rows: Float,
    values: Float,
    spread: Uncertainty | None,
    loss: Loss,
) -> RowValues:
    """Return values as results hold them, with the losses of the base value as base values."""
    schema = schema_of_losses(problem.schema, losses)
    bases = losses.losses_at(rows, np.ravel(problem.base))
    if not losses.has_output_axis or schema.outputs.drops_axis:
        bases = bases[:, 0]
    # The base value differs between rows, and is set below.
    placeholder = np.zeros(losses.n_outputs) if losses.has_output_axis else 0.0
    loss_problem = replace(problem, schema=schema, base=placeholder)
    return replace(
        loss_problem.result(explained_rows, values, spread), base_values=bases, loss=loss
    )
