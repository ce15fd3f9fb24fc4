"""The transforms of BoTorch's models: of inputs, column by column, and of outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from botorch.models.transforms import input as inputs
from botorch.models.transforms import outcome

from pkex.adapters.registry import unsupported
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
from pkex.adapters.torch.tensors import array_of, of_output
from pkex.typing import Float

# By the numbers of the columns that are changed.
_Steps = list[tuple[int, Step]]


@dataclass(frozen=True)
class InputReader:
    """Reads the input transforms of one output of a model.

    Parameters
    ----------
    model_name : str
        What messages call the model.
    n_columns : int
    batch_shape : tuple of int
        Of all outputs.
    output : int
        Its number, in the flattened batch.
    """

    model_name: str
    n_columns: int
    batch_shape: tuple[int, ...] = ()
    output: int = 0

    def columns(self, transform: Any) -> SearchSpace | None:
        """Return the map from a user's columns to the model's, None if they are the same.

        Raises
        ------
        UnsupportedModelError
            Naming a transform that does not keep columns apart.
        """
        parts = _flattened(transform)
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
            known = ", ".join(kind.__name__ for kind in _READERS)
            raise unsupported(
                f"{self.model_name} with the input transform {type(transform).__name__}",
                f": those that keep columns apart are, {known} and ChainedInputTransform of them. "
                "Transform the rows before they are given to the model, and explain those",
            )
        return reader(self, transform)

    def affine(self, transform: Any) -> _Steps:
        """Read (x − offset) / coefficient."""
        offsets, coefficients = (
            self._numbers(transform, own) for own in (transform.offset, transform.coefficient)
        )
        steps = map(affine, offsets, coefficients)
        return list(zip(self._changed(transform), steps, strict=True))

    def log10(self, transform: Any) -> _Steps:
        """Read a logarithm."""
        return [(column, logarithm()) for column in self._changed(transform)]

    def round(self, transform: Any) -> _Steps:
        """Read the rounding of columns to integers."""
        if transform.categorical_features:
            raise unsupported(
                f"{self.model_name} with the input transform Round with categorical_features",
                ": it compares columns with each other; give the category as one column, to a "
                "MixedSingleTaskGP",
            )
        if transform.approximate:
            raise unsupported(
                f"{self.model_name} with the input transform Round with approximate=True",
                ": with approximate=False it is",
            )
        return [(int(place) % self.n_columns, rounding()) for place in transform.integer_indices]

    def warp(self, transform: Any) -> _Steps:
        """Read the distribution function of Kumaraswamy, after columns are put into [0, 1]."""
        shapes = zip(
            *(
                self._numbers(transform, own)
                for own in (transform.concentration0, transform.concentration1)
            ),
            strict=True,
        )
        eps = float(transform._eps)
        warped = [kumaraswamy(c0, c1, eps) for c0, c1 in shapes]
        columns = self._changed(transform)
        return self.affine(transform._normalize) + list(zip(columns, warped, strict=True))

    def _changed(self, transform: Any) -> list[int]:
        """Return the numbers of the columns that are changed."""
        own = getattr(transform, "indices", None)
        every = range(self.n_columns)
        return list(every) if own is None else [every[int(column)] for column in own]

    def _numbers(self, transform: Any, parameter: Any) -> list[float]:
        """Return a parameter of the columns that are changed."""
        shape = (1, len(self._changed(transform)))
        (numbers,) = of_output(parameter, shape, self.batch_shape, self.output).tolist()
        return [float(number) for number in numbers]


_READERS: dict[type, Callable[[InputReader, Any], _Steps]] = {
    inputs.AffineInputTransform: InputReader.affine,
    inputs.Normalize: InputReader.affine,
    inputs.InputStandardize: InputReader.affine,
    inputs.Round: InputReader.round,
    inputs.Log10: InputReader.log10,
    inputs.Warp: InputReader.warp,
}


def _flattened(transform: Any) -> list[Any]:
    """Return the transforms that are applied in turn to what a user gives."""
    if transform is None or not transform.transform_on_eval:
        return []
    if type(transform) is inputs.ChainedInputTransform:
        return [part for own in transform.values() for part in _flattened(own)]
    return [transform]


def outcome_units(transform: Any, n_outputs: int, name: str) -> tuple[Float, Float]:
    """Return the numbers a and b of each output f, such that a · f + b is in units of outcomes.

    Raises
    ------
    UnsupportedModelError
        If the transform is not linear.
    """
    kind = type(transform)
    scale, shift = np.ones(n_outputs), np.zeros(n_outputs)
    if transform is None:
        return scale, shift
    if kind is outcome.ChainedOutcomeTransform:
        for part in transform.values():
            own_scale, own_shift = outcome_units(part, n_outputs, name)
            scale, shift = scale * own_scale, shift + scale * own_shift
        return scale, shift
    if kind is outcome.Standardize:
        scale[:], shift[:] = (array_of(own).ravel() for own in (transform.stdvs, transform.means))
        return scale, shift
    raise unsupported(
        f"{name} with the outcome transform {kind.__name__}",
        ": Standardize is. The mean of what is not linear is no sum over the training points; fit "
        "the model to outcomes that you have transformed, and explain those",
    )
