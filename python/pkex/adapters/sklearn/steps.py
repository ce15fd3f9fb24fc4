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
from pkex.functions.column_maps import ColumnMap, decode_categories, scattered
from pkex.typing import Float

INEXACT = "floats cannot represent such numbers, integers from 2**53 on"
STRINGS = "strings instead, such as X['id'].astype(str)"


def any_inexact(entries: NDArray[Any]) -> bool:
    """Return whether some values are numbers that floats cannot represent exactly."""
    if entries.dtype.kind in "fiub":
        return bool(np.any(np.abs(entries.astype(np.float64)) >= 2.0**53))
    return any(isinstance(entry, Real | Decimal) and _is_inexact(entry) for entry in entries.flat)


def _is_inexact(number: Any) -> bool:
    return bool(number == number and (abs(number) >= 2**53 or float(number) != number))


def affine_inverse(scaler: Any) -> tuple[Any, Any] | None:
    """Return a and b of the inverse z ↦ a z + b of a fitted scaler, None for other steps.

    They are numbers, or arrays with one number per column.
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
    """A fitted transformer as a map of columns.

    Parameters
    ----------
    transformer : estimator
    inverse : callable
        From the step and its output to rows that it maps there, or near; see `ColumnMap`.
    """

    def __init__(self, transformer: Any, inverse: Callable[[Step, Float], Float]) -> None:
        self.n_columns = int(transformer.n_features_in_)
        self.transformer = copy_for_arrays(transformer)
        self._inverse = inverse
        self.sources = np.arange(self.n_columns)
        if isinstance(transformer, (SimpleImputer, SplineTransformer, *ENCODERS)):
            # The names say the source of each column: "2", "2_red" or "missingindicator_2".
            numbers = np.arange(self.n_columns).astype(str).astype(object)
            names = self.transformer.get_feature_names_out(numbers)
            names = [name.removeprefix("missingindicator_").partition("_")[0] for name in names]
            self.sources = np.array(names, dtype=np.intp)
        if isinstance(transformer, MissingIndicator):
            self.sources = np.array(transformer.features_, dtype=np.intp)
            self.non_numeric = frozenset(range(self.n_columns))
            if not isinstance(transformer.missing_values, Real):
                # It does not accept columns of numbers. Where `inverse` returns NaN, probing rows
                # have the number 1, and so the second of these values.
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
        if self.discrete:
            output = self._encode(rows)
        else:
            output = self.transformer.transform(self._cast_rows(rows))
        table = np.asarray(output.toarray() if hasattr(output, "toarray") else output)
        return table if table.dtype == object else dense(table)

    def _cast_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as objects if the step was fitted on objects, else as numbers."""
        return rows.astype(object if self.non_numeric else np.float64, copy=False)

    def _encode(self, rows: NDArray[Any]) -> Any:
        if any_inexact(rows):
            raise ValueError(f"{INEXACT}; fit the encoder on {STRINGS}")
        try:
            return self.transformer.transform(self._cast_rows(rows))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"it is not among the categories that {type(self.transformer).__name__} was fitted "
                "on. Remove the row, or fit the encoder with handle_unknown"
            ) from error

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        return self._inverse(self, rows)


def copy_for_arrays(transformer: Any) -> Any:
    """Return a copy that accepts and returns plain arrays, and does not change them.

    It is a deep copy, so that later changes of the transformer do not change the explainer.
    """
    transformer_copy = copy.copy(transformer)
    vars(transformer_copy).pop("feature_names_in_", None)
    vars(transformer_copy).pop("_sklearn_output_config", None)
    if hasattr(transformer_copy, "copy"):
        transformer_copy.copy = True
    return copy.deepcopy(transformer_copy)


def _inverse_transform(step: Step, rows: Float) -> Float:
    # A warning says where there is no inverse; other probing rows are used there.
    with warnings.catch_warnings(action="ignore"):
        return np.asarray(step.transformer.inverse_transform(rows), dtype=np.float64)


def _complete_values(step: Step, rows: Float) -> Float:
    """Return values that an imputer keeps: its own columns come before the indicators."""
    places, first = np.unique(step.sources, return_index=True)
    return scattered(rows[:, first], places, step.n_columns)


def _missing_values(step: Step, rows: Float) -> Float:
    return np.full((len(rows), step.n_columns), np.nan)


def _bin_centers(step: Step, rows: Float) -> Float:
    return _inverse_transform(step, np.clip(np.rint(rows), 0, step.transformer.n_bins_ - 1))


def _threshold_sides(step: Step, rows: Float) -> Float:
    return np.asarray(step.transformer.threshold + 2.0 * rows - 1.0)


def _values_between_knots(step: Step, rows: Float) -> Float:
    """Return values within the knots, beyond which a spline may be undefined."""
    result = np.empty((len(rows), step.n_columns))
    for column, spline in enumerate(step.transformer.bsplines_):
        low, high = spline.t[spline.k], spline.t[-spline.k - 1]
        first = int(np.argmax(step.sources == column))
        result[:, column] = low + (high - low) * np.abs(np.cos(1e3 * rows[:, first]))
    return result


