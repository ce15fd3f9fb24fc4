"""Kernel models of preferences between two items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score, r2_score

from pkex.adapters.sklearn.estimators import pair_names
from pkex.adapters.sklearn.probability_links import logistic
from pkex.inputs.integers import as_integer
from pkex.kernels import Kernel
from pkex.models.arguments import checked_number
from pkex.models.losses import least_logistic, warn_of_steps
from pkex.models.preferences.preference import Preference
from pkex.models.preferences.sides import labels_of, margins, two_classes, warn_of_labels
from pkex.models.span import Span, check_finite, not_semidefinite
from pkex.typing import Float

if TYPE_CHECKING:
    from typing import Self

__all__ = ["PreferenceLogistic", "PreferenceRidge"]


class PreferenceRidge(Preference):
    """Kernel ridge regression of the degree of preference between two items.

    The fitted function of two items, f(a, b) = −f(b, a), is positive if a is preferred. It
    minimizes

        Σ_i (y_i − f(l_i, r_i))² + alpha · ‖f‖²

    with the generalized preferential kernel k(a, a') k(b, b') − k(a, b') k(b, a') between pairs
    (a, b) and (a', b'), times a kernel of contexts if there are contexts. Preferences may be
    cyclic: a may be preferred to b, b to c, and c to a, as in rock, paper, scissors.

    An estimator in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``), with two tables of features instead of one. Pipelines and searches,
    which pass a single table, do not support it.

    Parameters
    ----------
    alpha : float, default 1.0
        The positive weight of the squared norm, as in `sklearn.kernel_ridge.KernelRidge`.
    kernel : pkex.kernels.Kernel, optional
        The kernel k of items. By default a Gaussian kernel with length-scales by the median
        heuristic: the standard deviation of each column times the median distance of distinct
        standardized items. It ignores constant columns, with a warning.
    context_kernel : pkex.kernels.Kernel, optional
        The kernel of contexts, with the same default.
    n_jobs : int or None, default -1
        Number of threads.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        The coefficient of each training pair: f(a, b) = Σ_i dual_coef_i [k(l_i, a) k(r_i, b) −
        k(l_i, b) k(r_i, a)].
    left_, right_ : ndarray of shape (n, d)
        The training pairs.
    context_ : ndarray of shape (n, c) or None
        The contexts of the training pairs.
    kernel_, context_kernel_ : pkex.kernels.Kernel
        The kernels; None for the kernel of contexts without contexts.
    n_features_in_ : int
        The number of columns of an item.
    feature_names_in_ : ndarray of str
        Only if `left` has names of columns.

    Raises
    ------
    ValueError, TypeError
        In ``fit``: if left and right have different columns, or a row compares an item with
        itself; if parameters are out of range, or the kernel is not positive semidefinite on the
        pairs.
    ImportError
        In ``import pkex.models``: if scikit-learn is not installed.

    See Also
    --------
    PreferenceLogistic : Kernel logistic regression of wins and losses.

    Notes
    -----
    Fitting n pairs takes O(n³) and memory for n² numbers.

    References
    ----------
    S. L. Chau, J. González, D. Sejdinovic (2022), Learning inconsistent preferences with Gaussian
    processes, AISTATS. R. Hu, S. L. Chau, J. Ferrando Huertas, D. Sejdinovic (2022), Explaining
    preferences with Shapley values, NeurIPS.

    Examples
    --------
    The larger of two numbers on a circle where 0 follows 2:

    >>> from pkex.models import PreferenceRidge
    >>> model = PreferenceRidge(alpha=0.1).fit([[1.0], [2.0], [0.0]], [[0.0], [1.0], [2.0]])
    >>> (model.predict([[1.0], [2.0], [0.0]], [[0.0], [1.0], [2.0]]) > 0.0).tolist()
    [True, True, True]
    >>> explanation = model.explain_items([[1.0]], [[0.0]])
    >>> bool(abs(explanation.values.sum() - model.predict([[1.0]], [[0.0]])[0]) < 1e-12)
    True
    """

    def fit(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
    ) -> Self:
        """Fit the model by solving one system of linear equations.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
            The items of n pairs, in the same columns.
        y : array-like of shape (n,), optional
            The degree of preference for left: negative if right was preferred, 0 for a draw. By
            default 1: left was preferred in all pairs.
        context : array-like or DataFrame of shape (n, c), optional
            The context of each pair.

        Returns
        -------
        PreferenceRidge
            The fitted estimator.
        """
        alpha = checked_number("alpha", self.alpha, may_be_0=False)
        f = self._begin(left, right, context)
        target, matrix = margins(y, len(f.left)), f.gram()
        warn_of_labels(target)
        check_finite(matrix, f.kernels, "left and right")
        rounding = float(np.finfo(np.float64).eps * matrix.diagonal().sum())
        matrix.flat[:: len(matrix) + 1] += alpha
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            if alpha <= rounding:
                raise ValueError(
                    f"alpha={alpha:g} is below the rounding errors of the kernel between pairs. "
                    f"Increase it, for example to {1e3 * rounding:.1g}"
                ) from None
            found = f"with alpha={alpha:g} on its diagonal its matrix has no Cholesky factor"
            raise not_semidefinite(f.kernels, "left and right", found) from None
        self._keep(f, scipy.linalg.cho_solve(factor, target))
        return self

    def predict(self, left: ArrayLike, right: ArrayLike, context: ArrayLike | None = None) -> Float:
        """Predict the degree of preference for left.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
        context : array-like or DataFrame of shape (n, c)
            Required if and only if the model was fitted with contexts.

        Returns
        -------
        ndarray of shape (n,)
            Swapped items have the opposite sign; an item compared with itself has 0.
        """
        return self._output(left, right, context)

    def score(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
    ) -> float:
        """Return the coefficient of determination R² of the prediction.

        Parameters
        ----------
        left, right, y, context
            As in `fit`, with y required. If it is 1 and −1, use the accuracy of the sign instead.

        Returns
        -------
        float
        """
        if y is None:
            raise ValueError(
                "score requires y: R² is not defined for the default y, which is constant. Use "
                "(predict(left, right) > 0).mean(), the share of pairs where left is preferred"
            )
        found = self._output(left, right, context)
        return float(r2_score(margins(y, len(found)), found))


class PreferenceLogistic(Preference):
    """Kernel logistic regression of preferences between two items.

    As `PreferenceRidge`, with the logistic loss Σ_i log(1 + exp(−s_i f(l_i, r_i))) instead of
    squares, where s_i is 1 if left was preferred and −1 if right was. f is the log-odds that left
    is preferred; swapped items have swapped probabilities.

    Parameters
    ----------
    alpha, kernel, context_kernel, n_jobs
        As in `PreferenceRidge`. `alpha` is 1 / (2 C) with C of
        `sklearn.linear_model.LogisticRegression`.
    tol : float, default 1e-12
        Newton's method stops after a step whose predicted relative decrease of the objective is at
        most `tol`; the error after this step is far smaller.
    max_iter : int, default 100
        The largest number of steps. Without convergence, a ConvergenceWarning is issued.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels of "right is preferred" and "left is preferred".
    n_iter_ : int
        The number of steps.
    dual_coef_, left_, right_, context_, kernel_, context_kernel_, n_features_in_, feature_names_in_
        As in `PreferenceRidge`.

    Raises
    ------
    ValueError, TypeError
        As for `PreferenceRidge`; also if y does not have two classes, or labels that do not tell
        which item was preferred.

    See Also
    --------
    PreferenceRidge : Kernel ridge regression, with the full documentation.

    Examples
    --------
    >>> import numpy as np
    >>> from pkex.models import PreferenceLogistic
    >>> left, right = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> model = PreferenceLogistic(alpha=0.1).fit(left, right, left[:, 2] > right[:, 2])
    >>> model.score(left, right, left[:, 2] > right[:, 2])
    1.0
    >>> int(model.explain_items(left, right).importance().argmax())
    2
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        kernel: Kernel | None = None,
        context_kernel: Kernel | None = None,
        tol: float = 1e-12,
        max_iter: int = 100,
        n_jobs: int | None = -1,
    ) -> None:
        super().__init__(alpha=alpha, kernel=kernel, context_kernel=context_kernel, n_jobs=n_jobs)
        self.tol = tol
        self.max_iter = max_iter

    def fit(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
    ) -> Self:
        """Fit the model by Newton's method.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
            The items of n pairs, in the same columns.
        y : array-like of shape (n,), optional
            The preferred item: True or 1 for left and False, 0 or −1 for right, or "left" and
            "right". Other labels raise an error. By default left was preferred in all pairs, and
            the classes are False and True.
        context : array-like or DataFrame of shape (n, c), optional
            The context of each pair.

        Returns
        -------
        PreferenceLogistic
            The fitted estimator.
        """
        alpha = checked_number("alpha", self.alpha, may_be_0=False)
        tol = checked_number("tol", self.tol, may_be_0=False)
        max_iter = as_integer("max_iter", self.max_iter, "a positive integer", least=1)
        f = self._begin(left, right, context)
        self.classes_, is_left = two_classes(y, len(f.left))
        span = Span.of_matrix(f.gram(), f.kernels, "left and right")
        found = least_logistic(
            span.at_points,
            is_left,
            np.ones(len(is_left)),
            alpha * np.eye(span.at_points.shape[1]),
            tol,
            max_iter,
            has_intercept=False,
        )
        warn_of_steps([found], max_iter, alpha)
        self.n_iter_ = found.n_steps
        self._keep(f, span.coefficients @ found.coordinates)
        return self

    @property
    def _output_name(self) -> str | None:
        return pair_names(self.classes_)[0]

    def decision_function(
        self, left: ArrayLike, right: ArrayLike, context: ArrayLike | None = None
    ) -> Float:
        """Return the log-odds that left is preferred.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
        context : array-like or DataFrame of shape (n, c)
            Required if and only if the model was fitted with contexts.

        Returns
        -------
        ndarray of shape (n,)
            Swapped items have the opposite sign; an item compared with itself has 0.
        """
        return self._output(left, right, context)

    def predict(
        self, left: ArrayLike, right: ArrayLike, context: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Predict the class.

        Parameters
        ----------
        left, right, context
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n,)
        """
        odds = self._output(left, right, context)
        classes: NDArray[Any] = self.classes_[(odds > 0.0).astype(np.intp)]
        return classes

    def predict_proba(
        self, left: ArrayLike, right: ArrayLike, context: ArrayLike | None = None
    ) -> Float:
        """Return the probabilities that right and that left is preferred.

        Parameters
        ----------
        left, right, context
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n, 2)
            In the order of `classes_`.
        """
        return logistic(self._output(left, right, context)[:, None])

    def score(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
    ) -> float:
        """Return the accuracy of the predicted classes.

        Parameters
        ----------
        left, right, context
            As in `fit`.
        y : array-like of shape (n,), optional
            Labels as in `fit`. By default left was preferred in all pairs.

        Returns
        -------
        float
        """
        found = self.predict(left, right, context)
        n_rows = len(found)
        classes = np.full(n_rows, self.classes_[1]) if y is None else labels_of(y, n_rows)
        return float(accuracy_score(classes, found))
