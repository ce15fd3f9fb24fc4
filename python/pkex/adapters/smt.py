"""The adapter for the kriging models of SMT, the surrogate modeling toolbox.

In scaled columns z = (x − X_offset) / X_scale they predict (Sacks et al. 1989, equation 7)

  y_mean + y_std · (β₀ + Σ_j β_j z_j + Σ_{j≤k} β_jk z_j z_k + Σ_i γ_i ∏_j k_j(z_j − z_ij)),

with correlations k_j(r) = exp(−θ_j |r|^p) of power p = 1 or 2, Matérn's, or exp(−θ_j sin²(ω_j r)),
or sums of such products. The adapter writes them in the columns x. KPLS has the exponents
Σ_h θ_h |w_jh r|^p with weights w of partial least squares, which also act on single columns
(Bouhlel et al. 2016, equation 11). Nugget and noise enter γ only.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import NotFittedError
from smt.surrogate_models import GEKPLS, KPLS, KPLSK, KRG
from smt.surrogate_models.krg_based import KrgBased

from pkex.adapters.adapted_model import AdaptedModel
from pkex.adapters.kernels import KernelReader, LibraryKernel, check_kernel, scaling_rounding
from pkex.adapters.registry import register, unsupported_model
from pkex.adapters.variances import (
    add_variance,
    describe_variance,
    rounding_of_factor,
    unsupported_noise,
)
from pkex.functions.base import Function
from pkex.functions.composite import Combination
from pkex.functions.gaussian_process.kriging import KrigingVariance
from pkex.functions.kernel_sum import KernelSum
from pkex.functions.linear import LinearFunction
from pkex.functions.polynomials import quadratic_form
from pkex.kernels import RBF, Kernel, Laplacian, Periodic, ProductMatern
from pkex.kernels.algebra import ONE, KernelPolynomial
from pkex.typing import Float

# Classes that predict as above, and whether their θ belong to components.
_HAS_COMPONENTS: dict[type, bool] = {KRG: False, KPLS: True, KPLSK: False, GEKPLS: True}


@register(KrgBased)
def adapt_kriging(model: Any) -> AdaptedModel:
    """Read the mean of a kriging model, in units of y."""
    name = type(model).__name__
    _check_supported(model, name)
    kernel = _kernel(model, name)
    points = np.asarray(model.X_norma) * model.X_scale + model.X_offset
    # A single target, whose numbers may be vectors, has no output axis here.
    shape = () if model.ny == 1 else (model.ny,)
    coefficients = np.reshape(model.optimal_par["gamma"] * model.y_std, (len(points), *shape))
    regression = np.reshape(model.optimal_par["beta"] * model.y_std, (-1, *shape))
    intercept = regression[0] + np.reshape(model.y_mean, shape)
    expansion = KernelSum(points, coefficients, kernel, intercept)
    rounding = scaling_rounding(kernel, points)
    check_kernel(kernel, _library_kernel(model), points, rounding, name)
    function: Function = expansion
    if len(regression) > 1:
        function = Combination([expansion, *_trend(model, regression[1:], points)])
    mean = AdaptedModel(
        function,
        method="predict_values",
        predict=_predictor(model, function.has_output_axis),
        kernel_rounding=rounding,
    )
    return add_variance(mean, partial(_variance, model, kernel))


def _variance(model: Any, kernel: Kernel, mean: AdaptedModel, predictive: bool) -> AdaptedModel:
    """Describe predict_variances of a model with a constant regression."""
    name = type(model).__name__
    if predictive:
        raise unsupported_noise(name, "predict_variances has no noise")
    if model.options["poly"] != "constant":
        raise unsupported_model(
            f"the variance of {name} with poly={model.options['poly']!r}",
            ", nor is uncertainty of its values. Use poly='constant'",
        )
    points = np.asarray(mean.function.stored_points())
    factor = np.asarray(model.optimal_par["C"])
    # A single target has no output axis.
    shape = () if model.ny == 1 else (model.ny,)
    scales = np.reshape(model.optimal_par["sigma2"], shape)
    function = KrigingVariance.of(points, factor, kernel, scales)
    model_copy = _quiet_copy(model)

    def variance(rows: Float) -> Float:
        values: Float = model_copy.predict_variances(rows)
        return values if function.has_output_axis else values[:, 0]

    rounding = rounding_of_factor(factor, 1.0) * scales
    return describe_variance(mean, function, variance, rounding)


def _check_supported(model: Any, name: str) -> None:
    """Raise an error if a model is not trained, or predicts by another formula than here."""
    if type(model) not in _HAS_COMPONENTS:
        names = ", ".join(kind.__name__ for kind in _HAS_COMPONENTS)
        raise unsupported_model(name, f": the supported kriging models of SMT are {names}")
    if "gamma" not in getattr(model, "optimal_par", {}):
        raise NotFittedError(f"{name} is not trained: call set_training_values and train first")
    if not model.is_continuous:
        raise unsupported_model(
            f"{name} with integer, ordinal or categorical variables in its design_space"
        )


def _trend(model: Any, regression: Float, points: Float) -> Iterator[Function]:
    """Yield the linear and the quadratic part of the regression, without its constant.

    Coefficients of z_j come first, then coefficients of z_j z_k with j ≤ k, row by row.
    """
    center, scale = model.X_offset, model.X_scale
    n_columns = len(scale)
    slopes = (regression[:n_columns].T / scale).T
    yield LinearFunction(slopes, center=center, points=points)
    if len(regression) > n_columns:
        quadratic = np.zeros((n_columns, n_columns, *regression.shape[1:]))
        quadratic[np.triu_indices(n_columns)] = regression[n_columns:]
        yield quadratic_form(quadratic, center=center, scale=scale, points=points)


def _quiet_copy(model: Any) -> Any:
    """Return a copy that prints nothing, and does not change the model's timer."""
    model_copy = copy.copy(model)
    model_copy.options = model.options.clone()
    model_copy.options["print_global"] = False
    model_copy.printer = type(model.printer)()
    return model_copy


