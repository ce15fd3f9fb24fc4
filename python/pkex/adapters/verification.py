"""The comparison of an adapter's description with the model's own output."""

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

# Rounding errors of the model's own sums and kernels, relative to the sum of the sizes of terms:
# 1e-16 was measured. A larger difference means another function. The tolerance must be strict:
# where coefficients are huge and cancel, as in a Gaussian process without noise, the whole output
# may be 1e-11 of that sum.
_RELATIVE_TOLERANCE = 1e-12
# The relative error of a tiny kernel value grows with its exponent. Rows whose sum is below this
# share of the sum at other rows have a larger tolerance.
_NEGLIGIBLE = 1e-20
# Larger rounding errors of the model's own kernel are not tolerated.
_MAX_ROUNDING = 1e-4


def verify(adapted: AdaptedModel, model: Any, *, n_threads: int = 1) -> None:
    """Compare the description of a model with the model's own output at a few rows.

    `pkex.Explainer` calls this for every model.

    Parameters
    ----------
    adapted : AdaptedModel
        The description, from an adapter.
    model : object
        The fitted model, named in messages.
    n_threads : int, default 1
        Threads that evaluate the described function. The model chooses its own number of threads.

    Raises
    ------
    UnsupportedModelError
        If the outputs differ by more than rounding errors, the number of names is not the number of
        features or outputs, or two outputs have the same name.

    Examples
    --------
    >>> import pkex
    >>> expansion = pkex.KernelExpansion([[0.0]], [1.0], pkex.kernels.RBF())
    >>> twice = lambda rows: 2.0 * expansion.predict(rows)
    >>> adapted = pkex.adapters.AdaptedModel(expansion, method="predict", predict=twice)
    >>> try:
    ...     pkex.adapters.verify(adapted, expansion)
    ... except pkex.UnsupportedModelError as error:
    ...     print(str(error).partition(" for ")[0])
    KernelExpansion.predict returns 2
    """
    try:
        _check_names(adapted, model)
        if adapted.predict is not None:
            _compare(adapted, adapted.predict, model, n_threads)
    except UnsupportedModelError as error:
        message = changed_attribute(model.__self__ if isinstance(model, MethodType) else model)
        if not message:
            raise
        raise UnsupportedModelError(message) from error


def _compare(
    adapted: AdaptedModel, predict: Callable[[Float], Any], model: Any, n_threads: int
) -> None:
    """Compare the expansion with the model's own output on a few rows."""
    expansion = adapted.function
    rows = expansion.probing_rows()
    name = type(model.__self__ if isinstance(model, MethodType) else model).__name__
    try:
        with memory_errors():
            values = expansion.evaluate(rows, n_threads=n_threads)
            predictions = np.asarray(predict(rows), dtype=np.float64)
    except (MemoryError, UnsupportedModelError):
        raise
    except Exception as error:
        raise UnsupportedModelError(
            f"{name}.{adapted.title} fails for rows similar to its training rows ({error}): "
            f"{_CAUSES}"
        ) from error
    if predictions.shape != values.shape:
        raise UnsupportedModelError(
            f"{name}.{adapted.title} returns shape {predictions.shape} for {len(rows)} rows, but "
            f"its fitted attributes say {values.shape}: {_CAUSES}"
        )
    magnitude = np.abs(values)
    is_wrong = _is_different(predictions, values, magnitude, adapted)
    if is_wrong.any():
        # The true magnitude, at least |f|, takes time. Only rows where terms cancel need it.
        indices = np.unique(np.argwhere(is_wrong)[:, 0])
        magnitude[indices] = expansion.magnitude(rows[indices], n_threads=n_threads)
        is_wrong = _is_different(predictions, values, magnitude, adapted)
    if is_wrong.any():
        first = tuple(np.argwhere(is_wrong)[0])
        is_far = adapted.kernel_rounding > _MAX_ROUNDING
        raise UnsupportedModelError(
            f"{name}.{adapted.title} returns {predictions[first]:.10g} for a row for which its "
            f"fitted attributes say {values[first]:.10g}: {_FAR if is_far else _CAUSES}"
        )


def _check_names(adapted: AdaptedModel, model: Any) -> None:
    function = adapted.function
    # The single output without an output axis may also have a name.
    for argument, names, n_names in (
        ("feature_names", adapted.feature_names, function.n_features),
        ("output_names", adapted.output_names, function.n_outputs),
    ):
        if names is not None and len(names) != n_names:
            raise UnsupportedModelError(
                f"the adapter of {type(model).__name__} returns {len(names)} {argument} for a "
                f"function that has {n_names}. It must return one for each, or None"
            )
    names = adapted.output_names or ()
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise UnsupportedModelError(
            f"the adapter of {type(model).__name__} returns output_names with {duplicate!r} twice. "
            "Names of outputs must differ"
        )


def _is_different(
    predictions: Float, values: Float, magnitude: Float, adapted: AdaptedModel
) -> NDArray[np.bool_]:
    rounding = _RELATIVE_TOLERANCE + min(adapted.kernel_rounding, _MAX_ROUNDING)
    tolerance = rounding * (magnitude + _NEGLIGIBLE * magnitude.max(axis=0))
    # Not "greater": NaN must differ as well.
    is_equal = np.abs(predictions - values) <= tolerance + adapted.absolute_rounding
    return np.asarray(~is_equal)


_CAUSES = (
    "either the attributes were changed after fitting, or a subclass computes another function. "
    "Fit the model again, register an adapter with pkex.adapters.register, or describe its "
    "function as a pkex.KernelExpansion"
)
_FAR = (
    "its training data are so far from the origin, compared with the width of the kernel, that "
    "rounding errors dominate its output. Center and scale the features, and fit it again"
)
