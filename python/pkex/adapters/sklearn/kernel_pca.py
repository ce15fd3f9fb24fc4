"""The adapter for scikit-learn's kernel principal component analysis."""

from __future__ import annotations

import math

import numpy as np
from sklearn.decomposition import KernelPCA

from pkex.adapters.attributes import expansion_of
from pkex.adapters.registry import AdaptedModel, register
from pkex.adapters.rounding import square_rounding
from pkex.adapters.sklearn.description import dense
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.kernel_functions import FEW, Options, named_kernel
from pkex.adapters.sklearn.own_output import by_method


@register(KernelPCA)
def adapt_kernel_pca(model: KernelPCA) -> AdaptedModel:
    """Read the components, each Σ_i a_i (k(x, x_i) − r_i − mean_l k(x, x_l) + r̄).

    Here a is an eigenvector over the root of its eigenvalue, r_i the mean of row i of the training
    rows' kernel matrix, and r̄ that of all of it. So x_i has the coefficient a_i − mean_l a_l, and
    the intercept is −Σ_i a_i (r_i − r̄).
    """
    check_fitted(model)
    points = dense(model.X_fit_)
    kernel = named_kernel(model, Options(model.gamma_, model.degree, model.coef0), FEW)
    # Divided in the precision of the fitted arrays, as scikit-learn does. It sets eigenvalues that
    # are 0 but for rounding to 0; their components are 0.
    scales = np.sqrt(model.eigenvalues_)
    weights = dense(
        np.divide(
            model.eigenvectors_, scales, out=np.zeros_like(model.eigenvectors_), where=scales > 0
        )
    )
    row_means, mean = dense(model._centerer.K_fit_rows_), float(model._centerer.K_fit_all_)
    intercept = [-math.fsum((row_means - mean) * column) for column in weights.T]
    return by_method(
        model,
        expansion_of(model, points, weights - weights.mean(axis=0), kernel, intercept),
        "transform",
        output_names=tuple(map(str, model.get_feature_names_out())),
        kernel_rounding=square_rounding(points, model.gamma_) if model.kernel == "rbf" else 0.0,
        # scikit-learn takes the means off each kernel value.
        absolute_rounding=32.0 * np.finfo(np.float64).eps * ((row_means + mean) @ np.abs(weights)),
    )
