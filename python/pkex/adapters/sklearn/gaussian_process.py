"""Adapters for scikit-learn's Gaussian processes.

Regression (Rasmussen & Williams 2006, algorithm 2.1): the mean is K(x, X) α in units of the
normalised targets. Classification (algorithm 3.2, line 4): the mean of the latent function, whose
logistic is the probability of the second class, is K(x, X) (y − π) with the targets y in {0, 1} and
the probabilities π at the Laplace mode. scikit-learn keeps y and π, though no α.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.utils.validation import check_is_fitted

from pkex.adapters.registry import AdaptedModel, register
from pkex.adapters.sklearn.common import check_fitted, feature_names, pair_names, without_names
from pkex.adapters.sklearn.gp_kernels import covariance_expansion
from pkex.errors import UnsupportedModelError
from pkex.functions import Stack

_Float = NDArray[np.float64]

# A solution of many equations has the rounding errors of all of them.
_RELATIVE_TOLERANCE = 1e-8
_CHECKED_POINTS = 50


@register(GaussianProcessRegressor)
def adapt_regressor(model: GaussianProcessRegressor) -> AdaptedModel:
    """Read the mean, y_std · Σ_i alpha_i k(x, x_i) + y_mean, for one or several targets."""
    # Unfitted, it predicts the mean 0 of its prior.
    check_is_fitted(model, ["X_train_", "y_train_", "L_", "alpha_"])
    check_fitted(model)
    alpha = np.asarray(model.alpha_, dtype=np.float64)
    # A single target has no output axis, whatever the shape of y.
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
    return AdaptedModel(
        expansion,
        explained="predict",
        predict=without_names(model).predict,
        feature_names=feature_names(model),
        kernel_rounding=rounding,
    )


def _check_solution(model: GaussianProcessRegressor, rounding: float) -> None:
    """Check at some training rows that alpha_ solves (K + noise) alpha_ = y_train_.

    Their noise is what the diagonal of the factored matrix, L_ L_ᵀ, has more than the kernel has
    between a new row and an equal training row.
    """
    points, factor = model.X_train_, model.L_
    chosen = np.unique(np.linspace(0, len(points) - 1, _CHECKED_POINTS).astype(np.intp))
    alpha, targets = (np.reshape(a, (len(a), -1)) for a in (model.alpha_, model.y_train_))
    if {alpha.shape, (*factor.shape[:1], alpha.shape[1])} != {targets.shape}:
        raise _not_solved(model)
    kernel = model.kernel_(points[chosen], points)
    squares = np.einsum("ij,ij->i", factor[chosen], factor[chosen])
    kernel[np.arange(len(chosen)), chosen] = squares
    residuals = np.abs(kernel @ alpha - targets[chosen])
    scale = np.abs(kernel) @ np.abs(alpha)
    # Not "greater": NaN must fail too.
    if not np.all(residuals <= (_RELATIVE_TOLERANCE + min(rounding, 1e-4)) * scale):
        raise _not_solved(model)


def _not_solved(model: GaussianProcessRegressor) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(model).__name__}.alpha_ does not solve the equations of its kernel_, X_train_, "
        "y_train_ and L_: one of them was changed after fitting; fit the model again"
    )


@register(GaussianProcessClassifier)
def adapt_classifier(model: GaussianProcessClassifier) -> AdaptedModel:
    """Read the latent mean of two classes, or those of each class or pair of several."""
    check_is_fitted(model, "base_estimator_")
    check_fitted(model)
    is_single = model.n_classes_ == 2
    machines = [model.base_estimator_] if is_single else model.base_estimator_.estimators_
    # The machine of a pair of classes has the second as its y = 1. Outputs named "a vs b" are
    # positive for a, as everywhere here and in SVC: minus the machine's latent mean.
    is_paired = not is_single and model.multi_class == "one_vs_one"
    coefficients = [_coefficients(machine, -1.0 if is_paired else 1.0) for machine in machines]
    read = [
        covariance_expansion(model, machine.kernel_, machine.X_train_, own, 0.0)
        for machine, own in zip(machines, coefficients, strict=True)
    ]
    expansions = [expansion for expansion, _ in read]

    def latent_mean(X: _Float) -> _Float:
        # As latent_mean_and_variance, which is for two classes only, newer, and solves n × n
        # equations for the variance, as predict_proba does, and predict of several classes. So
        # this covers how kernels and coefficients are read, and, of two classes, the model's sign.
        kernels = [machine.kernel_(X, machine.X_train_) for machine in machines]
        outputs = [k @ own for k, own in zip(kernels, coefficients, strict=True)]
        if not is_single:
            return np.column_stack(outputs)
        is_clear = np.abs(outputs[0]) > 1e-12 * (np.abs(kernels[0]) @ np.abs(coefficients[0]))
        is_second = without_names(model).predict(X) == model.classes_[1]
        if np.any(is_clear & (is_second != (outputs[0] > 0.0))):
            raise ValueError("predict returns the class that the latent mean is against")
        return np.asarray(outputs[0])

    labels = tuple(map(str, model.classes_))
    return AdaptedModel(
        expansions[0] if is_single else Stack(expansions),
        explained="latent mean",
        predict=latent_mean,
        feature_names=feature_names(model),
        output_names=pair_names(labels) if is_single or is_paired else labels,
        kernel_rounding=max(rounding for _, rounding in read),
        not_explained="only the latent mean, on the scale of log-odds, is a sum over the training "
        "rows, to which values of features can add up; probabilities average the logistic function "
        "over its distribution, and class labels follow from its sign",
    )


def _coefficients(machine: Any, sign: float) -> _Float:
    coefficients: _Float = sign * (machine.y_train_ - machine.pi_)
    return coefficients
