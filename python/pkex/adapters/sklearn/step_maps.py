"""scikit-learn's preprocessing steps as maps of columns, each made from a single column.

The steps' own `transform` computes the numbers. The maps keep the source of each column.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from pkex.adapters.fitted_attributes import changed_attribute
from pkex.adapters.sklearn.estimators import FrozenEstimator, check_fitted, frozen_estimator
from pkex.adapters.sklearn.steps import STEPS, Step, check_step, unsupported_step
from pkex.errors import UnsupportedModelError
from pkex.functions.column_maps import ColumnMap, Selection, scattered
from pkex.functions.transformed import Transformed
from pkex.typing import Float


def column_map(step: Any) -> ColumnMap | None:
    """Return the map of a fitted preprocessing step, None if it does not change the columns.

    Raises
    ------
    UnsupportedModelError
        If the step does not act on each column separately.
    sklearn.exceptions.NotFittedError
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return None
    if isinstance(step, FrozenEstimator):
        return column_map(frozen_estimator(step))
    if isinstance(step, Pipeline):
        check_fitted(step)
        return chain_maps([inner for _, inner in step.steps])
    if isinstance(step, ColumnTransformer):
        return _map_of_column_transformer(step)
    if isinstance(step, FeatureUnion):
        return _map_of_union(step)
    if isinstance(step, FunctionTransformer) and step.func is None:
        check_fitted(step)
        return None
    if isinstance(step, SelectorMixin):
        check_step(step)
        return Selection(int(step.n_features_in_), step.get_support(indices=True))
    for step_class, inverse in STEPS.items():
        if isinstance(step, step_class):
            check_step(step)
            return Step(step, inverse)
    name = type(step).__name__
    if any(step_class.__name__ == name for step_class in STEPS):
        library = type(step).__module__.partition(".")[0]
        reason = f"only scikit-learn's own {name} is supported"
        raise unsupported_step(f"{name} of {library}", reason)
    raise unsupported_step(name)


def chain_maps(steps: Sequence[Any]) -> ColumnMap | None:
    """Return the map of several steps one after the other, None if they do not change the columns.

    Raises
    ------
    UnsupportedModelError
        If a step does not act on each column separately, or makes another number of columns than
        the next step was fitted on.
    """
    maps = [(step, map_) for step in steps if (map_ := column_map(step)) is not None]
    for (step, map_), (successor, next_map) in itertools.pairwise(maps):
        check_width(step, len(map_.sources), successor, next_map.n_columns)
    if len(maps) > 1:
        return Chain([map_ for _, map_ in maps])
    return maps[0][1] if maps else None


def check_width(step: Any, n_columns: int, successor: Any, n_fitted: int) -> None:
    """Raise an error unless a step makes the number of columns that its successor was fitted on."""
    if n_columns != n_fitted:
        parameters = ", ".join(step.get_params(deep=False))
        raise UnsupportedModelError(
            changed_attribute(step)
            or f"{type(step).__name__} makes {n_columns} columns, but "
            f"{type(successor).__name__}, which comes after it, was fitted on {n_fitted}: one of "
            f"its attributes ({parameters}) was changed after fitting. Fit the Pipeline as a whole"
        )


def check_columns(function: Transformed, columns: ColumnMap) -> None:
    """Raise an error unless a map makes each column from its source alone.

    Mixture k of two rows has the columns of the second whose number has bit k set, and the other
    columns of the first. A column made from another column than its source differs from its
    expected value in one of the mixtures.
    """
    rows = function.probing_rows()
    bits = np.arange(max(1, (columns.n_columns - 1).bit_length()))[:, None]
    is_second = (np.arange(columns.n_columns) >> bits & 1).astype(bool)
    ends = np.asarray(columns(rows[[0, -1]]), dtype=np.float64)
    mixtures = np.asarray(columns(np.where(is_second, rows[-1], rows[0])), dtype=np.float64)
    expected = np.where(is_second[:, columns.sources], ends[1], ends[0])
    if not np.all(np.abs(mixtures - expected) <= 1e-9 * np.abs(ends).sum(axis=0)):
        raise UnsupportedModelError(
            "the steps before the model do not act on each column separately, although their "
            "classes do: an attribute may have been changed after fitting. Fit the Pipeline again"
        )


