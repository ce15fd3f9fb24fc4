"""Kernel models of preferences between two items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.metrics import accuracy_score, r2_score

from pkex.adapters.sklearn.estimators import pair_names
from pkex.adapters.sklearn.probability_links import logistic
from pkex.models.arguments import check_weights
from pkex.models.losses import least_logistic, warn_of_steps
from pkex.models.preferences.marginal_likelihood import LogisticLoss, SquaredLoss
from pkex.models.preferences.posterior import mean_probabilities
from pkex.models.preferences.preference import Preference, Training
from pkex.models.preferences.sides import labels_of, margins, two_classes, warn_of_labels
from pkex.models.span import Span, check_finite, hidden_penalty, not_semidefinite
from pkex.typing import Float


class PreferenceRidge(Preference):
    """Kernel ridge regression of the degree of preference between two items.

    The fitted function of two items, f(a, b) = −f(b, a), is positive if a is preferred. It
    minimizes

        Σ_i (y_i − f(l_i, r_i))² + alpha · ‖f‖²

    with the generalized preferential kernel k(a, a') k(b, b') − k(a, b') k(b, a') between pairs
    (a, b) and (a', b'), times a kernel of contexts if there are contexts. Preferences may be
    cyclic: a may be preferred to b, b to c, and c to a, as in rock, paper, scissors. With
    ``pair_kernel="utility"`` they follow a ranking, f(a, b) = u(a) − u(b).

    An estimator in the API of scikit-learn, which it requires (``pip install
    'pkex[scikit-learn]'``), with two tables of features instead of one. Pipelines and searches,
    which pass a single table, do not support it.

    Parameters
    ----------
    alpha : float, optional
        The positive weight of the squared norm, as in `sklearn.kernel_ridge.KernelRidge`. By
        default, alpha and the length-scales of default kernels maximize the marginal likelihood.
    kernel : pkex.kernels.Kernel, optional
        The kernel k of items. By default a Gaussian kernel with length-scales by the median
        heuristic: the standard deviation of each column times the median distance of distinct
        standardized items. It ignores constant columns, with a warning.
    context_kernel : pkex.kernels.Kernel, optional
        The kernel of contexts, with the same default.
    pair_kernel : {"preferential", "utility"}, default "preferential"
        The kernel between pairs. "utility" is k(a, a') + k(b, b') − k(a, b') − k(b, a'), the
        covariance of differences of a utility u with covariance k (PGP, or UPM).
    n_centers : int, "auto" or None, default "auto"
        The number m of centers: f is a kernel expansion over a random sample of the pairs, as in
        the Nyström method, and minimizes the loss of all pairs. "auto" is 2,000, or 10 √n if that
        is more. With None, or at least as many centers as pairs, all pairs are centers and the
        solution is exact.
    tol : float, default 1e-12
        With centers: conjugate gradients stop if the predicted relative decrease of the objective
        is at most `tol`.
    max_iter : int, default 100
        With centers: the largest number of iterations. Without convergence, a warning is issued,
        which is a ConvergenceWarning.
    random_state : int, numpy.random.Generator or RandomState, optional
        The seed of the centers.
    n_jobs : int or None, default -1
        Number of threads of predictions and explanations.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (number of centers,)
        The coefficient of each center: f(a, b) = Σ_i dual_coef_i [k(l_i, a) k(r_i, b) − k(l_i, b)
        k(r_i, a)], or with the other kernel between pairs.
    left_, right_ : ndarray of shape (number of centers, d)
        The centers: all training pairs of positive weight, or some of them.
    context_ : ndarray of shape (number of centers, c) or None
        The contexts of the centers.
    n_centers_ : int
        The number of centers. Equal or swapped pairs are drawn once, and centers that are linearly
        dependent on others are left out.
    n_iter_ : int or None
        The number of iterations; None if all pairs are centers.
    kernel_, context_kernel_ : pkex.kernels.Kernel
        The kernels; None for the kernel of contexts without contexts.
    alpha_ : float
        The weight of the squared norm, as passed or chosen.
    prior_scale_ : float or None
        The prior covariance of f is this number times the kernel between pairs. The ridge takes
        the number with the largest marginal likelihood, so that posterior standard deviations have
        the units of y; the variance of the noise is alpha times this number. None if some training
        pairs are not centers.
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
    Fitting n pairs takes O(n³) and memory for n² numbers. With m centers, it takes O(n m) for each
    iteration, O(m³) once, and memory for a few m² numbers and for tables of the kernel between
    centers and distinct items or contexts, of at most 256 MB each. If a table would be larger, its
    values are computed again in each iteration. Explanations average over all training pairs,
    contexts or items, not only over the centers. Each call that computes posterior standard
    deviations takes O(n³), for models whose centers are all pairs. The choice of alpha takes some
    dozens of fits to at most 1,000 pairs, a fixed random sample.

    References
    ----------
    S. L. Chau, J. González, D. Sejdinovic (2022), Learning inconsistent preferences with Gaussian
    processes, AISTATS. W. Chu, Z. Ghahramani (2005), Preference learning with Gaussian processes,
    ICML. R. Hu, S. L. Chau, J. Ferrando Huertas, D. Sejdinovic (2022), Explaining
    preferences with Shapley values, NeurIPS. A. Rudi, L. Carratino, L. Rosasco (2017), FALKON: an
    optimal large scale kernel method, NeurIPS.

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
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model by solving one system of linear equations.

        With centers, it is solved by preconditioned conjugate gradients.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
            The items of n pairs, in the same columns.
        y : array-like of shape (n,), optional
            The degree of preference for left: negative if right was preferred, 0 for a draw. By
            default 1: left was preferred in all pairs.
        context : array-like or DataFrame of shape (n, c), optional
            The context of each pair.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the pairs. A pair of weight 2 counts as two pairs, and a pair of
            weight 0 is left out.

        Returns
        -------
        PreferenceRidge
            The fitted estimator.
        """
        tol, max_iter = self._check_stopping_criteria()
        training = self._begin(left, right, context, sample_weight)
        target = margins(y, len(training.mask))[training.mask]
        warn_of_labels(target)
        training, alpha = self._choose_parameters(training, SquaredLoss(target, training.weights))
        inducing = self._draw_centers(training, alpha)
        self.alpha_, self.n_iter_, posterior = alpha, None, None
        if inducing is None:
            coefficients = _solve_ridge(training, target, alpha)
            f = replace(training.pairs, coefficients=coefficients)
            posterior = training.weights / alpha, float(target @ coefficients) / len(target)
        else:
            minimum = inducing.least_squares(target, tol, max_iter)
            warn_of_steps([minimum], max_iter, alpha, "the method of conjugate gradients")
            self.n_iter_, f = minimum.n_steps, inducing.function(minimum.coordinates)
        self._keep(training, f, posterior)
        return self

    def predict(
        self,
        left: ArrayLike,
        right: ArrayLike,
        context: ArrayLike | None = None,
        return_std: bool = False,
    ) -> Float | tuple[Float, Float]:
        """Predict the degree of preference for left.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
        context : array-like or DataFrame of shape (n, c)
            Required if and only if the model was fitted with contexts.
        return_std : bool, default False
            Also return the posterior standard deviation of f.

        Returns
        -------
        ndarray of shape (n,), or this and a second array
            Swapped items have the opposite sign; an item compared with itself has 0.
        """
        mean = self._output(left, right, context)
        return (mean, self._deviations(left, right, context)) if return_std else mean

    def score(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the coefficient of determination R² of the prediction.

        Parameters
        ----------
        left, right, y, context, sample_weight
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
        predictions = self._output(left, right, context)
        weights = _score_weights(sample_weight, len(predictions))
        return float(r2_score(margins(y, len(predictions)), predictions, sample_weight=weights))


class PreferenceLogistic(Preference):
    """Kernel logistic regression of preferences between two items.

    As `PreferenceRidge`, with the logistic loss Σ_i log(1 + exp(−s_i f(l_i, r_i))) instead of
    squares, where s_i is 1 if left was preferred and −1 if right was. f is the log-odds that left
    is preferred; swapped items have swapped probabilities.

    Parameters
    ----------
    alpha, kernel, context_kernel, pair_kernel, n_centers, random_state, n_jobs
        As in `PreferenceRidge`. `alpha` is 1 / (2 C) with C of
        `sklearn.linear_model.LogisticRegression`.
    tol : float, default 1e-12
        Newton's method stops after a step whose predicted relative decrease of the objective is at
        most `tol`; the error after this step is smaller.
    max_iter : int, default 100
        The largest number of steps. Without convergence, a warning is issued, which is a
        ConvergenceWarning.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels of "right is preferred" and "left is preferred".
    n_iter_ : int
        The number of steps.
    alpha_, prior_scale_ : float
        As in `PreferenceRidge`, but the scale is 1 / (2 alpha): f is the mode of the posterior of a
        Gaussian process with this prior, and standard deviations are those of Laplace's
        approximation at the mode.
    dual_coef_, left_, right_, context_, kernel_, context_kernel_, n_centers_, n_features_in_,
    feature_names_in_
        As in `PreferenceRidge`.

    Raises
    ------
    ValueError, TypeError
        As for `PreferenceRidge`; also if y does not have two classes, or labels that do not tell
        which item was preferred.

    See Also
    --------
    PreferenceRidge : Kernel ridge regression, with the full documentation.

    Notes
    -----
    With centers, the steps of Newton's method are approximate: conjugate gradients reduce their
    residual to a tenth, with decreasing penalties in the first steps.

    References
    ----------
    U. Marteau-Ferey, F. Bach, A. Rudi (2019), Globally convergent Newton methods for
    ill-conditioned generalized self-concordant losses, NeurIPS.

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

    def fit(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
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
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the pairs. A pair of weight 2 counts as two pairs, and a pair of
            weight 0 is left out.

        Returns
        -------
        PreferenceLogistic
            The fitted estimator.
        """
        tol, max_iter = self._check_stopping_criteria()
        training = self._begin(left, right, context, sample_weight)
        self.classes_, is_left = two_classes(y, len(training.mask))
        is_left = is_left[training.mask]
        loss = LogisticLoss(np.where(is_left, 1.0, -1.0), training.weights)
        training, alpha = self._choose_parameters(training, loss)
        self.alpha_, posterior = alpha, None
        inducing = self._draw_centers(training, alpha)
        if inducing is None:
            span = Span.of_matrix(training.pairs.gram(), training.pairs.kernels, "left and right")
            minimum = least_logistic(
                span.at_points,
                is_left,
                training.weights,
                alpha * np.eye(span.at_points.shape[1]),
                tol,
                max_iter,
                has_intercept=False,
            )
            f = replace(training.pairs, coefficients=span.coefficients @ minimum.coordinates)
            shares = expit(span.at_points @ minimum.coordinates)
            precisions = training.weights * shares * (1.0 - shares) / (2.0 * alpha)
            posterior = precisions, 0.5 / alpha
        else:
            minimum = inducing.least_logistic(is_left, tol, max_iter)
            f = inducing.function(minimum.coordinates)
        warn_of_steps([minimum], max_iter, alpha)
        self.n_iter_ = minimum.n_steps
        self._keep(training, f, posterior)
        return self

    @property
    def _output_name(self) -> str | None:
        return pair_names(self.classes_)[0]

    def decision_function(
        self,
        left: ArrayLike,
        right: ArrayLike,
        context: ArrayLike | None = None,
        return_std: bool = False,
    ) -> Float | tuple[Float, Float]:
        """Return the log-odds that left is preferred.

        Parameters
        ----------
        left, right : array-like or DataFrame of shape (n, d)
        context : array-like or DataFrame of shape (n, c)
            Required if and only if the model was fitted with contexts.
        return_std : bool, default False
            Also return the standard deviation of f by Laplace's approximation of the posterior.

        Returns
        -------
        ndarray of shape (n,), or this and a second array
            Swapped items have the opposite sign; an item compared with itself has 0.
        """
        mean = self._output(left, right, context)
        return (mean, self._deviations(left, right, context)) if return_std else mean

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
        self,
        left: ArrayLike,
        right: ArrayLike,
        context: ArrayLike | None = None,
        averaged: bool = False,
    ) -> Float:
        """Return the probabilities that right and that left is preferred.

        Parameters
        ----------
        left, right, context
            As in `decision_function`.
        averaged : bool, default False
            Average the probabilities over the posterior of f, as
            `sklearn.gaussian_process.GaussianProcessClassifier` does: they are nearer to 1/2 where
            f is uncertain. By default, they are those of the log-odds of `decision_function`.

        Returns
        -------
        ndarray of shape (n, 2)
            In the order of `classes_`.
        """
        odds = self._output(left, right, context)
        if not averaged:
            return logistic(odds[:, None])
        return mean_probabilities(odds, self._deviations(left, right, context))

    def score(
        self,
        left: ArrayLike,
        right: ArrayLike,
        y: ArrayLike | None = None,
        context: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the accuracy of the predicted classes.

        Parameters
        ----------
        left, right, context
            As in `fit`.
        y : array-like of shape (n,), optional
            Labels as in `fit`. By default left was preferred in all pairs.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float
        """
        predictions = self.predict(left, right, context)
        n_rows = len(predictions)
        classes = np.full(n_rows, self.classes_[1]) if y is None else labels_of(y, n_rows)
        weights = _score_weights(sample_weight, n_rows)
        return float(accuracy_score(classes, predictions, sample_weight=weights))


def _solve_ridge(training: Training, target: Float, alpha: float) -> Float:
    """Return the coefficients a of the ridge regression, (K + alpha W⁻¹) a = y."""
    f = training.pairs
    matrix = f.gram()
    check_finite(matrix, f.kernels, "left and right")
    rounding = float(np.finfo(np.float64).eps * matrix.diagonal().sum())
    matrix.flat[:: len(matrix) + 1] += alpha / training.weights
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        if alpha <= rounding:
            raise hidden_penalty(alpha, rounding) from None
        reason = f"with alpha={alpha:g} on its diagonal its matrix has no Cholesky factor"
        raise not_semidefinite(f.kernels, "left and right", reason) from None
    solution: Float = scipy.linalg.cho_solve(factor, target)
    return solution


def _score_weights(sample_weight: ArrayLike | None, n_rows: int) -> Float | None:
    """Return the weights of pairs in a score; None if all are 1."""
    return None if sample_weight is None else check_weights(sample_weight, n_rows, "left")
