"""Feature selection by HSIC attributions, as a scikit-learn transformer."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing, validation

from pkex.compare.hsic import hsic
from pkex.compare.results.hsic import HSICResult
from pkex.inputs.choices import Estimator, StatisticsConvention, check_choice
from pkex.inputs.integers import as_integer
from pkex.inputs.scikit_learn import FINITE, keep_names, validated
from pkex.kernels import Kernel
from pkex.tables.encode import Missing, categorical_columns
from pkex.tables.kinds import columns_of, is_pandas
from pkex.tables.labels import numbered
from pkex.typing import Float

Refit: TypeAlias = Literal["backward", "forward"]
_REFITS: tuple[Refit, ...] = get_args(Refit)

_ALPHA, _PERMUTATIONS = 0.05, 999


class HSICSelector(SelectorMixin, BaseEstimator):
    """Select the features that a target depends on, by their HSIC attributions.

    A scikit-learn transformer (requires ``pip install 'pkex[scikit-learn]'``). At most one of three
    rules is passed; the default is ``alpha=0.05``:

    - ``n_features_to_select``: the given number of features, with the largest Shapley values.
    - ``share``: the fewest features, largest values first, whose values add up to this share of the
      sum of all positive values.
    - ``alpha``: the features that each depend on the target, by permutation tests with family-wise
      adjusted p-values: the probability of selecting any independent feature is at most alpha. The
      selection may be empty, with a warning of scikit-learn.

    The first two rules include effects of a feature that occur only together with others, and also
    select from noise (``share`` selects nothing if no value is positive, as with constant y; then
    scikit-learn warns). Only ``alpha`` tests whether there is a dependence. It does not find
    features that act *only* jointly, such as a sign that multiplies another column.

    Parameters
    ----------
    n_features_to_select : int, optional
        Number of features to select.
    share : float, optional
        Share of the positive values, above 0 and at most 1.
    alpha : float, optional
        Level of the tests, between 0 and 1.
    refit : {"backward", "forward"}, optional
        Stepwise selection, with ``n_features_to_select``. "backward" drops the feature with the
        smallest value and recomputes the other values, until the given number is left. "forward"
        starts with no feature and adds the one that gives the largest `HSICResult.r2`; it takes
        about d times as long. Neither removes copies: see Notes.
    kernel, target_kernel : pkex.kernels.Kernel, optional
        As in `hsic`, by default from the data. Integers of y are compared as numbers; pass
        ``target_kernel=pkex.kernels.Categorical()`` if they are class labels. With ``refit``,
        `kernel` is used with fewer columns than X has, and must support any number of columns.
    estimator : {"biased", "unbiased"}, optional
        By default "unbiased" with ``share``, because the biased estimator has positive values for
        independent features; otherwise the default of `pkex.hsic`.
    value_function : {"marginal", "neutral"}, default "marginal"
        As in `hsic`.
    n_permutations : int, optional
        Number of permutations; by default 999 with ``alpha``, otherwise 0.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of the permutations.
    n_jobs : int or None, default -1
        Number of threads.
    categorical : iterable of columns, optional
        Columns of X, by name or number, that are compared as categories, as in `mmd`.
    missing : {"error", "indicator"}, default "error"
        Treatment of missing values, as in `mmd`. `transform` leaves them unchanged.

    Attributes
    ----------
    result_ : HSICResult
        Result for all features.
    selected_result_ : HSICResult
        Result for the selected features only; with ``refit``.
    support_ : ndarray of bool, shape (d,)
        Mask of the selected features.
    ranking_ : ndarray of int, shape (d,)
        Rank of each feature, from 1; the selected features come first. Ranked by values; with
        ``alpha`` by p-values; with ``refit`` by the order of removal or addition. Ties are in the
        order of columns.
    n_features_in_ : int
        Number of features in X.
    feature_names_in_ : ndarray of str
        Names of the features, if X has names.

    Raises
    ------
    ValueError, TypeError
        From ``fit``: if parameters are out of range or contradict each other, or as `hsic`.
    ImportError
        From ``pkex.HSICSelector``: if scikit-learn is not installed.

    See Also
    --------
    hsic : Compute the values, standard errors and p-values that the selection uses.

    Notes
    -----
    Sparse X is converted to a dense array for `hsic`; `transform` returns sparse X. Detecting
    dependence of any form requires more rows than detecting a given form: if the dependence is
    linear, `sklearn.linear_model.Lasso` needs fewer rows.

    No rule accounts for redundancy. A copy, or near copy, of a feature with a strong effect has the
    same HSIC as the feature, and may be selected before a feature with a weaker effect of its own.
    Remove copies from X first.

    References
    ----------
    L. Song, A. Smola, A. Gretton, J. Bedo, K. Borgwardt (2012), Feature selection via dependence
    maximization, JMLR 13: backward and forward selection by HSIC, without Shapley values.
    M. Mohammadi, S. L. Chau, K. Muandet, Computing exact Shapley values in polynomial time for
    product-kernel methods (PKeX-Shapley), section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> y = X[:, 1] ** 2 + np.sin(2 * X[:, 3])
    >>> selector = pkex.HSICSelector(random_state=0).fit(X, y)
    >>> selector.get_support(indices=True), selector.ranking_
    (array([1, 3]), array([3, 1, 4, 2, 5]))
    >>> pkex.HSICSelector(n_features_to_select=1).fit_transform(X, y).shape
    (200, 1)
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        share: float | None = None,
        alpha: float | None = None,
        refit: Refit | None = None,
        kernel: Kernel | None = None,
        target_kernel: Kernel | None = None,
        estimator: Estimator | None = None,
        value_function: StatisticsConvention = "marginal",
        n_permutations: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = -1,
        categorical: Iterable[int | str] | None = None,
        missing: Missing = "error",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.share = share
        self.alpha = alpha
        self.refit = refit
        self.kernel = kernel
        self.target_kernel = target_kernel
        self.estimator = estimator
        self.value_function = value_function
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.categorical = categorical
        self.missing = missing

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Select the features of X that y depends on.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, d)
            The features.
        y : array-like, Series or DataFrame of shape (n,) or (n, dy)
            Numbers, or class labels: strings, booleans, categories.

        Returns
        -------
        HSICSelector
            The fitted selector.
        """
        X, y = _check_data(self, X, y)
        alpha = self._significance()
        count = self._count(self.n_features_in_)
        n_permutations = self.n_permutations
        if n_permutations is None:
            n_permutations = 0 if alpha is None else _PERMUTATIONS
        if alpha is not None and n_permutations + 1 < 1.0 / alpha:
            raise ValueError(
                f"n_permutations={n_permutations} makes p-values of at least "
                f"{1.0 / (n_permutations + 1):.3g}, above alpha={alpha:g}. Pass n_permutations of "
                f"at least {int(np.ceil(1.0 / alpha)) - 1}"
            )
        self.result_ = self._hsic(X, y, n_permutations=n_permutations)
        values = self.result_.values
        if alpha is not None:
            pvalues = self.result_.alone_familywise_pvalues
            assert pvalues is not None, "there are permutations"
            order, count = _order(-values, pvalues), int(np.sum(pvalues <= alpha))
        elif self.refit is not None:
            search = self._eliminate_backward if self.refit == "backward" else self._select_forward
            order = search(X, y, count)
            self.selected_result_ = self._selected_result(X, y, np.sort(order[:count]))
        else:
            order = _order(-values)
            count = count if self.share is None else _count_largest(values[order], self.share)
        self.ranking_ = np.empty(len(order), dtype=np.int64)
        self.ranking_[order] = np.arange(1, len(order) + 1)
        self.support_ = self.ranking_ <= count
        return self

    def _significance(self) -> float | None:
        """Return alpha if features are selected by significance, else None; check the rule."""
        rules = {
            "n_features_to_select": self.n_features_to_select,
            "share": self.share,
            "alpha": self.alpha,
        }
        rule_names = [name for name, value in rules.items() if value is not None]
        if len(rule_names) > 1:
            raise ValueError(
                f"Pass only one of n_features_to_select, share and alpha; got {rule_names}"
            )
        if self.refit is not None:
            check_choice("refit", self.refit, _REFITS)
            if rule_names != ["n_features_to_select"]:
                raise ValueError(
                    "refit requires n_features_to_select. Pass the number of features to select"
                )
        if self.share is not None:
            _check_number("share", self.share, "above 0 and at most 1")
            if not 0.0 < self.share <= 1.0:
                raise ValueError(f"share must be above 0 and at most 1; got {self.share!r}")
        alpha = _ALPHA if not rule_names else self.alpha
        if alpha is not None:
            _check_number("alpha", alpha, "between 0 and 1")
            if not 0.0 < alpha < 1.0:
                raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}")
        return alpha

    def _count(self, n_features: int) -> int:
        """Return the number of features to select, 0 if another rule determines it."""
        if self.n_features_to_select is None:
            return 0
        valid = f"an integer from 1 to {n_features}, the number of features of X"
        count = as_integer("n_features_to_select", self.n_features_to_select, valid, least=1)
        if count > n_features:
            raise ValueError(f"n_features_to_select must be {valid}; got {count}")
        return count

    def _hsic(
        self, X: Any, y: Any, columns: ArrayLike | None = None, n_permutations: int = 0
    ) -> HSICResult:
        """Return the result of `hsic` for all columns, or for a subset."""
        categorical, estimator = self.categorical, self.estimator
        if estimator is None and self.share is not None:
            estimator = "unbiased"
        if columns is not None:
            X = _safe_indexing(X, np.asarray(columns, dtype=np.intp), axis=1)
            categorical = self._categorical_of(np.asarray(columns))
        return hsic(
            X,
            y,
            kernel=self.kernel,
            target_kernel=self.target_kernel,
            estimator=estimator,
            value_function=self.value_function,
            n_permutations=n_permutations,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            categorical=categorical,
            missing=self.missing,
        )

    def _categorical_of(self, columns: NDArray[Any]) -> list[int | str] | None:
        """Return the categorical columns of a subset, as positions in the subset."""
        if self.categorical is None:
            return None
        names = getattr(self, "feature_names_in_", numbered(self.n_features_in_))
        categorical = categorical_columns(self.categorical, tuple(names))
        return [place for place, column in enumerate(columns.tolist()) if column in categorical]

    def _refit(self, X: Any, y: Any, columns: ArrayLike) -> HSICResult:
        """Return the result for a subset of columns, without repeating warnings."""
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return self._hsic(X, y, columns)

    def _selected_result(self, X: Any, y: Any, columns: NDArray[np.intp]) -> HSICResult:
        """Return the result for the selected columns, with their names in the full table."""
        result = self._refit(X, y, columns)
        names = tuple(self.result_.feature_names[column] for column in columns)
        columns_and_names = zip(result.columns, names, strict=True)
        return replace(
            result,
            _axes=replace(result._axes, features=names),
            columns=tuple(replace(column, name=name) for column, name in columns_and_names),
        )

    def _eliminate_backward(self, X: Any, y: Any, count: int) -> NDArray[np.intp]:
        """Return all columns ranked by backward elimination, removed columns last."""
        result, columns, removals = self.result_, np.arange(self.n_features_in_), []
        while len(columns) > count:
            *_, place = _order(-result.values)
            removals.append(columns[place])
            columns = np.delete(columns, place)
            result = self._refit(X, y, columns)
        return np.array([*columns[_order(-result.values)], *reversed(removals)], dtype=np.intp)

    def _select_forward(self, X: Any, y: Any, count: int) -> NDArray[np.intp]:
        """Return all columns ranked by forward selection, columns added first at the start."""
        order = _order(-self.result_.values)
        is_constant = np.isnan(self.result_.alone_r2)
        selection: list[int] = []
        candidates = order[~is_constant[order]].tolist()
        while candidates and len(selection) < count:
            scores = [self._refit(X, y, sorted([*selection, j])).r2 for j in candidates]
            selection.append(candidates.pop(int(np.argmax(scores))))
        constants = order[is_constant[order]]
        return np.array([*selection, *candidates, *constants], dtype=np.intp)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        validation.check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "indicator"
        return tags

    def _more_tags(self) -> dict[str, Any]:
        # Tags for scikit-learn before 1.6.
        return {"requires_y": True, "allow_nan": self.missing == "indicator"}


HSICSelector.__module__ = "pkex"


def _check_data(selector: HSICSelector, X: Any, y: Any) -> tuple[Any, Any]:
    """Set the number and names of columns, and return X and y in the form that `hsic` accepts.

    Tables with named columns, such as data frames, may hold non-numeric columns, which `hsic`
    encodes.
    """
    if columns_of(X) is None:
        options: dict[str, Any] = {"accept_sparse": "csr", "ensure_min_samples": 2}
        if selector.missing == "indicator":
            options[FINITE] = "allow-nan"
        X, y_array = validated(selector, X, y, multi_output=True, **options)
        return X, y if is_pandas(y) else y_array
    if y is None:
        raise ValueError("HSICSelector requires y to be passed, but the target y is None")
    keep_names(selector, X, reset=True)
    selector.n_features_in_ = X.shape[1]
    return X, y


def _check_number(name: str, value: Any, valid: str) -> None:
    """Raise an error if a parameter is not a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number {valid}; got {value!r} ({type(value).__name__})")


def _order(*keys: Float) -> NDArray[np.intp]:
    """Return the positions that sort values in ascending order; the last key comes first."""
    return np.lexsort((np.arange(len(keys[0])), *keys))


def _count_largest(values: Float, share: float) -> int:
    """Return the smallest number of largest values that add up to a share of positive ones."""
    sums = np.cumsum(values[values > 0.0])
    # The tolerance keeps rounding errors from adding one more value.
    return int(np.sum(sums < share * sums[-1] * (1.0 - 1e-12))) + 1 if len(sums) else 0
