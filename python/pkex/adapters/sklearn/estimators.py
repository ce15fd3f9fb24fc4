"""Fitted estimators of scikit-learn: their names and arrays, their own methods and outputs."""

from __future__ import annotations

import copy
import functools
import importlib
import importlib.util
import itertools
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.tables.kinds import dense as as_dense
from pkex.tables.sparse import as_sparse_rows, is_sparse
from pkex.typing import Float, Rows

try:
    from sklearn.frozen import FrozenEstimator as FrozenEstimator
except ImportError:  # scikit-learn < 1.6

    class FrozenEstimator:  # type: ignore[no-redef]
        """Has no instances."""


_Adapter = Callable[[Any], AdaptedModel]


# --- fitted by scikit-learn's own methods ---


def register_estimators(*classes: Any) -> Callable[[_Adapter], _Adapter]:
    """Register an adapter for classes of estimators, which `check_fitted` checks first."""

    def decorate(adapter: _Adapter) -> _Adapter:
        @functools.wraps(adapter)
        def adapt_fitted(model: Any) -> AdaptedModel:
            check_fitted(model)
            return adapter(model)

        for model_class in classes:
            register(model_class)(adapt_fitted)
        return adapt_fitted

    return decorate


def check_fitted(model: Any) -> None:
    """Raise an error unless a model is fitted and computes by scikit-learn's own methods.

    A subclass that, say, clips predictions may agree with its parent at every row of the check
    against the model's own output.

    Raises
    ------
    sklearn.exceptions.NotFittedError, UnsupportedModelError
    """
    check_is_fitted(model)
    check_methods(model)


def check_methods(model: Any) -> None:
    """Raise an error if a model replaces a method of scikit-learn that computes predictions.

    Abstract methods of scikit-learn may be defined by subclasses.
    """
    owners = (model, *type(model).__mro__)
    for place, owner in enumerate(owners[:-1]):
        if owner is not model and _is_of_scikit_learn(owner):
            continue
        for name, value in vars(owner).items():
            is_method = callable(value) or (owner is not model and hasattr(value, "__get__"))
            if is_method and not _HARMLESS.fullmatch(name) and _is_replaced(name, owners[place:]):
                raise UnsupportedModelError(
                    f"{type(model).__name__} replaces scikit-learn's {name} and is therefore not "
                    "supported. Register an adapter with pkex.adapters.register, or describe its "
                    "function as a pkex.KernelExpansion"
                )


def frozen_estimator(frozen: Any) -> Any:
    """Return the estimator that is frozen, unless a subclass of FrozenEstimator holds it."""
    if type(frozen) is not FrozenEstimator:
        raise unsupported_model(f"{type(frozen).__name__}, a subclass of FrozenEstimator,")
    return frozen.estimator


# Methods that fit, describe or score a model, and those that scikit-learn adds to each subclass.
_HARMLESS = re.compile(
    r"__\w+__|fit(_\w+)?|partial_fit|score|[gs]et_params|set_\w+_request|get_metadata_routing|"
    r"_more_tags|_get_tags|_run_search|_check_refit_for_multimetric"
)


def _is_of_scikit_learn(owner: type) -> bool:
    return owner.__module__.partition(".")[0] == "sklearn"


def _is_replaced(name: str, owners: Sequence[Any]) -> bool:
    """Return whether the first owner overrides a method that scikit-learn defines."""
    definers = (owner for owner in owners[1:] if _is_of_scikit_learn(owner) and name in vars(owner))
    definer = next(definers, None)
    return definer is not None and not getattr(vars(definer)[name], "__isabstractmethod__", False)


# --- names and arrays ---


def feature_names(model: Any) -> tuple[str, ...] | None:
    """Return the column names of the DataFrame that a model was fitted on, None without one."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def pair_names(classes: Iterable[Any]) -> tuple[str, ...]:
    """Return the names "a vs b" of outputs for pairs of classes, which are positive for a.

    An output for two classes is positive for the second, so its name is "b vs a". Names of classes
    that contain the word "vs" are quoted, since 'a' vs 'b vs c' is not 'a vs b' vs 'c'.
    """
    # str() of the class labels, since NumPy's own repr would say np.str_('a').
    labels = [str(label) for label in classes]
    if any("vs" in label.split() for label in labels):
        labels = [repr(label) for label in labels]
    if len(labels) == 2:
        labels.reverse()
    return tuple(f"{a} vs {b}" for a, b in itertools.combinations(labels, 2))


def class_names(classes: Iterable[Any], function: Function) -> tuple[str, ...]:
    """Return the names of a classifier's outputs: its classes, or "b vs a" for a single output."""
    return tuple(map(str, classes)) if function.has_output_axis else pair_names(classes)


def dense(array: Any) -> Float:
    """Return an array or a sparse matrix as a float64 array."""
    return np.asarray(as_dense(array, "points"), dtype=np.float64)


