"""Shapley-regularized regression and classification: small Shapley values of some features."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.estimators import feature_names
from pkex.adapters.sklearn.probability_links import logistic, of_logistics
from pkex.execution.threads import thread_count
from pkex.functions.descriptions import KernelExpansion
from pkex.games.observational import Observational
from pkex.inputs.integers import as_integer
from pkex.inputs.scikit_learn import validated
from pkex.kernels import Kernel
from pkex.models.arguments import check_number
from pkex.models.losses import least_logistic, least_squares, warn_of_steps
from pkex.models.penalties.problem import (
    PenalizedValueFunction,
    PenaltyParameters,
    PenaltyProblem,
)
from pkex.typing import Float


class _ShapleyRegularized(BaseEstimator):
    """Base class: the parameters, the penalty and the fitted function."""

    def __init__(
        self,
        features: int | str | Iterable[int | str] = (),
        *,
        penalty: float = 1.0,
        alpha: float = 1.0,
        kernel: Kernel | None = None,
        value_function: PenalizedValueFunction | Observational = "interventional",
        n_coalitions: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = -1,
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.alpha = alpha
        self.kernel = kernel
        self.value_function = value_function
        self.n_coalitions = n_coalitions
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _problem(self, X: Float, sample_weight: ArrayLike | None) -> PenaltyProblem:
        """Return the problem of the rows with positive weights."""
        parameters = {name: getattr(self, name) for name in PenaltyParameters.__dataclass_fields__}
        names = feature_names(self)
        return PenaltyProblem.of(X, sample_weight, PenaltyParameters(**parameters), names)

    def _keep(self, problem: PenaltyProblem, coordinates: Float, intercept: Any) -> None:
        """Set the fitted function, given its coordinates."""
        self.kernel_expansion_ = KernelExpansion(
            problem.points,
            problem.span.coefficients @ coordinates,
            problem.kernel,
            intercept,
            feature_names=feature_names(self),
        )

    def _output(self, X: Any) -> Float:
        """Return the fitted function at rows."""
        check_is_fitted(self, "kernel_expansion_")
        rows = validated(self, X, dtype=np.float64, reset=False)
        return self.kernel_expansion_._function.evaluate(rows, n_threads=thread_count(self.n_jobs))


class ShapleyRegularizedRidge(RegressorMixin, _ShapleyRegularized):
    """Kernel ridge regression with a penalty on the Shapley values of some features.

    The fitted function f(x) = b + Σ_i a_i k(x, x_i) minimizes

        Σ_i (y_i − f(x_i))² + alpha · ‖f − b‖² + penalty · mean_i Σ_A φ_A(x_i)²

    where φ_A(x_i) is the Shapley value of feature A for the prediction of training row x_i, and A
    runs over `features`. A large penalty makes these values small. Columns that depend on these
    features are not penalized and may replace them, as docs/models.md shows.

    A regressor in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``). `pkex.Explainer` explains it.

    Parameters
    ----------
    features : column or list of columns, default ()
        The features whose values are penalized, by name or number. Without features, the model is
        kernel ridge regression.
    penalty : float, default 1.0
        The weight of the mean square of values. Squared errors are summed over rows, so penalties
        have an effect from about a tenth of the number of rows on.
    alpha : float, default 1.0
        The positive weight of the squared norm, as in `sklearn.kernel_ridge.KernelRidge`.
    kernel : pkex.kernels.Kernel, optional
        By default a Gaussian kernel with length-scales by the median heuristic: the standard
        deviation of each column times the median distance of distinct standardized rows.
    value_function : {"interventional", "marginal", "observational"} or Observational
        The distribution of absent features: training rows (default); training values, independently
        for each feature, which is n times faster; or training rows weighted by their similarity to
        the present features. The penalized values are those of ``pkex.Explainer(model,
        background=X, value_function=...)`` with the training rows X, weighted by `sample_weight`.
        With ``Observational(normalize=False)``, where a constant has values, they are those of the
        kernel expansion without its intercept.
    n_coalitions : int, optional
        For "observational", the number of random coalitions per feature. By default all coalitions
        are used, for up to 14 columns.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        The seed of the random coalitions.
    n_jobs : int or None, default -1
        Number of threads.

    Attributes
    ----------
    kernel_expansion_ : KernelExpansion
        The fitted function: points, coefficients, kernel and intercept.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if X has names of columns.

    Raises
    ------
    ValueError, TypeError
        In ``fit``: if features are not columns of X, or occur twice; if parameters are out of
        range, or the kernel is not positive semidefinite on X.
    ImportError
        In ``import pkex.models``: if scikit-learn is not installed.

    See Also
    --------
    ShapleyRegularizedClassifier : Shapley-regularized classification.

    Notes
    -----
    The penalized values are exact and linear in the coefficients. Fitting n rows with d columns
    takes O(n³ · d) (marginal: O(n² · d); observational: O(n³) per coalition), plus O(n³) to solve
    the system, and memory for n² numbers per feature. `sample_weight` weighs errors, squared values
    and the rows that absent features are drawn from.

    References
    ----------
    S. L. Chau, R. Hu, J. Gonzalez, D. Sejdinovic (2022), RKHS-SHAP: Shapley values for kernel
    methods, NeurIPS, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> import pkex
    >>> from pkex.models import ShapleyRegularizedRidge
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> y = X[:, 0] + X[:, 1] + 3 * X[:, 2]
    >>> for penalty in (0, 1e3, 1e6):
    ...     model = ShapleyRegularizedRidge(features=2, penalty=penalty, alpha=0.1).fit(X, y)
    ...     explanation = pkex.Explainer(model, background=X)(X)
    ...     print(np.abs(explanation.values).mean(axis=0).round(3))
    [0.792 0.796 2.354]
    [0.652 0.775 0.377]
    [0.622 0.757 0.001]
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model by solving one system of linear equations.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Non-negative weights. Rows with weight 0 are ignored.

        Returns
        -------
        ShapleyRegularizedRidge
            The fitted estimator.
        """
        rows, target = validated(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        problem = self._problem(rows, sample_weight)
        minimum = least_squares(
            problem.span.at_points,
            np.asarray(target[problem.rows], dtype=np.float64),
            problem.weights,
            problem.penalty,
        )
        self._keep(problem, minimum.coordinates, minimum.intercept)
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
        return self._output(X)


class ShapleyRegularizedClassifier(ClassifierMixin, _ShapleyRegularized):
    """Kernel logistic regression with a penalty on the Shapley values of some features.

    As `ShapleyRegularizedRidge`, with the logistic loss Σ_i log(1 + exp(−s_i f(x_i))) instead of
    squares, where s_i is 1 for the second class and −1 for the first. The penalty is on the values
    of the decision function f, the log-odds. More than two classes are classified one-vs-rest.

    Parameters
    ----------
    features, penalty, alpha, kernel, value_function, n_coalitions, random_state, n_jobs
        As in `ShapleyRegularizedRidge`. `alpha` is 1 / (2 C) with C of
        `sklearn.linear_model.LogisticRegression`.
    tol : float, default 1e-12
        Newton's method stops after a step whose predicted relative decrease of the objective is at
        most `tol`; the error after this step is far smaller.
    max_iter : int, default 100
        The largest number of steps. Without convergence, a ConvergenceWarning is issued.

    Attributes
    ----------
    kernel_expansion_ : KernelExpansion
        The fitted decision function, with an output per class for more than two classes.
    classes_ : ndarray
    n_iter_ : int
        The number of steps, the largest over classes.
    n_features_in_, feature_names_in_
        As in `ShapleyRegularizedRidge`.

    Raises
    ------
    ValueError, TypeError
        As for `ShapleyRegularizedRidge`; also if y has a single class.

    See Also
    --------
    ShapleyRegularizedRidge : Shapley-regularized regression, with the full documentation.

    Examples
    --------
    >>> import numpy as np
    >>> from pkex.models import ShapleyRegularizedClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> is_ill = X[:, 0] + 3 * X[:, 2] > 0
    >>> model = ShapleyRegularizedClassifier(features=2, penalty=1e4, alpha=0.1).fit(X, is_ill)
    >>> model.score(X, is_ill) < 0.8 < model.set_params(penalty=0).fit(X, is_ill).score(X, is_ill)
    True
    """

    def __init__(
        self,
        features: int | str | Iterable[int | str] = (),
        *,
        penalty: float = 1.0,
        alpha: float = 1.0,
        kernel: Kernel | None = None,
        value_function: PenalizedValueFunction | Observational = "interventional",
        n_coalitions: int | None = None,
        random_state: Any = None,
        tol: float = 1e-12,
        max_iter: int = 100,
        n_jobs: int | None = -1,
    ) -> None:
        super().__init__(
            features,
            penalty=penalty,
            alpha=alpha,
            kernel=kernel,
            value_function=value_function,
            n_coalitions=n_coalitions,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model by Newton's method.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights. Rows with weight 0 are ignored.

        Returns
        -------
        ShapleyRegularizedClassifier
            The fitted estimator.
        """
        tol = check_number("tol", self.tol, may_be_0=False)
        max_iter = as_integer("max_iter", self.max_iter, "a positive integer", least=1)
        rows, labels = validated(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        problem = self._problem(rows, sample_weight)
        self.classes_, numbers = np.unique(labels[problem.rows], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "y must have two or more classes, but has only "
                f"{self.classes_.tolist()[0]!r} in the rows with positive weights"
            )
        is_two = len(self.classes_) == 2
        minima = [
            least_logistic(
                problem.span.at_points,
                numbers == number,
                problem.weights,
                problem.penalty,
                tol,
                max_iter,
            )
            for number in ([1] if is_two else range(len(self.classes_)))
        ]
        self.n_iter_ = max(minimum.n_steps for minimum in minima)
        warn_of_steps(minima, self.max_iter, self.alpha)
        coordinates = np.stack([minimum.coordinates for minimum in minima], axis=1)
        intercept = np.array([minimum.intercept for minimum in minima])
        if is_two:
            self._keep(problem, coordinates[:, 0], intercept[0])
        else:
            self._keep(problem, coordinates, intercept)
        return self

    def decision_function(self, X: ArrayLike) -> Float:
        """Return the log-odds of the second class, or of each class against the others.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,), or (n, classes) for more than two classes
        """
        return self._output(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        odds = self._output(X)
        places = odds.argmax(axis=1) if odds.ndim > 1 else (odds > 0.0).astype(np.intp)
        classes: NDArray[Any] = self.classes_[places]
        return classes

    def predict_proba(self, X: ArrayLike) -> Float:
        """Return the probabilities of classes; for more than two classes, normalized.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, classes)
        """
        odds = self._output(X)
        return logistic(odds[:, None]) if odds.ndim == 1 else of_logistics(odds)
