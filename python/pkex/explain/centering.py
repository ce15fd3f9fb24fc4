"""Constants in values: importance without them, and the reference that values are centred by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pkex.explain.layout import FEATURE, OUTPUT, ROW
from pkex.inputs.wording import shown
from pkex.typing import Float

if TYPE_CHECKING:
    from pkex.explain.explanation import Explanation

__all__ = ["check_reference", "mean_size"]

# Base values of one explainer differ by rounding at most.
_TOLERANCE = 1e-9


def mean_size(values: Float, value_function: str | None) -> Float:
    """Return the mean absolute value over the rows, of neutral values that of what varies.

    Neutral values contain constants, the same for all rows, that depend on the amplitude of the
    model's coefficients rather than on the data. With itself, a single row does not vary.
    """
    if value_function == "neutral" and len(values) > 1:
        values = values - values.mean(axis=0)
    size: Float = np.abs(values).mean(axis=0)
    return size


def check_reference(explanation: Explanation, reference: Explanation) -> None:
    """Refuse a reference that has no rows, or other names, base values or another game.

    Parameters
    ----------
    explanation : Explanation
        What is centred.
    reference : Explanation
        The rows whose mean is to be subtracted; may be the explanation itself.

    Raises
    ------
    ValueError, TypeError
        As `Explanation.centered` says.
    """
    if not isinstance(reference, type(explanation)):
        kind = type(reference).__name__
        raise TypeError(f"reference must be an Explanation, as explainer(X) is; got {kind}")
    if ROW not in reference._axes:
        raise ValueError(
            "a single row has no others to be compared with: give an explanation of some rows as "
            "the reference, as in explanation[0].centered(explanation)"
        )
    if len(reference) == 0:
        raise ValueError("the reference has no rows to average over")
    if reference is explanation and len(reference) == 1:
        raise ValueError(
            "a single row is its own mean, and its centred values would all be 0: give an "
            "explanation of several rows as the reference, as in "
            "explanation[:1].centered(explanation)"
        )
    mine, its = _names(explanation), _names(reference)
    for axis in (FEATURE, OUTPUT):
        if mine[axis] != its[axis]:
            raise ValueError(
                f"the reference must have the same {axis}s as the explanation, "
                f"{_said(mine[axis])}; it has {_said(its[axis])}"
            )
    if reference.value_function != explanation.value_function:
        raise ValueError(
            f"the reference's values are of another game, {reference.value_function!r} instead of "
            f"{explanation.value_function!r}"
        )
    if reference is not explanation and not _have_same_base(explanation, reference):
        raise ValueError(
            "the reference has other base values: the same explainer must have made it, and it "
            "must be centered exactly if the explanation is"
        )


def _names(explanation: Explanation) -> dict[str, tuple[bool, Sequence[object]]]:
    """Return for features and outputs whether there is an axis, and their names."""
    outputs: Sequence[object] = explanation.output_names or [explanation.output_name]
    names = {FEATURE: explanation.feature_names, OUTPUT: outputs}
    return {axis: (axis in explanation._axes, names[axis]) for axis in names}


def _said(names: tuple[bool, Sequence[object]]) -> str:
    has_axis, listed = names
    return shown(listed) if has_axis else f"the single one {listed[0]!r}"


def _have_same_base(explanation: Explanation, reference: Explanation) -> bool:
    rows = (0,) if ROW in explanation._axes else ()
    mine = np.asarray(explanation.base_values)
    if mine.size == 0:
        return True
    its = np.mean(reference.base_values, axis=0)
    scale = np.abs(its) + np.abs(reference.values).max(initial=0.0)
    return bool(np.all(np.abs(mine.mean(axis=rows) - its) <= _TOLERANCE * scale))
