"""The transforms of BoTorch's models: of inputs, column by column, and of outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from botorch.models.transforms import input as inputs
from botorch.models.transforms import outcome

from pkex.adapters.registry import unsupported_model
from pkex.adapters.search_space import (
    SearchSpace,
    Step,
    affine,
    kumaraswamy,
    logarithm,
    number_of,
    reversed_step,
    rounding,
)
from pkex.adapters.torch.tensors import array_of, parameter_of_output
from pkex.typing import Float

# With the number of the column that a step changes.
_Steps = list[tuple[int, Step]]


@dataclass(frozen=True)
class InputReader:
    """Reads the input transforms of one output of a model.

    Parameters
    ----------
    model_name : str
        Name of the model in messages.
    n_columns : int
    batch_shape : tuple of int
        Of all outputs.
    output : int
        Number of the output in the flattened batch.
    """

    model_name: str
    n_columns: int
    batch_shape: tuple[int, ...] = ()
    output: int = 0

    def columns(self, transform: Any) -> SearchSpace | None:
        """Return the map from the user's columns to the model's, None without transforms.

        Raises
        ------
        UnsupportedModelError
            If a transform mixes columns. The message names it.
        """
        parts = _flatten_transforms(transform)
        if not parts:
            return None
        chains: list[list[Step]] = [[] for _ in range(self.n_columns)]
        for part in parts:
            steps = self._steps(part)
            if getattr(part, "reverse", False):
                steps = [(column, reversed_step(step)) for column, step in reversed(steps)]
            for column, step in steps:
                chains[column].append(step)
        return SearchSpace([number_of(chain) for chain in chains])

    def _steps(self, transform: Any) -> _Steps:
        reader = _READERS.get(type(transform))
        if reader is None:
            names = ", ".join(kind.__name__ for kind in _READERS)
            raise unsupported_model(
                f"{self.model_name} with the input transform {type(transform).__name__}",
                f": supported are transforms of single columns, {names} and ChainedInputTransform "
                "of these. Fit the model to rows that you have transformed, and explain these",
            )
        return reader(self, transform)

    def affine(self, transform: Any) -> _Steps:
        """Read (x − offset) / coefficient."""
        offsets = self._numbers(transform, transform.offset)
        coefficients = self._numbers(transform, transform.coefficient)
        steps = map(affine, offsets, coefficients)
        return list(zip(self._changed_columns(transform), steps, strict=True))

    def log10(self, transform: Any) -> _Steps:
        """Read a logarithm."""
        return [(column, logarithm()) for column in self._changed_columns(transform)]

    def round(self, transform: Any) -> _Steps:
        """Read a transform that rounds columns to integers."""
        if transform.categorical_features:
            raise unsupported_model(
                f"{self.model_name} with the input transform Round with categorical_features",
                ": it compares columns with each other. Use a MixedSingleTaskGP with the category "
                "as one column",
            )
        if transform.approximate:
            raise unsupported_model(
                f"{self.model_name} with the input transform Round with approximate=True",
                ": use approximate=False",
            )
        return [(int(place) % self.n_columns, rounding()) for place in transform.integer_indices]

    def warp(self, transform: Any) -> _Steps:
        """Read Kumaraswamy's distribution function of columns that are scaled to [0, 1]."""
        shapes = zip(
            self._numbers(transform, transform.concentration0),
            self._numbers(transform, transform.concentration1),
            strict=True,
        )
        eps = float(transform._eps)
        warps = [kumaraswamy(c0, c1, eps) for c0, c1 in shapes]
        columns = self._changed_columns(transform)
        return self.affine(transform._normalize) + list(zip(columns, warps, strict=True))

    def _changed_columns(self, transform: Any) -> list[int]:
        """Return the numbers of the columns that a transform changes."""
        indices = getattr(transform, "indices", None)
        columns = range(self.n_columns)
        return list(columns) if indices is None else [columns[int(index)] for index in indices]

    def _numbers(self, transform: Any, parameter: Any) -> list[float]:
        """Return a parameter of the columns that a transform changes."""
        shape = (1, len(self._changed_columns(transform)))
        (numbers,) = parameter_of_output(parameter, shape, self.batch_shape, self.output).tolist()
        return [float(number) for number in numbers]


_READERS: dict[type, Callable[[InputReader, Any], _Steps]] = {
    inputs.AffineInputTransform: InputReader.affine,
    inputs.Normalize: InputReader.affine,
    inputs.InputStandardize: InputReader.affine,
    inputs.Round: InputReader.round,
    inputs.Log10: InputReader.log10,
    inputs.Warp: InputReader.warp,
}


def _flatten_transforms(transform: Any) -> list[Any]:
    """Return the transforms that are applied one after the other."""
    if transform is None or not transform.transform_on_eval:
        return []
    if type(transform) is inputs.ChainedInputTransform:
        return [part for inner in transform.values() for part in _flatten_transforms(inner)]
    return [transform]


def outcome_units(transform: Any, n_outputs: int, name: str) -> tuple[Float, Float]:
    """Return a and b of each output f, such that a · f + b is in units of the outcomes.

    Raises
    ------
    UnsupportedModelError
        If the transform is not affine.
    """
    kind = type(transform)
    scale, shift = np.ones(n_outputs), np.zeros(n_outputs)
    if transform is None:
        return scale, shift
    if kind is outcome.ChainedOutcomeTransform:
        for part in transform.values():
            part_scale, part_shift = outcome_units(part, n_outputs, name)
            scale, shift = scale * part_scale, shift + scale * part_shift
        return scale, shift
    if kind is outcome.Standardize:
        scale[:] = array_of(transform.stdvs).ravel()
        shift[:] = array_of(transform.means).ravel()
        return scale, shift
    raise unsupported_model(
        f"{name} with the outcome transform {kind.__name__}",
        ": supported is Standardize. The posterior mean behind a nonlinear transform is not a sum "
        "over the training points. Fit the model to transformed outcomes, and explain these",
    )
