"""The check that an adapter has understood a model: both must give the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.adapters.registry import AdaptedModel
from pkex.errors import UnsupportedModelError
from pkex.expansion import KernelExpansion

__all__ = ["verify"]

_Float = NDArray[np.float64]

# Rounding errors of the model's own sums and kernels, relative to the sum of the sizes of what
# they add. A model that differs by more differs by design.
_RELATIVE_TOLERANCE = 1e-10
# Where rounding errors of the model's own kernel could be larger than this, they are not excused.
_LARGEST_ROUNDING = 1e-4


def verify(adapted: AdaptedModel, model: Any) -> None:
    """Compare the expansion with the model's own output on a few rows.

    Raises
    ------
    UnsupportedModelError
        If they differ by more than rounding errors.
    """
    if adapted.predict is None:
        return
    expansion = adapted.expansion
    rows = _probing_rows(expansion.points)
    ours = expansion.predict(rows)
    name = type(model).__name__
    try:
        own = np.asarray(adapted.predict(rows), dtype=np.float64)
    except Exception as error:
        raise UnsupportedModelError(
            f"{name}.{adapted.explained} fails for rows like those it was fitted on ({error}): "
            f"{_CAUSES}"
        ) from error
    if own.shape != ours.shape:
        raise UnsupportedModelError(
            f"{name}.{adapted.explained} returns shape {own.shape} for {len(rows)} rows, its "
            f"fitted attributes say {ours.shape}: {_CAUSES}"
        )
    rounding = _RELATIVE_TOLERANCE + min(adapted.kernel_rounding, _LARGEST_ROUNDING)
    tolerance = rounding * _scale(expansion, rows)
    # Not "greater": NaN must fail too.
    wrong = ~(np.abs(own - ours) <= tolerance)
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        is_far = adapted.kernel_rounding > _LARGEST_ROUNDING
        raise UnsupportedModelError(
            f"{name}.{adapted.explained} returns {own[first]:.10g} for a row for which its fitted "
            f"attributes say {ours[first]:.10g}: {_FAR if is_far else _CAUSES}"
        )


_CAUSES = (
    "either the attributes were changed after fitting, or a subclass computes something else. "
    "Such a model is not supported; register an adapter with pkex.adapters.register, or describe "
    "its function as a pkex.KernelExpansion"
)
_FAR = (
    "its training data are so far from the origin, compared with the width of the kernel, that "
    "rounding errors dominate its output; centre and scale the features, and fit again"
)


def _probing_rows(points: _Float) -> _Float:
    """Return up to five of the points, and as many rows beside them, within reach of the kernel."""
    n, d = points.shape
    if n == 0:
        return np.zeros((1, d))
    chosen = points[np.unique(np.linspace(0, n - 1, 5).astype(np.intp))]
    step = points.max(axis=0) / 8.0 - points.min(axis=0) / 8.0
    # Columns that are constant matter too. The cosines are a fixed set of irregular directions.
    step[step == 0.0] = 1.0
    directions = np.cos(np.arange(1.0, 1.0 + chosen.size)).reshape(chosen.shape)
    return np.concatenate([chosen, chosen + step * directions])


def _scale(expansion: KernelExpansion, rows: _Float) -> _Float:
    """Return |intercept| + Σ_i |α_i| k(x, x_i), the scale of the rounding errors at each row."""
    return KernelExpansion(
        expansion.points,
        np.abs(expansion.coefficients),
        expansion.kernel,
        np.abs(expansion.intercept),
    ).predict(rows)