def _predictor(model: Any, has_output_axis: bool) -> Callable[[Float], Float]:
    model_copy = _quiet_copy(model)

    def predict(rows: Float) -> Float:
        values: Float = model_copy.predict_values(rows)
        return values if has_output_axis else values[:, 0]

    return predict


# --- correlations ---

# From the columns' scales and θ, for a periodic one also ω.
_RateKernel: TypeAlias = Callable[..., Kernel]


def _periodic(scale: Float, theta: Float, omega: Float) -> Kernel:
    # θ sin²(ω r) = 2 sin²(π r/p) / ℓ²
    return Periodic(np.sqrt(2.0 / theta), scale * math.pi / omega)


# By the values of the option corr.
_BY_NAME: dict[str, _RateKernel] = {
    # θ r² = (r/ℓ)² / 2
    "squar_exp": lambda scale, theta: RBF(scale * math.sqrt(0.5) / np.sqrt(theta)),
    "abs_exp": lambda scale, theta: Laplacian(scale / theta),
    "matern32": lambda scale, theta: ProductMatern(scale / theta, nu=1.5),
    "matern52": lambda scale, theta: ProductMatern(scale / theta, nu=2.5),
    "squar_sin_exp": _periodic,
}


@dataclass(frozen=True, eq=False)
class _Reader(KernelReader):
    """Reads correlations that are objects, in the units of the columns.

    Parameters
    ----------
    scales : ndarray of shape (n_features,)
        The model divides the columns by these.
    """

    scales: Float

    def kernel_of_rates(self, family: _RateKernel, rates: Any) -> KernelPolynomial:
        """Return a product over the columns, given θ, or θ and then ω."""
        parts = np.reshape(np.asarray(rates, dtype=np.float64), (-1, self.n_features))
        # A column of rate 0, such as a constant one, does not enter the kernel.
        columns = np.flatnonzero(parts.all(axis=0))
        if not columns.size:
            return ONE
        return KernelPolynomial.of(
            family(self.scales[columns], *parts[:, columns]), columns.tolist()
        )


