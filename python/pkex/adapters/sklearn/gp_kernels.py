"""The kernels of scikit-learn's Gaussian processes, as sums of products over the features.

Of a tree of ConstantKernel, RBF, Matern, RationalQuadratic, DotProduct, PairwiseKernel,
WhiteKernel, Sum, Product and Exponentiation, and of one feature ExpSineSquared, what counts between
a new row and the training points is a polynomial in kernels that pkex has: WhiteKernel is 0 there,
also within products and powers, for a new row is no training point even if it equals one. The
polynomial is multiplied out with equal products merged, and each product of kernels of one family
is a kernel of that family again: of Gaussians with 1/ℓ² = Σ 1/ℓ_a², of Laplace kernels with
1/ℓ = Σ 1/ℓ_a, of χ² kernels with γ = Σ γ_a. A power t of a periodic kernel has ℓ/√t, of a rational
quadratic one ℓ/√t and αt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sklearn_kernels

from pkex.adapters.registry import unsupported
from pkex.adapters.sklearn.description import expansion_of
from pkex.adapters.sklearn.kernel_functions import APPROXIMATE, square_rounding
from pkex.errors import UnsupportedModelError
from pkex.functions.expansion import KernelExpansion
from pkex.kernels import (
    RBF,
    Chi2,
    Constant,
    Kernel,
    Laplacian,
    Matern,
    Periodic,
    Polynomial,
    ProductMatern,
    RationalQuadratic,
)
from pkex.kernels.family import Factor
from pkex.kernels.mixtures import MaternMixture
from pkex.kernels.series import MOST_ORDERS
from pkex.typing import Float

# A family of kernels, and one of them: for each feature its length-scale, of a χ² kernel γ; of a
# periodic one the length-scale and the period of the only feature; of Matérn's and the rational
# quadratic one ν or α, and then the length-scales.
_Factor = tuple[str, tuple[float, ...]]
# A product of these: how often each occurs; empty for a constant.
_Product = frozenset[tuple[_Factor, float]]
# A sum of products with their coefficients.
_Polynomial = dict[_Product, float]

_ONE: _Product = frozenset()
# Each product costs as much as a model with a single RBF does.
_MOST_PRODUCTS = 1000
# Between sums of kernel values, all of one sign.
_RELATIVE_TOLERANCE = 1e-10
_LARGEST_ROUNDING = 1e-4
_MIXTURE_TOLERANCE = 2e-12
_CHECKED_POINTS = 50

_KNOWN = (
    "ConstantKernel, RBF, Matern, RationalQuadratic, DotProduct, PairwiseKernel with metric 'rbf', "
    "'laplacian', 'chi2', 'linear' or 'poly', WhiteKernel, of one column also ExpSineSquared, "
    "their sums, products and powers"
)


def covariance_expansion(
    model: Any, covariance: Any, rows: Any, coefficients: Float, intercept: Any
) -> tuple[KernelExpansion, float]:
    """Return intercept + Σ_i coefficients_i · covariance(x, rows_i) for new rows x.

    Parameters
    ----------
    model : estimator
        To which all of this belongs, for messages.
    covariance : sklearn.gaussian_process.kernels.Kernel
        With fitted hyperparameters.
    rows : array-like of shape (n, d)
        The training rows.
    coefficients : ndarray of shape (n,) or (n, outputs)
    intercept : float or ndarray of shape (outputs,)

    Returns
    -------
    expansion : KernelExpansion
    rounding : float
        The relative rounding error of scikit-learn's own kernel values.

    Raises
    ------
    UnsupportedModelError
        If a part of the kernel is unknown, or its values are not those that its parts say, or the
        rows are not of numbers.
    """
    name = type(model).__name__
    try:
        points = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2:
        # Kernels that take no part of a row, such as ConstantKernel, take rows of anything.
        raise UnsupportedModelError(
            f"{name} is supported for training rows of numbers, and this one was fitted on "
            "something else"
        )
    kernel = kernel_to_training_points(covariance, points.shape[1], name)
    if kernel is None:
        # No training row matters, and no feature of a new one.
        return expansion_of(model, points[:0], coefficients[:0], Constant(), intercept), 0.0
    expansion = expansion_of(model, points, coefficients, kernel, intercept)
    # NumPy before version 2 divides float32 by a float64 number in float32.
    given = np.asarray(rows)
    quotient = np.result_type(given, np.float64(1.0)) if given.dtype.kind == "f" else np.float64
    rounding = scaling_rounding(kernel, points, float(np.finfo(quotient).eps))
    rounding += square_rounding(points, _gamma_of_squares(covariance))
    rounding += _gap_of_equal_rows(covariance)
    check_kernel(kernel, covariance, points, rounding, name)
    return expansion, rounding


def kernel_to_training_points(kernel: Any, n_features: int, model_name: str) -> Kernel | None:
    """Return a Gaussian process' kernel between new rows and training points.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        With fitted hyperparameters.
    n_features : int
    model_name : str
        What messages call its owner.

    Returns
    -------
    pkex.kernels.Kernel or None
        None if it is zero there, as a WhiteKernel alone.

    Raises
    ------
    UnsupportedModelError
        Naming the part of the kernel that is none of those known, or whose parameters are none
        that it may have.
    """
    polynomial = _Reader(n_features, model_name).read(kernel)
    products: dict[tuple[_Factor, ...], float] = {}
    for product, coefficient in polynomial.items():
        factors = (*_merged_factors(product), *_separate_factors(product))
        products[factors] = products.get(factors, 0.0) + coefficient
    try:
        summands = [value * _kernel(factors) for factors, value in products.items()]
    except ValueError as error:
        raise unsupported(f"{model_name} with the kernel {_shown(kernel)}", f" ({error})") from None
    return reduce(lambda left, right: left + right, summands) if summands else None


def scaling_rounding(kernel: Kernel, points: Float, resolution: float) -> float:
    """Bound the relative error of scikit-learn's RBF, which divides rows by ℓ before subtracting.

    Far from the origin, as measured by ℓ, the difference of the quotients has few digits left; and
    so have distances of many periods.
    """
    farthest = np.abs(points).max(axis=0, initial=0.0)
    with np.errstate(over="ignore"):
        distances = [
            float(np.max(farthest[factor.columns] / _resolved_scales(factor)))
            for term in kernel.terms(points.shape[1])
            for factor in term.factors
            if factor.family in _DIVIDED
        ]
    # A new row may be as far, in each of the features.
    farthest_row = math.sqrt(points.shape[1]) * max(distances, default=0.0)
    return 32.0 * resolution * farthest_row


def _resolved_scales(factor: Factor) -> Float:
    """Return the distances within which factors change, over which scikit-learn divides rows."""
    scales: Float = factor.parameters[:, 0]
    if factor.family == "periodic":
        # The exponent 2 sin²(πr/p)/ℓ² changes by 2π/(p ℓ²) at most.
        scales = factor.parameters[:, 1] * np.minimum(scales, 1.0) ** 2 / (2.0 * math.pi)
    return scales


def check_kernel(kernel: Kernel, own: Any, points: Float, rounding: float, model_name: str) -> None:
    """Compare the kernel with the model's own, summed over some training points at a few rows.

    The coefficients of a Gaussian process with little noise are huge and cancel: its output has
    lost the digits in which a misread kernel would show. Sums of the kernel itself do not cancel.

    Raises
    ------
    UnsupportedModelError
        If they differ by more than rounding errors.
    """
    points = points[np.unique(np.linspace(0, len(points) - 1, _CHECKED_POINTS).astype(np.intp))]
    expansion = KernelExpansion(points, np.ones(len(points)), kernel)
    rows = expansion.probing_rows()
    sums = expansion.evaluate(rows, n_threads=1)
    own_sums = np.sum(own(rows, points), axis=1)
    magnitude = expansion.magnitude(rows, n_threads=1)
    has_signs = any(term.series is not None for term in kernel.terms(points.shape[1]))
    relative = _RELATIVE_TOLERANCE + min(rounding, _LARGEST_ROUNDING)
    tolerance = relative * (magnitude if has_signs else sums)
    # Far from all points a mixture is as exact as near them, which is not so beside its value.
    tolerance += _MIXTURE_TOLERANCE * magnitude
    # Not "greater": NaN must fail too.
    if not np.all(np.abs(sums - own_sums) <= tolerance):
        raise UnsupportedModelError(
            f"{model_name} with the kernel {_shown(own)} is not supported: the kernel has other "
            "values than its parts and parameters say"
        )


class _Reader:
    """Turns the tree into a polynomial; what it does not know, it refuses by name."""

    def __init__(self, n_features: int, model_name: str) -> None:
        self._n_features = n_features
        self._model_name = model_name

    def read(self, kernel: Any) -> _Polynomial:
        # By exact type: subclasses, such as Matern of RBF, are other functions.
        kind = type(kernel)
        if kind is sklearn_kernels.WhiteKernel:
            return {}
        if kind is sklearn_kernels.ConstantKernel:
            return self._constant(kernel)
        is_matern = kind is sklearn_kernels.Matern
        if kind is sklearn_kernels.RBF or (is_matern and kernel.nu == math.inf):
            return {frozenset([(("rbf", self._length_scales(kernel)), 1.0)]): 1.0}
        if is_matern:
            return self._matern(kernel)
        if kind is sklearn_kernels.RationalQuadratic:
            scales = (float(kernel.alpha), *self._length_scales(kernel))
            return {frozenset([(("rational quadratic", scales), 1.0)]): 1.0}
        if kind is sklearn_kernels.ExpSineSquared and self._n_features == 1:
            return self._periodic(kernel)
        if kind is sklearn_kernels.DotProduct:
            return _of_dot_product(float(kernel.sigma_0) ** 2, 1.0, 1)
        if kind is sklearn_kernels.PairwiseKernel:
            return self._pairwise(kernel)
        if kind is sklearn_kernels.Sum:
            return _added(self.read(kernel.k1), self.read(kernel.k2))
        if kind is sklearn_kernels.Product:
            return self._multiplied(self.read(kernel.k1), self.read(kernel.k2), kernel)
        if kind is sklearn_kernels.Exponentiation:
            return self._power(kernel)
        raise self._refused(kernel, f"; known are {_KNOWN}.{_instead(kernel)}")

    def _refused(self, part: Any, why: str) -> UnsupportedModelError:
        return unsupported(f"{self._model_name} with {_shown(part)} in its kernel", why)

    def _constant(self, kernel: Any) -> _Polynomial:
        value = float(kernel.constant_value)
        if not 0.0 <= value < math.inf:
            raise self._refused(kernel, ": the constant must not be negative")
        return {_ONE: value} if value else {}

    def _pairwise(self, kernel: Any) -> _Polynomial:
        """Read one of `sklearn.metrics.pairwise`."""
        if isinstance(kernel.metric, str) and kernel.metric in _OF_DOT_PRODUCT:
            return self._polynomial(kernel)
        # γ r² = (r/ℓ)²/2, and γ |r| = |r|/ℓ; a χ² kernel keeps its γ.
        scale_of: dict[str, Callable[[float], float]] = {
            "rbf": lambda gamma: math.sqrt(0.5) / math.sqrt(gamma),
            "laplacian": lambda gamma: 1.0 / gamma,
            "chi2": lambda gamma: gamma,
        }
        if not isinstance(kernel.metric, str) or kernel.metric not in scale_of:
            raise self._refused(kernel, f"; known are {_KNOWN}.{_instead(kernel)}")
        gamma = float(kernel.gamma)
        if not 0.0 < gamma < math.inf:
            raise self._refused(kernel, ": gamma must be positive")
        scales = (scale_of[kernel.metric](gamma),) * self._n_features
        return {frozenset([((kernel.metric, scales), 1.0)]): 1.0}

    def _polynomial(self, kernel: Any) -> _Polynomial:
        """Read a linear or polynomial kernel, with options of its own."""
        if kernel.metric == "linear":
            return _of_dot_product(0.0, 1.0, 1)
        given = kernel.pairwise_kernels_kwargs or {}
        degree, coef0 = given.get("degree", 3), float(given.get("coef0", 1.0))
        if not (float(degree).is_integer() and 1 <= degree <= MOST_ORDERS and coef0 >= 0.0):
            raise self._refused(
                kernel,
                f": degree must be an integer from 1 to {MOST_ORDERS}, and coef0 not negative",
            )
        if not 0.0 < kernel.gamma < math.inf:
            raise self._refused(kernel, ": gamma must be positive")
        return _of_dot_product(coef0, float(kernel.gamma), int(degree))

    def _matern(self, kernel: Any) -> _Polynomial:
        """Read a Matern: of one feature a product, of several with nu in front of length-scales."""
        scales = self._length_scales(kernel)
        if kernel.nu in _MATERN and self._n_features == 1:
            return {frozenset([((_MATERN[kernel.nu], scales), 1.0)]): 1.0}
        return {frozenset([(("matern", (float(kernel.nu), *scales)), 1.0)]): 1.0}

    def _periodic(self, kernel: Any) -> _Polynomial:
        scales = (float(kernel.length_scale), float(kernel.periodicity))
        if not all(scale > 0.0 for scale in scales):
            raise self._refused(kernel, ": length_scale and periodicity must be positive")
        return {frozenset([(("periodic", scales), 1.0)]): 1.0}

    def _length_scales(self, kernel: Any) -> tuple[float, ...]:
        # An array of one number is an isotropic kernel.
        scales = np.squeeze(np.asarray(kernel.length_scale, dtype=np.float64))
        if scales.shape not in ((), (self._n_features,)) or not np.all(scales > 0.0):
            raise self._refused(
                kernel,
                ": length_scale must be positive, one number or one for each of the "
                f"{self._n_features} features",
            )
        return tuple(np.broadcast_to(scales, self._n_features).tolist())

    def _multiplied(self, left: _Polynomial, right: _Polynomial, part: Any) -> _Polynomial:
        product: _Polynomial = {}
        for a, a_coefficient in left.items():
            for b, b_coefficient in right.items():
                exponents = dict(a)
                for factor, exponent in b:
                    exponents[factor] = exponents.get(factor, 0.0) + exponent
                key = frozenset(exponents.items())
                product[key] = product.get(key, 0.0) + a_coefficient * b_coefficient
            if len(product) > _MOST_PRODUCTS:
                raise self._refused(
                    part, f": it multiplies out into more than {_MOST_PRODUCTS} products"
                )
        return product

    def _power(self, kernel: Any) -> _Polynomial:
        exponent = float(kernel.exponent)
        base = self.read(kernel.kernel)
        if not 0.0 <= exponent < math.inf:
            raise self._refused(kernel, ": the exponent must not be negative")
        if exponent == 0.0:
            return {_ONE: 1.0}
        is_counted = any(family in _REPEATED for product in base for (family, _), _ in product)
        if is_counted and not (exponent.is_integer() and exponent <= _MOST_PRODUCTS):
            raise self._refused(
                kernel,
                ": the exponent of a Matern or a dot product must be an integer, at most "
                f"{_MOST_PRODUCTS}",
            )
        if len(base) <= 1:
            # A single product may have any power.
            return {
                frozenset((factor, exponent * times) for factor, times in product): float(
                    np.float64(value) ** exponent
                )
                for product, value in base.items()
            }
        if not exponent.is_integer():
            raise self._refused(kernel, ": the exponent of a sum must be an integer")
        result: _Polynomial = {_ONE: 1.0}
        for _ in range(int(exponent)):
            result = self._multiplied(result, base, kernel)
        return result


def _of_dot_product(constant: float, gamma: float, degree: int) -> _Polynomial:
    """Return (constant + γ x·y)^degree by the powers of x·y."""
    factor: _Factor = ("dot product", ())
    powers = {
        frozenset([(factor, float(q))]) if q else _ONE: math.comb(degree, q)
        * constant ** (degree - q)
        * gamma**q
        for q in range(degree + 1)
    }
    return {product: coefficient for product, coefficient in powers.items() if coefficient}


def _shown(kernel: Any) -> str:
    # scikit-learn writes a constant as the square of its root, of a negative one too.
    with np.errstate(invalid="ignore"):
        return repr(kernel)


def _added(left: _Polynomial, right: _Polynomial) -> _Polynomial:
    total = dict(left)
    for product, coefficient in right.items():
        total[product] = total.get(product, 0.0) + coefficient
    return total


def _merged_factors(product: _Product) -> Iterator[_Factor]:
    """Yield the product of each family whose products are of that family again."""
    for family in _MERGED:
        if scales := _merged(product, family):
            yield family, scales


def _separate_factors(product: _Product) -> Iterator[_Factor]:
    """Yield the other factors, in an order that does not depend on hashes."""
    for (family, scales), times in sorted(product):
        if family == "periodic":
            length_scale, period = scales
            yield family, (length_scale / math.sqrt(times), period)
        elif family == "dot product":
            yield family, (times,)
        elif family == "rational quadratic":
            # (1 + r²/(2αℓ²))^(−αt), with αt in place of α and ℓ/√t in place of ℓ.
            alpha, *own = scales
            yield family, (alpha * times, *(scale / math.sqrt(times) for scale in own))
        elif family in _REPEATED:
            yield from [(family, scales)] * int(times)


def _merged(product: _Product, family: str) -> tuple[float, ...]:
    """Return the parameters of the product of a family's factors, () if there are none."""
    # In an order that does not depend on hashes, so that equal kernels have equal bits.
    factors = sorted((scales, times) for (own, scales), times in product if own == family)
    if not factors:
        return ()
    if len(factors) == 1 and factors[0][1] == 1.0:
        return factors[0][0]
    scales = np.array([scales for scales, _ in factors])
    exponents = np.array([exponent for _, exponent in factors])
    if family == "chi2":
        return tuple((exponents @ scales).tolist())
    power = 2.0 if family == "rbf" else 1.0
    # Relative to the smallest, so that no square overflows.
    smallest = scales.min(axis=0)
    merged: Float = smallest / (exponents @ (smallest / scales) ** power) ** (1.0 / power)
    return tuple(merged.tolist())


