"""Fitted attributes that were changed after fitting, and errors that name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pkex.errors import UnsupportedModelError
from pkex.execution.memory import memory_errors

# Numbers of dimensions of the attributes that `fit` of scikit-learn sets. A name means the same in
# all models. Attributes without a number are neither None nor empty. Only the error for a model
# that cannot be read uses this table.
_OF_DIMENSIONS: list[tuple[tuple[int, ...], str]] = [
    (
        (),
        "_centerer _missing_indices _n_features_outs _scaler _transformer_to_input_indices "
        "base_estimator_ best_estimator_ bsplines_ calibrated_classifiers_ categories_ estimators_ "
        "estimators_features_ final_estimator_ kernel_ regressor_ stack_method_ transformer_ "
        "transformers_ tree_",
    ),
    (
        (0,),
        "_effective_probability _gamma _max_degree _min_degree _n_out_full _sparse _training_dim "
        "bandwidth_ gamma_ n_classes_ n_features_in_ n_features_out_",
    ),
    ((0, 1), "_y_train_mean _y_train_std intercept_"),
    (
        (1,),
        "_intercept_ _n_support _probA _probB center_ class_weight_ classes_ eigenvalues_ lambdas_ "
        "mean_ min_ references_ scale_ statistics_ support_",
    ),
    ((0, 1, 2), "alpha_"),
    ((1, 2), "coef_ dual_coef_ y_train_"),
    (
        (2,),
        "L_ X_fit_ X_train_ _dual_coef_ components_ eigenvectors_ normalization_ quantiles_ "
        "support_vectors_",
    ),
]
_DIMENSIONS = {name: numbers for numbers, names in _OF_DIMENSIONS for name in names.split()}
# Empty or None without probabilities, with a kernel that is a function, and in scalers that do not
# shift or do not scale.
_MAY_BE_EMPTY = {"_missing_indices", "_probA", "_probB", "class_weight_", "support_vectors_"}
_MAY_BE_NONE = {"center_", "mean_", "scale_"}


@contextmanager
def attribute_errors(model: Any) -> Iterator[None]:
    """Turn errors from reading a model into errors that name its fitted attributes."""
    try:
        with memory_errors():
            yield
    except UnsupportedModelError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        message = changed_attribute(model)
        # scikit-learn's NotFittedError is of both classes, and says what to do.
        if not message and isinstance(error, AttributeError) and isinstance(error, ValueError):
            raise
        raise UnsupportedModelError(message or _unusable_message(model, error)) from error


def changed_attribute(model: Any) -> str:
    """Return which attribute of a model, or of a model inside, differs from what `fit` sets.

    Returns
    -------
    str
        A sentence, empty if all attributes look right.
    """
    for part in _parts(model, set()):
        for name, value in vars(part).items():
            if name in _DIMENSIONS and not _is_plausible(name, value):
                return (
                    f"{type(part).__name__}.{name} is {_value_text(value)}, but fit makes it "
                    f"{_expected_text(name)}: it was changed after fitting. Fit the model again"
                )
    return ""


def _parts(model: Any, visited: set[int]) -> Iterator[Any]:
    """Yield a model and the objects of scikit-learn that it holds, also in lists and tuples."""
    if id(model) in visited or isinstance(model, type):
        return
    visited.add(id(model))
    if isinstance(model, list | tuple):
        items: Any = model
    elif hasattr(model, "__dict__") and _is_of_scikit_learn(type(model)):
        yield model
        items = vars(model).values()
    else:
        return
    for item in items:
        yield from _parts(item, visited)


def _is_of_scikit_learn(kind: type) -> bool:
    """Return whether a class is one of scikit-learn's, or a subclass of one."""
    return any(base.__module__.partition(".")[0] == "sklearn" for base in kind.__mro__)


def _is_plausible(name: str, value: Any) -> bool:
    dimensions = _DIMENSIONS[name]
    if value is None:
        return name in _MAY_BE_NONE
    if not dimensions:
        return name in _MAY_BE_EMPTY or not hasattr(value, "__len__") or len(value) > 0
    if dimensions == (0,):
        return np.ndim(value) == 0
    # Sparse matrices also have a shape. Numbers have none, or the shape () of arrays without axes.
    n_dimensions = len(getattr(value, "shape", ())) if not isinstance(value, list | tuple) else -1
    is_empty = n_dimensions > 0 and 0 in value.shape
    return n_dimensions in dimensions and (not is_empty or name in _MAY_BE_EMPTY)


def _expected_text(name: str) -> str:
    dimensions = _DIMENSIONS[name]
    if not dimensions:
        return "an object that is not empty"
    if dimensions == (0,):
        return "a number"
    numbers = " or ".join(map(str, dimensions))
    return f"an array with {numbers} dimension{'' if dimensions == (1,) else 's'}"


def _value_text(value: Any) -> str:
    if value is None:
        return "None"
    shape = getattr(value, "shape", None)
    return f"a {type(value).__name__}" if shape is None else f"an array of shape {tuple(shape)}"


def _unusable_message(model: Any, error: Exception) -> str:
    """Return the sentence that names the attributes that are arrays or None."""
    attributes = [
        f"{type(part).__name__}.{name} is {_value_text(value)}"
        for part in _parts(model, set())
        for name, value in vars(part).items()
        if name in _DIMENSIONS and (value is None or hasattr(value, "shape"))
    ]
    suffix = f" ({', '.join(attributes)})" if attributes else ""
    return f"{type(model).__name__} has unusable fitted attributes: {error}{suffix}"
