"""Kernel models that are fitted so that Shapley values of some features are small."""

# scikit-learn has no types.
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.sklearn.probability_links import logistic, of_logistics
from pkex.execution.threads import thread_count
from pkex.functions.descriptions import KernelExpansion
from pkex.games.observational import Observational
from pkex.inputs.integers import as_integer
from pkex.inputs.scikit_learn import validated
from pkex.kernels import Kernel
from pkex.models.arguments import checked_number
from pkex.models.losses import least_logistic, least_squares, warn_of_steps
from pkex.models.penalties.problem import Penalised, PenalisedGame, PenaltyProblem
from pkex.typing import Float

if TYPE_CHECKING:
    from typing import Self

__all__ = ["ShapleyRegularizedClassifier", "ShapleyRegularizedRidge"]


class _ShapleyRegularized(BaseEstimator):
    """What both have in common: the penalty, and the function that is fitted."""

    def _problem(self, X: Float, sample_weight: ArrayLike | None) -> PenaltyProblem:
        """Return what is minimised, of the rows that count."""
        penalised = Penalised(
            self.features,
            self.penalty,
            self.alpha,
            self.kernel,
            self.value_function,
            self.n_coalitions,
            self.random_state,
            self.n_jobs,
        )
        names = getattr(self, "feature_names_in_", None)
        return PenaltyProblem.of(X, sample_weight, penalised, names)

    def _keep(self, problem: PenaltyProblem, coordinates: Float, intercept: Any) -> None:
        """Keep the function that has these coordinates."""
        names = getattr(self, "feature_names_in_", None)
        self.kernel_expansion_ = KernelExpansion(
            problem.points,
            problem.span.coefficients @ coordinates,
            problem.kernel,
            intercept,
            feature_names=None if names is None else tuple(map(str, names)),
        )

    def _output(self, X: Any) -> Float:
        """Evaluate the function."""
        check_is_fitted(self, "kernel_expansion_")
        rows = validated(self, X, dtype=np.float64, reset=False)
        return self.kernel_expansion_._function.evaluate(rows, n_threads=thread_count(self.n_jobs))


