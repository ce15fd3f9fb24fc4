"""Which steps are understood, and rows that they map to given ones, to try a model out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
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

from pkex.adapters.sklearn.step import Step
from pkex.functions.column_maps import decoded, scattered
from pkex.typing import Float


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
