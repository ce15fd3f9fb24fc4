"""A Gaussian process that predicts the Shapley values of new rows."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import feature_names
from pkex.errors import InputError
from pkex.execution.blocks import blocks_of
from pkex.functions.gaussian_process.shapley_prior import ShapleyPrior
from pkex.games.value_functions import Game
from pkex.inputs.choices import check_choice
from pkex.inputs.scikit_learn import validated
from pkex.kernels import RBF, Kernel
from pkex.kernels.factors import has_series
from pkex.models.arguments import check_number, kernel_or_default, rows_as_in_fit
from pkex.results.attribution import Attribution
from pkex.tables.labels import Labels, numbered
from pkex.tables.read import as_matrix
from pkex.tables.weights import equal_weights
from pkex.typing import Float

_ProcessValueFunction: TypeAlias = Literal["interventional", "marginal"]
_VALUE_FUNCTIONS: tuple[_ProcessValueFunction, ...] = get_args(_ProcessValueFunction)
# The largest number of values to condition on, and of predicted values with their covariances.
_MAX_VALUES = 4096
# Rows whose values are predicted together, for any number of rows.
_BLOCK = 64
# Factors of the default length-scales to choose from, and the range of log10(alpha).
_FACTORS = (0.5, 1.0, 2.0, 4.0)
_EXPONENTS = (-10.0, 1.0)


class ShapleyProcess(RegressorMixin, BaseEstimator):
    """A Gaussian process that predicts the Shapley values of rows from those of other rows.

    For a function that is expensive to explain: its values are computed for a few rows, by any
    method, and predicted for others, with their uncertainty. The prior is that of the values of a
    Gaussian process f with the given kernel. Rows have values in d features, and values of
    different features and rows depend on each other through f, see docs/gaussian-processes.md.

    An estimator in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``).

    Parameters
    ----------
    kernel : pkex.kernels.Kernel, optional
        The covariance of f, up to a factor that is estimated: a sum of products over features, or a
        mixture of such kernels. Its length-scales are not estimated; those of a Gaussian process
        that was fitted to outputs of f are suitable. By default a Gaussian kernel with
        length-scales by the median heuristic (the standard deviation of each column times the
        median distance of distinct standardized rows) times ½, 1, 2 or 4, of maximum likelihood.
    value_function : {"interventional", "marginal"}, default "interventional"
        The value function of the values: absent features are replaced by those of background rows,
        or each of them is drawn independently from the background.
    alpha : float, optional
        The variance of the errors of the given values, relative to the prior variance of f. By
        default of maximum likelihood, between 1e-10 and 10. It includes the part of f that a
        process with this kernel cannot have.

    Attributes
    ----------
    alpha_ : float
    amplitude_ : float
        The prior variance of f divided by the kernel, of maximum likelihood.
    log_marginal_likelihood_value_ : float
        The log-likelihood of the given values with this amplitude and alpha, to compare kernels.
    X_train_ : ndarray of shape (n, d)
    background_ : ndarray of shape (m, d)
    kernel_ : pkex.kernels.Kernel
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has names of columns.

    Raises
    ------
    ValueError, TypeError
        In ``fit``: if there is not one value for each row and feature, all are 0, there are more
        than 4,096, columns of tables have other names or another order, an `Explanation` is of
        another value function, parameters are out of range, or the kernel is not such a sum.

    See Also
    --------
    pkex.Explainer : Exact values of a fitted model, with ``uncertainty=True`` for processes.

    References
    ----------
    .. [1] S. L. Chau, K. Muandet, D. Sejdinovic (2023). "Explaining the Uncertain: Stochastic
       Shapley Values for Gaussian Process Models", the Shapley prior.

    Examples
    --------
    Values of 30 rows of a function of three features, and a prediction of others:

    >>> import numpy as np
    >>> import pkex
    >>> from pkex.models import ShapleyProcess
    >>> from sklearn.svm import SVR
    >>> X = np.random.default_rng(0).normal(size=(130, 3))
    >>> svr = SVR(C=10.0).fit(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2])
    >>> explain = pkex.Explainer(svr, X[:10]).shap_values
    >>> process = ShapleyProcess().fit(X[:30], explain(X[:30]), background=X[:10])
    >>> predicted, deviations = process.predict(X[30:], return_std=True)
    >>> predicted.shape, process.score(X[30:], explain(X[30:])) > 0.9
    ((100, 3), True)
    """

    def __init__(
        self,
        *,
        kernel: Kernel | None = None,
        value_function: _ProcessValueFunction = "interventional",
        alpha: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.value_function = value_function
        self.alpha = alpha

    def fit(self, X: ArrayLike, values: ArrayLike, *, background: ArrayLike | None = None) -> Self:
        """Condition the process on values of rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
            The explained rows.
        values : array-like of shape (n, d), or Explanation
            Their Shapley values, of one output. An explanation may also be one of shap.
        background : array-like or DataFrame of shape (m, d), optional
            The background rows of the values, equally weighted; by default X.

        Returns
        -------
        ShapleyProcess
            The fitted estimator.
        """
        alpha = self.alpha
        if alpha is not None:
            alpha = check_number("alpha", alpha, may_be_0=False, none_is_default=True)
        value_function = check_choice("value_function", self.value_function, _VALUE_FUNCTIONS)
        rows = np.array(validated(self, X, dtype=np.float64), order="C")
        _check_columns(X, values, background)
        targets = _read_values(values, rows, value_function)
        pool = rows
        if background is not None:
            pool = np.array(as_matrix(background, "background", n_columns=rows.shape[1]))
        game = Game(value_function, (pool, equal_weights(len(pool))))
        fits = [
            _Conditioned.on(ShapleyPrior(kernel, game, rows.shape[1]), rows, targets, alpha)
            for kernel in self._kernels(rows)
        ]
        self._conditioned = max(fits, key=lambda fit: fit.log_likelihood)
        self.X_train_, self.background_, self.kernel_ = rows, pool, self._conditioned.prior.kernel
        self.alpha_, self.amplitude_ = self._conditioned.alpha, self._conditioned.amplitude
        self.log_marginal_likelihood_value_ = self._conditioned.log_likelihood
        return self

    def _kernels(self, rows: Float) -> list[Kernel]:
        """Return the kernel, or the default ones to choose from."""
        names = feature_names(self) or numbered(rows.shape[1])
        kernel = kernel_or_default(self.kernel, rows, names)
        if has_series(kernel.terms(rows.shape[1])):
            raise InputError(
                "kernel",
                f"{kernel!r} has dot products or is additive",
                "pass a sum of products over features, or a mixture of such kernels, for example "
                "RBF, Matern and RationalQuadratic",
            )
        if self.kernel is not None:
            return [kernel]
        assert isinstance(kernel, RBF)
        return [RBF(factor * np.asarray(kernel.length_scale)) for factor in _FACTORS]

    def predict(
        self, X: ArrayLike, *, return_std: bool = False, return_cov: bool = False
    ) -> Float | tuple[Float, Float]:
        """Predict the Shapley values of rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        return_std : bool, default False
            Whether to return the posterior standard deviation of each value as well.
        return_cov : bool, default False
            Whether to return the posterior covariances of all values as well, for up to 4,096
            values.

        Returns
        -------
        values : ndarray of shape (n, d)
            The posterior mean, in units of f. Values of a row add up to the prediction of f minus
            its mean over the background.
        deviations : ndarray of shape (n, d)
            If `return_std`.
        covariance : ndarray of shape (n, d, n, d)
            If `return_cov`.
        """
        check_is_fitted(self, "X_train_")
        if return_std and return_cov:
            raise ValueError(
                "return_std and return_cov must not both be True: the standard deviations are the "
                "roots of the diagonal of the covariances"
            )
        rows = np.ascontiguousarray(rows_as_in_fit(self, X))
        (n, d), fit = rows.shape, self._conditioned
        if return_cov:
            _check_size("X", n, d)
        mean, variances, roots = np.empty((n, d)), np.empty((n, d)), []
        for block in blocks_of(n, _BLOCK):
            cross = fit.prior.between(rows[block], self.X_train_)
            mean[block] = (cross @ fit.dual).reshape(-1, d)
            if return_std or return_cov:
                root = scipy.linalg.solve_triangular(fit.factor, cross.T, lower=True)
                if return_cov:
                    roots.append(root)
                else:
                    reductions = np.square(root).sum(axis=0).reshape(-1, d)
                    differences = fit.prior.variances(rows[block]) - reductions
                    variances[block] = fit.amplitude * np.maximum(differences, 0.0)
        if return_std:
            return mean, np.sqrt(variances)
        if not return_cov:
            return mean
        root = np.concatenate(roots, axis=1)
        covariance = fit.amplitude * (fit.prior.among(rows) - root.T @ root)
        return mean, covariance.reshape(n, d, n, d)


@dataclass(frozen=True, eq=False)
class _Conditioned:
    """A prior of values given the values of some rows, with an amplitude of maximum likelihood.

    Parameters
    ----------
    prior : ShapleyPrior
    alpha : float
        The variance of errors, relative to the prior variance of f.
    factor : ndarray of shape (n d, n d)
        The Cholesky factor of the covariance matrix, divided by the amplitude.
    dual : ndarray of shape (n d,)
        The product of the inverse of this matrix and the values.
    amplitude, log_likelihood : float
    """

    prior: ShapleyPrior
    alpha: float
    factor: Float
    dual: Float
    amplitude: float
    log_likelihood: float

    @classmethod
    def on(
        cls, prior: ShapleyPrior, rows: Float, values: Float, alpha: float | None
    ) -> _Conditioned:
        """Return the prior given values of rows, with alpha of maximum likelihood by default."""
        flat, matrix = values.reshape(-1), prior.among(rows)
        if alpha is None:
            alpha = _likely_alpha(matrix / prior.variance, flat)
        matrix.flat[:: len(matrix) + 1] += alpha * prior.variance
        try:
            factor = scipy.linalg.cholesky(matrix, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            raise InputError(
                "alpha",
                f"{alpha:g} is below the rounding errors of the covariances of the values",
                "increase it, for example to 1e-6",
            ) from None
        whitened_values = scipy.linalg.solve_triangular(factor, flat, lower=True)
        dual = scipy.linalg.solve_triangular(factor, whitened_values, lower=True, trans="T")
        amplitude = float(whitened_values @ whitened_values) / len(flat)
        logarithms = float(np.log(np.diag(factor)).sum())
        constant = 1.0 + math.log(2.0 * math.pi * amplitude)
        likelihood = -0.5 * len(flat) * constant - logarithms
        return cls(prior, alpha, factor, dual, amplitude, likelihood)


def _likely_alpha(matrix: Float, values: Float) -> float:
    """Return alpha of maximum likelihood, for the amplitude of maximum likelihood of each alpha.

    Parameters
    ----------
    matrix : ndarray of shape (n d, n d)
        The covariance matrix, divided by the prior variance of f.
    values : ndarray of shape (n d,)
    """
    eigenvalues, vectors = np.linalg.eigh(matrix)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    squares = np.square(vectors.T @ values)

    def loss(exponent: float) -> float:
        variances = eigenvalues + 10.0**exponent
        amplitude = (squares / variances).mean()
        return float(len(values) * np.log(amplitude) + np.log(variances).sum())

    # Of several maxima, the best on a grid.
    grid = np.linspace(*_EXPONENTS, 1 + int(_EXPONENTS[1] - _EXPONENTS[0]))
    best = grid[np.argmin([loss(exponent) for exponent in grid])]
    bounds = (max(best - 1.0, _EXPONENTS[0]), min(best + 1.0, _EXPONENTS[1]))
    result = scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(10.0**result.x)


def _check_columns(X: Any, values: Any, background: Any) -> None:
    """Raise if values or background have columns of other names, or in another order, than X."""
    row_labels = Labels.of(X)
    for name, table in (("values", values), ("background", background)):
        if isinstance(table, Attribution):
            columns = tuple(table.feature_names)
            # Columns without names in the explained rows are numbered.
            labels = Labels(None if columns == numbered(len(columns)) else columns)
        else:
            labels = Labels.of(table)
        labels.check_same(row_labels, name, "X")


def _read_values(values: Any, rows: Float, value_function: str) -> Float:
    """Return values of shape (n, d), one for each row and feature."""
    function_name = values.value_function if isinstance(values, Attribution) else None
    if function_name not in (None, value_function):
        raise InputError(
            "values",
            f"are of the {function_name} value function, but the process is of the "
            f"{value_function} one",
            "pass value_function='interventional' or 'marginal' to both ShapleyProcess and "
            "pkex.Explainer",
        )
    if hasattr(values, "base_values") and not isinstance(values, Attribution):  # shap's
        values = values.values
    matrix = as_matrix(values, "values", n_columns=rows.shape[1])
    if len(matrix) != len(rows):
        raise InputError(
            "values",
            f"has {len(matrix)} rows, but X has {len(rows)}",
            "pass the Shapley values of each row of X",
        )
    if not matrix.any():
        raise InputError(
            "values",
            "are all 0, which determines no amplitude of the process",
            "pass values of rows that differ from the background",
        )
    _check_size("X", *rows.shape)
    return matrix


def _check_size(name: str, n_rows: int, n_columns: int) -> None:
    """Raise if rows have too many values for their covariance matrix."""
    if n_rows * n_columns > _MAX_VALUES:
        raise InputError(
            name,
            f"has {n_rows:,} rows of {n_columns} features, {n_rows * n_columns:,} values: the "
            f"matrix of their covariances is for up to {_MAX_VALUES:,}",
            f"pass at most {_MAX_VALUES // n_columns:,} rows",
        )
