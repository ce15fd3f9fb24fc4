"""The transforms of BoTorch's models: of inputs, column by column, and of outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from botorch.models.transforms import input as inputs
from botorch.models.transforms import outcome

from pkex.adapters.gpytorch.tensors import array_of, of_output
from pkex.adapters.registry import unsupported
from pkex.adapters.search_space import Number, SearchSpace
from pkex.typing import Float

__all__ = ["input_columns", "outcome_units"]

_Function = Callable[[Float], Float]
# What is done to a column, and what undoes it.
_Step = tuple[_Function, _Function]
# By the numbers of the columns; those that are not in it stay as they are.
_Steps = dict[int, _Step]


def input_columns(
    transform: Any, n_columns: int, batch_shape: tuple[int, ...], output: int, name: str
) -> SearchSpace | None:
    """Return the map from a user's columns to those of one output, None if they are the same.

    Raises
    ------
    UnsupportedModelError
        Naming a transform that does not keep columns apart.
    """
    found = list(_flattened(transform))
    if not found:
        return None
    chains: list[list[_Step]] = [[] for _ in range(n_columns)]
    for part in found:
        if type(part) not in _READERS:
            known = ", ".join(kind.__name__ for kind in _READERS)
            raise unsupported(
                f"{name} with the input transform {type(part).__name__}",
                f": those that keep columns apart are, {known} and ChainedInputTransform of them. "
                "Transform the rows before they are given to the model, and explain those",
            )
        for column, step in _READERS[type(part)](part, n_columns, batch_shape, output).items():
            chains[column].append(step[::-1] if getattr(part, "reverse", False) else step)
    return SearchSpace([_number(steps) for steps in chains])


def _flattened(transform: Any) -> list[Any]:
    """Return the transforms that are applied in turn to what a user gives."""
    if transform is None or not transform.transform_on_eval:
        return []
    if type(transform) is inputs.ChainedInputTransform:
        return [part for own in transform.values() for part in _flattened(own)]
    return [transform]


def _number(steps: Sequence[_Step]) -> Number:
    forward = [step[0] for step in steps]
    backward = [step[1] for step in reversed(steps)]
    return Number(partial(_in_turn, forward), partial(_in_turn, backward))


def _in_turn(functions: Sequence[_Function], entries: Float) -> Float:
    # What has no value, such as the logarithm of 0, is refused where it comes to the model.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for function in functions:
            entries = function(entries)
    return entries


def _affine(transform: Any, n_columns: int, batch_shape: tuple[int, ...], output: int) -> _Steps:
    """Read (x − offset) / coefficient."""
    columns = _indices(transform, n_columns)
    offsets, coefficients = (
        of_output(parameter, (1, len(columns)), batch_shape, output)[0]
        for parameter in (transform.offset, transform.coefficient)
    )
    return {
        column: (partial(_divided, offset, by), partial(_multiplied, offset, by))
        for column, offset, by in zip(columns, offsets, coefficients, strict=True)
    }


def _divided(offset: float, by: float, entries: Float) -> Float:
    return (entries - offset) / by


def _multiplied(offset: float, by: float, entries: Float) -> Float:
    return entries * by + offset


def _log10(transform: Any, n_columns: int, batch_shape: tuple[int, ...], output: int) -> _Steps:
    return dict.fromkeys(_indices(transform, n_columns), (np.log10, partial(np.power, 10.0)))


def _round(transform: Any, n_columns: int, batch_shape: tuple[int, ...], output: int) -> _Steps:
    if transform.categorical_features:
        raise unsupported(
            "the input transform Round with categorical_features",
            ": it compares columns with each other; give the category as one column, to a "
            "MixedSingleTaskGP",
        )
    if transform.approximate:
        raise unsupported(
            "the input transform Round with approximate=True", ": with approximate=False it is"
        )
    columns = [int(place) % n_columns for place in transform.integer_indices]
    return dict.fromkeys(columns, (np.rint, np.asarray))


def _warp(transform: Any, n_columns: int, batch_shape: tuple[int, ...], output: int) -> _Steps:
    """Read the distribution function of Kumaraswamy, 1 − (1 − u^c1)^c0, of u in the unit cube."""
    columns = _indices(transform, n_columns)
    units = _affine(transform._normalize, n_columns, batch_shape, output)
    shapes = zip(
        *(
            of_output(parameter, (1, len(columns)), batch_shape, output)[0].tolist()
            for parameter in (transform.concentration0, transform.concentration1)
        ),
        strict=True,
    )
    eps = float(transform._eps)
    steps: _Steps = {}
    for column, (c0, c1) in zip(columns, shapes, strict=True):
        to_unit, from_unit = units[column]
        steps[column] = (
            partial(_in_turn, [to_unit, partial(_warped, c0, c1, eps)]),
            partial(_in_turn, [partial(_unwarped, c0, c1, eps), from_unit]),
        )
    return steps


def _warped(c0: float, c1: float, eps: float, entries: Float) -> Float:
    inside = np.clip(entries * (1.0 - 2.0 * eps) + eps, eps, 1.0 - eps)
    return np.asarray(1.0 - (1.0 - inside**c1) ** c0)


def _unwarped(c0: float, c1: float, eps: float, entries: Float) -> Float:
    inside = (1.0 - (1.0 - entries) ** (1.0 / c0)) ** (1.0 / c1)
    return np.clip((inside - eps) / (1.0 - 2.0 * eps), 0.0, 1.0)


_READERS: dict[type, Callable[[Any, int, tuple[int, ...], int], _Steps]] = {
    inputs.AffineInputTransform: _affine,
    inputs.Normalize: _affine,
    inputs.InputStandardize: _affine,
    inputs.Round: _round,
    inputs.Log10: _log10,
    inputs.Warp: _warp,
}


def _indices(transform: Any, n_columns: int) -> list[int]:
    own = getattr(transform, "indices", None)
    return list(range(n_columns)) if own is None else [int(i) % n_columns for i in own]


def outcome_units(transform: Any, n_outputs: int, name: str) -> tuple[Float, Float]:
    """Return the numbers a and b of each output f, such that a · f + b is in units of outcomes.

    Raises
    ------
    UnsupportedModelError
        If the transform is not linear.
    """
    kind = type(transform)
    if transform is None:
        return np.ones(n_outputs), np.zeros(n_outputs)
    if kind is outcome.ChainedOutcomeTransform:
        scale, shift = np.ones(n_outputs), np.zeros(n_outputs)
        for part in transform.values():
            own_scale, own_shift = outcome_units(part, n_outputs, name)
            scale, shift = scale * own_scale, shift + scale * own_shift
        return scale, shift
    if kind is outcome.Standardize:
        scale, shift = (
            np.broadcast_to(array_of(part).reshape(-1), n_outputs)
            for part in (transform.stdvs, transform.means)
        )
        return scale, shift
    raise unsupported(
        f"{name} with the outcome transform {kind.__name__}",
        ": Standardize is. The mean of what is not linear is no sum over the training points; fit "
        "the model to outcomes that you have transformed, and explain those",
    )
