"""The adapter for interpret's explainable boosting machines.

Such a machine is an intercept plus a sum of tables over the bins of one or several columns. The
bins of a column are finer in tables of this column alone than in tables of several columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.registry import register, register_probabilities, unsupported_model
from pkex.adapters.sklearn.estimators import class_names
from pkex.adapters.sklearn.probabilities import probabilities_by_link
from pkex.adapters.sklearn.probability_links import logistic, of_softmax
from pkex.functions.base import Function
from pkex.functions.column_maps import ColumnMap, scattered
from pkex.functions.exponential import Exponential
from pkex.functions.term_sum import TermSum
from pkex.functions.transformed import Transformed
from pkex.tables.labels import numbered
from pkex.tables.missing import is_missing
from pkex.typing import Float


@register(ExplainableBoostingRegressor)
def adapt_regressor(model: ExplainableBoostingRegressor) -> AdaptedModel:
    """Read the sum, which is the prediction or its logarithm."""
    function: Function = _function_of(model)
    if model.link_ == "log":
        function = Exponential(function)
    elif model.link_ != "identity":
        raise unsupported_model(f"ExplainableBoostingRegressor with the link {model.link_!r}")
    return _describe_model(model, function, model.predict, "predict")


@register(ExplainableBoostingClassifier)
def adapt_classifier(model: ExplainableBoostingClassifier) -> AdaptedModel:
    """Read the log-odds of two classes, or the scores of more before the softmax."""
    return _describe_model(
        model,
        _function_of(model),
        model.decision_function,
        "decision_function",
        not_explained="only the decision function, the log-odds, is a sum to which Shapley values "
        "can add up; class labels follow from it",
    )


@register_probabilities(ExplainableBoostingClassifier)
def probabilities_of_classifier(model: ExplainableBoostingClassifier) -> Probabilities:
    """Read the logistic function, or the softmax, of the decision function."""
    adapted, predict, classes = adapt_classifier(model), model.predict_proba, model.classes_
    if model.link_ not in _LINKS:
        raise unsupported_model(f"the probability of a classifier with the link {model.link_!r}")
    link = _LINKS[model.link_]
    return probabilities_by_link(
        adapted, [adapted.function], link, predict, classes, affine=(1.0, 0.0)
    )


_LINKS = {"logit": logistic, "mlogit": of_softmax}


def _describe_model(
    model: Any,
    function: Function,
    predict: Callable[[Float], Any],
    method: str,
    *,
    not_explained: str = "",
) -> AdaptedModel:
    names = tuple(map(str, model.feature_names_in_))
    # interpret makes up names for columns without one.
    is_named = not all(re.fullmatch(r"feature_\d{4,}", name) for name in names)
    is_classifier = isinstance(model, ExplainableBoostingClassifier)
    return AdaptedModel(
        function,
        predict=predict,
        method=method,
        feature_names=names if is_named else None,
        output_names=class_names(model.classes_, function) if is_classifier else None,
        not_explained=not_explained,
    )


def _function_of(model: Any) -> Transformed:
    """Return the sum of tables, in the columns of the training rows."""
    if type(model) not in (ExplainableBoostingClassifier, ExplainableBoostingRegressor):
        raise unsupported_model(f"{type(model).__name__}, a subclass of interpret's machines,")
    check_is_fitted(model, "term_scores_")
    if not np.isfinite(model.intercept_).all():
        raise unsupported_model(f"{type(model).__name__} of a single class")
    if not model.term_features_:
        raise unsupported_model(f"{type(model).__name__} without terms", ": it is constant")
    bin_columns, terms = _BinColumns(len(model.bins_)), []
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        places = [bin_columns.place_of(model.bins_[j], j, len(features)) for j in features]
        edges = [np.arange(n_bins - 1) + 0.5 for n_bins in scores.shape[: len(features)]]
        terms.append((places, edges, scores))
    constants = np.ravel(model.intercept_)
    intercept = constants if len(constants) > 1 else constants[0]
    columns = bin_columns.as_map()
    sums = TermSum(terms, intercept, feature_names=numbered(len(columns.sources)))
    names = tuple(map(str, model.feature_names_in_))
    return Transformed(columns, sums.with_probing_rows(columns.probing_bins()), names)


# --- bins ---


@dataclass(frozen=True)
class _Cuts:
    """Bins of numbers: 0 for missing values, then bins between cuts, then an unused bin.

    Parameters
    ----------
    cuts : ndarray
        Ascending; a value on a cut is above it.
    """

    cuts: Float

    @property
    def n_bins(self) -> int:
        return len(self.cuts) + 3

    def of(self, entries: NDArray[Any]) -> Float:
        """Return the number of the bin of each value."""
        numbers = entries.astype(np.float64)
        bins = np.searchsorted(self.cuts, numbers, side="right").astype(np.float64) + 1.0
        bins[np.isnan(numbers)] = 0.0
        return bins

    def inverse(self, bins: Float) -> Float:
        """Return a value in each bin, the cut below it if there is one.

        A number between the numbers of two bins stands for the cut between them.
        """
        if not len(self.cuts):
            return bins
        first = self.cuts[:1] - 1.0
        lower = np.concatenate([first, first, self.cuts, self.cuts[-1:]])
        entries: Float = lower[np.ceil(bins).astype(np.intp)]
        return entries


@dataclass(frozen=True)
class _Codes:
    """Bins of categories: 0 for missing values, then bins of texts, then a bin for other texts.

    Parameters
    ----------
    codes : mapping of str to int
        The bin of each text; texts may share a bin.
    """

    codes: Mapping[str, int]

    @property
    def n_bins(self) -> int:
        return max(self.codes.values(), default=0) + 2

    def of(self, entries: NDArray[Any]) -> Float:
        """Return the number of the bin of each value."""
        last_bin = self.n_bins - 1
        texts = map(_text, entries.tolist())
        return np.array([0.0 if t is None else float(self.codes.get(t, last_bin)) for t in texts])

    def inverse(self, bins: Float) -> Float:
        """Return the place of a text for each bin."""
        return bins % max(1, len(self.codes))


_Bins = _Cuts | _Codes


def _text(entry: Any) -> str | None:
    """Return the text by which interpret represents a value, None if it is missing."""
    if is_missing(entry):
        return None
    if isinstance(entry, bool | np.bool_):
        return str(int(entry))
    if isinstance(entry, float | np.floating):
        # Integers and equal floats have the same text, and so have 0 and −0.
        return repr(float(entry) + 0.0).removesuffix(".0")
    return str(entry)


class _BinColumns:
    """The columns of bins that terms need."""

    def __init__(self, n_columns: int) -> None:
        self._n_columns = n_columns
        self._places: dict[tuple[int, int], int] = {}
        self._bins: list[_Bins] = []

    def place_of(self, levels: Sequence[Any], column: int, n_term_columns: int) -> int:
        """Return the place of a column of bins for a term of `n_term_columns` columns.

        `levels` are the bins of the column in terms of one column, of two, and so on; larger terms
        use the last level.
        """
        level = min(len(levels), n_term_columns) - 1
        key = column, level
        if key not in self._places:
            level_bins = levels[level]
            self._places[key] = len(self._bins)
            is_categorical = isinstance(level_bins, dict)
            self._bins.append(
                _Codes(dict(level_bins))
                if is_categorical
                else _Cuts(np.array(level_bins, np.float64))
            )
        return self._places[key]

    def as_map(self) -> _BinMap:
        """Return the map that makes the columns of bins."""
        return _BinMap(self._n_columns, [column for column, _ in self._places], self._bins)


class _BinMap(ColumnMap):
    """The map from values to the numbers of their bins, one or more per column.

    Parameters
    ----------
    n_columns : int
    sources : sequence of int
    bins : sequence of bins
        The bins of each column that the map makes.
    """

    def __init__(self, n_columns: int, sources: Sequence[int], bins: Sequence[_Bins]) -> None:
        self.n_columns = n_columns
        self.sources = np.array(sources, dtype=np.intp)
        self._bins = tuple(bins)
        self.categories = {
            column: tuple(column_bins.codes)
            for column, column_bins in zip(sources, bins, strict=True)
            if isinstance(column_bins, _Codes) and column_bins.codes
        }
        self.non_numeric = frozenset(self.categories)

    def __call__(self, rows: NDArray[Any]) -> Float:
        columns = [
            column_bins.of(rows[:, column])
            for column, column_bins in zip(self.sources, self._bins, strict=True)
        ]
        return np.stack(columns, axis=1) if columns else np.empty((len(rows), 0))

    def inverse(self, rows: Float) -> Float:
        result = scattered(rows[:, :0], np.empty(0, dtype=np.intp), self.n_columns)
        for place, (column, column_bins) in enumerate(zip(self.sources, self._bins, strict=True)):
            result[:, column] = column_bins.inverse(rows[:, place])
        return result

    def probing_bins(self) -> Float:
        """Return rows of bins of present values, spread over all bins."""
        shares = np.abs(np.cos(np.arange(1.0, 1.0 + 12 * len(self._bins)))).reshape(12, -1)
        n_bins = np.array([column_bins.n_bins for column_bins in self._bins])
        bins: Float = 1.0 + np.floor(shares * (n_bins - 2))
        return bins
