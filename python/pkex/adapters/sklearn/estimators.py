"""Fitted estimators of scikit-learn: their names and arrays, their own methods and outputs."""

from __future__ import annotations

import copy
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
from pkex.adapters.registry import unsupported
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.typing import Float


def feature_names(model: Any) -> tuple[str, ...] | None:
    """Return the column names that a model was fitted on, if it was fitted on a DataFrame."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def pair_names(classes: Iterable[Any]) -> tuple[str, ...]:
    """Return the names "a vs b" of the outputs of pairs of classes, which are positive for a.

    Those of several classes are positive for the first of a pair, that of two for the second: its
    name is "b vs a". Labels are quoted if the word "vs" stands in one of them: "'a' vs 'b vs c'"
    and "'a vs b' vs 'c'" are not the same pair.
    """
    # str() of the labels: NumPy's own repr would say np.str_('a').
    labels = [str(label) for label in classes]
    if any("vs" in label.split() for label in labels):
        labels = [repr(label) for label in labels]
    if len(labels) == 2:
        labels.reverse()
    return tuple(f"{a} vs {b}" for a, b in itertools.combinations(labels, 2))


def class_names(classes: Iterable[Any], function: Function) -> tuple[str, ...]:
    """Return the names of outputs of a classifier: its classes, or "b vs a" of two."""
    return tuple(map(str, classes)) if function.has_output_axis else pair_names(classes)


def dense(array: Any) -> Float:
    """Return a float64 array of what may be a sparse matrix."""
    return np.asarray(array.toarray() if hasattr(array, "toarray") else array, dtype=np.float64)


try:
    from sklearn.frozen import FrozenEstimator as FrozenEstimator
except ImportError:  # scikit-learn < 1.6

    class FrozenEstimator:  # type: ignore[no-redef]
        """Has no instances."""


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's NotFittedError, or refuse a model that computes by methods of its own.

    A subclass that clips predictions, say, could agree with its parent on every row of the check
    that follows.
    """
    check_is_fitted(model)
    check_own(model)


def check_own(model: Any) -> None:
    """Refuse a model that replaces a method of scikit-learn's, but for those that fit or describe.

    What scikit-learn leaves to subclasses, its abstract methods, is theirs to define.
    """
    owners = (model, *type(model).__mro__)
    for place, owner in enumerate(owners[:-1]):
        if owner is not model and _is_of_scikit_learn(owner):
            continue
        for name, item in vars(owner).items():
            is_method = callable(item) or (owner is not model and hasattr(item, "__get__"))
            if is_method and not _HARMLESS.fullmatch(name) and _is_replaced(name, owners[place:]):
                raise UnsupportedModelError(
                    f"{type(model).__name__} replaces scikit-learn's {name} by its own, and is not "
                    "supported; register an adapter with pkex.adapters.register, or describe its "
                    "function as a pkex.KernelExpansion"
                )


def inside(frozen: Any) -> Any:
    """Return the estimator that is frozen; a subclass could answer before it is asked."""
    if type(frozen) is not FrozenEstimator:
        raise unsupported(f"{type(frozen).__name__}, a subclass of FrozenEstimator,")
    return frozen.estimator


# Methods that fit, describe or judge a model, and what scikit-learn itself adds to each subclass.
_HARMLESS = re.compile(
    r"__\w+__|fit(_\w+)?|partial_fit|score|[gs]et_params|set_\w+_request|get_metadata_routing|"
    r"_more_tags|_get_tags|_run_search|_check_refit_for_multimetric"
)


def _is_of_scikit_learn(owner: type) -> bool:
    return owner.__module__.partition(".")[0] == "sklearn"


def _is_replaced(name: str, owners: Sequence[Any]) -> bool:
    """Whether scikit-learn defines a method that the first of the owners would come before."""
    later = (owner for owner in owners[1:] if _is_of_scikit_learn(owner) and name in vars(owner))
    theirs = next(later, None)
    return theirs is not None and not getattr(vars(theirs)[name], "__isabstractmethod__", False)