# Families whose products are of that family again, and products of single features.
_MERGED: dict[str, Callable[[Any], Kernel]] = {"rbf": RBF, "laplacian": Laplacian, "chi2": Chi2}
_SEPARATE = {"matern32": 1.5, "matern52": 2.5}
# What occurs so often in a power.
_REPEATED = {"matern", "dot product", *_SEPARATE}
# Metrics of a PairwiseKernel that are polynomials in x·y.
_OF_DOT_PRODUCT = ("linear", "poly", "polynomial")
# By the names of those of a distance in several features, whose scales follow a shape.
_MIXTURES: dict[str, Callable[[Any, float], Kernel]] = {
    "matern": Matern,
    "rational quadratic": RationalQuadratic,
}
# By the nu of a Matern of one feature.
_MATERN = {0.5: "laplacian", 1.5: "matern32", 2.5: "matern52"}
# Of these scikit-learn may divide rows before it subtracts them, or distances by a period.
_DIVIDED = {"rbf", "laplacian", "periodic", *_SEPARATE}


def _kernel(factors: tuple[_Factor, ...]) -> Kernel:
    if not factors:
        return Constant()
    return reduce(lambda left, right: left * right, [_factor(*factor) for factor in factors])


def _factor(family: str, scales: tuple[float, ...]) -> Kernel:
    if family == "periodic":
        return Periodic(*scales)
    if family == "dot product":
        return Polynomial(int(scales[0]), coef0=0.0)
    if family in _MIXTURES:
        shape, *own = scales
        return _MIXTURES[family](own[0] if len(set(own)) == 1 else own, shape)
    scale = scales[0] if len(set(scales)) == 1 else scales
    return (
        ProductMatern(scale, _SEPARATE[family]) if family in _SEPARATE else _MERGED[family](scale)
    )


