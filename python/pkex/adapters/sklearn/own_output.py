"""What a model's own method returns, for rows as it was fitted on."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from pkex.adapters.registry import AdaptedModel
from pkex.adapters.sklearn.description import feature_names
from pkex.functions.base import Function
from pkex.typing import Float


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
