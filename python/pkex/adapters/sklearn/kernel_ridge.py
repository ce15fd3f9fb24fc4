"""The adapter for scikit-learn's kernel ridge regression."""

from __future__ import annotations

from sklearn.gaussian_process.kernels import Kernel as Covariance
from sklearn.kernel_ridge import KernelRidge

from pkex.adapters.attributes import expansion_of
from pkex.adapters.registry import AdaptedModel, register, unsupported
from pkex.adapters.rounding import square_rounding
from pkex.adapters.sklearn.description import dense
from pkex.adapters.sklearn.fitted import check_fitted
from pkex.adapters.sklearn.gp_kernels import covariance_expansion
from pkex.adapters.sklearn.kernel_functions import Options, default_gamma, named_kernel
from pkex.adapters.sklearn.own_output import by_method


@register(KernelRidge)
def adapt_kernel_ridge(model: KernelRidge) -> AdaptedModel:
    """Read f(x) = Σ_i dual_coef_i k(x, x_i), for one or several targets."""
    check_fitted(model)
    if isinstance(model.kernel, Covariance):
        return _adapt_covariance(model)
    points = dense(model.X_fit_)
    gamma = default_gamma(model.kernel, points.shape[1]) if model.gamma is None else model.gamma
    kernel = named_kernel(model, Options(gamma, model.degree, model.coef0))
    expansion = expansion_of(model, points, model.dual_coef_, kernel, 0.0)
    rounding = square_rounding(points, gamma) if model.kernel == "rbf" else 0.0
    return by_method(model, expansion, "predict", kernel_rounding=rounding)


def _adapt_covariance(model: KernelRidge) -> AdaptedModel:
    """Read a kernel ridge regression whose kernel is one of those of Gaussian processes."""
    if model.kernel_params:
        raise unsupported(f"KernelRidge with kernel_params={model.kernel_params!r}")
    expansion, rounding = covariance_expansion(
        model, model.kernel, model.X_fit_, model.dual_coef_, 0.0
    )
    return by_method(model, expansion, "predict", kernel_rounding=rounding)