def _gamma_of_squares(kernel: Any) -> float:
    """Return the sum of γ over the Gaussians that scikit-learn forms from squares of rows."""
    is_gaussian = type(kernel) is sklearn_kernels.PairwiseKernel and kernel.metric == "rbf"
    of_parts = sum(map(_gamma_of_squares, _parts(kernel)))
    return (float(kernel.gamma) if is_gaussian else 0.0) + of_parts


def _gap_of_equal_rows(kernel: Any) -> float:
    """Return by which part scikit-learn's kernel of equal rows may be too small.

    Where a Matern takes a Bessel function, which has a pole at 0, equal rows are 2⁻⁵² apart.
    """
    gap = getattr(kernel, "exponent", 1.0) * sum(map(_gap_of_equal_rows, _parts(kernel)))
    if type(kernel) is sklearn_kernels.Matern and kernel.nu not in (*_MATERN, math.inf):
        square = np.finfo(np.float64).eps ** 2
        gap += float(MaternMixture(float(kernel.nu)).decay(np.array([square]))[0])
    return gap


def _parts(kernel: Any) -> list[Any]:
    """Return the kernels of which one is made."""
    return [getattr(kernel, name) for name in ("k1", "k2", "kernel") if hasattr(kernel, name)]


def _instead(kernel: Any) -> str:
    """Return why a kernel is unknown, if that is known, and what to do today about its model."""
    why = ""
    if type(kernel).__module__.startswith("bayes_opt."):
        return " Pass the BayesianOptimization itself, whose Gaussian process it belongs to"
    if type(kernel) is sklearn_kernels.ExpSineSquared:
        why = " Of several columns it is no sum of products, but of one column each it would be."
    return f"{why} Fit the model with a kernel of these, or take {APPROXIMATE}"