def by_method(
    model: Any,
    function: Function,
    method: str,
    *,
    kernel_rounding: float = 0.0,
    absolute_rounding: float | Float = 0.0,
    output_names: tuple[str, ...] | None = None,
    not_explained: str = "",
) -> AdaptedModel:
    """Describe a model whose method of this name is the function; see `AdaptedModel`."""
    return AdaptedModel(
        function,
        method=method,
        predict=getattr(without_names(model), method),
        feature_names=feature_names(model),
        output_names=output_names,
        kernel_rounding=kernel_rounding,
        absolute_rounding=absolute_rounding,
        not_explained=not_explained,
    )


def own_output(
    model: Any,
    method: str,
    non_numeric: Collection[int] = (),
    names: tuple[str, ...] | None = None,
) -> Callable[[Float], Any]:
    """Return a function from arrays to the output of a method, computed in this thread.

    The `names` of columns are those that the model says, unless given.
    """
    own, names = quiet(model), names or feature_names(model)

    def output(rows: Float) -> Any:
        with warnings.catch_warnings():
            # Of steps that were fitted apart, or that hand on other tables than they did.
            warnings.filterwarnings("ignore", "X (has|does not have valid) feature names")
            return getattr(own, method)(as_fitted_on(rows, names, non_numeric))

    return output


def passed_on(
    wrapper: Any,
    part: AdaptedModel,
    put: Callable[[Any, Any], None],
    names: tuple[str, ...] | None = None,
) -> AdaptedModel:
    """Describe a model that passes another on: compared by its own method, not by the part's.

    If the part has a stand-in, a copy is compared that has this one `put` in the part's place.
    Where there is no such method, as for a density, the part's output is all there is; that covers
    the part, though not the way there.
    """
    if part.predict is None:
        return part
    stand_in = None
    if part.stand_in is not None:
        stand_in = _copied(wrapper)
        put(stand_in, part.stand_in)
    owner = wrapper if stand_in is None else stand_in
    is_function = not part.no_method or stand_in is not None
    predict = part.predict
    if is_function and part.method is not None and hasattr(owner, part.method):
        predict = own_output(owner, part.method, part.function.non_numeric, names)
    return replace(part, predict=predict, stand_in=stand_in)


def quiet(model: Any) -> Any:
    """Return a shallow copy that computes in the thread it is called in, without a word."""
    own = _copied(model)
    for option, value in (("n_jobs", None), ("verbose", 0)):
        if option in vars(own):
            setattr(own, option, value)
    return own


def without_names(model: Any) -> Any:
    """Return a shallow copy that accepts plain arrays without a warning about feature names."""
    own = _copied(model)
    vars(own).pop("feature_names_in_", None)
    return own


def _copied(model: Any) -> Any:
    """Return a shallow copy; that a class is on its way out was said when it was made."""
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        return copy.copy(model)


def as_fitted_on(
    rows: NDArray[Any], names: tuple[str, ...] | None, non_numeric: Collection[int] = ()
) -> Any:
    """Return rows as the kind of table that a model with these column names was fitted on.

    Columns that are `non_numeric`, or hold others than floats, stay objects in rows of objects.
    """
    if names is None:
        return rows.copy()
    columns = {
        name: column if place in non_numeric or not _are_floats(column) else column.astype(float)
        for place, (name, column) in enumerate(zip(names, rows.T, strict=True))
    }
    # Whichever is there: it was when the model was fitted, and no step minds the kind of DataFrame.
    for library in ("pandas", "polars"):
        if library in sys.modules or importlib.util.find_spec(library):
            if library == "polars":  # which finds the kind of a list, not that of objects
                columns = {name: column.tolist() for name, column in columns.items()}
            return importlib.import_module(library).DataFrame(columns)
    raise ImportError(
        "the model was fitted on a DataFrame, and one is needed to compare it with: "
        "pip install pandas"
    )


def _are_floats(column: NDArray[Any]) -> bool:
    return column.dtype != object or all(isinstance(entry, float) for entry in column)