def _family(name: str) -> Callable[[_Reader, Any], KernelPolynomial]:
    return lambda reader, kernel: reader.kernel_of_rates(_BY_NAME[name], kernel.theta)


try:
    import smt.kernels
    from smt.kernels.kernels import _Constant
except ImportError:  # older versions
    pass
else:
    _Reader.readers = {
        # All of these take distances to the power 1.
        smt.kernels.PowExp: _family("abs_exp"),
        smt.kernels.Matern32: _family("matern32"),
        smt.kernels.Matern52: _family("matern52"),
        smt.kernels.SquarSinExp: _family("squar_sin_exp"),
        smt.kernels.Constant: lambda reader, kernel: float(np.ravel(kernel.theta)[0]) * ONE,
        _Constant: lambda reader, kernel: float(np.ravel(kernel.param)[0]) * ONE,
        smt.kernels.Sum: lambda reader, kernel: (
            reader.polynomial(kernel.corr1) + reader.polynomial(kernel.corr2)
        ),
        smt.kernels.Product: lambda reader, kernel: (
            reader.polynomial(kernel.corr1) * reader.polynomial(kernel.corr2)
        ),
    }


def _text(corr: Any) -> str:
    return repr(corr) if isinstance(corr, str) else f"{type(corr).__name__}(...)"


def _kernel(model: Any, name: str) -> Kernel:
    """Return the product of the correlations of all columns, in the units of the columns."""
    corr, power = model.options["corr"], model.options["pow_exp_power"]
    scales = np.asarray(model.X_scale)
    reader = _Reader(name, len(scales), scales)
    if not isinstance(corr, str):
        if type(model) is not KRG:
            raise unsupported_model(f"{name} with corr={_text(corr)}", ": pass corr by name")
        # With the fitted parameters, and the constant that the model puts in front.
        kernel = reader.read(model.corr)
        assert kernel is not None, "no kernel of SMT is 0"
        return kernel
    if corr == "pow_exp":
        corr = {1.0: "abs_exp", 2.0: "squar_exp"}.get(power, corr)
    names = {"abs_exp", "squar_exp"} if _HAS_COMPONENTS[type(model)] else _BY_NAME
    if corr not in names:
        text = f"{corr!r} and pow_exp_power={power!r}" if corr == "pow_exp" else repr(corr)
        listing = ", ".join(map(repr, sorted(names)))
        raise unsupported_model(
            f"{name} with corr={text}",
            f": supported are {listing}, and 'pow_exp' with power 1 or 2",
        )
    rates = np.asarray(model.optimal_theta, dtype=np.float64)
    if _HAS_COMPONENTS[type(model)]:
        rates = np.abs(model.coeff_pls) ** (2.0 if corr == "squar_exp" else 1.0) @ rates
    return reader.kernel_of_rates(_BY_NAME[corr], rates).kernel(len(scales))


def _library_kernel(model: Any) -> LibraryKernel:
    """Return the correlation of rows and points, as a model computes it."""

    def sums(rows: Float, points: Float) -> Float:
        """Return sums over the points as a column: predictions with β = 0 and each γ_i = 1."""
        sum_model = _quiet_copy(model)
        sum_model.X_norma = (points - model.X_offset) / model.X_scale
        sum_model.nt, sum_model.ny = len(points), 1
        sum_model.y_mean, sum_model.y_std = 0.0, 1.0
        n_terms = len(model.optimal_par["beta"])
        sum_model.optimal_par = {
            "beta": np.zeros((n_terms, 1)),
            "gamma": np.ones((len(points), 1)),
        }
        return np.asarray(sum_model.predict_values(rows))

    return LibraryKernel(sums, _text(model.options["corr"]))
