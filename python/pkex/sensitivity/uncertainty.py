"""Uncertainty of indices: indices of draws from the posterior of a Gaussian process."""

from __future__ import annotations

from typing import Any

import numpy as np

from pkex.adapters import AdaptedModel
from pkex.errors import UnsupportedModelError, warn
from pkex.execution.computation import Computation
from pkex.explain.posterior import Posterior
from pkex.functions.base import Function, PosteriorDraws
from pkex.functions.gaussian_process.draws import missing_variance_note
from pkex.functions.products import JoinedProducts
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.sensitivity.deviations import Deviations
from pkex.sensitivity.draws import SensitivityDraws
from pkex.sensitivity.indices import Indices, check_rounding, indices_by_name, indices_of
from pkex.sensitivity.inputs import Inputs
from pkex.sensitivity.variance_values import VarianceValues, split_computation
from pkex.typing import Float

# The number of rows that draws are conditioned on or checked at.
_ROWS = 2000
_MIN_DRAWS = 20
# The largest error, relative to the variance of a draw: far below the differences of draws.
_MAX_ERROR = 1e-8


def number_of_draws(uncertainty: Any) -> int:
    """Return the number of draws: 0, or enough for an interval."""
    what = f"0, or a number of draws from {_MIN_DRAWS} on, such as 100"
    n = as_integer("uncertainty", uncertainty, what, least=0)
    if 0 < n < _MIN_DRAWS:
        raise ValueError(f"uncertainty must be {what}; got {n}")
    return n


def draws_of(
    adapted_model: AdaptedModel,
    model: Any,
    inputs: Inputs,
    n: int,
    random_state: Any,
    settings: tuple[Any, int, Computation],
) -> tuple[SensitivityDraws, list[str]]:
    """Return the indices of draws, and notes on them.

    Parameters
    ----------
    adapted_model : AdaptedModel
    model : fitted model
    inputs : Inputs
    n : int
        The number of draws.
    random_state : int, Generator, RandomState or None
    settings : tuple of (ndarray of int64 of shape (d,), {1, 2}, Computation)
        The players of columns, the order, and the settings of the computation.

    Raises
    ------
    UnsupportedModelError
        If the model is not a Gaussian process with a known posterior.
    ValueError
        If draws lack more than half of the posterior variance.
    """
    posterior = Posterior.of(adapted_model, model, None, None)
    if posterior.variance is None:
        raise UnsupportedModelError(posterior.reason)
    random = as_generator(random_state)
    deviations = posterior.variance.draws(inputs.sample(_ROWS, random), n, random)
    left_out = np.array([deviation.missing for deviation in deviations])
    draw_notes = _notes(float(left_out.max()))
    mean = adapted_model.function
    means = [mean.select([o]) for o in range(mean.n_outputs)] if mean.has_output_axis else [mean]
    indices, notes = [], []
    players, order, computation = settings
    pairs = list(zip(means, deviations, strict=True))
    for (output_mean, deviation), part in computation.over(pairs):
        values = _variance_values(output_mean, deviation, inputs, (players, order, part))
        notes += check_rounding(values, None, "a draw of the output")[:1]
        indices.append(indices_of(values))
    return _stack_outputs(indices, left_out, mean.has_output_axis), notes + draw_notes


def _variance_values(
    mean: Function,
    deviation: PosteriorDraws,
    inputs: Inputs,
    settings: tuple[Any, int, Computation],
) -> VarianceValues:
    """Return the values of coalitions for the draws of one output."""
    players, order, computation = settings
    rows = inputs.covering_rows()
    parts = [function.products(rows) for function in (mean, deviation.function)]
    n = deviation.function.n_outputs
    weights = [np.broadcast_to(part.weights, (len(part.weights), n)) for part in parts]
    products = JoinedProducts(parts, weights)
    first, second = split_computation(computation, products, inputs.marginals)
    deviations = Deviations.of(products, inputs.marginals, inputs.names, first)
    deviations, total_weights = deviations.merge_equal(np.concatenate(weights))
    return VarianceValues.of(deviations, total_weights, players, order, second, _MAX_ERROR)


def _notes(left_out: float) -> list[str]:
    note = missing_variance_note(
        left_out,
        "intervals are too narrow by about as much, and indices of interactions too small",
        "intervals would mean nothing. Fit the process to fewer inputs or with longer "
        "length-scales, give the inputs narrower ranges, or take uncertainty=0: the indices of "
        "its mean",
    )
    if note:
        warn(note)
    return [note] if note else []


def _stack_outputs(indices: list[Indices], left_out: Float, has_axis: bool) -> SensitivityDraws:
    """Return the indices of all outputs with draws along the first axis."""

    def stack(name: str) -> Any:
        array = np.stack([getattr(output_indices, name) for output_indices in indices], axis=-1)
        array = np.moveaxis(array, -2, 0)
        return np.ascontiguousarray(array if has_axis else array[..., 0])

    return SensitivityDraws(
        **{"second_order": None, **{name: stack(name) for name in indices_by_name(indices[0])}},
        left_out=left_out if has_axis else float(left_out[0]),
    )