def _nearest_category(step: Step, rows: Float) -> Float:
    """Return the category with the nearest encoding for each column, or its number."""
    column_categories = [
        np.arange(len(categories)) if column in step.categories else categories
        for column, categories in enumerate(step.transformer.categories_)
    ]
    result = np.tile([float(categories[0]) for categories in column_categories], (len(rows), 1))
    for column, categories in enumerate(column_categories):
        candidates = np.tile(result[:1], (len(categories), 1))
        candidates[:, column] = categories
        is_made = step.sources == column
        encodings = step(decode_categories(candidates, step.categories))
        distance = np.abs(rows[:, None, is_made] - encodings[:, is_made]).sum(axis=2)
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


# Supported classes, each with its inverse.
STEPS: dict[type, Callable[[Step, Float], Float]] = {
    StandardScaler: _inverse_transform,
    MinMaxScaler: _inverse_transform,
    MaxAbsScaler: _inverse_transform,
    RobustScaler: _inverse_transform,
    QuantileTransformer: _inverse_transform,
    PowerTransformer: _inverse_transform,
    KBinsDiscretizer: _bin_centers,
    Binarizer: _threshold_sides,
    SimpleImputer: _complete_values,
    MissingIndicator: _missing_values,
    FunctionTransformer: _inverse_of_function,
    SplineTransformer: _values_between_knots,
    OneHotEncoder: _nearest_category,
    OrdinalEncoder: _nearest_category,
    TargetEncoder: _nearest_category,
}


def check_step(step: Any) -> None:
    """Raise an error for an unsupported variant of a step, or one that is not fitted."""
    name = type(step).__name__
    if isinstance(step, ENCODERS):
        _check_encoder(step)
    if isinstance(step, KBinsDiscretizer) and step.encode != "ordinal":
        raise unsupported_step(f"{name} with encode={step.encode!r}", _SEVERAL, "encode='ordinal'")
    if isinstance(step, FunctionTransformer) and not _is_elementwise(step):
        function = getattr(step.func, "__name__", repr(step.func))
        raise unsupported_step(
            f"{name} with the function {function}",
            "it may not act on each value separately",
            "a NumPy function of one number without kw_args, such as func=np.log1p or, for any "
            "function f of one number, func=np.frompyfunc(f, 1, 1)",
        )
    check_fitted(step)
    check_is_fitted(step, "n_features_in_")  # some steps learn nothing else


def _check_encoder(step: Any) -> None:
    name = type(step).__name__
    check_fitted(step)
    if callable(getattr(step, "feature_name_combiner", None)):
        raise unsupported_step(
            f"{name} with a custom feature_name_combiner",
            "pkex reads the source of a column from its name",
            "feature_name_combiner='concat'",
        )
    names = feature_names(step) or range(step.n_features_in_)
    for column, categories in zip(names, step.categories_, strict=True):
        if categories.dtype.kind in "mM":
            raise unsupported_step(f"{name} of the dates in column {column!r}", _DATES, STRINGS)
        if any_inexact(categories):
            raise unsupported_step(f"{name} of the numbers in column {column!r}", INEXACT, STRINGS)


_DATES = "dates are not supported as categories"


def _is_elementwise(step: FunctionTransformer) -> bool:
    """Return whether a function is a NumPy ufunc of one argument."""
    func = step.func
    is_ufunc = isinstance(func, np.ufunc) and func.signature is None
    return is_ufunc and (func.nin, func.nout) == (1, 1) and not step.kw_args


_SEVERAL = "it makes several columns from one"


_NAMES = ", feature_names=model[:-1].get_feature_names_out()"
_DOCUMENTS = (
    "its input has no columns, and it is not the first step. Transform the data, and explain the "
    f"last step: rows = model[:-1].transform(X); pkex.Explainer(model[-1], rows{_NAMES})(rows)"
)

# Reasons for steps whose input has no columns, such as documents.
_WITHOUT_COLUMNS = {
    **dict.fromkeys(("CountVectorizer", "DictVectorizer", "TfidfVectorizer"), _DOCUMENTS),
    **dict.fromkeys(("FeatureHasher", "HashingVectorizer"), _DOCUMENTS.replace(_NAMES, "")),
}
# Reasons for other steps.
_REASONS = {
    "PolynomialFeatures": "it multiplies columns, which is supported before a linear model such as "
    "Ridge, in the same Pipeline, with only scalers and selectors between the two",
}


def unsupported_step(
    subject: str, reason: str = "", alternative: str = ""
) -> UnsupportedModelError:
    """Return the error that a step is not supported, with the reason and an alternative."""
    message = f"a Pipeline with the step {subject} is not supported"
    if subject in _WITHOUT_COLUMNS:
        return UnsupportedModelError(f"{message}: {_WITHOUT_COLUMNS[subject]}")
    reason = reason or _REASONS.get(
        subject, "it mixes columns, or may not act on each column separately"
    )
    names = ", ".join(step.__name__ for step in STEPS)
    return UnsupportedModelError(
        f"{message}: {reason}{f'; supported with {alternative}' if alternative else ''}. "
        f"Supported steps: {names}, "
        "feature selectors, ColumnTransformer, FeatureUnion and Pipeline of these, 'passthrough'. "
        "Or transform the data first, and explain the last step in its own columns"
    )