class Chain(ColumnMap):
    """Several maps one after the other."""

    def __init__(self, maps: Sequence[ColumnMap]) -> None:
        self._maps = tuple(maps)
        self.n_columns = maps[0].n_columns
        self.sources = maps[0].sources
        self.non_numeric = maps[0].non_numeric
        self.categories = dict(maps[0].categories)
        self.discrete = maps[0].discrete
        for successor in maps[1:]:
            categories_by_source: dict[int, Sequence[object]] = {}
            for column, categories in successor.categories.items():
                source = int(self.sources[column])
                # Booleans next to other categories of a column indicate missing values.
                is_indicator = all(isinstance(category, bool) for category in categories)
                categories_by_source[source] = (
                    categories_by_source.get(source, categories) if is_indicator else categories
                )
            self.categories |= categories_by_source
            self.discrete |= {int(self.sources[column]) for column in successor.discrete}
            self.sources = self.sources[successor.sources]

    def __call__(self, rows: Float) -> Float:
        """Map rows."""
        for map_ in self._maps:
            rows = map_(rows)
        return rows

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        for map_ in reversed(self._maps):
            rows = map_.inverse(rows)
        return rows


class SideBySide(ColumnMap):
    """Maps of some of the columns each, with their results side by side."""

    def __init__(self, n_columns: int, maps: Sequence[tuple[NDArray[np.intp], ColumnMap]]) -> None:
        self.n_columns = n_columns
        self._maps = tuple(maps)
        self.sources = np.concatenate(
            [np.empty(0, dtype=np.intp), *(columns[map_.sources] for columns, map_ in maps)]
        )
        # Dropped columns may hold anything, other columns only what all their maps accept.
        uses = [(columns, map_, place) for columns, map_ in maps for place in range(len(columns))]
        self.non_numeric = frozenset(range(n_columns)) - {
            int(columns[place]) for columns, map_, place in uses if place not in map_.non_numeric
        }
        self.discrete = frozenset(
            int(columns[place]) for columns, map_, place in uses if place in map_.discrete
        )
        # For a column of several maps, a map of known categories comes last and decides.
        self.categories = {
            int(columns[place]): map_.categories[place]
            for columns, map_, place in sorted(uses, key=lambda use: bool(use[1].discrete))
            if place in map_.categories
        }

    def __call__(self, rows: Float) -> Float:
        """Map rows."""
        results = [map_(rows[:, columns]) for columns, map_ in self._maps]
        return np.concatenate([np.empty((len(rows), 0)), *results], axis=1)

    def inverse(self, rows: Float) -> Float:
        """Return rows that are mapped to `rows` or near; see `ColumnMap`."""
        result = scattered(rows[:, :0], np.empty(0, dtype=np.intp), self.n_columns)
        ends = np.cumsum([len(map_.sources) for _, map_ in self._maps])
        parts = list(zip(self._maps, np.split(rows, ends[:-1], axis=1), strict=True))
        # In the same order as the categories.
        for (columns, map_), part in sorted(parts, key=lambda part: bool(part[0][1].discrete)):
            inverse = map_.inverse(part)
            is_known = ~np.isnan(inverse)
            is_known[:, sorted(map_.discrete)] = True  # NaN may be a category
            result[:, columns] = np.where(is_known, inverse, result[:, columns])
        return result


def _map_of_column_transformer(step: ColumnTransformer) -> ColumnMap:
    maps = [
        (columns, column_map(transformer) or identity_map(len(columns)))
        for columns, transformer in branches(step)
    ]
    return SideBySide(int(step.n_features_in_), maps)


def _map_of_union(step: FeatureUnion) -> ColumnMap:
    check_fitted(step)
    if step.transformer_weights:
        raise unsupported_step("FeatureUnion with transformer_weights")
    # fit() has replaced "passthrough" with a transformer.
    transformers = [
        transformer for _, transformer in step.transformer_list if not _is_drop(transformer)
    ]
    if not transformers:
        raise unsupported_step("FeatureUnion that drops all columns")
    n_columns = int(transformers[0].n_features_in_)
    maps = [column_map(transformer) or identity_map(n_columns) for transformer in transformers]
    return SideBySide(n_columns, [(np.arange(n_columns), map_) for map_ in maps])


def _is_drop(transformer: Any) -> bool:
    return isinstance(transformer, str) and transformer == "drop"


def branches(step: ColumnTransformer) -> list[tuple[NDArray[np.intp], Any]]:
    """Return each transformer with its columns, without dropped columns.

    Raises
    ------
    UnsupportedModelError, sklearn.exceptions.NotFittedError
    """
    check_fitted(step)
    if step.transformer_weights:
        raise unsupported_step("ColumnTransformer with transformer_weights")
    result = []
    for name, transformer, _ in step.transformers_:
        # scikit-learn has resolved names, slices, masks and functions to numbers.
        columns = np.asarray(step._transformer_to_input_indices[name], dtype=np.intp)
        if len(columns) and not _is_drop(transformer):
            result.append((columns, transformer))
    return result


def identity_map(n_columns: int) -> ColumnMap:
    """Return the map that does not change columns."""
    return Selection(n_columns, np.arange(n_columns))
