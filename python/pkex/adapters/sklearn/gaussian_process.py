"""Adapters of scikit-learn's Gaussian processes.

Regression (Rasmussen & Williams 2006, algorithm 2.1): the mean is K(x, X) α in units of the
normalized targets. Classification (algorithm 3.2, line 4): the mean of the latent function, whose
logistic is the probability of the second class, is K(x, X) (y − π) with targets y in {0, 1} and the
probabilities π at the Laplace mode. scikit-learn keeps y and π, but not α.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.multiclass import OneVsOneClassifier
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import even_indices
from pkex.adapters.registry import register
from pkex.adapters.sklearn.covariances import covariance_expansion
from pkex.adapters.sklearn.estimators import (
    check_fitted,
    describe_method,
    feature_names,
    pair_names,
    without_names,
)
from pkex.adapters.sklearn.gaussian_process_variance import (
    variance_of_classifier,
    variance_of_regressor,
)
from pkex.adapters.variances import add_variance
from pkex.errors import UnsupportedModelError
from pkex.functions.composite import Stack
from pkex.typing import Float

# The solution of many equations collects the rounding errors of all of them.
_RELATIVE_TOLERANCE = 1e-8
# A latent mean has a sign if it is larger than this share of the sizes of its terms.
_CLEAR = 1e-6


@register(GaussianProcessRegressor)
def adapt_regressor(model: GaussianProcessRegressor) -> AdaptedModel:
    """Read the mean, y_std · Σ_i alpha_i k(x, x_i) + y_mean, for one or several targets."""
    # An unfitted regressor predicts the mean 0 of its prior.
    check_is_fitted(model, ["X_train_", "y_train_", "L_", "alpha_"])
    check_fitted(model)
    alpha = np.asarray(model.alpha_, dtype=np.float64)
    # A single target has no output axis, even if y is a column.
    alpha = alpha[:, 0] if alpha.shape[1:] == (1,) else alpha
    shape = alpha.shape[1:]
    mean, deviation = (
        np.reshape(np.broadcast_to(np.ravel(unit), shape or 1), shape)
        for unit in (model._y_train_mean, model._y_train_std)
    )
    expansion, rounding = covariance_expansion(
        model, model.kernel_, model.X_train_, alpha * deviation, mean
    )
    _check_solution(model, rounding)
    adapted = describe_method(model, expansion, "predict", kernel_rounding=rounding)
    return add_variance(adapted, partial(variance_of_regressor, model, deviation**2))


def _check_solution(model: GaussianProcessRegressor, rounding: float) -> None:
    """Check at some training rows that alpha_ solves (K + noise) alpha_ = y_train_.

    The noise is the diagonal of the factored matrix L_ L_ᵀ minus the kernel between a new row and
    an equal training row.
    """
    points, factor = model.X_train_, model.L_
    indices = even_indices(len(points))
    alpha, targets = (np.reshape(a, (len(a), -1)) for a in (model.alpha_, model.y_train_))
    if {alpha.shape, (*factor.shape[:1], alpha.shape[1])} != {targets.shape}:
        raise _solution_error(model)
    kernel = model.kernel_(points[indices], points)
    squares = np.einsum("ij,ij->i", factor[indices], factor[indices])
    kernel[np.arange(len(indices)), indices] = squares
    residuals = np.abs(kernel @ alpha - targets[indices])
    scale = np.abs(kernel) @ np.abs(alpha)
    # Not "greater": NaN must fail as well.
    if not np.all(residuals <= (_RELATIVE_TOLERANCE + min(rounding, 1e-4)) * scale):
        raise _solution_error(model)


def _solution_error(model: GaussianProcessRegressor) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(model).__name__}.alpha_ does not solve the equations of its kernel_, X_train_, "
        "y_train_ and L_: one of them was changed after fitting. Fit the model again"
    )


@register(GaussianProcessClassifier)
def adapt_classifier(model: GaussianProcessClassifier) -> AdaptedModel:
    """Read the latent mean of two classes, or the latent means of each class or pair of more."""
    check_is_fitted(model, "base_estimator_")
    check_fitted(model)
    base = model.base_estimator_
    is_single = not hasattr(base, "estimators_")
    machines = [base] if is_single else base.estimators_
    # The machine of a pair of classes has the second as its y = 1. Outputs named "a vs b" are
    # positive for a, as in SVC, and therefore minus the machine's latent mean. The fitted estimator
    # counts, since multi_class may have been changed after fitting.
    is_paired = isinstance(base, OneVsOneClassifier)
    coefficients = [
        _coefficients(model, machine, -1.0 if is_paired else 1.0) for machine in machines
    ]
    readings = [
        covariance_expansion(model, machine.kernel_, machine.X_train_, weights, 0.0)
        for machine, weights in zip(machines, coefficients, strict=True)
    ]
    for machine, (_, rounding) in zip(machines, readings, strict=True):
        _check_factor(model, machine, rounding)
    expansions = [expansion for expansion, _ in readings]

    def latent_means(X: Float) -> Float:
        # As in latent_mean_and_variance, which is newer and supports two classes only. The model's
        # own predict confirms the signs and the order.
        kernels = [machine.kernel_(X, machine.X_train_) for machine in machines]
        terms = list(zip(kernels, coefficients, strict=True))
        outputs = np.column_stack([kernel @ weights for kernel, weights in terms])
        sizes = [np.abs(kernel) @ np.abs(weights) for kernel, weights in terms]
        signs = np.where(np.abs(outputs) > _CLEAR * np.column_stack(sizes), np.sign(outputs), 0.0)
        _check_classes(model, X, _preferences(signs, len(model.classes_), is_paired))
        return outputs[:, 0] if is_single else outputs

    labels = tuple(map(str, model.classes_))
    function = expansions[0] if is_single else Stack(expansions)
    mean = AdaptedModel(
        function,
        title="latent mean",
        predict=latent_means,
        feature_names=feature_names(model),
        output_names=pair_names(labels) if is_single or is_paired else labels,
        kernel_rounding=max(rounding for _, rounding in readings),
        not_explained="only the latent mean, on the scale of log-odds, is a sum to which Shapley "
        "values can add up; class labels follow from its sign",
    )
    return add_variance(mean, partial(variance_of_classifier, model, machines))


def _coefficients(model: GaussianProcessClassifier, machine: Any, sign: float) -> Float:
    if machine.y_train_.shape != machine.pi_.shape:
        raise _attribute_error(model)
    coefficients: Float = sign * (machine.y_train_ - machine.pi_)
    return coefficients


def _check_factor(model: GaussianProcessClassifier, machine: Any, rounding: float) -> None:
    """Check at some training rows that L_ L_ᵀ = I + √W K √W (algorithm 3.1), W = π (1 − π).

    This holds at every step of Newton's method, whereas π = logistic(K (y − π)) holds at the mode
    only, which the last step may not reach.
    """
    points, factor, roots, pi = machine.X_train_, machine.L_, machine.W_sr_, machine.pi_
    if {np.shape(points)[:1], factor.shape[:1], roots.shape} != {pi.shape}:
        raise _attribute_error(model)
    indices = even_indices(len(points))
    diagonal = np.arange(len(indices)), indices
    kernel = machine.kernel_(points[indices], points)
    # The kernel between a new row and an equal training row has no noise.
    kernel[diagonal] = machine.kernel_.diag(points[indices])
    product = roots[indices, None] * kernel * roots
    product[diagonal] += 1.0
    lengths = np.sqrt(np.einsum("ij,ij->i", factor, factor))
    tolerance = (_RELATIVE_TOLERANCE + min(rounding, 1e-4)) * lengths[indices, None] * lengths
    is_factor = np.all(np.abs(factor[indices] @ factor.T - product) <= tolerance)
    if not (is_factor and np.all(np.abs(roots**2 - pi * (1.0 - pi)) <= _RELATIVE_TOLERANCE)):
        raise _attribute_error(model)


def _attribute_error(model: GaussianProcessClassifier) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(model).__name__}.base_estimator_ has inconsistent attributes: kernel_, X_train_, "
        "y_train_, pi_, W_sr_ or L_ was changed after fitting. Fit the model again"
    )


def _preferences(signs: Float, n_classes: int, is_paired: bool) -> tuple[Float, Float]:
    """Return lower and upper bounds of the scores of classes, by the signs of latent means.

    Returns
    -------
    lower, upper : ndarray of shape (n, classes)
        Votes of pairs, or for each class the sign of its latent mean. The bounds differ where a
        sign is unclear, which is then 0 in `signs`.
    """
    if not is_paired:
        class_signs = signs if signs.shape[1] > 1 else np.column_stack([-signs, signs])
        is_unclear = class_signs == 0.0
        return np.where(is_unclear, -1.0, class_signs), np.where(is_unclear, 1.0, class_signs)
    lower, upper = np.zeros((2, len(signs), n_classes))
    for sign, pair in zip(signs.T, itertools.combinations(range(n_classes), 2), strict=True):
        for label, label_sign in zip(pair, (sign, -sign), strict=True):
            lower[:, label] += label_sign > 0.0
            upper[:, label] += label_sign >= 0.0
    return lower, upper


def _check_classes(
    model: GaussianProcessClassifier, X: Float, preferences: tuple[Float, Float]
) -> None:
    """Raise an error if `predict` returns a class with a lower score than another class."""
    lower, upper = preferences
    predictions = without_names(model).predict(X)
    is_predicted = predictions[:, None] == model.classes_
    if np.any(np.where(is_predicted, upper, -np.inf).max(axis=1) < lower.max(axis=1)):
        raise ValueError("predict returns another class than the latent means say")


def adapt_variant(model: Any, covariance: Any, points: Any) -> AdaptedModel:
    """Read a regressor of another library that predicts as scikit-learn's does.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Its class derives from the class of scikit-learn.
    covariance : sklearn.gaussian_process.kernels.Kernel or None
        Its kernel, in classes that `CovarianceReader` reads. Unused if the model is not fitted.
    points : array-like of shape (n, d)
        The training rows, as this kernel takes them.
    """
    regressor = GaussianProcessRegressor()
    vars(regressor).update(vars(model))
    if hasattr(model, "kernel_"):
        regressor.kernel_, regressor.X_train_ = covariance, points
    return replace(adapt_regressor(regressor), predict=without_names(model).predict)
