"""Gaussian processes of other libraries that predict as scikit-learn's do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.gaussian_process import GaussianProcessRegressor

from pkex.adapters.registry import AdaptedModel
from pkex.adapters.sklearn.gaussian_process import adapt_regressor
from pkex.adapters.sklearn.own_output import without_names


def adapt_relative(model: Any, covariance: Any, points: Any) -> AdaptedModel:
    """Read a regressor that has the attributes of scikit-learn's, and another kernel.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Of scikit-learn or of a class derived from it.
    covariance : sklearn.gaussian_process.kernels.Kernel or None
        Its kernel in terms of scikit-learn's; anything if it is not fitted.
    points : array-like of shape (n, d)
        The training rows, as that kernel takes them.
    """
    plain = GaussianProcessRegressor()
    vars(plain).update(vars(model))
    if hasattr(model, "kernel_"):
        plain.kernel_, plain.X_train_ = covariance, points
    return replace(adapt_regressor(plain), predict=without_names(model).predict)
