"""Regressors that average random predictors under a weight function, in closed form."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import feature_names
from pkex.execution.threads import check_n_jobs, thread_count
from pkex.functions.descriptions import TermExpansion
from pkex.inputs.integers import as_integer
from pkex.inputs.randomness import as_generator
from pkex.inputs.scikit_learn import validated
from pkex.inputs.wording import counted, shown
from pkex.models.arguments import check_number, check_weights
from pkex.models.weightings.centers import Centers, Standardization, WeightedTerm
from pkex.models.weightings.closed_forms import (
    ReLUWeighting,
    SignWeighting,
    StumpWeighting,
    Weighting,
    gamma_of,
)
from pkex.models.weightings.fit import fit_coefficients, in_threads
from pkex.models.weightings.subsets import Star, Subsets
from pkex.tables.labels import numbered
from pkex.typing import Float

# The default λ for centers of the same columns. Squares of predictions are proportional to the mean
# probability of a center's columns (Dubé and Marchand 2025, equation 60), and so is λ. On seven
# data sets, R² on test rows is on average 0.02 below that of the best λ and c.
_ALPHA = 3e-5
# −2 log of the smallest factor (1 + σ²/γ²)^(−k/2) of predictions, 1e-100.
_VANISHING = 200.0 * math.log(10.0)


class _RandomWeighting(RegressorMixin, BaseEstimator):
    """Base class: centers are drawn, and their coefficients are fitted."""

    def __init__(
        self,
        n_centers: int = 5000,
        *,
        concentration: float = 0.5,
        sigma: float | None = None,
        gamma: float | None = None,
        alpha: float | None = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.n_centers = n_centers
        self.concentration = concentration
        self.sigma = sigma
        self.gamma = gamma
        self.alpha = alpha
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw centers and fit their coefficients by solving one system of linear equations.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of rows in squared errors, means and standard deviations.

        Returns
        -------
        RWSign, RWReLU or RWStumps
            The fitted estimator.
        """
        rows, target = validated(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        d = rows.shape[1]
        subsets = self._subsets(d)
        self.alpha_ = self._alpha(subsets)
        check_n_jobs(self.n_jobs)
        weights = check_weights(sample_weight, len(rows))
        names = feature_names(self) or numbered(d)
        scaling = self._scaling(rows, weights, names)
        target = np.asarray(target, dtype=np.float64)
        # An overflow is an error of `fit_coefficients`.
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(weights @ target / weights.sum())
        centers = self._draw_centers(subsets)
        coefficients = fit_coefficients(
            centers,
            [self._kernel(len(group.columns), d) for group in centers],
            scaling(rows),
            target - mean,
            weights,
            self.alpha_,
            thread_count(self.n_jobs),
        )
        self.term_expansion_ = TermExpansion(
            [
                (
                    group.columns,
                    WeightedTerm(group, coefficients_of_group, scaling.of(group.columns)),
                )
                for group, coefficients_of_group in zip(centers, coefficients, strict=True)
            ],
            mean,
            feature_names=names,
        )
        return self

    def predict(self, X: ArrayLike) -> Float:
        """Predict the target.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self, "term_expansion_")
        rows = validated(self, X, dtype=np.float64, reset=False)
        predictions = np.empty(len(rows))

        def predict(part: slice) -> None:
            predictions[part] = self.term_expansion_._function.evaluate(rows[part], n_threads=1)

        in_threads(predict, len(rows), thread_count(self.n_jobs))
        return predictions

    # scikit-learn's check of scores sets alpha to 0.01, which leaves little more than a mean.
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    # Before scikit-learn 1.6.
    def _more_tags(self) -> dict[str, Any]:
        return {"poor_score": True}

    @abstractmethod
    def _subsets(self, d: int) -> Subsets:
        """Return the distribution of the columns of centers."""

    @abstractmethod
    def _weighting(self, k: int) -> Weighting:
        """Return the weighting of centers of k columns."""

    def _kernel(self, k: int, d: int) -> Weighting:
        """Return the weighting whose kernel defines the norm of centers of k of d columns."""
        return self._weighting(k)

    def _scaling(self, rows: Float, weights: Float, names: Sequence[str]) -> Standardization:
        if not isinstance(self.standardize, bool | np.bool_):
            raise TypeError(f"standardize must be True or False; got {self.standardize!r}")
        if not self.standardize:
            return Standardization.none(rows.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            scaling = Standardization.fit(rows, weights)
        is_finite = np.isfinite(scaling.middle) & np.isfinite(scaling.scale)
        if not is_finite.all():
            overflowing = [names[j] for j in np.flatnonzero(~is_finite).tolist()]
            raise ValueError(
                f"X has columns {shown(overflowing)} whose mean or standard deviation overflows. "
                "Scale them down"
            )
        return scaling

    def _alpha(self, subsets: Subsets) -> float:
        if self.alpha is None:
            return _ALPHA * subsets.mean_probability
        return check_number("alpha", self.alpha, may_be_0=True, none_is_default=True)

    def _draw_centers(self, subsets: Subsets) -> list[Centers]:
        """Return random centers, grouped by their columns."""
        count = as_integer("n_centers", self.n_centers, "a positive integer", least=1)
        random = as_generator(self.random_state)
        groups = []
        for columns, number in subsets.draw(count, random).items():
            k = len(columns)
            weighting = self._weighting(k)
            points = random.normal(scale=weighting.sigma, size=(number, k))
            groups.append(Centers(columns, points, weighting, subsets.probability(k)))
        return groups

    def _gamma(self, sigma: float, k: int) -> float:
        """Return the width of the kernel for k columns."""
        gamma = gamma_of(self._check_concentration(), sigma, k)
        if self.gamma is not None:
            gamma = _check_width("gamma", self.gamma)
        if 2.0 * k * math.log(math.hypot(1.0, sigma / gamma)) > _VANISHING:
            raise ValueError(
                f"gamma={gamma:g} is so small compared with sigma={sigma:g} that predictions of "
                f"{counted(k, 'column')} vanish. Increase gamma, or leave it out"
            )
        return gamma

    def _check_concentration(self) -> float:
        concentration = check_number("concentration", self.concentration, may_be_0=False)
        if not 1e-6 <= concentration < 1.0:
            raise ValueError(
                "concentration must be at least 1e-6 and less than 1, such as 0.5; got "
                f"{self.concentration!r}"
            )
        return concentration

    def _sigma(self, default: float) -> float:
        """Return the standard deviation of parameters."""
        return default if self.sigma is None else _check_width("sigma", self.sigma)


def _check_width(name: str, value: Any) -> float:
    """Return a positive number whose square neither vanishes nor overflows."""
    width = check_number(name, value, may_be_0=False, none_is_default=True)
    if not 1e-150 <= width <= 1e150:
        raise ValueError(f"{name} must be from 1e-150 to 1e150; got {value!r}")
    return width


class _OfProducts(_RandomWeighting):
    """Base class of estimators with predictors of ⟨w, x⟩, in all columns or a few."""

    def __init__(
        self,
        n_centers: int = 5000,
        *,
        concentration: float = 0.5,
        sigma: float | None = None,
        gamma: float | None = None,
        alpha: float | None = None,
        star: Star = None,
        standardize: bool = True,
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        super().__init__(
            n_centers,
            concentration=concentration,
            sigma=sigma,
            gamma=gamma,
            alpha=alpha,
            standardize=standardize,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.star = star

    def _subsets(self, d: int) -> Subsets:
        return Subsets.of(self.star, d)


class RWSign(_OfProducts):
    """Least squares with random half-spaces, averaged under a weight function.

    The model is f(x) = b + E[α(w) sign⟨w, x⟩] with normally distributed w and standardized x. The
    weight function α = Σ_t a_t exp(−‖w_t − w‖²/2γ²) has random centers w_t. The mean over w is a
    sum of error functions, in closed form. With ``star=k``, each center has k random columns, and f
    is a sum of functions of k columns.

    A regressor in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``). With background data, `pkex.Explainer` returns exact values if terms
    have up to 14 columns; for more use `pkex.Explainer.estimate`.

    Parameters
    ----------
    n_centers : int, default 5000
        The number T of centers. Fitting takes O(n T² + T³).
    concentration : float, default 0.5
        Between 0 and 1: c in the bound c ‖α‖ of predictions, which determines
        γ² = 2σ² / (c^(−4/k) − 1) for centers of k columns. Values near 1 make f smooth.
    sigma : float, optional
        The standard deviation σ of the parameters w and of centers, by default 1.
    gamma : float, optional
        The width γ of the weight function's kernel, instead of `concentration`.
    alpha : float, optional
        λ, the non-negative weight of the squared norm ‖α‖² relative to the mean squared error. By
        default 3e-5 times the mean probability of a center's columns: 1 for all columns, one over
        the number of pairs with ``star=2``.
    star : int, list of int, "sequence", ("sequence", int or list of int) or None, default None
        The number of columns of each center: one number, or several with equal probability. Columns
        are arbitrary, or adjacent for "sequence" (1 to 5 columns by default). None for all columns.
    standardize : bool, default True
        Whether columns are centered and divided by their standard deviation. Without it, the
        boundaries of half-spaces contain 0.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        The seed of the centers.
    n_jobs : int or None, default -1
        Number of threads.

    Attributes
    ----------
    alpha_ : float
        The value of λ in the fit.
    term_expansion_ : TermExpansion
        The fitted function, with a term for each set of columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has names of columns.

    Raises
    ------
    ValueError, TypeError
        In ``fit``: if parameters are out of range, or star exceeds the number of columns.
    ImportError
        In ``import pkex.models``: if scikit-learn is not installed.

    See Also
    --------
    RWReLU : Ramps instead of half-spaces, better for most regressions.
    RWStumps : A sum of functions of one column each.

    Notes
    -----
    sign⟨w, x⟩ depends only on the direction of x; for one column (``star=1``), only on its sign.

    References
    ----------
    G. Dubé, M. Marchand (2025), Shapley values of structured additive regression models and
    application to RKHS weightings of functions, Transactions on Machine Learning Research.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> from pkex.models import RWSign
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = np.sign(X[:, 0] + X[:, 1]) + X[:, 2]
    >>> model = RWSign(n_centers=500, star=2, random_state=0).fit(X, y)
    >>> explanation = pkex.Explainer(model, background=X[:50])(X[:20])
    >>> int(explanation.importance().argmin())
    3
    """

    def _weighting(self, k: int) -> Weighting:
        sigma = self._sigma(1.0)
        return SignWeighting(sigma, self._gamma(sigma, k))


class RWReLU(_OfProducts):
    """Least squares with random ramps, averaged under a weight function.

    As `RWSign` with ramps max(0, ⟨w, x⟩) instead of signs: f(x) = b + E[α(w) max(0, ⟨w, x⟩)]. In
    standardized columns, f − b is piecewise smooth, and linear along each ray from the mean.

    Parameters
    ----------
    n_centers, concentration, gamma, alpha, star, standardize, random_state, n_jobs
        As in `RWSign`.
    sigma : float, optional
        The standard deviation of the parameters w and of centers, by default 2√c with
        c = `concentration`.

    Attributes
    ----------
    alpha_, term_expansion_, n_features_in_, feature_names_in_
        As in `RWSign`.

    Raises
    ------
    ValueError, TypeError
        As for `RWSign`.

    See Also
    --------
    RWSign : Half-spaces, with the full documentation.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> from pkex.models import RWReLU
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = np.abs(X[:, 0]) * X[:, 1] + X[:, 2]
    >>> model = RWReLU(n_centers=500, star=2, random_state=0).fit(X, y)
    >>> explanation = pkex.Explainer(model, background=X[:50])(X[:20])
    >>> total = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(np.abs(total - model.predict(X[:20])).max() < 1e-9)
    True
    """

    def _weighting(self, k: int) -> Weighting:
        sigma = self._sigma(2.0 * math.sqrt(self._check_concentration()))
        return ReLUWeighting(sigma, self._gamma(sigma, k))


class RWStumps(_RandomWeighting):
    """Least squares with random steps in single columns, averaged under a weight function.

    The model is f(x) = b + E[α(j, τ) sign(x_j − τ)] with a random column j and normally distributed
    thresholds τ: a generalized additive model with a smooth function of each standardized column.

    Parameters
    ----------
    n_centers, alpha, standardize, random_state, n_jobs
        As in `RWSign` with ``star=1``.
    concentration : float, default 0.5
        As in `RWSign` for one column.
    sigma : float, optional
        The standard deviation of thresholds and of centers, by default 1.
    gamma : float, optional
        As in `RWSign`; with small values, functions may vary more within a column.

    Attributes
    ----------
    alpha_, term_expansion_, n_features_in_, feature_names_in_
        As in `RWSign`, with a term for each column.

    Raises
    ------
    ValueError, TypeError
        As for `RWSign`.

    See Also
    --------
    RWSign : Half-spaces, with the full documentation.
    RWReLU : Ramps of several columns.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> from pkex.models import RWStumps
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = np.sin(X[:, 0]) + 3 * X[:, 1]
    >>> model = RWStumps(n_centers=500, random_state=0).fit(X, y)
    >>> pkex.Explainer(model, background=X)(X).importance().round()
    array([1., 2., 0., 0.])
    """

    def _subsets(self, d: int) -> Subsets:
        return Subsets.of(1, d)

    def _weighting(self, k: int) -> Weighting:
        sigma = self._sigma(1.0)
        return StumpWeighting(sigma, self._gamma(sigma, k))