class ShapleyRegularizedRidge(RegressorMixin, _ShapleyRegularized):
    """Kernel ridge regression that is told to do without some features.

    Fitted is f(x) = b + Σ_i a_i k(x, x_i), where the sum

        Σ_i (y_i − f(x_i))² + alpha · ‖f − b‖² + penalty · mean_i Σ_A φ_A(x_i)²

    is least, with φ_A(x_i) the Shapley value of feature A for the prediction of training row x_i,
    and A each of the ``features`` named. The larger the penalty, the nearer to 0 these values are.
    Columns that go along with those named are not penalised, and may take their place, as
    docs/models.md shows.

    A regressor of scikit-learn (it needs ``pip install 'pkex[scikit-learn]'``), explained by
    `pkex.Explainer` like any other.

    Parameters
    ----------
    features : column or list of columns, default ()
        Those whose values are penalised, by name or number. Without any it is kernel ridge
        regression, whatever the penalty.
    penalty : float, default 1.0
        What the mean square of values is multiplied with. The squared errors are summed over rows,
        so that penalties begin to show at some tenth of the number of rows.
    alpha : float, default 1.0
        Above 0: the weight of the squared norm, as in `sklearn.kernel_ridge.KernelRidge`.
    kernel : pkex.kernels.Kernel, optional
        By default the Gaussian one, with length-scales by the median heuristic: the standard
        deviation of each column times the median distance of rows so scaled, of distinct rows.
    value_function : {"interventional", "marginal", "observational"} or Observational
        Where absent features come from: whole training rows (the default); each feature from any
        of them by itself, which takes n times less; or rows that go along with what is known.
        The values that are penalised are those of ``pkex.Explainer(model, background=X,
        value_function=...)`` with the training rows X, weighted by ``sample_weight``.
    n_coalitions : int, optional
        Of the observational game, whose values are made of those of all coalitions up to 14
        columns: the number drawn for each feature instead.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Of these draws.
    n_jobs : int or None, default -1
        Number of threads.

    Attributes
    ----------
    kernel_expansion_ : KernelExpansion
        The function that is fitted: points, coefficients, kernel and intercept.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has names.

    Raises
    ------
    ValueError, TypeError
        By ``fit``: if features are no columns of X, or named twice; if parameters are out
        of range, or the kernel is not positive semidefinite on X.
    ImportError
        By ``pkex.models``, if scikit-learn is not installed.

    See Also
    --------
    ShapleyRegularizedClassifier : The same for classes.

    Notes
    -----
    The values of all features named are linear in the coefficients, and exact. It takes
    O(n³ · d) for n rows of d columns (marginal: O(n² · d); observational: O(n³) a coalition) and
    O(n³) to solve, and memory for
    n² numbers a feature named. With ``sample_weight`` rows count as often as they weigh, in errors,
    in the mean of squared values and as what absent features are drawn from.

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

    def __init__(
        self,
        features: int | str | Iterable[int | str] = (),
        *,
        penalty: float = 1.0,
        alpha: float = 1.0,
        kernel: Kernel | None = None,
        value_function: PenalisedGame | Observational = "interventional",
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

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model: one system of linear equations.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Not negative. Rows of weight 0 do not count at all.

        Returns
        -------
        ShapleyRegularizedRidge
            Itself, fitted.
        """
        rows, target = validated(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        problem = self._problem(rows, sample_weight)
        found = least_squares(
            problem.span.at_points,
            np.asarray(target[problem.rows], dtype=np.float64),
            problem.weights,
            problem.penalty,
        )
        self._keep(problem, found.coordinates, found.intercept)
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
    """Kernel logistic regression that is told to do without some features.

    As `ShapleyRegularizedRidge`, with the logistic loss Σ_i log(1 + exp(−s_i f(x_i))) in place of
    squares, where s_i is 1 for the second class and −1 for the first. Penalised are the values of
    the decision function f, the log-odds. Of more than two classes each is told from the rest.

    Parameters
    ----------
    features, penalty, alpha, kernel, value_function, n_coalitions, random_state, n_jobs
        As in `ShapleyRegularizedRidge`. The norm's weight alpha is 1 / (2 C) with the C of
        `sklearn.linear_model.LogisticRegression`.
    tol : float, default 1e-12
        Newton's method ends with the step that promises to lower the objective by no more than that
        part of it; the error afterwards is far smaller.
    max_iter : int, default 100
        The most steps. If they do not suffice, there is a ConvergenceWarning.

    Attributes
    ----------
    kernel_expansion_ : KernelExpansion
        The decision function that is fitted; of more than two classes with an output for each.
    classes_ : ndarray
    n_iter_ : int
        The steps that were taken, of several classes the most.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X has names.

    Raises
    ------
    ValueError, TypeError
        As `ShapleyRegularizedRidge`; also if y has one class alone.

    See Also
    --------
    ShapleyRegularizedRidge : The same for numbers, with all that is said there.

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
        value_function: PenalisedGame | Observational = "interventional",
        n_coalitions: int | None = None,
        random_state: Any = None,
        tol: float = 1e-12,
        max_iter: int = 100,
        n_jobs: int | None = -1,
    ) -> None:
        self.features = features
        self.penalty = penalty
        self.alpha = alpha
        self.kernel = kernel
        self.value_function = value_function
        self.n_coalitions = n_coalitions
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model by Newton's method.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)
        y : array-like of shape (n,)
            Labels of classes.
        sample_weight : array-like of shape (n,), optional
            Not negative. Rows of weight 0 do not count at all.

        Returns
        -------
        ShapleyRegularizedClassifier
            Itself, fitted.
        """
        tol = checked_number("tol", self.tol, may_be_0=False)
        max_iter = as_integer("max_iter", self.max_iter, "a positive integer", least=1)
        rows, labels = validated(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(labels)
        problem = self._problem(rows, sample_weight)
        self.classes_, numbers = np.unique(labels[problem.rows], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must have two or more classes, and has one class alone, {self.classes_[0]!r}, "
                "in the rows of positive weight"
            )
        is_two = len(self.classes_) == 2
        found = [
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
        self.n_iter_ = max(minimum.n_steps for minimum in found)
        warn_of_steps(found, self.max_iter, self.alpha)
        coordinates = np.stack([minimum.coordinates for minimum in found], axis=1)
        intercept = np.array([minimum.intercept for minimum in found])
        if is_two:
            self._keep(problem, coordinates[:, 0], intercept[0])
        else:
            self._keep(problem, coordinates, intercept)
        return self

    def decision_function(self, X: ArrayLike) -> Float:
        """Return the log-odds of the second class, or those of each class against the rest.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,), or (n, classes) of more than two
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
        """Return the probabilities of classes, of more than two divided by their sum.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, classes)
        """
        odds = self._output(X)
        return logistic(odds[:, None]) if odds.ndim == 1 else of_logistics(odds)