def stored_rows(rows: Any) -> Rows:
    """Return the rows that a model stores as a float64 array, or as sparse rows if they are."""
    return as_sparse_rows(rows, "points", allow_no_rows=True) if is_sparse(rows) else dense(rows)


# --- a model's own output ---

ONLY_DECISIONS = (
    "only the decision function is a sum to which Shapley values can add up; class labels follow "
    "from it"
)


def describe_method(model: Any, function: Function, method: str, **fields: Any) -> AdaptedModel:
    """Describe a model whose method of this name is the function; `fields` as in `AdaptedModel`."""
    predict = getattr(without_names(model), method)
    return AdaptedModel(
        function, predict=predict, method=method, feature_names=feature_names(model), **fields
    )


def check_columns_of(model: Any, part: AdaptedModel) -> None:
    """Raise an error if a part of a model takes documents, and so has columns of its own."""
    if part.encoder is not None:
        name = type(model).__name__
        raise unsupported_model(
            f"{name} of a Pipeline with a vectorizer",
            f": put the vectorizer before it, make_pipeline(vectorizer, {name}(...))",
        )


def method_of_arrays(
    model: Any,
    method: str,
    non_numeric: Collection[int] = (),
    names: tuple[str, ...] | None = None,
) -> Callable[[Float], Any]:
    """Return a function from arrays to the output of a method, computed in the calling thread.

    `names` are the names of columns, by default those that the model was fitted on.
    """
    quiet_model, names = quiet_copy(model), names or feature_names(model)

    def evaluate(rows: Float) -> Any:
        with warnings.catch_warnings():
            # Steps that were fitted separately, or return another kind of table, warn.
            warnings.filterwarnings("ignore", "X (has|does not have valid) feature names")
            return getattr(quiet_model, method)(as_fitted_on(rows, names, non_numeric))

    return evaluate


def describe_wrapper(
    wrapper: Any,
    part: AdaptedModel,
    replace_part: Callable[[Any, Any], None],
    names: tuple[str, ...] | None = None,
) -> AdaptedModel:
    """Describe an estimator with the same function as a part of it.

    The function is compared with the estimator's own method, not with the part's. If the part has a
    stand-in, a copy of the estimator is compared, in which `replace_part` has put it in place of
    the part. Functions without a method, such as a density, and functions of rows of documents,
    which the estimator does not accept, are compared with the part's output.
    """
    if part.predict is None or part.encoder is not None:
        return part
    stand_in = None
    if part.stand_in is not None:
        stand_in = _shallow_copy(wrapper)
        replace_part(stand_in, part.stand_in)
    owner = wrapper if stand_in is None else stand_in
    is_function = not part.no_method or stand_in is not None
    predict = part.predict
    method = part.method
    if method is not None and not hasattr(owner, method):  # such as predict_joint_log_proba
        method = None
    if is_function and method is not None:
        predict = method_of_arrays(owner, method, part.function.non_numeric, names)
    return replace(part, predict=predict, method=method, stand_in=stand_in)


def quiet_copy(model: Any) -> Any:
    """Return a shallow copy that computes in the calling thread and prints nothing."""
    model_copy = _shallow_copy(model)
    for option, value in (("n_jobs", None), ("verbose", 0)):
        if option in vars(model_copy):
            setattr(model_copy, option, value)
    return model_copy


def without_names(model: Any) -> Any:
    """Return a shallow copy that accepts plain arrays without a warning about feature names."""
    model_copy = _shallow_copy(model)
    vars(model_copy).pop("feature_names_in_", None)
    return model_copy


def _shallow_copy(model: Any) -> Any:
    """Return a shallow copy without a second warning that the class is deprecated."""
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return copy.copy(model)


def as_fitted_on(
    rows: NDArray[Any], names: tuple[str, ...] | None, non_numeric: Collection[int] = ()
) -> Any:
    """Return rows as the kind of table that a model with these column names was fitted on.

    In rows of objects, columns that are `non_numeric` or do not hold floats remain objects.
    """
    if names is None:
        return rows.copy()
    columns = {
        name: column if place in non_numeric or not _are_floats(column) else column.astype(float)
        for place, (name, column) in enumerate(zip(names, rows.T, strict=True))
    }
    # Either library: one was there when the model was fitted, and steps accept both.
    for library in ("pandas", "polars"):
        if library in sys.modules or importlib.util.find_spec(library):
            if library == "polars":  # infers the type of a list, but not of an array of objects
                columns = {name: column.tolist() for name, column in columns.items()}
            return importlib.import_module(library).DataFrame(columns)
    raise ImportError(
        "the model was fitted on a DataFrame, and pkex needs one to compare with the model: "
        "pip install pandas"
    )


def _are_floats(column: NDArray[Any]) -> bool:
    return column.dtype != object or all(isinstance(entry, float) for entry in column)
