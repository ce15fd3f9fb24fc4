"""The check that an adapter has understood a model: both must give the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.fitted_attributes import changed_attribute
from pkex.errors import UnsupportedModelError
from pkex.execution.memory import memory_errors
from pkex.typing import Float

__all__ = ["verify"]

# Rounding errors of the model's own sums and kernels, relative to the sum of the sizes of what
# they add: measured at 1e-16. A model that differs by more than this differs by design. It has to
# be strict: where coefficients are huge and cancel, as in a Gaussian process without noise, all of
# the output may be 1e-11 of that sum.
_RELATIVE_TOLERANCE = 1e-12
# The relative error of a tiny kernel value grows with its exponent. Rows where the sum is smaller
# than this share of that at other rows are not compared that strictly.
_NEGLIGIBLE = 1e-20
# Where rounding errors of the model's own kernel could be larger than this, they are not excused.
_LARGEST_ROUNDING = 1e-4


def verify(adapted: AdaptedModel, model: Any, *, n_threads: int = 1) -> None:
    """Check names, and compare the expansion with the model's own output on a few rows.

    The expansion is evaluated by `n_threads` threads; how many the model uses is its own matter.

    Raises
    ------
    UnsupportedModelError
        If they differ by more than rounding errors, or there are not as many names as there are
        features or outputs, or two outputs have one name.
    """
    try:
        _check_names(adapted, model)
        if adapted.predict is not None:
            _compare(adapted, adapted.predict, model, n_threads)
    except UnsupportedModelError as error:
        changed = changed_attribute(model.__self__ if isinstance(model, MethodType) else model)
        if not changed:
            raise
        raise UnsupportedModelError(changed) from error


def _compare(
    adapted: AdaptedModel, predict: Callable[[Float], Any], model: Any, n_threads: int
) -> None:
    """Compare the expansion with the model's own output on a few rows."""
    expansion = adapted.function
    rows = expansion.probing_rows()
    name = type(model.__self__ if isinstance(model, MethodType) else model).__name__
    try:
        with memory_errors():
            ours = expansion.evaluate(rows, n_threads=n_threads)
            own = np.asarray(predict(rows), dtype=np.float64)
    except (MemoryError, UnsupportedModelError):
        raise
    except Exception as error:
        raise UnsupportedModelError(
            f"{name}.{adapted.title} fails for rows like those it was fitted on ({error}): "
            f"{_CAUSES}"
        ) from error
    if own.shape != ours.shape:
        raise UnsupportedModelError(
            f"{name}.{adapted.title} returns shape {own.shape} for {len(rows)} rows, its "
            f"fitted attributes say {ours.shape}: {_CAUSES}"
        )
    magnitude = np.abs(ours)
    wrong = _differ(own, ours, magnitude, adapted)
    if wrong.any():
        # The true magnitude is at least |f|, and takes time: it is needed where terms cancel.
        doubtful = np.unique(np.argwhere(wrong)[:, 0])
        magnitude[doubtful] = expansion.magnitude(rows[doubtful], n_threads=n_threads)
        wrong = _differ(own, ours, magnitude, adapted)
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        is_far = adapted.kernel_rounding > _LARGEST_ROUNDING
        raise UnsupportedModelError(
            f"{name}.{adapted.title} returns {own[first]:.10g} for a row for which its fitted "
            f"attributes say {ours[first]:.10g}: {_FAR if is_far else _CAUSES}"
        )


def _check_names(adapted: AdaptedModel, model: Any) -> None:
    function = adapted.function
    # Without an output axis there is one output, which may have a name all the same.
    for argument, names, expected in (
        ("feature_names", adapted.feature_names, function.n_features),
        ("output_names", adapted.output_names, function.n_outputs),
    ):
        if names is not None and len(names) != expected:
            raise UnsupportedModelError(
                f"the adapter of {type(model).__name__} returns {len(names)} {argument} for a "
                f"function that has {expected}; it must return one for each, or None"
            )
    names = adapted.output_names or ()
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise UnsupportedModelError(
            f"the adapter of {type(model).__name__} returns output_names with {repeated!r} twice; "
            "outputs are chosen by name, so that these must differ"
        )


def _differ(own: Float, ours: Float, magnitude: Float, adapted: AdaptedModel) -> NDArray[np.bool_]:
    rounding = _RELATIVE_TOLERANCE + min(adapted.kernel_rounding, _LARGEST_ROUNDING)
    tolerance = rounding * (magnitude + _NEGLIGIBLE * magnitude.max(axis=0))
    # Not "greater": NaN must differ too.
    different: NDArray[np.bool_] = ~(np.abs(own - ours) <= tolerance + adapted.absolute_rounding)
    return different


_CAUSES = (
    "either the attributes were changed after fitting, or a subclass computes something else. "
    "Such a model is not supported; register an adapter with pkex.adapters.register, or describe "
    "its function as a pkex.KernelExpansion"
)
_FAR = (
    "its training data are so far from the origin, compared with the width of the kernel, that "
    "rounding errors dominate its output; centre and scale the features, and fit again"
)
