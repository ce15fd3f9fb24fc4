"""Axes of a result: rows, features and outputs, indexed by number or name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from pkex.inputs.wording import shown
from pkex.results.indexing import FEATURE, OUTPUT, ROW, AxisIndex, pick_names, place_on, resolve_key
from pkex.typing import Float

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FEATURE", "OUTPUT", "ROW", "Axes", "check_shapes"]

_SYMBOL = {ROW: "n", FEATURE: "d", OUTPUT: "outputs"}


@dataclass(frozen=True, eq=False)
class Axes:
    """The axes of values, and the names along them.

    Names and row labels of an axis remain when slicing reduces it to one place and removes it.

    Parameters
    ----------
    features : tuple of str
        The names of the features.
    outputs : tuple of str, optional
        The names of the outputs. Without an output axis, the name of the only output, if it has
        one.
    row_index : pandas.Index, optional
        The labels of the rows.
    present : tuple of str
        The axes of the values, in order.
    """

    features: tuple[str, ...]
    outputs: tuple[str, ...] | None = None
    row_index: pd.Index | None = None
    present: tuple[str, ...] = (ROW, FEATURE)

    @property
    def output_names(self) -> list[str] | None:
        """Names along the output axis; None if there is no such axis."""
        return None if self.outputs is None or OUTPUT not in self.present else list(self.outputs)

    @property
    def output_name(self) -> str | None:
        """Name of the only output if there is no output axis; None if it has no name."""
        return None if self.outputs is None or OUTPUT in self.present else self.outputs[0]

    def parts(self) -> dict[str, Any]:
        """Return the fields as keyword arguments of `Axes`: pickles of them outlive its module."""
        return dict(vars(self))

    def without(self, name: str | None) -> list[str]:
        """Return the present axes except one: the axes of an array that lacks it."""
        return [axis for axis in self.present if axis != name]

    def resolve(self, key: Any, shape: tuple[int, ...]) -> dict[str, AxisIndex]:
        """Return the index of each axis for a key in brackets; see `resolve_key`."""
        names = self._names if self.row_index is None else {**self._names, ROW: self.row_index}
        return resolve_key(key, dict(zip(self.present, shape, strict=True)), names)

    def select(self, indices: Mapping[str, AxisIndex]) -> Axes:
        """Return the axes of the selected values; an axis indexed by a single number is removed."""
        row_index, outputs = self.row_index, self.outputs
        if row_index is not None and ROW in indices:
            row = indices[ROW]
            row_index = row_index[[row] if isinstance(row, int) else row]
        if outputs is not None and OUTPUT in indices:
            outputs = pick_names(outputs, indices[OUTPUT])
        features = pick_names(self.features, indices[FEATURE]) if FEATURE in indices else None
        return replace(
            self,
            features=self.features if features is None else features,
            outputs=outputs,
            row_index=row_index,
            present=tuple(axis for axis in self.present if not isinstance(indices[axis], int)),
        )

    def place(self, axis: str, key: object) -> int:
        """Return the place of a feature or output, given its number or its name."""
        return place_on(axis, len(self._names[axis]), key, self._names)

    def check_same(self, other: Axes) -> None:
        """Raise ValueError if a reference has different features or outputs."""
        for axis in (FEATURE, OUTPUT):
            names, reference_names = self._names_along(axis), other._names_along(axis)
            if names != reference_names:
                raise ValueError(
                    f"reference must have the same {axis}s as the explanation, "
                    f"{_describe_names(*names)}; it has {_describe_names(*reference_names)}"
                )

    def _names_along(self, axis: str) -> tuple[bool, list[Any]]:
        """Return whether an axis is present, and the names along it."""
        names: Sequence[Any] = self._names[axis] or (None,)
        return axis in self.present, list(names)

    @property
    def _names(self) -> dict[str, tuple[str, ...]]:
        return {FEATURE: self.features, OUTPUT: self.outputs or ()}


def _describe_names(has_axis: bool, names: Sequence[object]) -> str:
    return shown(names) if has_axis else f"the single one {names[0]!r}"


def check_shapes(values: Float, base_values: Float, data: NDArray[Any], axes: Axes) -> None:
    """Check that the shapes of arrays agree with each other and with the names of their axes.

    Raises
    ------
    ValueError
        If the shape or length of an argument, which the message names, does not match `values`.
    """
    _check_dimensions(values, axes)
    size = dict(zip(axes.present, values.shape, strict=True))
    for name, array, without in (("base_values", base_values, FEATURE), ("data", data, OUTPUT)):
        expected = tuple(size[axis] for axis in axes.without(without))
        if array.shape != expected:
            raise ValueError(
                f"{name} has shape {array.shape}, but {expected} is expected for values of shape "
                f"{values.shape}"
            )
    of_values = f"(shape {values.shape})"
    for axis, names in ((FEATURE, axes.features), (OUTPUT, axes.output_names)):
        if names is not None and len(names) != size[axis]:
            raise ValueError(
                f"{axis}_names has {len(names)} names, but values has {size[axis]} {axis}s "
                f"{of_values}"
            )
    n_rows = size.get(ROW, 1)
    if axes.row_index is not None and len(axes.row_index) != n_rows:
        raise ValueError(
            f"row_index has length {len(axes.row_index)}, but values has {n_rows} rows {of_values}"
        )


def _check_dimensions(values: Float, axes: Axes) -> None:
    present = axes.present
    if values.ndim == len(present):
        return
    layout = "(n, d)" if ROW in present else "(d,) of a single row"
    expected = f"({', '.join(map(_SYMBOL.__getitem__, present))})" if len(present) > 1 else "(d,)"
    raise ValueError(
        f"values has shape {values.shape}, but {expected} is expected for data of shape {layout} "
        f"{'with' if OUTPUT in present else 'without'} output_names. Pass output_names if and "
        "only if values has an output axis"
    )
