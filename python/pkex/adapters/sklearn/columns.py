"""scikit-learn's preprocessing steps that make each column from a single one, as maps of columns.

The steps' own `transform` makes the numbers; what is kept here is from which column of the input
each column of the output is made.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
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
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.common import FrozenEstimator, check_fitted, dense, feature_names, inside
from pkex.errors import UnsupportedModelError
from pkex.functions.column_maps import ColumnMap, Selection, decoded, scattered
from pkex.functions.transformed import Transformed
from pkex.typing import Float


def column_map(step: Any) -> ColumnMap | None:
    """Return the map of a fitted preprocessing step, None if it leaves all columns as they are.

    Raises
    ------
    UnsupportedModelError
        If the step does not act on each column alone.
    sklearn.exceptions.NotFittedError
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return None
    if isinstance(step, FrozenEstimator):
        return column_map(inside(step))
    if isinstance(step, Pipeline):
        check_fitted(step)
        return chained([inner for _, inner in step.steps])
    if isinstance(step, ColumnTransformer):
        return _map_of_column_transformer(step)
    if isinstance(step, FunctionTransformer) and step.func is None:
        check_fitted(step)
        return None
    if isinstance(step, SelectorMixin):
        _check_step(step)
        return Selection(int(step.n_features_in_), step.get_support(indices=True))
    for step_class, inverse in _STEPS.items():
        if isinstance(step, step_class):
            _check_step(step)
            return _Step(step, inverse)
    raise _refused(type(step).__name__)


def chained(steps: Sequence[Any]) -> ColumnMap | None:
    """Return the map of preprocessing steps one after the other, None if they change nothing.

    Raises
    ------
    UnsupportedModelError
        If a step does not act on each column alone, or makes more or fewer columns than the next
        was fitted on.
    """
    maps = [(step, one) for step in steps if (one := column_map(step)) is not None]
    for (before, one), (after, following) in itertools.pairwise(maps):
        check_width(before, one, after, following.n_columns)
    some = [one for _, one in maps]
    return _Chain(some) if len(some) > 1 else some[0] if some else None


def check_width(before: Any, columns: ColumnMap, after: Any, n_fitted: int) -> None:
    """Check that a map makes as many columns as the step or model after it was fitted on."""
    if len(columns.sources) != n_fitted:
        options = ", ".join(before.get_params(deep=False))
        raise UnsupportedModelError(
            f"{type(before).__name__} makes {len(columns.sources)} columns, but "
            f"{type(after).__name__}, which comes after it, was fitted on {n_fitted}: one of its "
            f"attributes ({options}) was changed after fitting; fit the Pipeline as a whole"
        )


def check_columns(function: Transformed, columns: ColumnMap) -> None:
    """Check that a map makes each column from its source alone.

    Of two rows of the input, mixture k takes those columns from the second whose number has bit k
    set. A column made from another than its source, or from several, differs in one of these
    mixtures from what it is made of.
    """
    rows = function.probing_rows()
    bits = np.arange(max(1, (columns.n_columns - 1).bit_length()))[:, None]
    of_second = (np.arange(columns.n_columns) >> bits & 1).astype(bool)
    ends = np.asarray(columns(rows[[0, -1]]), dtype=np.float64)
    mixed = np.asarray(columns(np.where(of_second, rows[-1], rows[0])), dtype=np.float64)
    expected = np.where(of_second[:, columns.sources], ends[1], ends[0])
    if not np.all(np.abs(mixed - expected) <= 1e-9 * np.abs(ends).sum(axis=0)):
        raise UnsupportedModelError(
            "the steps before the model do not act on each column alone, although each of them is "
            "of a kind that does; were their attributes changed after fitting?"
        )


_ENCODERS = (OneHotEncoder, OrdinalEncoder, TargetEncoder)


