"""Adapters of kernel ridge regression and kernel principal components."""

from __future__ import annotations

import math

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process.kernels import Kernel as Covariance
from sklearn.kernel_ridge import KernelRidge

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import EPSILON, square_rounding
from pkex.adapters.registry import unsupported_model
from pkex.adapters.sklearn.covariances import covariance_expansion
from pkex.adapters.sklearn.estimators import (
    dense,
    describe_method,
    register_estimators,
    stored_rows,
)
from pkex.adapters.sklearn.kernel_functions import (
    MACHINE_KERNELS,
    Options,
    default_gamma,
    kernel_by_name,
)
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.sparse_kernel_sum import collapsed, kernel_sum


@register_estimators(KernelRidge)
def adapt_kernel_ridge(model: KernelRidge) -> AdaptedModel:
    """Read f(x) = Σ_i dual_coef_i k(x, x_i), for one or several targets."""
    if isinstance(model.kernel, Covariance):
        if model.kernel_params:
            raise unsupported_model(f"KernelRidge with kernel_params={model.kernel_params!r}")
        expansion, rounding = covariance_expansion(
            model, model.kernel, model.X_fit_, model.dual_coef_, 0.0
        )
        return describe_method(model, expansion, "predict", kernel_rounding=rounding)
    points = stored_rows(model.X_fit_)
    gamma = default_gamma(model.kernel, points.shape[1]) if model.gamma is None else model.gamma
    kernel = kernel_by_name(model, Options(gamma, model.degree, model.coef0))
    rounding = square_rounding(points, gamma) if model.kernel == "rbf" else 0.0
    function = collapsed(kernel_sum(points, model.dual_coef_, kernel, 0.0))
    return describe_method(model, function, "predict", kernel_rounding=rounding)


@register_estimators(KernelPCA)
def adapt_kernel_pca(model: KernelPCA) -> AdaptedModel:
    """Read the components, each Σ_i a_i (k(x, x_i) − r_i − mean_l k(x, x_l) + r̄).

    Here a is an eigenvector over the root of its eigenvalue, r_i is the mean of row i of the kernel
    matrix of the training rows, and r̄ the mean of the whole matrix. So x_i has the coefficient
    a_i − mean_l a_l, and the intercept is −Σ_i a_i (r_i − r̄).
    """
    points = dense(model.X_fit_)
    kernel = kernel_by_name(
        model, Options(model.gamma_, model.degree, model.coef0), MACHINE_KERNELS
    )
    # Divided in the precision of the fitted arrays, as in scikit-learn. Eigenvalues that are 0
    # except for rounding are set to 0 there, and so are their components.
    scales = np.sqrt(model.eigenvalues_)
    weights = dense(
        np.divide(
            model.eigenvectors_, scales, out=np.zeros_like(model.eigenvectors_), where=scales > 0
        )
    )
    row_means, mean = dense(model._centerer.K_fit_rows_), float(model._centerer.K_fit_all_)
    intercept = [-math.fsum((row_means - mean) * column) for column in weights.T]
    return describe_method(
        model,
        KernelSum(points, weights - weights.mean(axis=0), kernel, intercept),
        "transform",
        output_names=tuple(map(str, model.get_feature_names_out())),
        kernel_rounding=square_rounding(points, model.gamma_) if model.kernel == "rbf" else 0.0,
        # scikit-learn subtracts the means from each kernel value.
        absolute_rounding=32.0 * EPSILON * ((row_means + mean) @ np.abs(weights)),
    )
