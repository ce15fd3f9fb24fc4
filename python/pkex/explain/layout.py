"""The axes of an explanation's arrays, and whether arrays fit together."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from numpy.typing import NDArray

from pkex.typing import Float

__all__ = ["ARRAYS", "FEATURE", "OUTPUT", "ROW", "checked_axes"]

ROW, FEATURE, OUTPUT = "row", "feature", "output"
_SYMBOL = {ROW: "n", FEATURE: "d", OUTPUT: "outputs"}

# The arrays of an explanation, and the axis that each does not have.
ARRAYS = {"_values": None, "_base_values": FEATURE, "_data": OUTPUT}


def checked_axes(
    values: Float,
    base_values: Float,
    data: NDArray[Any],
    *,
    feature_names: Sequence[str],
    output_names: Sequence[str] | None,
    row_index: Sized | None,
) -> tuple[str, ...]:
    """Return the axes of values; a ValueError names what does not fit to them."""
    rows = () if data.ndim == 1 else (ROW,)
    axes = (*rows, FEATURE, *(() if output_names is None else (OUTPUT,)))
    _check_dimensions(values, axes)
    size = dict(zip(axes, values.shape, strict=True))
    of_values = f"(shape {values.shape})"
    for name, array, without in (("base_values", base_values, FEATURE), ("data", data, OUTPUT)):
        expected = tuple(size[axis] for axis in axes if axis != without)
        if array.shape != expected:
            raise ValueError(
                f"{name} has shape {array.shape}, but {expected} is expected for values of shape "
                f"{values.shape}"
            )
    for axis, names in ((FEATURE, feature_names), (OUTPUT, output_names)):
        if names is not None and len(names) != size[axis]:
            raise ValueError(
                f"{axis}_names has {len(names)} names, but values has {size[axis]} {axis}s "
                f"{of_values}"
            )
    n_rows = size.get(ROW, 1)
    if row_index is not None and len(row_index) != n_rows:
        raise ValueError(
            f"row_index has length {len(row_index)}, but values has {n_rows} rows {of_values}"
        )
    return axes


def _check_dimensions(values: Float, axes: Sequence[str]) -> None:
    if values.ndim == len(axes):
        return
    layout = "(n, d)" if ROW in axes else "(d,) of a single row"
    expected = f"({', '.join(_SYMBOL[axis] for axis in axes)})" if len(axes) > 1 else "(d,)"
    raise ValueError(
        f"values has shape {values.shape}, but {expected} is expected for data of shape {layout} "
        f"{'with' if OUTPUT in axes else 'without'} output_names; output_names must be given "
        "exactly if values has an output axis"
    )
