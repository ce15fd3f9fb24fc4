"""Parameters of estimators: columns, weights, kernels and numbers, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from pkex.compare.kernel.choice import gaussian_kernel
from pkex.compare.kernel.sample_kernel import SampleKernel
from pkex.errors import InputTypeError, warn
from pkex.inputs.choices import places_of
from pkex.inputs.scikit_learn import validated
from pkex.inputs.wording import shown
from pkex.kernels import Kernel
from pkex.tables.labels import Labels, check_column_names
from pkex.tables.read import as_vector_or_matrix
from pkex.tables.weights import relative_weights
from pkex.typing import Float


def length_of(data: Any) -> int:
    """Return the number of rows of data, 0 if it has no length."""
    return len(data) if hasattr(data, "__len__") else 0


def as_columns(data: Any, name: str, n_rows: int, rows_of: str, fix: str) -> Float:
    """Return one or several numbers for each row as a matrix.

    `fix` is the advice for values that are not numbers.
    """
    try:
        array = as_vector_or_matrix(data, name, n_rows=n_rows, rows_of=rows_of, columns="n_columns")
    except InputTypeError as error:
        raise error.with_fields(fix=fix) from None
    return array[:, None] if array.ndim == 1 else array


def rows_as_in_fit(estimator: BaseEstimator, X: Any) -> Float:
    """Return rows of the columns that an estimator was fitted on.

    For other names of columns, the error is that of `pkex.Explainer`. The checks of scikit-learn
    require another text, for estimators that pass them.
    """
    names, fitted_names = Labels.of(X).names, getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted_names is not None:
        check_column_names(names, tuple(map(str, fitted_names)), "X", "the model")
    rows: Float = validated(estimator, X, dtype=np.float64, reset=False)
    return rows


def check_kernels(estimator: object, *names: str) -> None:
    """Raise an error if parameters of an estimator are neither kernels nor None."""
    for name in names:
        kernel = getattr(estimator, name)
        if kernel is not None and not isinstance(kernel, Kernel):
            raise TypeError(
                f"{name} must be a kernel of pkex.kernels, such as RBF(1.0), or None; got "
                f"{kernel!r} ({type(kernel).__name__})"
            )


def columns_of(features: Any, names: Sequence[str]) -> list[int]:
    """Return the numbers of the columns in `features`, which are given by name or number.

    Raises
    ------
    ValueError, TypeError
        If there is no such column, several have the name, or one occurs twice.
    """
    if isinstance(features, Iterator | Mapping):
        raise TypeError(
            "features must be a column of X, by name or number, or a list of columns; got "
            f"{features!r}"
        )
    single = isinstance(features, str) or not isinstance(features, Iterable)
    numbers: list[int] = []
    for key in [features] if single else features:
        places = places_of(key, names)
        if places is None:
            raise TypeError(
                "features must contain columns of X, by name or number; "
                f"got {key!r} ({type(key).__name__})"
            )
        if len(places) != 1:
            problem = "the name of several columns" if places else "not a column of X"
            raise ValueError(
                f"features contains {key!r}, which is {problem}. Choose by number from 0 to "
                f"{len(names) - 1} or by name from {shown(names)}"
            )
        if places[0] in numbers:
            raise ValueError(f"features contains column {names[places[0]]!r} twice")
        numbers += places
    return numbers


def warn_of_constant(X: Float, features: Sequence[int], names: Sequence[str]) -> None:
    """Warn of constant columns, whose Shapley values are 0 in every model."""
    constant = [names[j] for j in features if (X[:, j] == X[0, j]).all()]
    if constant:
        warn(
            f"features contains columns {shown(constant)}, which are constant in X: their Shapley "
            "values are 0 in every model, whatever the penalty"
        )


def check_number(name: str, value: Any, *, may_be_0: bool, none_is_default: bool = False) -> float:
    """Return a finite number that is positive, or 0 if `may_be_0`.

    If `none_is_default`, messages say that None is allowed; it is not passed to this function.
    """
    requirement = "a finite number, 0 or above" if may_be_0 else "a finite number above 0"
    if none_is_default:
        requirement += ", or None (the default)"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {requirement}; got {value!r} ({type(value).__name__})")
    number = float(value)
    if not math.isfinite(number) or number < 0.0 or (number == 0.0 and not may_be_0):
        raise ValueError(f"{name} must be {requirement}; got {value!r}")
    return number


def check_weights(sample_weight: ArrayLike | None, n_rows: int, rows_of: str = "X") -> Float:
    """Return the weights of rows; 1 by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    relative = relative_weights(sample_weight, "sample_weight", n_rows, rows_of)
    return relative * float(np.max(np.asarray(sample_weight, dtype=np.float64)))


def kernel_or_default(
    kernel: Any, points: Float, names: Sequence[str], rows_name: str = "X", argument: str = "kernel"
) -> Kernel:
    """Return the kernel, or the default one, which does not depend on duplicates of rows.

    `rows_name` and `argument` are the names of the points and the kernel in messages.
    """
    if kernel is None:
        distinct = np.unique(points, axis=0)
        # If all rows are equal, `gaussian_kernel` raises an error.
        sample = distinct if len(distinct) > 1 else np.repeat(distinct, 2, axis=0)
        return gaussian_kernel(sample, names, rows_name, argument)[0]
    sample_kernel = SampleKernel.of_argument(kernel, argument, points.shape[1])
    sample_kernel.kernel.check_rows(points, rows_name)
    return sample_kernel.kernel
