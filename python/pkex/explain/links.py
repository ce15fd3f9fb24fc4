"""Functions of a model's outputs: transforms before, and links after the mean over a background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from pkex.adapters import AdaptedModel
from pkex.errors import InputError, Option
from pkex.functions.base import Function
from pkex.functions.exponential import Exponential
from pkex.functions.linked import LINKS, Link, Linked, LinkedOutputs, identity
from pkex.inputs.choices import check_choice
from pkex.typing import Float

# Maps outputs of shape (k,) or (k, outputs) to an array of the same shape.
Transform: TypeAlias = Callable[[Any], Any]


def check_link(link: object) -> None:
    """Raise ValueError for an unknown link; the message for "log" names the target instead."""
    if link in ("log", "ln"):
        raise InputError(
            Option("link", link),
            f"is not supported: link must be one of {', '.join(map(repr, LINKS))}",
            (
                "pass ",
                Option("target", "log-mean"),
                " for the linear predictor of a model with a log link",
            ),
        )
    check_choice("link", link, LINKS)


def apply_link(
    adapted_model: AdaptedModel, link: Link, transform: Transform | None
) -> AdaptedModel:
    """Return the description of a model whose outputs are transformed, and their means linked.

    Raises
    ------
    TypeError
        If `transform` cannot be called.
    ValueError
        If its result for a row depends on the other rows.
    """
    if transform is not None and not callable(transform):
        raise TypeError(
            "transform must be a function of an array of the model's outputs, such as numpy.exp; "
            f"got {transform!r} ({type(transform).__name__})"
        )
    if transform is None and link == "identity":
        return adapted_model
    function, title = adapted_model.function, adapted_model.title
    has_axis = function.has_output_axis
    row_function: Callable[[Float], Float] = identity
    if transform is not None:
        title = f"transform of {title}"
        row_function = _Transformed(transform, has_axis)
        _check_rows_alone(row_function, function)
    if link != "identity":
        title = f"{link} of {title}"
    expansion: Function = Linked(
        [function], LinkedOutputs(row_function, function.n_outputs, has_axis), link
    )
    if transform is np.exp and link == "identity" and not has_axis:
        expansion = Exponential(function)  # of a sum over features, a product
    names = adapted_model.output_names
    return replace(
        adapted_model,
        expansion=expansion,
        method=None,
        title=title,
        variance=None,
        # A quantity that names the output, such as "predictive variance", is not the output now.
        output_names=(title,) if names == (adapted_model.title,) else names,
    )


def _check_rows_alone(transform: Callable[[Float], Float], function: Function) -> None:
    """Raise if a transform mixes rows: pkex calls it on blocks of any size."""
    values = function.evaluate(function.probing_rows(), n_threads=1)
    values = np.reshape(values, (len(values), -1))
    # Values that are not finite raise where that row is needed.
    with np.errstate(all="ignore"):
        joint_values = transform(values)
        single_values = np.concatenate([transform(row[None]) for row in values])
    if not np.allclose(joint_values, single_values, rtol=1e-6, atol=1e-12, equal_nan=True):
        raise ValueError(
            "transform must treat each row separately, but its result for a row depends on the "
            "other rows; functions of several outputs, such as scipy.special.softmax, need axis=1"
        )


@dataclass(frozen=True)
class _Transformed:
    """A user's function of outputs, checked.

    Parameters
    ----------
    function : callable
    has_axis : bool
        Whether it takes outputs with their axis.
    """

    function: Transform
    has_axis: bool

    def __call__(self, values: Float) -> Float:
        """Return as many transformed outputs, (k, outputs)."""
        argument = values.copy() if self.has_axis else values[:, 0].copy()
        shape = argument.shape
        result = np.asarray(self.function(argument))
        if result.shape != shape:
            raise ValueError(
                f"transform must return an array of the same shape as its argument; for shape "
                f"{shape} it returned {result.shape}"
            )
        if result.dtype.kind not in "fiub":
            raise TypeError(f"transform must return real numbers; it returned {result.dtype}")
        return result.astype(np.float64).reshape(values.shape)
