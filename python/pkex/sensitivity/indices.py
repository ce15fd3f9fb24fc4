"""Sensitivity indices as shares of the variance, with checks of rounding errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pkex.errors import warn
from pkex.inputs.arrays import ReadOnlyArrays
from pkex.sensitivity.variance_values import VarianceValues
from pkex.typing import Float

# Relative rounding errors of the variance that cause a warning, and an error.
_NOTABLE, _TOO_LARGE = 1e-6, 1e-2


@dataclass(frozen=True, eq=False, repr=False)
class Indices(ReadOnlyArrays):
    """The variance of outputs and its shares; see `SensitivityResult`."""

    variance: float | Float
    shapley_effects: Float
    first_order: Float
    total: Float
    second_order: Float | None


def indices_of(values: VarianceValues) -> Indices:
    """Return values of coalitions as shares of the variance; the last axis has the outputs."""
    variance = values.shapley.sum(axis=0)
    second = None if values.second is None else _pair_matrices(values.second) / variance
    return Indices(
        variance,
        values.shapley / variance,
        values.first / variance,
        values.total / variance,
        second,
    )


def indices_by_name(indices: Indices) -> dict[str, Any]:
    """Return the variance and the indices that are known, by name."""
    arrays = {field.name: getattr(indices, field.name) for field in fields(Indices)}
    return {name: array for name, array in arrays.items() if array is not None}


def _pair_matrices(values: Float) -> Float:
    """Return values of pairs, of shape (pairs, outputs), as symmetric matrices (P, P, outputs)."""
    n_players = (1 + math.isqrt(1 + 8 * len(values))) // 2
    table = np.full((n_players, n_players, values.shape[1]), np.nan)
    one, other = np.triu_indices(n_players, k=1)
    table[one, other] = table[other, one] = values
    return table


def check_rounding(
    values: VarianceValues, outputs: tuple[str, ...] | None, title: str = "the output"
) -> list[str]:
    """Return notes on rounding errors; raise ValueError if a variance is 0 or lost in them.

    Parameters
    ----------
    values : VarianceValues
    outputs : tuple of str, optional
        The names of the outputs.
    title : str
        The name of the output in messages.
    """
    notes = []
    variances = values.shapley.sum(axis=0)
    for place, (variance, error) in enumerate(zip(variances, values.errors, strict=True)):
        output_title = title if outputs is None else f"{title} {outputs[place]!r}"
        if variance == 0.0:
            raise ValueError(
                f"the variance of {output_title} is 0: nothing that varies in inputs "
                "changes it, so that there is nothing to divide"
            )
        share = abs(error / variance)
        if variance < 0.0 or share > _TOO_LARGE:
            raise ValueError(
                f"the variance of {output_title} is lost in rounding errors ({error:.1e} "
                f"compared with {variance:.1e}): the model's coefficients are huge and cancel; fit "
                "it with more noise or regularization, for instance a larger alpha"
            )
        if share > _NOTABLE:
            notes.append(
                f"rounding errors of the indices of {output_title} are about {share:.0e}, as the "
                "model's coefficients are huge and cancel; more noise or regularization makes them "
                "smaller"
            )
            warn(notes[-1])
    return notes
