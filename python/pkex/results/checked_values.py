"""Checked copies of the arrays that users pass to `Explanation` and `Estimate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from pkex.games.value_functions import ValueFunction
from pkex.inputs.choices import as_names, check_choice
from pkex.inputs.optional import missing_library
from pkex.results.axes import FEATURE, OUTPUT, ROW, Axes, check_shapes
from pkex.results.row_values import RowValues
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd


def checked_values(
    values: ArrayLike,
    base_values: ArrayLike,
    data: ArrayLike,
    feature_names: Sequence[str],
    output_names: Sequence[str] | None,
    *,
    output_name: str | None,
    row_index: pd.Index | Sequence[Any] | None,
    value_function: str | None,
) -> RowValues:
    """Return copies of arrays with their axes, after a check of their shapes; see `Explanation`.

    Raises
    ------
    ValueError
        If the shapes do not match, or the value function is not supported.
    TypeError
        If a name is not a string, numbers are complex, or `row_index` is not a sequence.
    """
    if output_names is not None and output_name is not None:
        raise ValueError(
            "output_name and output_names were both given. Pass output_names if values has an "
            "output axis, otherwise output_name"
        )
    features = as_names("feature_names", feature_names)
    outputs = None if output_names is None else as_names("output_names", output_names)
    numbers = checked_floats("values", values)
    base_numbers = checked_floats("base_values", base_values)
    table: Any = np.array(data)
    rows = () if table.ndim == 1 else (ROW,)
    present = (*rows, FEATURE, *(() if outputs is None else (OUTPUT,)))
    axes = Axes(features, outputs, _as_index(row_index), present)
    check_shapes(numbers, base_numbers, table, axes)
    if output_name is not None:
        axes = replace(axes, outputs=as_names("output_name", [output_name]))
    valid: tuple[ValueFunction, ...] = get_args(ValueFunction)
    game = None if value_function is None else check_choice("value_function", value_function, valid)
    return RowValues(numbers, base_numbers, table, axes, value_function=game)


def _as_index(labels: pd.Index | Sequence[Any] | None) -> pd.Index | None:
    """Return the labels of rows as an index of pandas."""
    if labels is None:
        return None
    try:
        import pandas as pd
    except ImportError as error:
        raise missing_library("row_index", "pandas") from error
    if isinstance(labels, pd.Index):
        return labels
    if isinstance(labels, str) or not np.iterable(labels) or getattr(labels, "ndim", 1) != 1:
        raise TypeError(
            f"row_index must be a pandas.Index or a sequence of labels; got {labels!r} "
            f"({type(labels).__name__})"
        )
    return pd.Index(list(labels))


def checked_floats(argument: str, numbers: ArrayLike) -> Float:
    """Return a copy of numbers as float64; raise TypeError for complex numbers."""
    if np.iscomplexobj(numbers):
        raise TypeError(f"{argument} must be real numbers; got complex numbers")
    return np.array(numbers, dtype=np.float64)
