"""scikit-learn's preprocessing steps that map each column separately."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import check_fitted, dense, feature_names
from pkex.errors import UnsupportedModelError
from pkex.functions.column_maps import ColumnMap, decoded, scattered
from pkex.typing import Float

INEXACT = "floats do not tell such numbers apart, integers from 2**53 on"
STRINGS = "strings of them, such as X['id'].astype(str)"


def any_inexact(entries: NDArray[Any]) -> bool:
    """Whether some are numbers that no float is equal to, or may have been rounded from such."""
    if entries.dtype.kind in "fiub":
        return bool(np.any(np.abs(entries.astype(np.float64)) >= 2.0**53))
    return any(isinstance(entry, Real | Decimal) and _is_inexact(entry) for entry in entries.flat)


def _is_inexact(number: Any) -> bool:
    return bool(number == number and (abs(number) >= 2**53 or float(number) != number))


def affine_inverse(scaler: Any) -> tuple[Any, Any] | None:
    """Return a and b of the inverse z ↦ a z + b of a fitted scaler, None if it is none.

    They are numbers, or arrays with one for each column.
    """
    if isinstance(scaler, StandardScaler):
        return (
            scaler.scale_ if scaler.with_std else 1.0,
            scaler.mean_ if scaler.with_mean else 0.0,
        )
    if isinstance(scaler, RobustScaler):
        return (
            scaler.scale_ if scaler.with_scaling else 1.0,
            scaler.center_ if scaler.with_centering else 0.0,
        )
    if isinstance(scaler, MaxAbsScaler) and not getattr(scaler, "clip", False):
        return scaler.scale_, 0.0
    if isinstance(scaler, MinMaxScaler) and not scaler.clip:
        return 1.0 / scaler.scale_, -scaler.min_ / scaler.scale_
    return None


ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


class Step(ColumnMap):
    """A single fitted transformer."""

    def __init__(self, transformer: Any, inverse: Callable[[Step, Float], Float]) -> None:
        self.n_columns = int(transformer.n_features_in_)
        self.transformer = _for_arrays(transformer)
        self._inverse = inverse
        self.sources = np.arange(self.n_columns)
        if isinstance(transformer, (SimpleImputer, SplineTransformer, *ENCODERS)):
            # From which columns is said by the names: "2", "2_red" or "missingindicator_2".
            numbers = np.arange(self.n_columns).astype(str).astype(object)
            names = self.transformer.get_feature_names_out(numbers)
            names = [name.removeprefix("missingindicator_").partition("_")[0] for name in names]
            self.sources = np.array(names, dtype=np.intp)
        if isinstance(transformer, MissingIndicator):
            self.sources = np.array(transformer.features_, dtype=np.intp)
            self.non_numeric = frozenset(range(self.n_columns))
            if not isinstance(transformer.missing_values, Real):
                # It does not take columns of numbers. Rows to try a model out have the number 1
                # where `inverse` knows none, and so the second of these.
                entries = (transformer.missing_values, "present")
                self.categories = dict.fromkeys(range(self.n_columns), entries)
        if isinstance(transformer, ENCODERS):
            self.categories = {
                column: categories.tolist()
                for column, categories in enumerate(transformer.categories_)
                if categories.dtype.kind not in "fiub"
            }
            self.non_numeric = frozenset(self.categories)
            self.discrete = frozenset(range(self.n_columns))
        if isinstance(transformer, SimpleImputer) and transformer.statistics_.dtype.kind in "OUS":
            self.non_numeric = frozenset(range(self.n_columns))

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Map rows by the transformer's own `transform`."""
        made = self._encoded(rows) if self.discrete else self.transformer.transform(self._own(rows))
        table = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
        return table if table.dtype == object else dense(table)

    def _own(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as objects if the step was fitted on such, else as numbers."""
        return rows.astype(object if self.non_numeric else np.float64, copy=False)

    def _encoded(self, rows: NDArray[Any]) -> Any:
        if any_inexact(rows):
            raise ValueError(f"{INEXACT}; fit the encoder on {STRINGS}")
        try:
            return self.transformer.transform(self._own(rows))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"it is none of the categories that {type(self.transformer).__name__} was fitted "
                "on; remove the row, or fit the encoder with handle_unknown for such entries"
            ) from error

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        return self._inverse(self, rows)


def _for_arrays(transformer: Any) -> Any:
    """Return a copy that takes plain arrays, leaves them as they are, and returns such.

    It shares nothing with the transformer: edits of that must not reach what is explained.
    """
    own = copy.copy(transformer)
    vars(own).pop("feature_names_in_", None)
    vars(own).pop("_sklearn_output_config", None)
    if hasattr(own, "copy"):
        own.copy = True
    return copy.deepcopy(own)


def _own_inverse(step: Step, rows: Float) -> Float:
    # Where there is none, as a warning would say, other rows help out.
    with warnings.catch_warnings(action="ignore"):
        return np.asarray(step.transformer.inverse_transform(rows), dtype=np.float64)


def _complete(step: Step, rows: Float) -> Float:
    """Return entries that an imputer keeps: its own columns stand before the indicators."""
    places, first = np.unique(step.sources, return_index=True)
    return scattered(rows[:, first], places, step.n_columns)


def _unknown(step: Step, rows: Float) -> Float:
    return np.full((len(rows), step.n_columns), np.nan)


def _bin_centres(step: Step, rows: Float) -> Float:
    return _own_inverse(step, np.clip(np.rint(rows), 0, step.transformer.n_bins_ - 1))


def _around_threshold(step: Step, rows: Float) -> Float:
    return np.asarray(step.transformer.threshold + 2.0 * rows - 1.0)


def _between_knots(step: Step, rows: Float) -> Float:
    """Return entries within the knots, which may be all that a spline is defined for."""
    result = np.empty((len(rows), step.n_columns))
    for column, spline in enumerate(step.transformer.bsplines_):
        low, high = spline.t[spline.k], spline.t[-spline.k - 1]
        first = int(np.argmax(step.sources == column))
        result[:, column] = low + (high - low) * np.abs(np.cos(1e3 * rows[:, first]))
    return result


def _nearest_category(step: Step, rows: Float) -> Float:
    """Return for each column the category whose encoding is nearest: itself, or its number."""
    known = [
        np.arange(len(categories)) if column in step.categories else categories
        for column, categories in enumerate(step.transformer.categories_)
    ]
    result = np.tile([float(categories[0]) for categories in known], (len(rows), 1))
    for column, categories in enumerate(known):
        tried = np.tile(result[:1], (len(categories), 1))
        tried[:, column] = categories
        made = step.sources == column
        encoded = step(decoded(tried, step.categories))
        distance = np.abs(rows[:, None, made] - encoded[:, made]).sum(axis=2)
        result[:, column] = categories[np.argmin(distance, axis=1)]
    return result


_INVERSES: dict[Any, Callable[[Float], Any]] = {
    np.log: np.exp,
    np.log2: np.exp2,
    np.log10: lambda rows: 10.0**rows,
    np.log1p: np.expm1,
    np.exp: np.log,
    np.expm1: np.log1p,
    np.sqrt: np.square,
    np.square: lambda rows: np.sqrt(np.abs(rows)),
    np.cbrt: lambda rows: rows**3,
}


def _inverse_of_function(step: Step, rows: Float) -> Float:
    inverse = _INVERSES.get(step.transformer.func)
    return rows if inverse is None else np.asarray(inverse(rows))


# The classes of steps, each with a function for `ColumnMap.inverse`.
STEPS: dict[type, Callable[[Step, Float], Float]] = {
    StandardScaler: _own_inverse,
    MinMaxScaler: _own_inverse,
    MaxAbsScaler: _own_inverse,
    RobustScaler: _own_inverse,
    QuantileTransformer: _own_inverse,
    PowerTransformer: _own_inverse,
    KBinsDiscretizer: _bin_centres,
    Binarizer: _around_threshold,
    SimpleImputer: _complete,
    MissingIndicator: _unknown,
    FunctionTransformer: _inverse_of_function,
    SplineTransformer: _between_knots,
    OneHotEncoder: _nearest_category,
    OrdinalEncoder: _nearest_category,
    TargetEncoder: _nearest_category,
}


def check_step(step: Any) -> None:
    """Refuse the variants of supported steps that are not understood, or not fitted."""
    name = type(step).__name__
    if isinstance(step, ENCODERS):
        _check_encoder(step)
    if isinstance(step, KBinsDiscretizer) and step.encode != "ordinal":
        raise refused(f"{name} with encode={step.encode!r}", _SEVERAL, "encode='ordinal'")
    if isinstance(step, FunctionTransformer) and not _is_elementwise(step):
        function = getattr(step.func, "__name__", repr(step.func))
        raise refused(
            f"{name} with the function {function}",
            "it is not known to act on each entry alone",
            "a NumPy function of one number without kw_args, such as func=np.log1p or, for any "
            "function f of one number, func=np.frompyfunc(f, 1, 1)",
        )
    check_fitted(step)
    check_is_fitted(step, "n_features_in_")  # some steps have nothing else to learn


def _check_encoder(step: Any) -> None:
    name = type(step).__name__
    check_fitted(step)
    if callable(getattr(step, "feature_name_combiner", None)):
        raise refused(
            f"{name} with a feature_name_combiner of its own",
            "columns are told apart by their names",
            "feature_name_combiner='concat'",
        )
    names = feature_names(step) or range(step.n_features_in_)
    for column, categories in zip(names, step.categories_, strict=True):
        if categories.dtype.kind in "mM":
            raise refused(f"{name} of the dates in column {column!r}", _DATES, STRINGS)
        if any_inexact(categories):
            raise refused(f"{name} of the numbers in column {column!r}", INEXACT, STRINGS)


_DATES = "it is not known what they are compared as"


def _is_elementwise(step: FunctionTransformer) -> bool:
    """Whether the function maps entry by entry, as NumPy's ufuncs of one argument do."""
    func = step.func
    is_ufunc = isinstance(func, np.ufunc) and func.signature is None
    return is_ufunc and (func.nin, func.nout) == (1, 1) and not step.kw_args


_SEVERAL = "it makes several columns of one, and is none of those that are known to do so"


_NAMES = ", feature_names=model[:-1].get_feature_names_out()"
_DOCUMENTS = (
    "its input has no columns. Transform the documents, and explain the last step: "
    f"rows = model[:-1].transform(documents); pkex.Explainer(model[-1], rows{_NAMES})(rows)"
)

# Why steps are refused whose input has no columns, such as documents.
_WITHOUT_COLUMNS = {
    **dict.fromkeys(("CountVectorizer", "DictVectorizer", "TfidfVectorizer"), _DOCUMENTS),
    **dict.fromkeys(("FeatureHasher", "HashingVectorizer"), _DOCUMENTS.replace(_NAMES, "")),
}
# Why others are refused, of those that do more than to mix columns.
_WHY = {
    "PolynomialFeatures": "it multiplies columns, which is supported before a linear model such as "
    "Ridge, with no other steps between the two than scalers and selectors, which stand beside it "
    "and not in a Pipeline of their own with the model",
}


def refused(what: str, why: str = "", instead: str = "") -> UnsupportedModelError:
    """Return the error that a step is not supported, why, and what may be taken instead."""
    found = f"a Pipeline with the step {what} is not supported"
    if what in _WITHOUT_COLUMNS:
        return UnsupportedModelError(f"{found}: {_WITHOUT_COLUMNS[what]}")
    why = why or _WHY.get(what, "it mixes columns, or is not known to act on each column alone")
    names = ", ".join(step.__name__ for step in STEPS)
    return UnsupportedModelError(
        f"{found}: {why}{f'; supported with {instead}' if instead else ''}. Supported steps: "
        f"{names}, "
        "feature selectors, ColumnTransformer, FeatureUnion and Pipeline of these, 'passthrough'. "
        "Or transform the data first, and explain the last step in terms of the columns that it "
        "sees"
    )
