"""The adapter for pyGAM's generalized additive models.

Predictions behind a logarithm as link are exponentials of sums. Behind other links, the sum itself
is explained.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pygam import GAM

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.registry import register, unsupported_model
from pkex.errors import UnsupportedModelError
from pkex.functions.exponential import Exponential
from pkex.functions.term_sum import TermSum
from pkex.tables.labels import numbered
from pkex.typing import Float


@register(GAM)
def adapt_gam(model: GAM) -> AdaptedModel:
    """Read the sum of terms, which a link turns into the prediction."""
    name = type(model).__name__
    if not type(model).__module__.startswith("pygam."):
        raise unsupported_model(f"{name}, a subclass of pyGAM's models,")
    if not hasattr(model, "coef_"):
        raise UnsupportedModelError(f"{name} is not fitted. Call fit first")
    function = _function_of(model)
    link = type(model.link).__name__
    if link == "IdentityLink":
        return AdaptedModel(function, method="predict", predict=model.predict)
    if link == "LogLink":
        return AdaptedModel(Exponential(function), method="predict", predict=model.predict)
    return AdaptedModel(
        function,
        title="linear predictor",
        predict=_linear_predictor(model),
        not_explained=f"behind the {link} of pyGAM it is not a sum to which Shapley values can add "
        "up; the linear predictor, the sum of all terms, is one",
    )


def _function_of(model: Any) -> TermSum:
    coefficients, intercept, terms = np.array(model.coef_), 0.0, []
    if len(coefficients) != model.terms.n_coefs:
        raise UnsupportedModelError(
            f"{type(model).__name__}.coef_ has {len(coefficients)} numbers, and its terms have "
            f"{model.terms.n_coefs}: one of them was changed after fitting. Fit the model again"
        )
    low, high = np.zeros(model.statistics_["m_features"]), np.ones(model.statistics_["m_features"])
    for number, term in enumerate(model.terms):
        term_coefficients = coefficients[model.terms.get_coef_indices(number)]
        if term.isintercept:
            intercept += float(term_coefficients[0])
            continue
        for part in _parts(term):
            low[part.feature], high[part.feature] = part.edge_knots_[[0, -1]]
        columns = _columns(term)
        terms.append((columns, _Term(_renumber_columns(term, columns), term_coefficients, columns)))
    function = TermSum(terms, intercept, feature_names=numbered(len(low)))
    shares = np.abs(np.cos(np.arange(1.0, 1.0 + 8 * len(low)))).reshape(8, -1)
    return function.with_probing_rows(low + shares * (high - low))


def _linear_predictor(model: Any) -> Callable[[Float], Float]:
    """Return the function from rows to the sum of the model's own terms."""

    def predict(rows: Float) -> Float:
        total = np.zeros(len(rows))
        for number, term in enumerate(model.terms):
            if term.isintercept:
                total += model.coef_[model.terms.get_coef_indices(number)]
            else:
                total += model.partial_dependence(number, X=rows)
        return total

    return predict


@dataclass(frozen=True, eq=False)
class _Term:
    """A term as a function of its columns.

    Parameters
    ----------
    term : pygam.terms.Term
        Its columns are numbered from 0.
    coefficients : ndarray
    columns : list of int
        Numbers of the columns in messages.
    """

    term: Any
    coefficients: Float
    columns: list[int]

    def __call__(self, *entries: Float) -> Float:
        rows = np.stack(entries, axis=1)
        for part in _parts(self.term):
            if part.dtype == "categorical":
                self._check_domain(part, rows[:, part.feature])
        values: Float = self.term.build_columns(rows).dot(self.coefficients)
        return values

    def _check_domain(self, part: Any, entries: Float) -> None:
        low, high = part.edge_knots_[[0, -1]]
        outside = entries[(entries < low) | (entries > high)]
        if len(outside):
            raise ValueError(
                f"the factor of column {self.columns[part.feature]} was fitted on values from "
                f"{low + 0.5:g} to {high - 0.5:g}, and pyGAM is undefined at {outside[0]:g}. "
                "Remove the row"
            )


def _parts(term: Any) -> list[Any]:
    """Return the factors of a tensor product, or the term itself."""
    return [term[place] for place in range(len(term))] if term.istensor else [term]


def _columns(term: Any) -> list[int]:
    """Return the columns of a term, with those that it is multiplied by."""
    features = {int(part.feature) for part in _parts(term)}
    factors = {int(part.by) for part in (term, *_parts(term)) if _is_multiplied(part)}
    return sorted(features | factors)


def _renumber_columns(term: Any, columns: list[int]) -> Any:
    """Return a copy of a term whose columns are numbered from 0."""
    term_copy = copy.deepcopy(term)
    parts = _parts(term_copy)
    for part in parts:
        part.feature = columns.index(part.feature)
    for part in {id(part): part for part in (term_copy, *parts)}.values():
        if _is_multiplied(part):
            part.by = columns.index(part.by)
    return term_copy


def _is_multiplied(part: Any) -> bool:
    return getattr(part, "by", None) is not None