class _Step(ColumnMap):
    """A single fitted transformer."""

    def __init__(self, transformer: Any, inverse: Callable[[_Step, Float], Float]) -> None:
        self.n_columns = int(transformer.n_features_in_)
        self.transformer = _for_arrays(transformer)
        self._inverse = inverse
        self.sources = np.arange(self.n_columns)
        if isinstance(transformer, (SimpleImputer, *_ENCODERS)):
            # From which columns is said by the names: "2", or "2_red" if there are several.
            numbers = np.arange(self.n_columns).astype(str).astype(object)
            names = self.transformer.get_feature_names_out(numbers)
            self.sources = np.array([int(name.partition("_")[0]) for name in names], dtype=np.intp)
        if isinstance(transformer, _ENCODERS):
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
        made = self._encoded(rows) if self.discrete else self.transformer.transform(self._own(rows))
        table = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
        return table if table.dtype == object else dense(table)

    def _own(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows as objects if the step was fitted on such, else as numbers."""
        return rows.astype(object if self.non_numeric else np.float64, copy=False)

    def _encoded(self, rows: NDArray[Any]) -> Any:
        if _any_inexact(rows):
            raise ValueError(f"{_INEXACT}; fit the encoder on {_STRINGS}")
        try:
            return self.transformer.transform(self._own(rows))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"it is none of the categories that {type(self.transformer).__name__} was fitted "
                "on; remove the row, or fit the encoder with handle_unknown for such entries"
            ) from error

    def inverse(self, rows: Float) -> Float:
        return self._inverse(self, rows)


class _Chain(ColumnMap):
    """Maps one after the other."""

    def __init__(self, maps: Sequence[ColumnMap]) -> None:
        self._maps = tuple(maps)
        self.n_columns = maps[0].n_columns
        self.sources = maps[0].sources
        self.non_numeric = maps[0].non_numeric
        self.categories = dict(maps[0].categories)
        self.discrete = maps[0].discrete
        for following in maps[1:]:
            for column, categories in following.categories.items():
                self.categories[int(self.sources[column])] = categories
            self.discrete |= {int(self.sources[column]) for column in following.discrete}
            self.sources = self.sources[following.sources]

    def __call__(self, rows: Float) -> Float:
        for one in self._maps:
            rows = one(rows)
        return rows

    def inverse(self, rows: Float) -> Float:
        for one in reversed(self._maps):
            rows = one.inverse(rows)
        return rows


class _SideBySide(ColumnMap):
    """Maps of some of the columns each, their results side by side."""

    def __init__(self, n_columns: int, maps: Sequence[tuple[NDArray[np.intp], ColumnMap]]) -> None:
        self.n_columns = n_columns
        self._maps = tuple(maps)
        self.sources = np.concatenate(
            [np.empty(0, dtype=np.intp), *(columns[one.sources] for columns, one in maps)]
        )
        # Columns that are dropped may hold anything, others what all maps of them take.
        used = [(columns, one, place) for columns, one in maps for place in range(len(columns))]
        self.non_numeric = frozenset(range(n_columns)) - {
            int(columns[place]) for columns, one, place in used if place not in one.non_numeric
        }
        self.discrete = frozenset(
            int(columns[place]) for columns, one, place in used if place in one.discrete
        )
        self.categories = {
            int(columns[place]): one.categories[place]
            for columns, one, place in used
            if place in one.categories
        }

    def __call__(self, rows: Float) -> Float:
        made = [one(rows[:, columns]) for columns, one in self._maps]
        return np.concatenate([np.empty((len(rows), 0)), *made], axis=1)

    def inverse(self, rows: Float) -> Float:
        wide = scattered(rows[:, :0], np.empty(0, dtype=np.intp), self.n_columns)
        ends = np.cumsum([len(one.sources) for _, one in self._maps])
        parts = list(zip(self._maps, np.split(rows, ends[:-1], axis=1), strict=True))
        # Of a column that several maps use, one that knows some entries only has the last word.
        for (columns, one), part in sorted(parts, key=lambda part: bool(part[0][1].discrete)):
            wide[:, columns] = one.inverse(part)
        return wide


def _map_of_column_transformer(step: ColumnTransformer) -> ColumnMap:
    check_fitted(step)
    if step.transformer_weights:
        raise _refused("ColumnTransformer with transformer_weights")
    maps = []
    for name, transformer, _ in step.transformers_:
        # scikit-learn has already resolved names, slices, masks and functions to numbers.
        columns = np.asarray(step._transformer_to_input_indices[name], dtype=np.intp)
        if len(columns) and not (isinstance(transformer, str) and transformer == "drop"):
            one = column_map(transformer) or Selection(len(columns), np.arange(len(columns)))
            maps.append((columns, one))
    return _SideBySide(int(step.n_features_in_), maps)


def _check_step(step: Any) -> None:
    """Refuse the variants of supported steps that are not understood."""
    name = type(step).__name__
    if isinstance(step, _ENCODERS):
        _check_encoder(step)
    if isinstance(step, KBinsDiscretizer) and step.encode != "ordinal":
        raise _refused(f"{name} with encode={step.encode!r}", _SEVERAL, "encode='ordinal'")
    if isinstance(step, SimpleImputer) and step.add_indicator:
        raise _refused(f"{name} with add_indicator=True", _SEVERAL, "add_indicator=False")
    if isinstance(step, FunctionTransformer) and not _is_elementwise(step):
        function = getattr(step.func, "__name__", repr(step.func))
        raise _refused(
            f"{name} with the function {function}",
            "it is not known to act on each entry alone",
            "a NumPy function of one number such as numpy.log1p, without kw_args",
        )
    check_fitted(step)
    check_is_fitted(step, "n_features_in_")  # some steps have nothing else to learn


def _check_encoder(step: Any) -> None:
    name = type(step).__name__
    check_fitted(step)
    if callable(getattr(step, "feature_name_combiner", None)):
        raise _refused(
            f"{name} with a feature_name_combiner of its own",
            "columns are told apart by their names",
            "feature_name_combiner='concat'",
        )
    names = feature_names(step) or range(step.n_features_in_)
    for column, categories in zip(names, step.categories_, strict=True):
        if categories.dtype.kind in "mM":
            raise _refused(f"{name} of the dates in column {column!r}", _DATES, _STRINGS)
        if _any_inexact(categories):
            raise _refused(f"{name} of the numbers in column {column!r}", _INEXACT, _STRINGS)


_INEXACT = "floats do not tell such numbers apart, integers from 2**53 on"
_DATES = "it is not known what they are compared as"
_STRINGS = "strings of them, such as X['id'].astype(str)"


def _any_inexact(entries: NDArray[Any]) -> bool:
    """Whether some are numbers that no float is equal to, or may have been rounded from such."""
    if entries.dtype.kind in "fiub":
        return bool(np.any(np.abs(entries.astype(np.float64)) >= 2.0**53))
    return any(isinstance(entry, Real | Decimal) and _is_inexact(entry) for entry in entries.flat)


def _is_inexact(number: Any) -> bool:
    return bool(number == number and (abs(number) >= 2**53 or float(number) != number))


def _is_elementwise(step: FunctionTransformer) -> bool:
    """Whether the function maps entry by entry, as NumPy's ufuncs of one argument do."""
    func = step.func
    is_ufunc = isinstance(func, np.ufunc) and func.signature is None
    return is_ufunc and (func.nin, func.nout) == (1, 1) and not step.kw_args


_SEVERAL = "it makes several columns of one, and is none of those that are known to do so"
# Steps that make several columns of one, or of several, and are not understood.
_MULTIPLY = ("MissingIndicator", "PolynomialFeatures", "SplineTransformer")


def _refused(what: str, why: str = "", instead: str = "") -> UnsupportedModelError:
    if not why:
        why = (
            _SEVERAL
            if what in _MULTIPLY
            else "it mixes columns, or is not known to act on each column alone"
        )
    names = ", ".join(step.__name__ for step in _STEPS)
    return UnsupportedModelError(
        f"a Pipeline with the step {what} is not supported: {why}"
        f"{f'; supported with {instead}' if instead else ''}. Supported steps: {names}, feature "
        "selectors, ColumnTransformer and Pipeline of these, 'passthrough'. Or transform the data "
        "first, and explain the last step in terms of the columns that it sees"
    )


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


def _own_inverse(step: _Step, rows: Float) -> Float:
    return np.asarray(step.transformer.inverse_transform(rows), dtype=np.float64)


def _scattered(step: _Step, rows: Float) -> Float:
    return scattered(rows, step.sources, step.n_columns)


def _bin_centres(step: _Step, rows: Float) -> Float:
    return _own_inverse(step, np.clip(np.rint(rows), 0, step.transformer.n_bins_ - 1))


def _around_threshold(step: _Step, rows: Float) -> Float:
    return np.asarray(step.transformer.threshold + 2.0 * rows - 1.0)


def _nearest_category(step: _Step, rows: Float) -> Float:
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


def _inverse_of_function(step: _Step, rows: Float) -> Float:
    inverse = _INVERSES.get(step.transformer.func)
    return rows if inverse is None else np.asarray(inverse(rows))


# The classes of steps, each with a function for `ColumnMap.inverse`.
_STEPS: dict[type, Callable[[_Step, Float], Float]] = {
    StandardScaler: _own_inverse,
    MinMaxScaler: _own_inverse,
    MaxAbsScaler: _own_inverse,
    RobustScaler: _own_inverse,
    QuantileTransformer: _own_inverse,
    PowerTransformer: _own_inverse,
    KBinsDiscretizer: _bin_centres,
    Binarizer: _around_threshold,
    SimpleImputer: _scattered,
    FunctionTransformer: _inverse_of_function,
    OneHotEncoder: _nearest_category,
    OrdinalEncoder: _nearest_category,
    TargetEncoder: _nearest_category,
}
