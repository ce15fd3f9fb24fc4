"""Adapters of scikit-learn's naive Bayes classifiers.

The joint log-likelihood of a row and a class is a sum over the columns: the log prior of the class
plus a function of each column. The log-odds of two classes are the difference of two such sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

from pkex.adapters.adapted_model import AdaptedModel, Probabilities
from pkex.adapters.kernels import EPSILON
from pkex.adapters.registry import register_probabilities
from pkex.adapters.sklearn.estimators import (
    class_names,
    dense,
    describe_method,
    feature_names,
    register_estimators,
    without_names,
)
from pkex.adapters.sklearn.probabilities import probabilities_by_link
from pkex.adapters.sklearn.probability_links import logistic, of_softmax
from pkex.errors import UnsupportedModelError
from pkex.functions.base import Function
from pkex.functions.column_maps import ColumnMap, scattered
from pkex.functions.linear import LinearFunction
from pkex.functions.term_sum import TermSum
from pkex.functions.transformed import Transformed
from pkex.typing import Float

NAIVE_BAYES = (BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB)

# Rounding errors of the model's own sums, relative to its joint log-likelihoods.
_ROUNDINGS = 64.0


@register_estimators(*NAIVE_BAYES)
def adapt_naive_bayes(model: Any) -> AdaptedModel:
    """Read the log-odds of two classes, or the joint log-likelihoods of more."""
    function, is_binary = _function_of(model), len(model.classes_) == 2
    joint = describe_method(
        model,
        function,
        "predict_joint_log_proba",
        title="joint log-likelihood",
        output_names=class_names(model.classes_, function),
        not_explained=_ONLY_LOG_ODDS if is_binary else _ONLY_LIKELIHOODS,
    )
    if not is_binary:
        return joint
    likelihoods = without_names(model).predict_joint_log_proba

    def log_odds(rows: Float) -> Float:
        return as_outputs(np.asarray(likelihoods(rows)))

    largest = np.abs(likelihoods(function.probing_rows())).max()
    return replace(
        joint,
        predict=log_odds,
        method=None,
        title="log-odds",
        is_log_odds=True,
        absolute_rounding=_ROUNDINGS * EPSILON * float(largest),
    )


_ONLY_LOG_ODDS = (
    "for two classes the explained function is the log-odds, the joint log-likelihood of the "
    "second class minus that of the first; class labels follow from it"
)
_ONLY_LIKELIHOODS = (
    "only the joint log-likelihoods are sums to which Shapley values can add up; class labels "
    "follow from them"
)


def probabilities_of_naive_bayes(model: Any) -> Probabilities:
    """Read the softmax of joint log-likelihoods, which is the logistic of the log-odds."""
    adapted, is_binary = adapt_naive_bayes(model), len(model.classes_) == 2
    return probabilities_by_link(
        adapted,
        [adapted.function],
        logistic if is_binary else of_softmax,
        without_names(model).predict_proba,
        model.classes_,
        affine=(1.0, 0.0) if is_binary else None,
    )


for _model in NAIVE_BAYES:
    register_probabilities(_model)(probabilities_of_naive_bayes)


def as_outputs(class_values: Float) -> Float:
    """Return the second class minus the first for two classes, else all classes, the last axis."""
    if class_values.shape[-1] != 2:
        return class_values
    differences: Float = class_values[..., 1] - class_values[..., 0]
    return differences


# --- functions ---


def _function_of(model: Any) -> Function:
    """Return the sum over columns, with the outputs of `as_outputs`."""
    reader = next(reader for kind, reader in _READERS.items() if isinstance(model, kind))
    return reader(model)


def _gaussian(model: GaussianNB) -> Function:
    """Return log P(c) + Σ_j log N(x_j; θ_cj, σ²_cj)."""
    # Copies, which later calls of partial_fit do not change.
    means, variances = dense(model.theta_).T.copy(), dense(model.var_).T.copy()
    with np.errstate(all="ignore"):
        normalizers = -0.5 * np.log(2.0 * np.pi * variances)
        priors = np.log(dense(model.class_prior_))
    _check_finite(model, [normalizers, priors], "positive priors and var_smoothing > 0")
    terms = [
        (column, _LogDensity(*numbers))
        for column, numbers in enumerate(zip(means, variances, normalizers, strict=True))
    ]
    # For each class rows around its mean, at most two standard deviations away.
    deviations = 2.0 * np.cos(np.arange(1.0, 1.0 + 4 * means.size)).reshape(4, *means.shape)
    rows = means + deviations * np.sqrt(variances)
    return TermSum(terms, as_outputs(priors)).with_probing_rows(
        rows.transpose(0, 2, 1).reshape(-1, len(means))
    )


@dataclass(frozen=True, eq=False)
class _LogDensity:
    """The log-density of a column in each class, with the outputs of `as_outputs`.

    Parameters
    ----------
    means, variances, normalizers : ndarray of shape (classes,)
        The last are −½ log(2π variance).
    """

    means: Float
    variances: Float
    normalizers: Float

    def __call__(self, entries: Float) -> Float:
        squares = (entries[:, None] - self.means) ** 2
        return as_outputs(self.normalizers - 0.5 * (squares / self.variances))


def _counts(model: MultinomialNB) -> Function:
    """Return log P(c) + Σ_j x_j log p_cj."""
    return _linear(model, dense(model.feature_log_prob_), dense(model.class_log_prior_))


def _complement(model: ComplementNB) -> Function:
    """Return Σ_j x_j w_cj, with the prior only for a single class."""
    is_single = len(model.classes_) == 1
    priors = dense(model.class_log_prior_) if is_single else np.zeros(len(model.classes_))
    return _linear(model, dense(model.feature_log_prob_), priors)


def _bernoulli(model: BernoulliNB) -> Function:
    """Return log P(c) + Σ_j log(1 − p_cj) + Σ_j b_j log(p_cj / (1 − p_cj)), b_j = [x_j > t]."""
    present = dense(model.feature_log_prob_)
    with np.errstate(all="ignore"):
        absent = np.log(1.0 - np.exp(present))
        slopes = present - absent
    intercepts = dense(model.class_log_prior_) + absent.sum(axis=1)
    function = _linear(model, slopes, intercepts)
    if model.binarize is None:
        return function
    return Transformed(
        _Exceeds(float(model.binarize), present.shape[1]), function, feature_names(model)
    )


def _categorical(model: CategoricalNB) -> Function:
    """Return log P(c) + Σ_j log p_cj(x_j), tables over the categories of each column."""
    tables = [dense(table).T for table in model.feature_log_prob_]
    priors = dense(model.class_log_prior_)
    _check_finite(model, [*tables, priors], _SMOOTHED)
    numbers = np.array([len(table) for table in tables])
    terms = [
        (column, np.arange(len(table) - 1) + 0.5, as_outputs(table))
        for column, table in enumerate(tables)
    ]
    shares = np.abs(np.cos(np.arange(1.0, 1.0 + 8 * len(numbers)))).reshape(8, -1)
    function = TermSum(terms, as_outputs(priors)).with_probing_rows(np.floor(shares * numbers))
    return Transformed(_Categories(numbers), function, feature_names(model))


_READERS: dict[type, Callable[[Any], Function]] = {
    GaussianNB: _gaussian,
    MultinomialNB: _counts,
    ComplementNB: _complement,
    BernoulliNB: _bernoulli,
    CategoricalNB: _categorical,
}
_SMOOTHED = "alpha > 0 and positive priors"


def _linear(model: Any, coefficients: Float, intercepts: Float) -> LinearFunction:
    """Return the function with coefficients of shape (classes, d)."""
    _check_finite(model, [coefficients, intercepts], _SMOOTHED)
    return LinearFunction(as_outputs(coefficients.T), as_outputs(intercepts))


def _check_finite(model: Any, arrays: list[Float], fix: str) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        raise UnsupportedModelError(
            f"{type(model).__name__} has a class or a value of probability 0, whose logarithm is "
            f"infinite; Shapley values are defined for finite values only. Fit it with {fix}"
        )


# --- columns ---


class _Exceeds(ColumnMap):
    """Each column as 1 where it exceeds a threshold, else 0.

    Parameters
    ----------
    threshold : float
    n_columns : int
    """

    def __init__(self, threshold: float, n_columns: int) -> None:
        self._threshold, self.n_columns = threshold, n_columns
        self.sources = np.arange(n_columns)

    def __call__(self, rows: Float) -> Float:
        return (rows > self._threshold).astype(np.float64)

    def inverse(self, rows: Float) -> Float:
        """Return values on either side of the threshold, since `rows` may be any numbers."""
        sides = scattered(rows[:, :0], np.empty(0, dtype=np.intp), self.n_columns)
        return self._threshold + sides


class _Categories(ColumnMap):
    """Columns of categories, which are integers from 0.

    Parameters
    ----------
    numbers : ndarray of int, shape (d,)
        The number of categories of each column.
    """

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self._numbers, self.n_columns = numbers, len(numbers)
        self.sources = np.arange(len(numbers))
        self.discrete = frozenset(range(len(numbers)))

    def __call__(self, rows: Float) -> Float:
        # NaN is not an integer.
        is_category = (rows == np.floor(rows)) & (rows >= 0.0) & (rows < self._numbers)
        if not is_category.all():
            raise ValueError(
                "CategoricalNB requires integers from 0 to n_categories_ - 1 of the column. Encode "
                "categories by an OrdinalEncoder before it in a Pipeline, or fit CategoricalNB "
                "with a larger min_categories for categories that the training rows lack"
            )
        return rows

    def inverse(self, rows: Float) -> Float:
        return rows
